"""Looking for what is wrong, or odd, in configuration files."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolError
from toolseam_builtin._config._files import read_config
from toolseam_builtin._config._model import Broken, Finding, Findings
from toolseam_builtin._config._parse import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolseam_builtin._config._files import ConfigText
    from toolseam_builtin.workspace import Workspace

_ENDS = re.compile(r"\r\n|\r|\n")


@attrs.define
class Checked:
    """What checking files came to: the findings kept, by file and line, and the counts of all."""

    found: list[tuple[str, Finding]] = attrs.field(factory=list[tuple[str, Finding]])
    total: int = 0
    files: int = 0
    odd_files: int = 0
    left: tuple[str, ...] = ()


def check(workspace: Workspace, names: Sequence[str], end: float, *, asked: bool) -> Checked:
    """Check files one after the other, until the time is over.

    Args:
        workspace: whose files they are.
        names: of the files.
        end: a moment of `time.monotonic()` at which checking stops.
        asked: they were asked for by name, so a file that cannot be opened is refused.

    Raises `ToolError` as `read_config` does, if `asked`.
    """
    checked = Checked()
    for number, name in enumerate(names):
        if number and time.monotonic() >= end:
            checked.left = tuple(names[number:])
            break
        findings = Findings()
        try:
            source = read_config(workspace, name)
            _of_text(source, findings)
            parsed = parse(source, end).findings
            findings.total += parsed.total - len(parsed.kept)
            for each in parsed.kept:
                findings.add(each.line, each.kind, each.text)
        except Broken as broken:
            finding = broken.finding
            findings.add(finding.line, finding.kind, finding.text)
        except ToolError as refusal:
            if asked:
                raise
            findings.add(None, *_of_refusal(refusal))
        checked.files += 1
        checked.total += findings.total
        checked.odd_files += findings.total > 0
        findings.kept.sort(key=lambda each: each.line or 0)
        checked.found += [(name, each) for each in findings.kept]
    return checked


def _of_text(source: ConfigText, findings: Findings) -> None:
    """Look at what no parser tells."""
    if source.mark:
        findings.add(
            1, "byte order mark", "begins with a byte order mark, which many parsers refuse"
        )
    if not source.exact:
        line = source.text[: source.text.index("\ufffd")].count("\n") + 1
        findings.add(line, "encoding", "bytes that are no text in the file's encoding")
    ends = _ENDS.findall(source.text)
    if len(set(ends)) > 1:
        other = next(number for number, each in enumerate(ends, 1) if each != ends[0])
        findings.add(other, "line ends", "ends otherwise than the lines before it")


def _of_refusal(refusal: ToolError) -> tuple[str, str]:
    """Return kind and words for a listed file that could not be read."""
    if refusal.code == ErrorCode.NOT_FOUND:
        return "missing", "the workspace lists this file, and it is not there"
    if refusal.code == ErrorCode.UNAVAILABLE:
        return "not checked", refusal.message
    return "not read", refusal.message
