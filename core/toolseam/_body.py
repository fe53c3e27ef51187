"""A tool's body apart from its host: one request of bytes, one answer of bytes (contract §5).

The host keeps admission, judgement, bounds, trace and audit. What comes back is bytes from
somewhere else, decoded, validated and judged like any untrusted input; no object is unpickled.

A request is a line of JSON, then the arguments as they were recorded. An answer is `R` and an
encoded result, or `X` and a JSON object that says how the body ended without one.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast

import attrs
import orjson

from toolseam._binding import BoundTool, bind
from toolseam._context import Actor, ToolContext
from toolseam._errors import ContractViolation, ErrorCode, SettingsError, ToolseamError
from toolseam._jsontext import BadText, Unencodable, decode, encode, parse
from toolseam._judgement import Broken, as_broken, fault_of
from toolseam._resources import Resources
from toolseam._result import ToolError, ToolResult, copy_error, failed
from toolseam._result_json import decode_result, encode_result
from toolseam._text import short

if TYPE_CHECKING:
    from concurrent.futures import Future

    from toolseam._levels import Zone

Ask = Callable[[bytes], bytes]

_RESULT, _OTHER = b"R", b"X"
_UNSTARTED = ("import_failed", "other_version")
"""Why a body did not begin, where it should have run; a model is told the word."""
_LOGGED = 20_000
_ANSWER_BYTES = 200_000
"""Of an answer that is no result: the longest part is what goes to the host's log."""
_ASKED_BYTES = 1_100_000
_LARGE = 400_000
"""A larger answer is large by its texts: all else of it is three channels of 50,000 bytes."""
_VALUES = 100_000
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)


class Lost(ToolseamError):
    """A body was lost while it ran: nobody knows what it did, and it is never run again.

    `reason` is a slug, say `worker_died`; `detail` one line without a plugin's text.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class NotStarted(ToolseamError):
    """A body that certainly never began, and why."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class Raised(ToolseamError):
    """A body raised, elsewhere: the type's name, and the redacted line for the host's log."""

    def __init__(self, kind: str, line: str) -> None:
        super().__init__(kind)
        self.kind = kind
        self.line = line


class Runner(Protocol):
    """Carries bodies: to a process, into a sandbox, over an executor."""

    def submit(self, request: bytes, *, owner: str, ask: Ask) -> Future[bytes]:
        """Take a body of a distribution; its future gives the answer, or raises.

        `cancel()` of the future stops the body where that can be done. Raises `NotStarted`,
        here or in the future, for what never began; `Lost` for what was lost.
        """
        ...

    def close(self) -> None:
        """Stop what runs, and give back what was taken."""
        ...


# -- the host's side -------------------------------------------------------------------------------


def request_of(head: Mapping[str, Any], arguments: bytes) -> bytes:
    """Join what a body is told and its arguments; a `TypeError` names what JSON cannot hold."""
    return orjson.dumps(head) + b"\n" + arguments


def outcome_of(answer: object) -> ToolResult:
    """Return the result that an answer carries; raise what the body raised, or `Lost`.

    The result is not judged yet: `BoundTool.judge` does that, as with any return.
    """
    if type(answer) is not bytes:
        raise Lost("worker_protocol", "the answer is no bytes")
    kind, rest = answer[:1], answer[1:]
    try:
        if kind == _RESULT:
            if len(rest) > _LARGE:
                _refuse_bulk(rest)
            return decode_result(rest.decode("utf-8", "surrogatepass"))
        if kind == _OTHER and len(rest) <= _ANSWER_BYTES:
            said = parse(rest.decode())
            if type(said) is dict and len(cast("dict[str, Any]", said)) == 1:
                ((word, value),) = cast("dict[str, Any]", said).items()
                return _ended(word, value)
    except (ContractViolation, BadText, UnicodeDecodeError):
        raise Lost("worker_protocol", "the answer is no encoded result") from None
    raise Lost("worker_protocol", "the answer is of no known kind")


def was_refused(answer: bytes) -> bool:
    """Tell whether an answer with a result is of arguments that the author's class refused."""
    return answer[:1] == _OTHER


def _refuse_bulk(encoded: bytes) -> None:
    """Refuse what would take far more memory than it has bytes, before it is parsed.

    Sixteen megabytes of brackets would be a gigabyte of lists.
    """
    if sum(map(encoded.count, (b",", b"[", b"{"))) < _VALUES:
        return
    structure, texts = _TEXT.subn(b"", encoded, _VALUES)
    if len(structure) + texts > _LARGE:
        raise Lost("worker_protocol", "the answer is no encoded result")


