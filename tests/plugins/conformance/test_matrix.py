"""Checks by mutants: each check is broken by its mutant, and by no tool that is right."""

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugins.conformance import good
from plugins.conformance.broken_adapters import ADAPTERS
from plugins.conformance.broken_hosts import HOSTS
from plugins.conformance.mutants import MODULES, MUTANTS, Mutant, isolated, measuring, raw
from support.dist_info import tools, write_dist
from support.timed import BUDGETS
from toolseam_plugins.conformance import (
    ALL_CHECKS,
    HOST_CHECKS,
    CheckResult,
    Status,
    _of_host,
    _subject,
    check_host,
    check_tool,
)

WITHIN_S, LONG_S = 30.0, 4.0
UNTIMED = [check.slug for check in HOST_CHECKS if check.slug != "host-keeps-deadlines"]
SLUGS = [mutant.slug for mutant in MUTANTS]
BROKEN = (Status.FAILED, Status.ERROR)


@pytest.fixture(autouse=True)
def patient(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge by time only what is wrong in that way: the machine may stand still for a while."""
    given = getattr(request.node, "callspec", None)
    asked = {} if given is None else given.params
    broken = asked.get("slug", getattr(asked.get("mutant"), "slug", ""))
    for room, name in set(BUDGETS.values()) - {BUDGETS.get(broken)}:
        monkeypatch.setattr(room, name, WITHIN_S)
    if broken not in BUDGETS:
        monkeypatch.setattr(_subject, "PATIENCE_S", WITHIN_S)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put a folder for modules on the path, and forget them and what they did afterwards."""
    monkeypatch.setenv("MUTANTS", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    importlib.invalidate_caches()
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("acme"):
            del sys.modules[name]
    for name in ("MUTANT_WAS_HERE", "MUTANT_WAS_ASKED"):
        os.environ.pop(name, None)


def install(site: Path, text: str, name: str = "greet") -> str:
    """Write a distribution with one tool module and return its name."""
    write_dist(site, f"acme_{name}", points=tools(**{name: f"acme_{name}"}))
    (site / f"acme_{name}.py").write_text(text.replace("{name}", name))
    return f"acme-{name}"


def broken(found: list[CheckResult]) -> dict[str, str]:
    """Return the slugs that do not hold, with what was said."""
    return {result.slug: result.message for result in found if result.status in BROKEN}


@pytest.mark.parametrize("mutant", MUTANTS, ids=SLUGS)
def test_each_mutant_breaks_its_check(mutant: Mutant, site: Path) -> None:
    """A tool that is wrong in one way fails the check of that way, and no unrelated one."""
    found = check_tool(mutant.plugin, **mutant.options)

    assert set(broken(found)) == {mutant.slug, *mutant.also}, broken(found)


@pytest.mark.parametrize("slug", MODULES)
def test_each_module_breaks_its_check(slug: str, site: Path) -> None:
    """A module that is wrong in one way fails the check of that way, and no unrelated one."""
    named = install(site, MODULES[slug], name=slug.replace("-", "_"))

    failed = broken(check_tool(named))

    also = {"imports-alone"} if slug == "entry-point-resolves" else set()
    assert set(failed) == {slug, *also}, failed


@pytest.mark.parametrize("slug", HOSTS)
def test_each_broken_host_breaks_its_check(slug: str) -> None:
    """A host that is wrong in one way fails the check of that way alone."""
    # Which of them waits is seen by one, and by the host that is delivered: that one sleeps.
    asked = [each.slug for each in HOST_CHECKS if each.slug in (slug, *UNTIMED)]

    failed = broken(check_host(HOSTS[slug], checks=asked))

    assert set(failed) == {slug}, failed


def test_the_host_keeps_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """No check of a host is failed by the host that is delivered."""
    monkeypatch.setattr(_of_host, "_SLEEP_S", LONG_S)
    assert {result.status for result in check_host()} == {Status.PASSED}


@pytest.mark.parametrize("style", good.OBJECTS)
def test_a_tool_of_any_style_passes(style: str) -> None:
    """No check is failed by a tool that keeps the contract, however it is written."""
    plugin, options = good.OBJECTS[style]

    assert broken(check_tool(plugin, **options)) == {}


def test_a_module_passes(site: Path) -> None:
    """No check is failed by a distribution whose tool is a module."""
    named = install(site, good.MODULE)

    found = check_tool(named, examples={"greet": [{"name": "Ada"}]})

    assert broken(found) == {}
    assert sum(result.status is Status.PASSED for result in found) > 40


def test_tools_known_at_run_time_pass() -> None:
    """Each tool that a host plugin makes when it runs is checked by itself."""
    found = check_tool("plugins.conformance.good:mount")

    assert broken(found) == {}
    assert {result.tool for result in found} == {"ladder", "lamp"}


def test_a_tool_that_measures_may_count_the_call() -> None:
    """Numbers of a diagnosis may differ with the way it is asked for; its words may not."""
    assert broken(check_tool(measuring)) == {}


def test_an_isolated_interpreter_is_no_write() -> None:
    """A read may ask this interpreter under `-I`, which is how foreign code is looked at."""
    assert broken(check_tool(isolated)) == {}


def test_a_tool_that_is_declared_to_show_secrets_may() -> None:
    """One that is off by default, for admins and secret_adjacent is not asked to hide them."""
    found = check_tool(raw)

    assert broken(found) == {}
    (asked,) = [result for result in found if result.slug == "environment-secrets-stay"]
    assert asked.status is Status.NOT_APPLICABLE


def test_every_check_has_a_mutant() -> None:
    """Each check of tools, hosts and adapters is broken by something here or in a file beside."""
    mutants = {mutant.slug for mutant in MUTANTS} | set(MODULES) | set(HOSTS) | set(ADAPTERS)

    assert {check.slug for check in ALL_CHECKS} == mutants
