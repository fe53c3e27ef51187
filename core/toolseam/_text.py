"""The one text cleaner and the one cut (contract §7)."""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False  # as type checkers read it; importing `typing` doubles a bare start
if TYPE_CHECKING:
    import re

CONTENT_BYTES = 50_000
MESSAGE_BYTES = 2_000
NAME_CHARACTERS = 64

_CONTROLS = "".join(chr(c) for c in range(32) if chr(c) not in "\t\n") + "\x7f"
_CONTROL_BYTES = _CONTROLS.encode()
_PICTURES = {c: "␡" if c == "\x7f" else chr(0x2400 + ord(c)) for c in _CONTROLS if c != "\r"}
# Below this length one C-level translate is cheapest, above it thirty `in` scans are
# (docs/explanation/performance: never a regular expression over ASCII).
_SHORT = 4_000


@cache
def _hidden() -> re.Pattern[str]:
    # Imported here: `re` costs half a bare interpreter start.
    import re

    return re.compile("[\x80-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\ud800-\udfff]")


@cache
def _surrogates() -> re.Pattern[str]:
    import re

    return re.compile("[\ud800-\udfff]")


def mend(text: str) -> str:
    """Return `text` with each lone surrogate replaced by U+FFFD, so that it encodes."""
    return _surrogates().sub("\ufffd", text)


def has_control(text: str) -> bool:
    """Tell whether ASCII `text` holds a control character other than tab and newline."""
    if len(text) < _SHORT:
        if text.isprintable():
            return False
        raw = text.encode()
        return len(raw.translate(None, _CONTROL_BYTES)) != len(raw)
    return any(c in text for c in _CONTROLS)


def clean(text: str) -> str:
    """Return `text` as contract §7 lets it out: controls visible, hidden characters U+FFFD."""
    if text.isascii():
        if not has_control(text):
            return text
    elif text.isprintable():
        return text
    else:
        text = _hidden().sub("\ufffd", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    for control, picture in _PICTURES.items():
        if control in text:
            text = text.replace(control, picture)
    return text


def is_clean(text: str) -> bool:
    """Tell whether `clean` would leave `text` as it is."""
    return clean(text) == text


def bound(text: str, limit: int = CONTENT_BYTES) -> tuple[str, bool]:
    """Clean `text`, then cut it to `limit` bytes of UTF-8, mark included (§7).

    Returns the text and whether it was cut. The cost grows with `limit`, never with the text.
    """
    if text.isascii() and len(text) <= limit and not has_control(text):
        return text, False
    # CRLF is the only sequence that shrinks, by half: twice the limit always fills it.
    whole = len(text) <= 2 * limit
    cleaned = clean(text if whole else text[: 2 * limit])
    encoded = cleaned.encode()
    if whole and len(encoded) <= limit:
        return cleaned, False
    mark = f"\n[truncated: {len(text)} characters in all]".encode()
    kept = encoded[: max(0, limit - len(mark))].decode("utf-8", "ignore")
    return kept + mark[:limit].decode(), True


def exact(text: str) -> str:
    """Return the characters of `text` as a plain `str`, asking no method of a subclass."""
    return str.__str__(text)


def short(name: object, limit: int = NAME_CHARACTERS) -> str:
    """Return a name chosen by somebody else, cleaned to one line and cut to 64 characters."""
    text = exact(name) if isinstance(name, str) else type(name).__name__
    # Cleaned first: a CR becomes a newline there, and a second line could forge a log entry.
    return clean(text[: 2 * limit]).replace("\n", "␊").replace("\t", "␉")[:limit]
