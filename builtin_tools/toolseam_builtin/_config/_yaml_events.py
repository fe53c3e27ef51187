"""The events of a YAML text, in the time that there is, and PyYAML's faults in words of ours."""

from __future__ import annotations

import re
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolseam_builtin._config._model import Broken

if TYPE_CHECKING:
    from collections.abc import Iterator

_TURNS = 512
_PROBLEMS = (
    ("mapping values are not allowed", "a colon where no key may stand; a text may want quotes"),
    ("could not find expected ':'", "a key without its colon"),
    ("did not find expected key", "a line that does not fit the indentation above it"),
    ("expected <block end>", "a line that does not fit the indentation above it"),
    ("did not find expected '-'", "a line that does not fit the list above it"),
    ("did not find expected ',' or", "a bracket that is not closed, or a comma that is missing"),
    ("expected ',' or", "a bracket that is not closed, or a comma that is missing"),
    ("unexpected end of stream", "a quote that is not closed"),
    ("cannot start any token", "a character that cannot begin a value"),
    ("unknown escape", "an unknown escape within double quotes"),
    ("duplicate anchor", "an anchor that is set twice"),
    ("undefined tag handle", "a tag whose handle is not declared"),
    ("block sequence entries are not allowed", "a list where none may begin"),
)
_INDENTING_TAB = re.compile(r" *\t")


def events(yaml: Any, text: str, end: float) -> Iterator[Any]:  # noqa: ANN401 - PyYAML's own
    """Give the events of a text, in the time that there is, all faults in words of ours."""
    parser = _parser(yaml, text)
    turn = 0
    try:
        while parser.check_event():
            turn += 1
            if turn % _TURNS == 0 and time.monotonic() > end:
                raise Broken(None, "time", "takes longer to read than the time limit allows")
            yield parser.get_event()
    except yaml.YAMLError as error:
        raise _fault(error, text) from None
    finally:
        parser.dispose()


def _parser(yaml: Any, text: str) -> Any:  # noqa: ANN401 - PyYAML's own
    """Return libyaml's parser, ten times faster, or PyYAML's own where it was not built."""
    try:
        fast = import_module("yaml.cyaml").CParser
    except ImportError:
        fast = yaml.SafeLoader
    try:
        return fast(text)
    except yaml.YAMLError as error:
        raise _fault(error, text) from None


def _fault(error: Any, text: str) -> Broken:  # noqa: ANN401 - PyYAML's own
    """Say a fault of PyYAML in words that hold nothing of the text."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        position = getattr(error, "position", None)
        line = None if position is None else text.count("\n", 0, position) + 1
        return Broken(line, "syntax", "a character that YAML does not allow")
    lines: list[str] = text.split("\n")
    number: int = min(mark.line, len(lines) - 1)
    if _INDENTING_TAB.match(lines[number]):
        return Broken(number + 1, "tab", "a tab indents the line, where YAML wants blanks")
    said = f"{getattr(error, 'problem', '')} {getattr(error, 'context', '')}"
    words = next((words for part, words in _PROBLEMS if part in said), "YAML does not go on here")
    return Broken(number + 1, "syntax", f"{words} (column {mark.column + 1})")
