"""S4: an approval is for one call, of this very tool, by this very actor.

Sealed state that was altered (h) is `tests/plugins/audit/test_seal.py`, wrappers (a) are
`tests/core/test_wrappers.py`, the command without a terminal (l) is `test_approve.py`.
"""

import asyncio
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pytest

from support.tools import ADA, BOB, plugin, spec
from toolseam import Actor, Host, Step, ToolError, ToolResult, ToolSpec, hookimpl
from toolseam.providers import ToolCall
from toolseam.runs import Decision, Run, RunError, RunStatus
from toolseam.testing import ScriptedProvider
from toolseam_plugins import audit

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

    def now(self) -> int:
        """Return the price that is there."""
        with sqlite3.connect(self._file) as database:
            found: int = database.execute("SELECT price FROM item").fetchone()[0]
        database.close()
        return found

    @hookimpl
    def preview(self, arguments: dict[str, int]) -> ToolResult:
        """Show the old and the new price."""
        return ToolResult.text(f"price {self.now()} -> {arguments['price']}")

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


# -- in runs, with a store from which another process goes on --------------------------------------

CALL = ToolCall("set_price", TO_12, "same")


def shop(*tools: SetPrice, **settings: Any) -> Host:
    """Return a host that keeps its runs, as each process of an application makes one."""
    return Host(tools=tools, plugins=[audit], settings={"enable": ["set_price"], **settings})


def asked(host: Host, *calls: ToolCall, owner: Actor = ADA) -> Run:
    """Return a run whose calls wait for people."""
    run = host.session(actor=owner).run(ScriptedProvider([list(calls or (CALL,))]), "q")
    assert run.status is RunStatus.WAITING_FOR_APPROVAL
    return run


def go_on(host: Host, run: Run, *said: Decision, owner: Actor | None = None) -> list[str]:
    """Go on with a run and say how its calls came out."""
    ended = host.session().resume(run.id, said, ScriptedProvider(["done"]), owner=owner)
    return [each.status for each in ended.steps if isinstance(each, Step)]


def kept_waiting(host: Host, run: Run, *said: Decision, code: str) -> None:
    """Hold decisions to being refused, for a run that waits on."""
    with pytest.raises(RunError) as error:
        go_on(host, run, *said)
    assert error.value.code == code
    assert host.session().waiting(run.id)


def set_row(file: Path, price: int) -> None:
    """Change the row behind everybody's back."""
    with sqlite3.connect(file) as database:
        database.execute("UPDATE item SET price = ?", [price])
    database.close()


@pytest.mark.parametrize("which", ["of the turn", "of another run"])
def test_the_word_on_one_call_of_a_run_is_none_on_an_identical_one(
    tool: SetPrice, which: str
) -> None:
    """Neither its twin of the turn nor the same call of another run takes the digest (S4 b)."""
    with shop(tool) as first, shop(tool) as second:
        run, other = asked(first, CALL, CALL), asked(first, CALL, CALL)
        digests = {each.digest for each in (*run.pending, *other.pending)}
        assert len(digests) == 4
        strange = run.pending[0] if which == "of the turn" else other.pending[1]
        forged = attrs.evolve(Decision.approve(strange, actor=ADA), position=1)
        right = Decision.approve(run.pending[0], actor=ADA)

        kept_waiting(second, run, right, forged, code="conflict")
    assert tool.runs == 0


def test_of_two_calls_with_one_id_the_approved_one_runs(tool: SetPrice) -> None:
    """Decisions are by position, and what was not approved has not been by its twin (S4 i)."""
    other = attrs.evolve(CALL, arguments={"price": 13})

    with shop(tool) as host:
        run = asked(host, CALL, other)
        yes = Decision.approve(run.pending[0], actor=ADA)
        kept_waiting(host, run, yes, code="invalid_arguments")
        no = Decision.deny(run.pending[1], actor=BOB)
        assert go_on(host, run, yes, no) == ["ok", "approval_denied"]
    assert (tool.runs, tool.now()) == (1, 12)


def test_a_row_that_changed_while_a_run_waited_is_a_conflict(tool: SetPrice, file: Path) -> None:
    """Another process finds another preview, and a person has to look again (S4 c)."""
    with shop(tool) as first:
        run = asked(first)
    set_row(file, 900)

    with shop(tool) as second:
        kept_waiting(second, run, Decision.approve(run.pending[0], actor=ADA), code="conflict")
        edit = Decision.edit(run.pending[0], {"price": 13}, actor=ADA)
        kept_waiting(second, run, edit, code="conflict")
        assert (tool.runs, tool.now()) == (0, 900)
        now = second.session().revised(run.id, run.pending[0])
        assert now.lines == ("price 900 -> 12",)
        assert go_on(second, run, Decision.approve(now, actor=ADA)) == ["ok"]


