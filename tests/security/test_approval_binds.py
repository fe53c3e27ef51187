"""S4, over what exists: an approval is for one call, of this very tool, by this very actor."""

import asyncio
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pytest

from support.tools import ADA, BOB, spec
from toolseam import Actor, Host, ToolError, ToolResult, ToolSpec, hookimpl

ARGUMENTS = {"properties": {"price": {"type": "integer"}}, "required": ["price"]}


class SetPrice:
    """One write tool on one row, whose preview shows what is there now."""

    def __init__(self, file: Path, **more: Any) -> None:
        self._file = file
        self._more = more
        self.runs = 0

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Return the specification."""
        given = {"effect": "idempotent_write", "parameters": ARGUMENTS, **self._more}
        return spec("set_price", **given)

    def _now(self) -> int:
        with sqlite3.connect(self._file) as database:
            found: int = database.execute("SELECT price FROM item").fetchone()[0]
        database.close()
        return found

    @hookimpl
    def preview(self, arguments: dict[str, int]) -> ToolResult:
        """Show the old and the new price."""
        return ToolResult.text(f"price {self._now()} -> {arguments['price']}")

    @hookimpl
    def execute(self, arguments: dict[str, int]) -> ToolResult:
        """Set the price."""
        self.runs += 1
        with sqlite3.connect(self._file) as database:
            database.execute("UPDATE item SET price = ?", [arguments["price"]])
        database.close()
        return ToolResult.text("set")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database with one row."""
    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE item (price INTEGER)")
        database.execute("INSERT INTO item VALUES (10)")
    database.close()
    return path


@pytest.fixture
def tool(file: Path) -> SetPrice:
    """The write tool."""
    return SetPrice(file)


@pytest.fixture
def host(tool: SetPrice) -> Iterator[Host]:
    """A host with the write tool."""
    with Host(tools=[tool]) as host:
        yield host


TO_12 = {"price": 12}


def grant(host: Host, given: Any = TO_12, owner: Actor = ADA) -> Any:
    """Return a person's approval of a call by the host's own code."""
    return host.approve(host.preview("set_price", given, actor=owner), actor=ADA)


def refused(result: ToolResult, code: str, reason: str | None = None) -> None:
    """Hold a result to a refusal."""
    assert result.failure is not None
    assert (result.failure.code, result.metadata.value.get("reason")) == (code, reason)


def test_an_approved_call_runs_once(host: Host, tool: SetPrice) -> None:
    """The approval is used up by the call; a second use is a conflict."""
    approval = grant(host, {"price": 10})

    assert host.call("set_price", {"price": 10}, actor=ADA, approval=approval).success
    again = host.call("set_price", {"price": 10}, actor=ADA, approval=approval)

    refused(again, "conflict", "used")
    assert tool.runs == 1
    assert host.steps[-1].effect == "none"


def test_of_many_at_once_one_wins(host: Host, tool: SetPrice) -> None:
    """Threads and tasks that share one approval: one runs, the others conflict."""
    approval = grant(host, {"price": 10})

    def call(i: int) -> list[ToolResult]:
        if i % 2:
            return [host.call("set_price", {"price": 10}, actor=ADA, approval=approval)]

        async def main() -> list[ToolResult]:
            calls = (
                host.acall("set_price", {"price": 10}, actor=ADA, approval=approval)
                for _ in range(3)
            )
            return await asyncio.gather(*calls)

        return asyncio.run(main())

    with ThreadPoolExecutor(8) as pool:
        results = [r for found in pool.map(call, range(8)) for r in found]

    assert sum(r.success for r in results) == 1
    assert {r.metadata["reason"] for r in results if r.is_error} == {"used"}
    assert tool.runs == 1


def test_other_arguments_are_another_call(host: Host, tool: SetPrice) -> None:
    """A call that contains, or differs from, the approved one was not approved."""
    approval = grant(host)

    refused(
        host.call("set_price", {"price": 13}, actor=ADA, approval=approval), "conflict", "changed"
    )
    wider = host.call("set_price", {"price": 12, "all": 1}, actor=ADA, approval=approval)
    refused(wider, "invalid_arguments")
    assert tool.runs == 0


def test_the_same_arguments_in_other_words_are_the_same_call(host: Host, tool: SetPrice) -> None:
    """What is approved is the one recorded text, not the way it was written."""
    approval = grant(host, '{"price": "12"}')

    assert host.call("set_price", {"price": 12}, actor=ADA, approval=approval).success


def test_a_row_changed_in_between_is_a_conflict(host: Host, tool: SetPrice, file: Path) -> None:
    """The preview is made again, and what it shows now is not what was approved (S4 c)."""
    approval = grant(host)
    with sqlite3.connect(file) as database:
        database.execute("UPDATE item SET price = 900")
    database.close()

    refused(host.call("set_price", TO_12, actor=ADA, approval=approval), "conflict", "changed")
    assert tool.runs == 0


