"""What people see: one cleaner, colour where a terminal listens, and JSON that is safe there.

`say` cleans whatever is not `Shown`, and only this module makes `Shown`: no escape sequence of a
row, a file or a description reaches a terminal.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper

from toolseam._text import clean, is_clean

TYPE_CHECKING = False  # as type checkers read it; importing `typing` doubles a bare start
if TYPE_CHECKING:
    from typing import TextIO

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
_WIDTH = 100

PROGRAM = "toolseam"


class Shown(str):
    """Text that was cleaned, and may hold escape sequences of our own."""

    __slots__ = ()


def safe(text: str) -> str:
    """Return `text` as a terminal may have it; newlines and tabs stay."""
    return text if isinstance(text, Shown) else clean(text)


def one_line(text: str) -> str:
    """Return `text` as one safe line."""
    return safe(text).replace("\n", "␊").replace("\t", "␉")


def paint(text: str, *styles: str) -> Shown:
    """Return `text` cleaned, in colour if standard output is a terminal that wants it."""
    shown = safe(text)
    if not shown or not styles or not colourful():
        return Shown(shown)
    codes = ";".join(_CODES[style] for style in styles)
    return Shown(f"\x1b[{codes}m{shown}\x1b[0m")


def joined(*parts: str) -> Shown:
    """Put pieces together, each cleaned unless it was."""
    return Shown("".join(safe(part) for part in parts))


def say(*parts: str) -> None:
    """Write one line, or several, to standard output."""
    sys.stdout.write(joined(*parts) + "\n")


def note(*parts: str) -> None:
    """Write a line to standard error, beside the answer."""
    sys.stdout.flush()
    sys.stderr.write(joined(*parts) + "\n")


def complain(text: str) -> None:
    """Say on standard error what is wrong."""
    note(f"{PROGRAM}: {text}")


def colourful() -> bool:
    """Tell whether standard output is a terminal that wants colour."""
    environ = os.environ
    return on_terminal() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def on_terminal() -> bool:
    """Tell whether a person reads standard output."""
    return sys.stdout.isatty()


def columns() -> int:
    """Return the width of the terminal in columns; 100 where nobody says."""
    try:
        return int(os.environ.get("COLUMNS", "")) or os.get_terminal_size().columns or _WIDTH
    except (OSError, ValueError):
        pass
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _WIDTH
    except (OSError, ValueError):
        return _WIDTH


def forgiving(*streams: TextIO) -> None:
    """Let a stream write what its encoding does not know as escapes, instead of failing."""
    for stream in streams:
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say_json(value: object, *, end: str = "") -> None:
    """Write one JSON document; what the cleaner would change is escaped, so nothing is lost."""
    import json

    text = json.dumps(value, ensure_ascii=False, indent=2)
    if not is_clean(text):
        text = "".join(letter if is_clean(letter) else _escaped(letter) for letter in text)
    say(text, end)


def _escaped(letter: str) -> str:
    units = letter.encode("utf-16-be", "surrogatepass")
    pairs = (units[i : i + 2] for i in range(0, len(units), 2))
    return "".join(f"\\u{pair.hex()}" for pair in pairs)
