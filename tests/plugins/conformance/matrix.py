"""Prints checks by mutants: `python tests/plugins/conformance/matrix.py`.

A row a tool or host, a column a check: `#` fails as it must, `+` fails along with it, `.` passes,
a blank has nothing to judge, `!` is a fault of the kit.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import pytest  # noqa: F401 - one mutant relies on it, which is wrong

sys.path.insert(0, str(Path(__file__).parents[2]))

from plugins.conformance import good
from plugins.conformance.broken_hosts import HOSTS
from plugins.conformance.mutants import MODULES, MUTANTS
from support.dist_info import tools, write_dist
from toolseam_plugins.conformance import (
    HOST_CHECKS,
    TOOL_CHECKS,
    CheckResult,
    Status,
    check_host,
    check_tool,
)

_WIDTH = 36
LAST = [time.monotonic()]


def main() -> None:
    """Run everything and print one line each."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MUTANTS"] = folder
        sys.path.insert(0, folder)
        os.chdir(folder)  # the builtins look at an empty workspace
        started = time.monotonic()
        _heading([check.slug for check in TOOL_CHECKS])
        for mutant in MUTANTS:
            also = mutant.also
            _row(mutant.slug, check_tool(mutant.plugin, **mutant.options), mutant.slug, *also)
        for slug, text in MODULES.items():
            name = slug.replace("-", "_")
            write_dist(Path(folder), f"acme_{name}", points=tools(**{name: f"acme_{name}"}))
            Path(folder, f"acme_{name}.py").write_text(text.replace("{name}", name), "utf-8")
            also = ("imports-alone",) if slug == "entry-point-resolves" else ()
            _row(slug, check_tool(f"acme-{slug}"), slug, *also)
        for style, (plugin, options) in good.OBJECTS.items():
            _row(f"good: {style}", check_tool(plugin, **options))
        found = check_tool("builtins")
        for name in sorted({result.tool for result in found}):
            _row(f"builtin: {name}", [result for result in found if result.tool == name])
        _heading([check.slug for check in HOST_CHECKS])
        for slug, make in HOSTS.items():
            _row(slug, check_host(make), slug)
        _row("good: Host", check_host())
        _say(f"{time.monotonic() - started:.1f} s")


def _row(name: str, found: list[CheckResult], *expected: str) -> None:
    cells = "".join(_cell(result, expected) for result in found)
    _say(f"{name[:_WIDTH]:<{_WIDTH}} {cells} {time.monotonic() - LAST[-1]:5.1f} s")
    LAST.append(time.monotonic())


def _cell(result: CheckResult, expected: tuple[str, ...]) -> str:
    if result.status is Status.PASSED:
        return "!" if result.slug in expected else "."
    if result.status is Status.NOT_APPLICABLE:
        return "!" if result.slug in expected else " "
    if result.status is Status.ERROR or result.slug not in expected:
        return "!"
    return "#" if result.slug == expected[0] else "+"


def _heading(slugs: list[str]) -> None:
    for place, slug in enumerate(slugs):
        _say(f"{slug:>{_WIDTH}} {'|' * place}.")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