def test_two_approved_writes_of_one_tool_see_each_other(host: Host, tool: SetPrice) -> None:
    """The second is judged in its turn, after the first has changed the row."""
    first, second = grant(host), grant(host, {"price": 13})

    with ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(host.call, "set_price", given, actor=ADA, approval=approval)
            for given, approval in ((TO_12, first), ({"price": 13}, second))
        ]
        results = [job.result() for job in jobs]

    assert sum(r.success for r in results) == 1
    assert tool.runs == 1


def test_another_actor_is_another_call(host: Host, tool: SetPrice) -> None:
    """The digest names the owner, with his roles."""
    approval = grant(host, owner=ADA)

    for actor in (BOB, Actor("ada"), Actor("ada", {"admin"}, service=True), Actor.system):
        refused(
            host.call("set_price", TO_12, actor=actor, approval=approval), "conflict", "changed"
        )
    assert tool.runs == 0


def test_another_run_is_another_call(host: Host, tool: SetPrice) -> None:
    """Host code, one session, another session: none can use the other's approval (S4 b)."""
    mine, other = host.session(actor=ADA), host.session(actor=ADA)
    approval = host.approve(mine.preview("set_price", TO_12), actor=ADA)

    refused(other.call("set_price", TO_12, approval=approval), "conflict", "other_run")
    refused(host.call("set_price", TO_12, actor=ADA, approval=approval), "conflict", "other_run")
    refused(mine.call("set_price", TO_12, approval=grant(host)), "conflict", "other_run")
    assert tool.runs == 0
    assert mine.call("set_price", TO_12, approval=approval).success


def test_two_identical_calls_of_a_session_are_two(host: Host, tool: SetPrice) -> None:
    """Each has its own position, and the approval of one is not that of the other."""
    session = host.session(actor=ADA)
    one, two = session.preview("set_price", TO_12), session.preview("set_price", TO_12)

    assert one.digest != two.digest
    assert one.position != two.position


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Sets something else."},
        {"effect": "unknown"},
        {"parameters": {"properties": {**ARGUMENTS["properties"], "x": {}}}},  # type: ignore[dict-item]
        {"version": "2"},
        {"sends_to": "local"},
    ],
)
def test_a_tool_that_changed_is_another_tool(file: Path, change: dict[str, Any]) -> None:
    """Description, schema, effect or version under the same name void the approval (S4 d)."""
    from toolseam._approval import digest
    from toolseam._binding import bind

    old = bind(SetPrice(file), name=None, distribution="shop", version="1")
    new = bind(SetPrice(file, **change), name=None, distribution="shop", version="1")
    released = bind(SetPrice(file), name=None, distribution="shop", version="2")
    given: Any = {"arguments": b"{}", "lines": ["x"], "run_id": "r", "owner": ADA}

    told = {digest(tool, **given) for tool in (old, new, released)}

    assert len(told) == 3


@attrs.frozen
class Touching:
    """Arguments whose making leaves a trace."""

    marker: str
    stamp: str = attrs.field(init=False, default="")

    def __attrs_post_init__(self) -> None:
        """Touch the marker."""
        Path(self.marker).touch()


def test_no_code_of_a_plugin_runs_before_an_approval(tmp_path: Path) -> None:
    """Making the arguments is plugin code: only a preview may do it (S4 j, H41)."""
    marker = tmp_path / "marker"
    runs: list[int] = []

    class Write:
        @hookimpl
        def tool_spec(self) -> ToolSpec:
            return spec("write", effect="unknown", parameters=Touching)

        @hookimpl
        def execute(self, arguments: object) -> ToolResult:
            runs.append(1)
            return ToolResult.text("done")

    host = Host(tools=[Write()])
    session = host.session(actor=ADA)
    given = {"marker": str(marker)}

    refused(host.call("write", given, actor=ADA), "approval_denied")
    refused(asyncio.run(host.acall("write", given, actor=ADA)), "approval_denied")
    session.call_wire("write", given)
    preview = host.preview("write", given, actor=ADA)
    approval = host.approve(preview, actor=ADA)
    refused(session.call("write", given, approval=approval), "conflict", "other_run")
    assert not marker.exists()
    assert not runs

    host.call("write", given, actor=ADA, approval=host.approve(preview, actor=ADA))
    assert marker.exists()
    assert runs == [1]


def test_an_approver_must_be_allowed_the_call(file: Path) -> None:
    """Refused without a trace on the call, which can still be approved by another (S4 e)."""
    tool = SetPrice(file, requires_admin=True)
    host = Host(tools=[tool])
    preview = host.preview("set_price", TO_12, actor=ADA)

    with pytest.raises(ToolError) as error:
        host.approve(preview, actor=BOB)

    assert error.value.code == "permission_denied"
    assert host.call(
        "set_price", TO_12, actor=ADA, approval=host.approve(preview, actor=ADA)
    ).success


def test_an_owner_who_lost_the_right_is_refused(file: Path) -> None:
    """The gate is asked again at the call, approval or not."""
    tool = SetPrice(file, requires_admin=True)
    host = Host(tools=[tool])
    approval = grant(host)

    refused(
        host.call("set_price", TO_12, actor=Actor("ada"), approval=approval),
        "permission_denied",
        "requires_admin",
    )
    assert tool.runs == 0
