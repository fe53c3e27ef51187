"""What a text file says: without markup, with its headings, cut into passages."""

from __future__ import annotations

import html
import itertools
import re

import attrs

from toolseam.guards import mask_secrets, mask_source
from toolseam_builtin._page import one_line

PASSAGE_CHARACTERS = 1_200
KINDS = {
    **dict.fromkeys((".md", ".markdown", ".mdx"), "markdown"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org", ".tex"), "text"),
}
"""Endings of names that stand for texts, and how each is read."""

_TITLE_CHARACTERS = 200
_FRONT = 30
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_UNDERLINE = re.compile(r"([=\-~^\"'*+#])\1{2,}[ \t]*")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\n]{0,500}\)")
_MARKUP_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,500}>")
_HTML_TITLE = re.compile(r"<title[^<>]{0,200}>([^<]{0,500})", re.IGNORECASE)
_HTML_HEADING = re.compile(r"<h[1-6](?:\s[^<>]{0,500})?>", re.IGNORECASE)
_LOOKS_HTML = re.compile(r"</[a-z][a-z0-9]{0,9}>|<(?:br|p|div|li)\b", re.IGNORECASE)
_LINE_END = re.compile(r"\r\n?")
_MARK = "\x02"


@attrs.frozen
class Plain:
    """What a text says; `headings` are places in it, each with the words that stand there."""

    title: str
    text: str
    headings: tuple[tuple[int, str], ...] = ()


@attrs.frozen
class Passage:
    """A part of a text, below a heading."""

    heading: str
    start: int
    end: int


def title_of(text: str) -> str:
    """Return a text as a title: one line, masked, not too long."""
    return mask_secrets(one_line(text))[0][:_TITLE_CHARACTERS]


def plain_file(name: str, raw: str) -> Plain:
    """Return what a file says, secrets masked; its first heading is its title, else its name.

    Args:
        name: decides by its ending how the text is read.
        raw: the text.
    """
    raw = mask_source(_LINE_END.sub("\n", raw))
    kind = KINDS.get(ending(name), "text")
    if kind == "html":
        return _of_html(name, raw)
    lines = raw.split("\n")
    return _plain(name, _markdown(lines) if kind == "markdown" else _text(lines), _front(lines))


def plain_value(title: str, raw: str) -> Plain:
    """Return what a cell of a table says, secrets masked, without markup if it has any."""
    raw = mask_source(_LINE_END.sub("\n", raw))
    if _LOOKS_HTML.search(raw) is None:
        return Plain(title_of(title), raw)
    return attrs.evolve(_of_html("", raw), title=title_of(title))


def ending(name: str) -> str:
    """Return the ending of a file's name, with its point, in lower case."""
    stem, point, last = name.rpartition(".")
    return f".{last.lower()}" if point and stem and "/" not in last else ""


def passages(plain: Plain) -> list[Passage]:
    """Cut a text into passages of at most 1,200 characters, at headings and line ends first."""
    starts = [*plain.headings, (len(plain.text), "")]
    if not plain.headings or plain.headings[0][0] > 0:
        starts.insert(0, (0, ""))
    found: list[Passage] = []
    for (start, heading), (stop, _) in itertools.pairwise(starts):
        at = start
        while at < stop:
            end = _end(plain.text, at, stop)
            if plain.text[at:end].strip():
                found.append(Passage(heading, at, end))
            at = end
    return found


def _end(text: str, start: int, stop: int) -> int:
    """Find where a passage ends well: at a line end, a sentence, a blank, or at its most."""
    most = start + PASSAGE_CHARACTERS
    if stop <= most:
        return stop
    least = start + PASSAGE_CHARACTERS // 2
    for sign in ("\n", ". ", " "):
        found = text.rfind(sign, least, most)
        if found >= 0:
            return found + len(sign)
    return most


def _plain(name: str, lines: list[tuple[str, bool]], title: str = "") -> Plain:
    """Put lines together, masked once more: markup may have parted a name from its value."""
    lines = lines or [("", False)]
    text = mask_source("\n".join(line for line, _ in lines))
    headings: list[tuple[int, str]] = []
    place = 0
    for line, (_, is_heading) in zip(text.split("\n"), lines, strict=True):
        if is_heading and line.strip():
            headings.append((place, line.strip()[:_TITLE_CHARACTERS]))
        place += len(line) + 1
    first = title or (headings[0][1] if headings else name.rpartition("/")[2])
    return Plain(title_of(first), text, tuple(headings))


def _front(lines: list[str]) -> str:
    """Find the title in what may stand above a text, between lines of three dashes."""
    if lines[0].strip() != "---":
        return ""
    for line in lines[1:_FRONT]:
        if line.strip() == "---":
            break
        name, colon, value = line.partition(":")
        if colon and name == "title":
            return value.strip().strip("\"'")
    return ""


def _markdown(lines: list[str]) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    fenced = False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
            continue
        heading = None if fenced else _HEADING.match(line)
        if heading is not None:
            found.append((_inline(heading[1].rstrip("# \t")), True))
        elif not fenced and _underlines(line, found):
            found[-1] = (found[-1][0], True)
        else:
            found.append((line if fenced else _inline(line), False))
    return found


def _text(lines: list[str]) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    for line in lines:
        if _underlines(line, found):
            found[-1] = (found[-1][0], True)
        else:
            found.append((line, False))
    return found


def _underlines(line: str, found: list[tuple[str, bool]]) -> bool:
    """Tell whether a line underlines the one before it, which stands alone."""
    if _UNDERLINE.fullmatch(line) is None or not found or not found[-1][0].strip():
        return False
    alone = len(found) == 1 or not found[-2][0].strip()
    return alone and len(found[-1][0]) <= _TITLE_CHARACTERS


def _inline(line: str) -> str:
    line = _LINK.sub(r"\1", line)
    line = _MARKUP_TAG.sub("", line).replace("**", "").replace("`", "")
    return html.unescape(line).replace("\n", " ")


def _of_html(name: str, raw: str) -> Plain:
    from toolseam_builtin.system._excerpt import strip_markup

    title = _HTML_TITLE.search(raw)
    said = strip_markup(_HTML_HEADING.sub(f"<p>{_MARK}", raw.replace(_MARK, "")))
    lines = [(line.replace(_MARK, "").strip(), line.startswith(_MARK)) for line in said.split("\n")]
    return _plain(name, lines, html.unescape(title[1]).strip() if title else "")