def _ended(word: str, value: Any) -> ToolResult:  # noqa: ANN401 - untrusted JSON
    if word == "timeout":
        raise TimeoutError
    if word == "cancelled":
        raise asyncio.CancelledError
    if word == "unsettled":
        raise SettingsError("the settings are not valid where the body runs")
    if word == "refused" and type(value) is str:
        return failed(ToolError(value, ErrorCode.INVALID_ARGUMENTS))
    if type(value) is list and [type(v) for v in cast("list[object]", value)] == [str, str]:
        first, second = cast("list[str]", value)
        if word == "raised":
            raise Raised(short(first), _one_line(second))
        if word == "broken":
            raise Broken(short(first, 400), short(second, 400))
        if word == "unstarted" and first in _UNSTARTED:
            raise NotStarted(first, short(second, 200))
    raise Lost("worker_protocol", "the answer is of no known kind")


def asked(message: bytes) -> tuple[str, list[object]]:
    """Return what a body asks of its host: a word, and what goes with it; else raise `Lost`."""
    try:
        said = parse(message.decode(), limit=_ASKED_BYTES)
    except (BadText, UnicodeDecodeError):
        said = None
    if isinstance(said, list) and said:
        word, *rest = cast("list[object]", said)
        if isinstance(word, str):
            return word, rest
    raise Lost("worker_protocol", "it asked for something that is not known")


def line_of(error: BaseException) -> str:
    """Return what was raised as one line for the host's log, with secrets masked."""
    import traceback

    return _one_line("".join(traceback.format_exception(error)))


def _one_line(text: str) -> str:
    """Mask and escape the end of a text for a log; from elsewhere it may have come as neither."""
    from toolseam.guards import mask_secrets

    # Twice what is kept is masked: a secret that the first cut beheads is not in the second.
    told, _ = mask_secrets(text[-2 * _LOGGED :])
    if not (told.isascii() and told.isprintable()):
        told = told.encode("unicode_escape").decode("ascii")
    return told[-_LOGGED:]


# -- where the body runs ---------------------------------------------------------------------------


def run_body(request: bytes, ask: Ask | None = None) -> bytes:
    """Run one body here, once, and return its answer; raises nothing at all.

    Args:
        request: what `request_of` made.
        ask: carries what the body asks of its host; None: there is no way back.
    """
    try:
        return _run(request, ask)
    except BaseException as error:  # noqa: BLE001 - an answer is all that goes back
        return _ending(error)


def carry_out(tool: BoundTool, hook: str, given: object, context: ToolContext) -> bytes:
    """Call a hook once and return the answer; only what ends the program gets out."""
    try:
        if hook == "execute":
            value = tool.execute(arguments=given, context=context)
            if tool.is_async:
                value = asyncio.run(value)
        else:
            value = cast("Callable[..., Any]", tool.preview)(arguments=given, context=context)
    except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001
        return _ending(error)
    fault = fault_of(value)
    if fault is not None:
        return _other("broken", list(fault))
    return _RESULT + encode_result(value).encode()


def _ending(error: BaseException) -> bytes:
    broken = as_broken(error)
    if broken is not None:
        return _other("broken", [broken.path, broken.reason])
    if isinstance(error, ToolError):
        return _RESULT + encode_result(failed(copy_error(error))).encode()
    if isinstance(error, SettingsError):
        return _other("unsettled", True)
    if isinstance(error, TimeoutError):
        return _other("timeout", True)
    if isinstance(error, asyncio.CancelledError):
        return _other("cancelled", True)
    if isinstance(error, NotStarted):
        return _other("unstarted", [error.reason, error.detail])
    return _other("raised", [short(type(error).__name__), line_of(error)])


def _other(word: str, value: object) -> bytes:
    return _OTHER + encode({word: value}, limit=_ANSWER_BYTES)


def _run(request: bytes, ask: Ask | None) -> bytes:
    line, _, arguments = request.partition(b"\n")
    head: dict[str, Any] = orjson.loads(line)
    tool = _tool(head["target"], head["name"], head["distribution"], head.get("version"))
    given = decode(arguments)
    if tool.make is not None:
        try:
            given = tool.make(given)
        except (ValueError, TypeError) as error:
            # The text is the author's own, written for whoever calls the tool.
            text = str(error) or f"The arguments were refused ({short(type(error).__name__)})."
            return _other("refused", text)
    who = head["actor"]
    remaining = head["remaining"]
    until = None if remaining is None else monotonic() + remaining
    words = head["settings"]
    context = ToolContext(
        tool=tool.spec,
        actor=None if who is None else Actor(who[0], who[1], who[2]),
        run_id=head["run_id"],
        call_id=head["call_id"],
        deadline=until,
        settings=None if words is None else _settings(head["target"], words, tool),
        logger=logging.getLogger(f"toolseam.{tool.name}"),
        call=_Remote(tool, head["step_id"], until, ask),
    )
    return carry_out(tool, head["hook"], given, context)


