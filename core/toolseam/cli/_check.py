"""`toolseam check`: whether a tool keeps the contract, told by named checks."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from toolseam.cli._terminal import (
    Shown,
    columns,
    complain,
    joined,
    on_terminal,
    one_line,
    paint,
    say,
    say_json,
)
from toolseam.cli._words import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Generator, Iterator, Sequence

    from toolseam_plugins.conformance import CheckResult

_COLOURS = {
    "passed": "green",
    "failed": "red",
    "error": "red",
    "unexpected_pass": "red",
    "expected_failure": "yellow",
    "not_scored": "yellow",
}
_FAILED = 2
_CLEAR = "\r\x1b[K"


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    parser.add_argument(
        "target",
        metavar="TARGET",
        nargs="?",
        help="a distribution, a tool, module:object, or `builtins`; with --egress what brings an"
        " adapter; checking imports it",
    )
    parser.add_argument(
        "--example",
        action="append",
        default=[],
        metavar="NAME=JSON",
        help="arguments that the tool NAME must do well with; repeat it",
    )
    parser.add_argument(
        "--expected-failures",
        metavar="FILE",
        help="TOML: `slug` or `tool:slug` = why it is expected to fail",
    )
    parser.add_argument("--only", action="append", metavar="SLUG", help="this check; repeat it")
    parser.add_argument("--seed", type=int, default=0, help="of the generated arguments; 0")
    parser.add_argument("--junit", metavar="FILE", help="write a JUnit report too")
    parser.add_argument("--list", action="store_true", help="show every check, and run none")
    parser.add_argument("--egress", action="store_true", help="prove that no canary leaves a sink")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.epilog = """\
examples:
  toolseam check acme-tools
  toolseam check greet --example 'greet={"name": "Ada"}'
  toolseam check builtins --junit report.xml
  toolseam check acme-tools --only returns-tool-result --seed 7
  toolseam check --list
  toolseam check --egress
  toolseam check --egress acme-adapter

exit codes: 0 all that is scored passed, 1 a check failed, 2 usage or nothing to check, 3 a crash
"""


def main(options: Namespace) -> int:
    """Run the checks and print what came of them."""
    # What hypothesis keeps for itself is not left in somebody's folder.
    with tempfile.TemporaryDirectory(prefix="toolseam-check-") as folder:
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", folder)
        try:
            return _main(options)
        except (UsageError, ImportError) as error:
            complain(str(error))
            return 2


def _main(options: Namespace) -> int:
    if options.list:
        return _list(as_json=options.json)
    if options.egress:
        if options.target is not None:
            return _adapters(options)
        from toolseam.cli._proof import prove

        return prove(as_json=options.json)
    if options.target is None:
        raise UsageError("name what to check: a distribution, a tool, module:object or `builtins`")
    from toolseam.testing import check_tool

    expected = _expected(options.expected_failures)
    examples = _examples(options.example)
    # What a tool prints must not get into the report that a program reads.
    with redirect_stdout(sys.stderr), progress() as show:
        results = check_tool(
            options.target,
            examples=examples or None,
            expected_failures=expected,
            seed=options.seed,
            checks=options.only,
            heard=None if show is None else lambda each: show(f"{each.tool}:{each.slug}"),
        )
    return _told(results, options)


def _adapters(options: Namespace) -> int:
    """Check the adapters that a target brings."""
    from toolseam_plugins.conformance import check_adapter, drives

    with redirect_stdout(sys.stderr):
        results = [
            result
            for name, drive in drives(options.target).items()
            for result in check_adapter(drive, name=name, checks=options.only)
        ]
    return _told(results, options, "adapter")


def _told(results: list[CheckResult], options: Namespace, noun: str = "tool") -> int:
    from toolseam_plugins.conformance import ALL_CHECKS, _report

    if options.junit is not None:
        _write(Path(options.junit), _report.as_junit(results))
    if options.json:
        say_json(_report.as_json(results, options.target, options.seed))
        return _report.exit_code(results)
    if on_terminal():
        from toolseam.cli._table import table

        say(table(_report.HEADINGS, _report.rows(results), width=columns(), style=_styled))
        for reason, number in _report.reasons(results):
            say(paint(f"{number:4} not applicable: {reason}", "dim"))
    else:
        for result in results:
            cells = (result.tool, result.slug, result.level, result.status, result.message)
            say(Shown("\t".join(one_line(cell) for cell in cells)))
    for result in _report.broken(results):
        first, *rest = _report.told(result, ALL_CHECKS)
        say("\n", paint(f"{result.status.upper()} ", "bold", "red"), paint(first, "bold"))
        say(joined(*[part for line in rest for part in ("  ", line, "\n")]).removesuffix("\n"))
    code = _report.exit_code(results)
    say("\n", paint(_report.closing_line(results, noun), "bold", "red" if code else "green"))
    return code


def _styled(column: int, text: str) -> Shown:
    if column == _FAILED and text.strip() not in ("", "-"):
        return paint(text, "red")
    return Shown(text)


def _list(*, as_json: bool) -> int:
    from toolseam_plugins.conformance import ALL_CHECKS
    from toolseam_plugins.conformance._report import checks_json

    facts = checks_json(ALL_CHECKS)
    if as_json:
        say_json(facts)
        return 0
    rows = [(f["slug"], f["level"], f["clause"], f["since"], f["title"]) for f in facts]
    if on_terminal():
        from toolseam.cli._table import table

        say(table(("CHECK", "LEVEL", "CLAUSE", "SINCE", "WHAT"), rows, width=columns()))
        say(f"\n{len(rows)} checks.")
        return 0
    for row in rows:
        say(Shown("\t".join(one_line(cell) for cell in row)))
    return 0


@contextmanager
def progress() -> Generator[Callable[[str], None] | None]:
    """Give what shows on a terminal where the work is; None where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return

    def show(place: str) -> None:
        sys.stderr.write(f"{_CLEAR}{one_line(place)[: columns() - 1]}")
        sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write(_CLEAR)


def _examples(words: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Read `name=JSON`, each the arguments of one call."""
    import json

    found: dict[str, list[dict[str, Any]]] = {}
    for word in words:
        name, equals, text = word.partition("=")
        try:
            arguments = json.loads(text)
        except ValueError:
            arguments = None
        if not equals or not name or not isinstance(arguments, dict):
            raise UsageError(f"--example {word[:80]!r}: expected NAME={{…}}, a JSON object")
        found.setdefault(name, []).append(cast("dict[str, Any]", arguments))
    return found


def _expected(name: str | None) -> dict[str, str]:
    """Read why which checks are expected to fail, by `slug` or `tool:slug`.

    A table is read as the tool of that name; of a `pyproject.toml` only its
    `[tool.toolseam.expected-failures]` counts.
    """
    if name is None:
        return {}
    import tomllib

    try:
        with Path(name).open("rb") as file:
            table: Any = tomllib.load(file)
    except (OSError, ValueError) as error:
        raise UsageError(f"{name}: cannot be read: {type(error).__name__}") from None
    if Path(name).name == "pyproject.toml":
        table = table.get("tool", {}).get("toolseam", {}).get("expected-failures", {})
    return dict(_reasons(name, cast("dict[str, Any]", table)))


def _reasons(name: str, table: dict[str, Any], tool: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict) and not tool:
            yield from _reasons(name, cast("dict[str, Any]", value), f"{key}:")
        elif isinstance(value, str):
            yield f"{tool}{key}", value
        else:
            raise UsageError(f"{name}: {tool}{key}: the reason is a text")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {type(error).__name__}") from None
