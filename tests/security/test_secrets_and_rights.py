"""S8: who asks, and where the answer goes, decide over all builtins alike."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from builtin_tools.conftest import plenty_of_time
from support.databases import everything, sqlite_workspace
from support.doors import DENIED, TABLES
from support.ground import ADMIN, BOB, EXAMPLES, WRITERS, Ground, builtins, ground, planted
from toolseam import Actor, Zone
from toolseam.testing import Harness, harness
from toolseam_builtin.workspace import AccountSettings

__all__ = ["ground", "planted", "plenty_of_time"]

TARGETS = {point.name: point.value for point in entry_points(group="toolseam.tools")}
OF_A_TABLE = [name for name, spec in builtins().items() if "table" in spec.schema["properties"]]
NEAR = re.compile(r" Did you mean '[^']*'\?")


@pytest.mark.parametrize("actor", [ADMIN, BOB, None])
@pytest.mark.parametrize("zone", Zone)
def test_actor_and_zone_decide_who_is_answered(
    ground: Ground, actor: Actor | None, zone: Zone
) -> None:
    """Without a user nothing, without the role no tool for admins, in no zone the secret (H40)."""
    for name, arguments in EXAMPLES.items():
        result = ground.call(name, arguments, actor=actor, zone=zone)

        tool = ground.host.tool(name)
        assert tool is not None
        refused = actor is None or (actor is BOB and tool.requires_admin)
        refused = refused or tool.data_class.rank > zone.ceiling.rank
        code = "permission_denied" if refused else "approval_denied" if name in WRITERS else None
        assert (result.failure and result.failure.code) == code, name


@pytest.mark.parametrize("name", ["fetch_logs", "list_deprecations", "get_last_exception"])
def test_what_shows_a_log_stays_on_this_machine(ground: Ground, name: str) -> None:
    """Text of logs is as near to secrets as it gets, whichever tool shows it (H45)."""
    told = {zone: ground.call(name, {}, zone=zone) for zone in Zone}

    assert told.pop(Zone.LOCAL).success
    for result in told.values():
        assert result.failure is not None
        assert result.failure.code == "permission_denied"


@pytest.mark.parametrize("name", OF_A_TABLE)
def test_tables_of_people_sound_as_if_they_were_not_there(tmp_path: Path, name: str) -> None:
    """Their refusal is that of any absent table, and the same where they really are absent."""
    with_them, without = tmp_path / "with", tmp_path / "without"
    for folder in (with_them, without):
        folder.mkdir()
    people = AccountSettings("people", "team")
    dropped = "".join(f"drop table {table};" for table in DENIED)
    here = sqlite_workspace(with_them, TABLES, accounts=people)
    there = sqlite_workspace(without, TABLES + dropped, accounts=people)

    tool = import_module(TARGETS[name])
    with (
        harness(tool, settings=here, actor=ADMIN, approve=True) as double,
        harness(tool, settings=there, actor=ADMIN, approve=True) as other,
    ):
        never = told(double, "zzzz")
        for table in DENIED:
            for asked in (table, table.upper(), f"main.{table}", f"{table}s"):
                denied = told(double, asked)
                assert denied[0] == "not_found", denied
                assert denied == told(other, asked)
                plain = [NEAR.sub("", part) for part in denied]
                assert plain == [part.replace("zzzz", asked) for part in never]


def told(double: Harness, table: str) -> list[str]:
    """Return what a call says of a table, and of a write what its preview says too."""
    name = double.spec.name
    arguments = EXAMPLES[name] | {"table": table}
    lines = double.host.preview(name, arguments, actor=ADMIN).lines if name in WRITERS else ()
    result = double.call(arguments)
    return [str(result.failure and result.failure.code), everything(result), *lines]
