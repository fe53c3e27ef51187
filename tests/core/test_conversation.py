from typing import Any

import pytest

from support.tools import ADA, Counted, fine, plugin
from toolseam import DataClass, Host, ToolResult


def reading(name: str, data_class: str, **more: Any) -> Counted:
    """Return a tool of some class."""
    return Counted(fine, name=name, data_class=data_class, **more)


def failing() -> ToolResult:
    """Return a failure that tells something all the same."""
    return ToolResult.error("bad", "command_failed", output="a line of the log")


def test_a_conversation_is_marked_by_the_highest_class_it_has_read() -> None:
    """The mark rises with what ran, failures included, never falls, and a refusal leaves it."""
    tools = [
        reading("a", "source_code"),
        reading("b", "editor_content"),
        Counted(failing, name="c", data_class="system_diagnostics"),
        reading("d", "secret_adjacent", effect="unknown"),
    ]
    session = Host(tools=tools).session(actor=ADA, zone="local")
    assert session.mark is DataClass.PUBLIC_CONTENT

    marks = []
    for name in ("b", "a", "b", "c", "d"):
        session.call(name)
        marks.append(session.mark)

    assert marks == [
        "editor_content",
        "source_code",
        "source_code",
        "system_diagnostics",
        "system_diagnostics",
    ]


def test_what_was_read_closes_what_would_send_it_away() -> None:
    """A tool that sends its arguments to a far zone is refused once the mark is above it."""
    sending = reading("send", "public_content", sends_to="external_global")
    host = Host(tools=[sending, reading("read", "source_code")])
    session = host.session(actor=ADA, zone="local")

    assert session.call("send").success
    session.call("read")
    refused = session.call("send")

    assert refused.metadata["reason"] == "sends_to"
    assert sending.count == 1
    assert host.session(actor=ADA, zone="local").call("send").success


@pytest.mark.parametrize(
    ("zone", "read", "open_to"),
    [
        ("external_global", "editor_content", True),
        ("external_global", "source_code", False),
        ("private_hosted", "system_diagnostics", True),
        ("private_hosted", "secret_adjacent", False),
        ("local", "secret_adjacent", True),
    ],
)
def test_a_zone_that_only_the_call_knows_is_held_to_the_mark(
    zone: str, read: str, open_to: bool
) -> None:
    """`context.send_to` refuses for the run what `sends_to` would refuse, and else lets pass."""
    sent = []

    def execute(arguments: object, context: Any) -> ToolResult:
        context.send_to(zone)
        sent.append(zone)
        return fine()

    tools = [plugin(execute), reading("read", read)]
    session = Host(tools=tools).session(actor=ADA, zone="local")
    assert session.call("probe").success
    session.call("read")

    result = session.call("probe")

    assert result.success is open_to
    assert len(sent) == 1 + open_to
    if not open_to:
        assert (result.failure.code, result.metadata["reason"]) == ("permission_denied", "sends_to")  # type: ignore[union-attr]


def test_observing_lets_a_zone_of_the_call_pass() -> None:
    """Under observe the class rule refuses nothing, here as at the gate."""

    def execute(arguments: object, context: Any) -> ToolResult:
        context.send_to("external_global")
        return fine()

    tools = [plugin(execute), reading("read", "secret_adjacent")]
    session = Host(tools=tools, settings={"enforce": "observe"}).session(actor=ADA, zone="local")
    session.call("read")

    assert session.call("probe").success


def test_what_a_tool_read_for_its_caller_marks_the_caller() -> None:
    """context.call is the same conversation, also for the mark."""

    def execute(arguments: object, context: Any) -> ToolResult:
        context.call("read")
        return ToolResult.text(context.call("send").metadata["reason"])

    tools = [
        plugin(execute),
        reading("read", "source_code"),
        reading("send", "public_content", sends_to="external_global"),
    ]
    host = Host(tools=tools)
    session = host.session(actor=ADA, zone="local")

    assert session.call("probe").content == "sends_to"
    assert session.mark is DataClass.SOURCE_CODE
    assert session.call("send").metadata["reason"] == "sends_to"
    assert host.call("probe", actor=ADA).content == "sends_to"


def test_each_call_of_host_code_begins_unmarked() -> None:
    """The host's own code is its own conversation each time."""
    tools = [
        reading("read", "source_code"),
        reading("send", "public_content", sends_to="external_global"),
    ]
    host = Host(tools=tools)

    host.call("read", actor=ADA)

    assert host.call("send", actor=ADA).success


def test_a_verdict_is_asked_again_when_anything_changed() -> None:
    """What was admitted before is not admitted by memory after a withdrawal elsewhere."""
    tool = Counted(lambda: None, effect="unknown")
    host = Host(tools=[tool, reading("other", "public_content")])
    session = host.session(actor=ADA)
    first = session.preview("probe")
    assert session.call("probe").failure.code == "approval_denied"  # type: ignore[union-attr]
    host.call(
        "probe", actor=ADA, approval=host.approve(host.preview("probe", actor=ADA), actor=ADA)
    )

    late = session.call("probe", approval=host.approve(first, actor=ADA))

    assert late.metadata["reason"] == "withdrawn"
    assert tool.count == 1


def test_observed_calls_are_decided_each_time() -> None:
    """Under observe a class too high is offered, as often as it is asked."""
    host = Host(tools=[reading("probe", "secret_adjacent")], settings={"enforce": "observe"})
    session = host.session(actor=ADA, zone="external_global")

    assert [session.call("probe").success for _ in range(3)] == [True] * 3


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_withdrawal_deep_inside_holds_outside(depth: int) -> None:
    """Whatever level saw the breach, the whole conversation is closed to the tool."""
    bad = Counted(lambda: None, name="bad")
    left = [depth]

    def execute(arguments: object, context: Any) -> ToolResult:
        left[0] -= 1
        context.call("probe" if left[0] else "bad")
        return fine()

    session = Host(tools=[plugin(execute), bad]).session(actor=ADA)
    session.call("probe")

    assert session.call("bad").metadata["reason"] == "withdrawn"
    assert bad.count == 1
