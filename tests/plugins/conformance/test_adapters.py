from typing import Any

import pytest

from plugins.conformance.broken_adapters import ADAPTERS, ahonest, honest, leaking
from plugins.conformance.leaks import LEAKS
from toolseam.testing import CheckResult, TargetError, check_adapter
from toolseam_plugins.conformance import ADAPTER_CHECKS, Status

OF = {
    "exception": "adapter-keeps-exceptions",
    "look_alike": "adapter-keeps-exceptions",
    "settings": "adapter-keeps-secrets",
    "environment": "adapter-keeps-secrets",
}


def broken(found: list[CheckResult]) -> dict[str, str]:
    """Return the slugs that do not hold, with what was said."""
    return {r.slug: r.message for r in found if r.status in (Status.FAILED, Status.ERROR)}


@pytest.mark.parametrize("slug", ADAPTERS)
def test_each_broken_adapter_breaks_its_check(slug: str) -> None:
    """An adapter that is wrong in one way fails the check of that way alone."""
    failed = broken(check_adapter(ADAPTERS[slug]))

    assert set(failed) == {slug}, failed


@pytest.mark.parametrize("place", LEAKS)
def test_each_place_that_leaks_is_named(place: str) -> None:
    """Whatever came out is named by its place, at the check that it belongs to."""
    failed = broken(check_adapter(leaking(place)))

    slug = OF.get(place, "adapter-keeps-run-only")
    assert failed == {slug: f"came out: {place}"}


@pytest.mark.parametrize("drive", [honest, ahonest])
def test_an_adapter_that_keeps_the_contract_passes(drive: Any) -> None:
    """Sync or async, text or bytes: every check passes and says how much it was driven with."""
    found = check_adapter(drive, name="acme")

    assert {result.status for result in found} == {Status.PASSED}
    assert {result.tool for result in found} == {"acme"}
    assert [result.slug for result in found] == [check.slug for check in ADAPTER_CHECKS]
    assert found[1].message == "6 calls of 6 tools"


@pytest.mark.parametrize("given", [None, 7, ["text"]])
def test_a_drive_that_returns_no_bytes_has_proved_nothing(given: Any) -> None:
    """What cannot be looked through is a failure, and the other checks judge nothing."""
    found = check_adapter(lambda session: given)

    assert set(broken(found)) == {"adapter-runs"}
    assert {r.status for r in found[1:]} == {Status.NOT_APPLICABLE}


def test_one_check_can_be_asked_for() -> None:
    """A slug chooses its check; one that is none is refused."""
    (one,) = check_adapter(honest, checks=["adapter-runs"])

    assert one.slug == "adapter-runs"
    with pytest.raises(TargetError, match="adapter-keeps-run-only"):
        check_adapter(honest, checks=["adapter-keeps-runonly"])
