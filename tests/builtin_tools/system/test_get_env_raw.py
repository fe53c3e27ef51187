import pytest

from toolseam import Actor, DataClass, ErrorCode
from toolseam.testing import harness
from toolseam_builtin.system import get_env, get_env_raw


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSEUM_PASSWORD", "Tulip-77")
    monkeypatch.setenv("MUSEUM_NAME", "harbour")


def test_values_are_shown_as_they_are() -> None:
    """What `get_env` masks stands here in text, table and data alike."""
    masked = harness(get_env).call({"name": "MUSEUM_PASSWORD"})
    raw = harness(get_env_raw).call({"name": "MUSEUM_PASSWORD"})

    assert "Tulip-77" not in masked.content
    assert raw.content.split("\n")[1:] == ["MUSEUM_PASSWORD=Tulip-77"]
    assert raw.artifacts[0].rows == [["MUSEUM_PASSWORD", "Tulip-77"]]
    assert raw.data is not None
    assert raw.data["rows"] == [["MUSEUM_PASSWORD", "Tulip-77"]]


def test_the_listing_holds_every_name() -> None:
    """Without a name all variables are listed, as in `get_env`."""
    names = [row[0] for row in harness(get_env_raw).call({}).artifacts[0].rows]

    assert names == [row[0] for row in harness(get_env).call({}).artifacts[0].rows]
    assert {"MUSEUM_NAME", "MUSEUM_PASSWORD"} <= set(names)


def test_an_unknown_name_is_not_found() -> None:
    """A name that is not set is `not_found`."""
    failure = harness(get_env_raw).call({"name": "NO_SUCH_VARIABLE"}).failure

    assert failure is not None
    assert failure.code == ErrorCode.NOT_FOUND


def test_it_is_off_and_of_the_most_delicate_class() -> None:
    """Nobody is offered it before the operator enables it, and then admins alone."""
    spec = harness(get_env_raw).spec

    assert not spec.enabled_by_default
    assert spec.requires_admin
    assert spec.data_class is DataClass.SECRET_ADJACENT


@pytest.mark.parametrize("actor", [None, Actor("ada")])
def test_only_admins_may_look(actor: Actor | None) -> None:
    """Without the role admin the tool is refused."""
    failure = harness(get_env_raw, actor=actor).call({}).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
