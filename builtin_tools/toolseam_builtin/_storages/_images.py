"""What the first bytes of an image say: its format, its width and height in pixels.

Nothing is decoded, decompressed or expanded.
"""

from __future__ import annotations

import re
import struct

import attrs

HEAD_BYTES = 262_144
"""How much of a file is looked at; the metadata of a photograph may take most of it."""

_SVG_HEAD = 65_536
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_STANDALONE = frozenset({0x01, *range(0xD0, 0xD8)})
_BLANK = re.compile(r"\s*")
_ROOT = re.compile(r"<(?:\w+:)?svg((?:\s(?:[^>\"']|\"[^\"]*\"|'[^']*')*)?)>")
_ATTRIBUTE = re.compile(r"\s(width|height|viewBox)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_LENGTH = re.compile(r"\s*\+?([0-9]{1,9}(?:\.[0-9]{1,9})?)(?:px)?\s*")
_BOX = 4


@attrs.frozen
class Image:
    """A format by its MIME type, and the size in pixels where the head tells it."""

    type: str
    width: float | None = None
    height: float | None = None


def read_image(head: bytes) -> Image | None:
    """Return what the first bytes of a file say of an image, or None if they begin none."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return (
            _image("image/png", head, ">II", 16) if head[12:16] == b"IHDR" else Image("image/png")
        )
    if head.startswith((b"GIF87a", b"GIF89a")):
        return _image("image/gif", head, "<HH", 6)
    if head.startswith(b"\xff\xd8\xff"):
        return _jpeg(head)
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return _webp(head)
    if head.startswith(b"BM") and head[6:10] == b"\0\0\0\0":
        return _bmp(head)
    return _svg(head)


def _image(kind: str, head: bytes, form: str, place: int) -> Image:
    if len(head) < place + struct.calcsize(form):
        return Image(kind)
    width, height = struct.unpack_from(form, head, place)
    return Image(kind, width, height)


def _jpeg(head: bytes) -> Image:
    """Go from marker to marker until the one that begins a frame."""
    place = 2
    while place + 4 <= len(head) and head[place] == 0xFF:  # noqa: PLR2004 - every marker begins so
        marker = head[place + 1]
        if marker == 0xFF or marker in _STANDALONE:  # noqa: PLR2004 - a byte that fills
            place += 1 if marker == 0xFF else 2  # noqa: PLR2004
            continue
        if marker in _FRAMES:
            found = _image("image/jpeg", head, ">HH", place + 5)
            return Image("image/jpeg", found.height, found.width)
        place += 2 + max(2, int.from_bytes(head[place + 2 : place + 4]))
    return Image("image/jpeg")


def _webp(head: bytes) -> Image:
    kind, chunk = "image/webp", head[12:16]
    if chunk == b"VP8X" and len(head) >= 30:  # noqa: PLR2004 - where the two sizes end
        width, height = (int.from_bytes(head[at : at + 3], "little") + 1 for at in (24, 27))
        return Image(kind, width, height)
    if chunk == b"VP8L" and len(head) >= 25 and head[20] == 0x2F:  # noqa: PLR2004 - its signature
        bits = int.from_bytes(head[21:25], "little")
        return Image(kind, (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if chunk == b"VP8 " and head[23:26] == b"\x9d\x01\x2a" and len(head) >= 30:  # noqa: PLR2004
        width, height = struct.unpack_from("<HH", head, 26)
        return Image(kind, width & 0x3FFF, height & 0x3FFF)
    return Image(kind)


def _bmp(head: bytes) -> Image:
    kind = "image/bmp"
    if head[14:18] == b"\x0c\0\0\0":
        return _image(kind, head, "<HH", 18)
    found = _image(kind, head, "<ii", 18)
    # A picture that is stored from its top has a negative height.
    return found if found.height is None else Image(kind, found.width, abs(found.height))


def _svg(head: bytes) -> Image | None:
    """Read width and height of the root element, else its view box; entities stay as they are."""
    if b"<" not in head[:256] or b"svg" not in head[:_SVG_HEAD]:
        return None
    text = head[:_SVG_HEAD].decode("utf-8-sig", "replace")
    root = _ROOT.match(text, _prologue(text))
    if root is None:
        return None
    found = {name: double or single for name, double, single in _ATTRIBUTE.findall(root[1])}
    width, height = (_LENGTH.fullmatch(found.get(name, "")) for name in ("width", "height"))
    if width and height:
        return Image("image/svg+xml", float(width[1]), float(height[1]))
    box = [
        _LENGTH.fullmatch(part) for part in re.split(r"[\s,]+", found.get("viewBox", "").strip())
    ]
    if len(box) == _BOX and box[2] and box[3]:
        return Image("image/svg+xml", float(box[2][1]), float(box[3][1]))
    return Image("image/svg+xml")


def _prologue(text: str) -> int:
    """Return where the root element begins, behind comments, instructions and a DOCTYPE."""
    place = 0
    while True:
        place = _blanks(text, place)
        for begin, end in (("<!--", "-->"), ("<?", "?>"), ("<!DOCTYPE", ">")):
            if text.startswith(begin, place):
                inner, close = text.find("[", place), text.find(end, place + len(begin))
                if begin == "<!DOCTYPE" and 0 <= inner < close:
                    # Declarations in brackets hold angle brackets of their own.
                    close = text.find(">", text.find("]", inner))
                if close < 0:
                    return len(text)
                place = close + len(end)
                break
        else:
            return place


def _blanks(text: str, place: int) -> int:
    match = _BLANK.match(text, place)
    return place if match is None else match.end()
