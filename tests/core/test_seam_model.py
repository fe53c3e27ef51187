"""Random conversations, held to the rules that hold for every one of them."""

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from support.tools import ADA, Counted, CountedAsync
from toolseam import ErrorCode, Host, ToolArtifact, ToolError, ToolResult

WRONG = (None, "text", {"content": "x"}, 7, ToolResult)
CODES = [code for code in ErrorCode if code is not ErrorCode.CONTRACT_ERROR]

outcomes = st.one_of(
    st.builds(lambda text: ("ok", text), st.text(max_size=20)),
    st.builds(lambda code: ("failed", code), st.sampled_from(CODES)),
    st.builds(lambda code: ("raised", code), st.sampled_from(CODES)),
    st.just(("crashed", None)),
    st.builds(lambda value: ("wrong", value), st.sampled_from(WRONG)),
)
names = st.sampled_from(["read", "alias", "write", "async", "nope"])
ways = st.sampled_from(["call", "acall", "wire", "deadline"])
arguments = st.sampled_from([None, {}, "{}", {"n": 1}, '{"n": "1"}', {"n": "x"}, "[]", {"z": 1}])


class World:
    """A host of three tools whose next outcome is chosen from outside."""

    def __init__(self) -> None:
        self.outcome: Any = ("ok", "")
        schema = {"properties": {"n": {"type": "integer"}}}
        self.tools = {
            "read": Counted(self.give, name="read", aliases=("alias",), parameters=schema),
            "write": Counted(self.give, name="write", effect="unknown", parameters=schema),
            "async": CountedAsync(self.give, name="async", parameters=schema),
        }
        self.host = Host(tools=self.tools.values())
        self.session = self.host.session(actor=ADA)

    def give(self) -> Any:
        """Return or raise what was chosen."""
        kind, value = self.outcome
        if kind == "ok":
            return ToolResult.text(value, ToolArtifact.text("t", value), data={"v": value})
        if kind == "failed":
            return ToolResult.error("bad", value)
        if kind == "raised":
            raise ToolError("bad", value)
        if kind == "crashed":
            raise KeyError("CANARY")
        return value

    def call(self, name: str, given: Any, way: str, *, approve: bool) -> None:
        """Make one call; a write is approved if asked and possible."""
        approval = None
        if approve and name == "write":
            try:
                approval = self.host.approve(self.session.preview(name, given), actor=ADA)
            except ToolError:
                approval = None
        session = self.session
        if way == "call":
            session.call(name, given, approval=approval)
        elif way == "deadline":
            session.call(name, given, approval=approval, timeout=30)
        elif way == "wire":
            session.call_wire(name, given, approval=approval)
        else:
            asyncio.run(session.acall(name, given, approval=approval))


@settings(max_examples=60)
@given(st.lists(st.tuples(names, outcomes, arguments, ways, st.booleans()), max_size=12))
def test_every_conversation_keeps_the_rules(
    calls: list[tuple[str, Any, Any, str, bool]],
) -> None:
    """One step a call, at most one run a call, none after a breach, effects as their codes say."""
    world = World()
    broken: set[str] = set()

    for i, (name, outcome, given_, way, approve) in enumerate(calls, 1):
        world.outcome = outcome
        canonical = "read" if name == "alias" else name
        before = {key: tool.count for key, tool in world.tools.items()}
        world.call(name, given_, way, approve=approve)
        ran = [key for key, tool in world.tools.items() if tool.count != before[key]]
        step = world.session.steps[-1]

        assert len(world.session.steps) == i
        assert sum(tool.count for tool in world.tools.values()) - sum(before.values()) <= 1
        assert ran in ([], [canonical])
        assert step.status == ("ok" if step.result.success else step.result.failure.code)  # type: ignore[union-attr]
        assert step.result.success or not step.artifacts
        assert "CANARY" not in step.result.content
        if canonical in broken:
            assert not ran
            assert (step.status, step.effect) == ("contract_error", "none")
        if not ran or canonical != "write":
            assert step.effect == "none"
        elif step.status == "ok":
            assert step.effect == "done"
        if ran and outcome[0] == "wrong":
            assert (step.status, len(world.host.violations)) == ("contract_error", len(broken) + 1)
            assert step.effect == ("unknown" if canonical == "write" else "none")
            broken.add(canonical)
        elif ran and outcome[0] == "crashed":
            assert step.status == "execution_error"
        elif ran and outcome[0] in ("failed", "raised"):
            assert step.status == outcome[1]
        elif ran:
            assert step.status == "ok"
            assert step.data == {"v": outcome[1]}
        if canonical == "write" and not approve:
            assert not ran
    assert len(world.host.violations) == len(broken)
