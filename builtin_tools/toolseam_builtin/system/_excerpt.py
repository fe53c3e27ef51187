"""What may be shown of an answer from the web: key headers, and an excerpt of its text."""

from __future__ import annotations

import codecs
import html
import json
import re
from http import HTTPStatus
from typing import TYPE_CHECKING

from toolseam import guards
from toolseam_builtin._page import excerpt, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from toolseam_builtin.system._fetch import Reply

EXCERPT_BYTES = 2_048
_KEY_HEADERS = frozenset(
    {
        *("content-type", "content-length", "content-encoding", "location", "set-cookie"),
        *("cache-control", "age", "x-cache", "etag", "last-modified", "server", "via", "vary"),
        *("retry-after", "www-authenticate", "allow"),
    }
)
_SHOWN_HEADERS = 30
_WORD_CHARACTERS = 4_000
_HEADER_CHARACTERS = 200
_TEXT = re.compile(r"text/|application/(?:[\w.+-]*(?:json|xml|yaml|javascript)|graphql)")
_CHARSET = re.compile(r"charset=[\"']?([\w.:-]{1,40})", re.IGNORECASE)
# Others that Python knows take time that grows with the square of the text, or are no text.
_CODEC = re.compile(r"utf-(?:8|16|32)|ascii|iso8859-|cp125|koi8|euc|shift_jis|gb|big5")
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)|<[!?/]")
_HIDDEN = frozenset({"script", "style", "template", "head", "svg", "noscript"})
_PAGE = ("<!doctype html", "<html")
_INLINE = frozenset({"a", "b", "i", "u", "em", "strong", "span", "code", "small", "sub", "sup"})


_ENDED = {
    "whole": "",
    "cut": ", of which there is more",
    "slow": "; the rest did not come in time",
    "broken": "; the connection ended before the body did",
}


def status_of(number: int) -> str:
    """Return a status with its usual words, whatever the server called it."""
    try:
        return f"{number} {HTTPStatus(number).phrase}"
    except ValueError:
        return str(number)


def body_of(reply: Reply) -> tuple[str, str]:
    """Return a line about the body, and what may be shown of it."""
    encoding = reply.header("content-encoding").strip().lower()
    kind = reply.header("content-type")
    if encoding not in {"", "identity"}:
        named = excerpt(guards.mask_secrets(one_line(encoding))[0], 40)
        return f"The body is encoded ({named}), and was not decoded.", ""
    if reply.header("location"):
        return "The body of a redirect is not shown.", ""
    if not reply.body:
        return f"The body is empty{_ENDED[reply.ended]}.", ""
    if not is_text(kind, reply.body):
        return f"The body is no text; {len(reply.body):,} bytes were read{_ENDED[reply.ended]}.", ""
    text, complete = text_excerpt(kind, reply.body, whole=reply.ended == "whole")
    what = "Its text" if complete else "The beginning of its text"
    return f"{what}, from {len(reply.body):,} bytes that were read{_ENDED[reply.ended]}:", text


def key_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers that tell something, as they may be shown, in their order."""
    shown = [(name, _shown(name, value)) for name, value in headers if name in _KEY_HEADERS]
    rest = len(shown) - _SHOWN_HEADERS
    return [*shown[:_SHOWN_HEADERS], *([("more", f"{rest} of these")] if rest > 0 else [])]


def _shown(name: str, value: str) -> str:
    if name == "set-cookie":
        pair, semicolon, attributes = value.partition(";")
        cookie, equals, _ = pair.partition("=")
        named = f"{cookie}={guards.MASK}" if equals else guards.MASK
        value = f"{named}{semicolon}{attributes}"
    elif name == "location":
        value = without_values(value)
    return excerpt(guards.mask_secrets(one_line(value))[0], _HEADER_CHARACTERS)


def without_values(url: str) -> str:
    """Mask each value in the query of a URL, and its fragment."""
    rest, mark, _ = url.partition("#")
    path, question, query = rest.partition("?")
    pairs = [each.partition("=") for each in query.split("&")]
    masked = [f"{name}={guards.MASK}" if equals else guards.MASK for name, equals, _ in pairs]
    query = "&".join(masked) if question and query else query
    return f"{path}{question}{query}{mark}{guards.MASK if mark else ''}"


def is_text(content_type: str, body: bytes) -> bool:
    """Tell whether a body is text: as its type says, or by its bytes where it has none."""
    if content_type:
        return _TEXT.match(content_type.strip().lower()) is not None
    return b"\0" not in body


def text_excerpt(content_type: str, body: bytes, *, whole: bool) -> tuple[str, bool]:
    """Return at most 2 KB of a body's text, without markup and secrets, and whether it is all.

    Args:
        content_type: as the header says.
        body: its beginning.
        whole: there is no more of it.
    """
    text = _decoded(content_type, body)
    if "html" in content_type.lower() or text.lstrip()[:14].lower().startswith(_PAGE):
        text = strip_markup(text)
    if not whole:
        text = _without_last_word(text)
    text = "\n".join(line.rstrip() for line in _masked(text, whole=whole).strip().splitlines())
    # JSON can spell half a surrogate pair, which no encoding has.
    kept = text.encode("utf-8", "replace")[:EXCERPT_BYTES].decode("utf-8", "ignore")
    return kept, whole and len(kept) == len(text)


def _without_last_word(text: str) -> str:
    """Leave out what may be half a secret, which has no shape."""
    end = len(text)
    least = max(0, end - _WORD_CHARACTERS)
    while end > least and not text[end - 1].isspace():
        end -= 1
    return text[:end]


def strip_markup(text: str) -> str:
    """Return what a page says: without tags, comments, scripts and styles; in linear time."""
    lines = "".join(_pieces(text)).splitlines()
    kept = (re.sub(r"\s+", " ", html.unescape(line)).strip() for line in lines)
    return "\n".join(filter(None, kept))


def _pieces(text: str) -> Iterator[str]:
    at = 0
    while (start := text.find("<", at)) >= 0:
        yield text[at:start]
        found = _TAG.match(text, start)
        if found is None:
            yield "<"
            at = start + 1
            continue
        name = (found[1] or "").lower()
        if text.startswith("<!--", start):
            start, closing = start + 4, "-->"
        else:
            closing = ">"
        if name in _HIDDEN and text[start + 1] != "/":
            end = re.compile(f"</{name}", re.IGNORECASE).search(text, start)
            start = end.start() if end else len(text)
        end_of = text.find(closing, start)
        if end_of < 0:
            return
        at = end_of + len(closing)
        yield "" if name in _INLINE else "\n"
    yield text[at:]


def _decoded(content_type: str, body: bytes) -> str:
    charset = _CHARSET.search(content_type)
    try:
        name = codecs.lookup(charset[1]).name if charset else "utf-8"
    except LookupError:
        name = "utf-8"
    return body.decode(name if _CODEC.match(name) else "utf-8", "replace").lstrip("\ufeff")


def _masked(text: str, *, whole: bool) -> str:
    """Mask by the keys of JSON, by assignments and by shape."""
    if whole and text.lstrip()[:1] in {"{", "["}:
        try:
            document = json.loads(text)
            shown = guards.mask_fields(document, guards.mask_source)
        except (ValueError, RecursionError):
            return guards.mask_source(text)
        return text if shown == document else json.dumps(shown, ensure_ascii=False)
    return guards.mask_source(text)