def test_a_row_that_changes_after_the_resume_is_a_conflict_too(tool: SetPrice) -> None:
    """Of two writes on one row the second was approved for what the first has changed."""
    with shop(tool) as host:
        run = asked(host, CALL, attrs.evolve(CALL, arguments={"price": 13}))
        said = [Decision.approve(each, actor=ADA) for each in run.pending]
        assert go_on(host, run, *said) == ["ok", "conflict"]
    assert (tool.runs, tool.now()) == (1, 12)


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Sets something else."},
        {"effect": "unknown"},
        {"effect": "read_only"},
        {"parameters": {"properties": {**ARGUMENTS["properties"], "x": {}}}},  # type: ignore[dict-item]
        {"sends_to": "local"},
    ],
    ids=["description", "graver", "a read", "schema", "sends_to"],
)
def test_a_tool_that_was_replaced_while_a_run_waited(
    file: Path, tool: SetPrice, change: dict[str, Any]
) -> None:
    """Another specification under the name, be it one that needs no approval (S4 d)."""
    with shop(tool) as first:
        run = asked(first)
    other = SetPrice(file, **change)

    with shop(other) as second:
        kept_waiting(second, run, Decision.approve(run.pending[0], actor=ADA), code="conflict")
    assert other.runs == 0


def test_a_tool_that_is_gone_is_answered(tool: SetPrice) -> None:
    """An approval of what is no longer there comes to nothing, and the model is told."""
    with shop(tool) as first:
        run = asked(first)

    with Host(plugins=[audit]) as second:
        with pytest.raises(RunError) as error:
            go_on(second, run, Decision.approve(run.pending[0], actor=ADA))
        assert error.value.code == "permission_denied"
        assert go_on(second, run, Decision.deny(run.pending[0], actor=ADA)) == ["not_found"]


def test_who_may_not_make_the_call_may_not_approve_or_edit_it(file: Path) -> None:
    """Nor may a service account; the run waits for somebody who may (S4 e, f)."""
    tool = SetPrice(file, requires_admin=True)
    service = attrs.evolve(ADA, service=True)

    with shop(tool) as host:
        run = asked(host)
        for actor in (BOB, service):
            approve = Decision.approve(run.pending[0], actor=actor)
            edit = Decision.edit(run.pending[0], {"price": 13}, actor=actor)
            kept_waiting(host, run, approve, code="permission_denied")
            kept_waiting(host, run, edit, code="permission_denied")
        broken = Decision.edit(run.pending[0], {"cost": 13}, actor=ADA)
        kept_waiting(host, run, broken, code="invalid_arguments")
        assert go_on(host, run, Decision.approve(run.pending[0], actor=ADA)) == ["ok"]
    assert tool.runs == 1


def test_with_four_eyes_the_owner_does_not_approve_or_edit_himself(tool: SetPrice) -> None:
    """Another name decides; other roles under the same name are the same eyes."""
    with shop(tool, approval={"four_eyes": True}) as host:
        run = asked(host)
        for actor in (ADA, Actor("ada", {"admin", "auditor"})):
            approve = Decision.approve(run.pending[0], actor=actor)
            edit = Decision.edit(run.pending[0], {"price": 13}, actor=actor)
            kept_waiting(host, run, approve, code="permission_denied")
            kept_waiting(host, run, edit, code="permission_denied")
        assert go_on(host, run, Decision.approve(run.pending[0], actor=BOB)) == ["ok"]


def test_an_owner_who_lost_the_right_while_a_run_waited(file: Path) -> None:
    """His roles of now count, and the model is told that the call is not permitted (S4 g)."""
    tool = SetPrice(file, requires_admin=True)

    with shop(tool) as host:
        run = asked(host)
        yes = Decision.approve(run.pending[0], actor=ADA)
        assert go_on(host, run, yes, owner=Actor("ada")) == ["permission_denied"]
    assert tool.runs == 0


def test_in_a_run_no_code_of_a_plugin_runs_before_an_approval(tmp_path: Path) -> None:
    """Without a preview nothing makes the arguments before a person approved them (S4 j)."""
    marker = tmp_path / "marker"

    def execute(arguments: Touching) -> ToolResult:
        return ToolResult.text("done")

    write = plugin(execute, name="set_price", effect="unknown", parameters=Touching)
    call = ToolCall("set_price", {"marker": str(marker)})

    with shop(write) as host:
        denied, run = asked(host, call), asked(host, call)
        go_on(host, denied, Decision.deny(denied.pending[0], actor=ADA))
        assert run.pending[0].lines == ("(set_price offers no preview)",)
        assert run.pending[0].failed
        assert not marker.exists()
        assert go_on(host, run, Decision.approve(run.pending[0], actor=ADA)) == ["ok"]
    assert marker.exists()


def test_an_approval_of_a_run_is_none_for_the_host_and_the_other_way_round(
    tool: SetPrice,
) -> None:
    """A digest from one channel opens no other."""
    with shop(tool) as host:
        run = asked(host)
        of_host = host.preview("set_price", TO_12, actor=ADA)
        forged = Decision(0, "approve", ADA, of_host.digest)
        kept_waiting(host, run, forged, code="conflict")
        approval = attrs.evolve(host.approve(of_host, actor=ADA), digest=str(run.pending[0].digest))
        by_host = host.call("set_price", TO_12, actor=ADA, approval=approval)
        refused(by_host, "conflict", "changed")
    assert tool.runs == 0


def test_a_run_that_is_over_takes_no_word(tool: SetPrice) -> None:
    """The same decision a second time, in this process or another, finds nothing that waits."""
    with shop(tool) as host:
        run = asked(host)
        yes = Decision.approve(run.pending[0], actor=ADA)
        assert go_on(host, run, yes) == ["ok"]
        with shop(tool) as other:
            for each in (host, other):
                with pytest.raises(RunError) as error:
                    go_on(each, run, yes)
                assert error.value.code == "not_found"
    assert tool.runs == 1
