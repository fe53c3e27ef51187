"""One message of a client, from bytes: what the SDK may see of it, and a call's raw arguments.

The arguments of a call never pass the SDK. The seam reads them as the client wrote them, so that
a doubled key, a number that no double holds, half a surrogate pair or a depth of 2,000 is its
`invalid_arguments` and an answer like any other, and not a request that a parser lost.
"""

from __future__ import annotations

import re
from json import JSONDecoder, decoder
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import attrs
import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

PARSE_ERROR = -32700
INVALID_REQUEST = -32600

_DEEPEST = 64
_LONGEST_ID = 256
_BROKEN = 8
_CALL = "tools/call"
_BLANK = re.compile(r"[ \t\n\r]*")
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)|[\[\]{}]', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")
_END = re.compile(r"[,\]}]")


@attrs.frozen
class Message:
    """A message that the SDK can take.

    `body` is the message without the arguments of a call, `arguments` is their JSON text, or
    None where it has none.
    """

    body: dict[str, Any]
    arguments: bytes | None = None

    def json(self) -> bytes:
        """Return the message as JSON, without the arguments."""
        return orjson.dumps(self.body)

    @property
    def is_request(self) -> bool:
        """Whether somebody waits for an answer."""
        return "id" in self.body and "method" in self.body


@attrs.frozen
class Unreadable:
    """What is no message: the error that answers it."""

    code: int
    text: str
    id: int | str | None = None

    def answer(self) -> bytes:
        """Return the answer, as JSON."""
        error = {"code": self.code, "message": self.text}
        return orjson.dumps({"jsonrpc": "2.0", "id": self.id, "error": error})


def read(raw: bytes) -> Message | Unreadable:
    """Read one message; never raises, and its cost is linear in the bytes."""
    # Each byte that is no UTF-8 stands for itself, so that what is around it can be read.
    text = raw.decode("utf-8", "surrogateescape")
    outer = _members(text, 0)
    if outer is None:
        return Unreadable(PARSE_ERROR, "This is no JSON object.")
    id_ = _id(_value(text, outer.spans.get("id")))
    params = outer.spans.get("params")
    inner = None if params is None else _members(text, params.start)
    if outer.doubled or (inner is not None and inner.doubled):
        return Unreadable(INVALID_REQUEST, "A key of the message stands twice.", id_)
    span = None
    if inner is not None and _value(text, outer.spans.get("method")) == _CALL:
        span = inner.spans.get("arguments")
    rest = text if span is None else f"{text[: span.start]}{{}}{text[span.stop :]}"
    if rest.count("{") + rest.count("[") > _DEEPEST and _depth(rest) > _DEEPEST:
        return Unreadable(INVALID_REQUEST, f"The message is deeper than {_DEEPEST}.", id_)
    try:
        body = orjson.loads(_bytes(rest))
    except orjson.JSONDecodeError:
        return Unreadable(PARSE_ERROR, "The message is not valid JSON in UTF-8.", id_)
    fault = _fault(body, id_)
    if fault is not None:
        return Unreadable(INVALID_REQUEST, fault, id_)
    return Message(body, None if span is None else _bytes(text[span]))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _fault(body: dict[str, Any], id_: int | str | None) -> str | None:
    if body.get("jsonrpc") != "2.0":
        return 'A message says "jsonrpc": "2.0".'
    if "id" in body and id_ is None:
        return "An id is a text of at most 256 characters, or an integer."
    if not isinstance(body.get("method", ""), str):
        return "A method is a text."
    if not isinstance(body.get("params", {}), dict):
        return "Params are an object."
    if "method" not in body and not {"result", "error"} & body.keys():
        return "A message has a method, a result or an error."
    return None


_scan = cast("Any", JSONDecoder()).scan_once
_scan_text = cast("Any", decoder).scanstring


class _Members(NamedTuple):
    """Where the values of an object's members stand, and whether one stands twice."""

    spans: dict[str, slice]
    doubled: bool


def _members(text: str, start: int) -> _Members | None:
    """Find the members of an object; None where none begins.

    What is broken further on is for the parser.
    """
    at = _after_blank(text, start)
    if not text.startswith("{", at):
        return None
    found: dict[str, slice] = {}
    doubled = False
    broken = 0
    at = _after_blank(text, at + 1)
    while text.startswith('"', at):
        try:
            key, at = _scan_text(text, at + 1)
        except ValueError:
            break
        at = _after_blank(text, at)
        if not text.startswith(":", at):
            break
        begin = _after_blank(text, at + 1)
        end = _end_of_valid(text, begin)
        broken += end is None
        at = _end_of_broken(text, begin) if end is None else end
        doubled = doubled or key in found
        found[key] = slice(begin, at)
        at = _after_blank(text, at)
        # Python counts the lines before each fault, and no parser takes more than one of them.
        if broken == _BROKEN or not text.startswith(",", at):
            break
        at = _after_blank(text, at + 1)
    return _Members(found, doubled)


def _after_blank(text: str, at: int) -> int:
    return cast("re.Match[str]", _BLANK.match(text, at)).end()


def _end_of_valid(text: str, at: int) -> int | None:
    try:
        return cast("int", _scan(text, at)[1])
    except (StopIteration, ValueError, RecursionError):
        return None


def _end_of_broken(text: str, at: int) -> int:
    """Return where a value ends that is none; what is never closed goes to the end."""
    depth = 0
    for token in _tokens(text, at):
        sign = token.group()
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if depth <= 0 and sign in _CLOSING:
            # The bracket of the object around it, or its own.
            return token.end() if depth == 0 else token.start()
        if depth == 0:
            break
    found = _END.search(text, at) if depth == 0 else None
    return len(text) if found is None else found.start()


def _tokens(text: str, at: int = 0) -> Iterator[re.Match[str]]:
    """Give the texts and brackets of JSON; a quote that nothing closes is as good as absent."""
    for token in _TOKEN.finditer(text, at):
        if token[1] == "":
            # All quotes after it are escaped, so that each would be looked for to the end.
            yield from _BRACKET.finditer(text, token.start() + 1)
            return
        yield token


def _value(text: str, span: slice | None) -> object:
    if span is None:
        return None
    try:
        return orjson.loads(_bytes(text[span]))
    except orjson.JSONDecodeError:
        return None


def _id(found: object) -> int | str | None:
    """Return the id, if it is one that an answer can bear."""
    if isinstance(found, str):
        return found if len(found) <= _LONGEST_ID else None
    return found if type(found) is int else None


def _depth(text: str) -> int:
    deepest = depth = 0
    for token in _tokens(text):
        sign = token.group()
        depth += (sign in _OPENING) - (sign in _CLOSING)
        deepest = max(deepest, depth)
    return deepest


_OPENING = frozenset("{[")
_CLOSING = frozenset("}]")