@cache
def _tool(target: str, name: str, distribution: str, version: str | None) -> BoundTool:
    """Import a tool and bind it, once a process; a failure is told and tried again next time."""
    if version is not None:
        _compare(distribution, version)
    module, _, attribute = target.partition(":")
    try:
        plugin: Any = __import__(module, fromlist=["*"])
        for part in attribute.split(".") if attribute else ():
            plugin = getattr(plugin, part)
        return bind(plugin, name=name, distribution=distribution, version=version or "")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - SystemExit at import is a broken plugin
        detail = f"{short(type(error).__name__)} while importing {short(module)}"
        raise NotStarted("import_failed", detail) from None


def _compare(distribution: str, version: str) -> None:
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of

    try:
        found = version_of(distribution)
    except PackageNotFoundError:
        found = "none"
    if found != version:
        detail = f"{distribution} {version} is meant, {short(found)} is there"
        raise NotStarted("other_version", detail)


@lru_cache(maxsize=256)
def _settings(target: str, words: str, tool: BoundTool) -> object:  # noqa: ARG001 - whose they are
    """Structure a plugin's settings from the same words as the host did; see `PluginSettings`."""
    from toolseam._settings_structure import structure

    own, facts, file, key = orjson.loads(words)
    made: Any = structure(own, cast("type[Any]", tool.spec.settings), file, key)
    if "folder" in facts:
        facts["folder"] = Path(facts["folder"])
    for name in ("tables_allow", "tables_deny"):
        if name in facts:
            facts[name] = tuple(facts[name])
    return attrs.evolve(made, **facts) if facts else made


@cache
def _resources() -> Resources:
    """What tools open in this process stays open as long as it lives."""
    return Resources()


class _Remote:
    """What the host lends to a body that runs elsewhere, asked for over the way back."""

    __slots__ = ("_ask", "_step_id", "_tool", "_until")

    def __init__(self, tool: BoundTool, step_id: str, until: float | None, ask: Ask | None) -> None:
        self._tool = tool
        self._step_id = step_id
        self._until = until
        self._ask = ask

    def progress(self, done: float, total: float | None, text: str) -> None:
        """Show a live step that is never stored; where no way leads back, nothing."""
        if self._ask is not None:
            self._asked("progress", done, total, short(text, 200))

    def step_id(self) -> str:
        """Return the id of the step that this attempt will leave."""
        return self._step_id

    def cancelled(self) -> bool:
        """Tell whether the deadline has passed; who stops a call ends its process."""
        return self._until is not None and monotonic() > self._until

    def secret(self, name: str) -> str:
        """Return a secret that the operator granted."""
        given: str = self._asked("secret", name)
        return given

    def resource(self, key: str, opener: Callable[[], Any]) -> Any:  # noqa: ANN401
        """Return what was opened once for this process and distribution."""
        return _resources().get(self._tool.distribution, key, opener)

    def send_to(self, zone: Zone) -> None:
        """Refuse what may not leave for a zone."""
        self._asked("send_to", zone.value)

    def nested(self, name: str, arguments: object) -> ToolResult:
        """Call another tool in the caller's run, from the host."""
        try:
            text = encode(arguments if arguments is not None else {}, limit=_ANSWER_BYTES * 5)
        except Unencodable as error:
            raise ContractViolation(error.path, error.reason) from None
        return decode_result(self._asked("call", name, text.decode()))

    async def anested(self, name: str, arguments: object) -> ToolResult:
        """Call another tool in the caller's run, from the host, awaiting it."""
        return await asyncio.to_thread(self.nested, name, arguments)

    def _asked(self, word: str, *values: object) -> Any:  # noqa: ANN401
        if self._ask is None:
            self._refuse()
        said = orjson.loads(self._ask(orjson.dumps([word, *values])))
        if "error" in said:
            raise _error_of(decode_result(said["error"]))
        return said["ok"]

    def _refuse(self) -> NoReturn:
        message = f"{self._tool.name} asks its host, which cannot be done from where it runs."
        code, reason = ErrorCode.UNAVAILABLE, {"reason": "runs_apart"}
        raise ToolError(message, code, metadata=reason)


def _error_of(result: ToolResult) -> ToolError:
    return copy_error(cast("ToolError", result.failure))
