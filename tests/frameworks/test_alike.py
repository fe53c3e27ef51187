"""What holds over every framework: its whole agent run, with all that left the process recorded."""

import asyncio
import contextlib
import json
import threading
from typing import Any

import pytest

from support.frameworks import DRIVES, Talk, drive
from support.tools import ADA, Counted, CountedAsync, fine, plugin
from toolseam import (
    Actor,
    ErrorCode,
    Host,
    Session,
    ToolArtifact,
    ToolError,
    ToolResult,
    tool,
)
from toolseam.testing import canary

FIXED = "broke the result contract; it has run once and will not run again"
TAKEN = ("self", "ctx", "config", "context", "run_manager", "tool_input", "input", "arguments")
FINE = ("probe", "{}")


@pytest.fixture(params=list(DRIVES))
def framework(request: pytest.FixtureRequest) -> str:
    """Each framework in turn."""
    return str(request.param)


def told(framework: str, host: Host, *turns: list[tuple[str, str]], actor: Actor = ADA) -> Talk:
    """Run one of them over a new session of the host, and end the host."""
    with host:
        return drive(framework, host.session(actor=actor), *turns)


def codes(talk: Talk) -> list[str]:
    """Return the code that each answer names, `ok` where it names none."""
    plain = [text.removeprefix('{"error":"') for text in talk.answers]
    return [t[7:].partition(")")[0] if t.startswith("Error (") else "ok" for t in plain]


def test_a_run_is_told_the_wire_text_and_nothing_else(framework: str) -> None:
    """No canary of artifacts, data, metadata, exceptions or wrong values leaves the process."""
    can = canary()

    class Talkative:
        def __repr__(self) -> str:
            return can.text

        __str__ = __repr__

    def rich(arguments: object) -> ToolResult:
        table = ToolArtifact.table(can.text, [can.text], [[can.text]])
        members = {"data": {can.text: can.text}, "metadata": {"x": can.text}}
        return ToolResult.text("three rows", table, ToolArtifact.text("x", can.text), **members)

    def failing(arguments: object) -> ToolResult:
        metadata = {"remote": {"token": can.text}}
        return ToolResult.error("no such row", ErrorCode.NOT_FOUND, metadata=metadata)

    def raising(arguments: object) -> ToolResult:
        raise ValueError(f"postgresql://app:{can.text}@db") from OSError(can.text)

    def broken(arguments: object) -> object:
        return {"content": can.text, "object": Talkative()}

    makers = {"rich": rich, "failing": failing, "raising": raising, "broken": broken}
    host = Host(tools=[plugin(made, name=name) for name, made in makers.items()])

    talk = told(framework, host, [(name, "{}") for name in makers], [("rich", "{}")])

    assert codes(talk) == ["ok", "not_found", "execution_error", "contract_error", "ok"]
    assert talk.answers[0] == "three rows"
    assert not can.is_in(talk.raw, talk.kept)


def test_failures_are_flagged_natively(framework: str) -> None:
    """Where a framework can say that a call failed, it does, and only then."""
    failing = plugin(lambda arguments: ToolResult.error("Error: no"), name="failing")
    looks = plugin(lambda arguments: ToolResult.text("Error: is what it says"), name="looks")

    talk = told(framework, Host(tools=[failing, looks]), [("failing", "{}"), ("looks", "{}")])

    assert talk.flags in ([True, False], [None, None])
    assert (talk.flags[0] is None) == (framework in {"openai_agents", "llm"})
    assert codes(talk) == ["execution_error", "ok"]


@pytest.mark.parametrize("kind", [Counted, CountedAsync], ids=["sync", "async"])
def test_twice_is_never(framework: str, kind: type[Counted]) -> None:
    """What breaks the contract runs once, however often and at once it is asked for."""
    wipe = kind(lambda: None, name="wipe", aliases=("clear",))
    host = Host(tools=[wipe])

    with host:
        session = host.session(actor=ADA)
        talk = drive(framework, session, [("wipe", "{}")], [("wipe", "{}")] * 4, [("wipe", "{}")])
        other = session.call("clear")

    assert wipe.count == 1
    assert codes(talk) == ["contract_error"] * 6
    assert all(FIXED in text for text in talk.answers)
    assert other.metadata.value["reason"] == "withdrawn"


def test_nobody_approves_unless_somebody_is_named(framework: str) -> None:
    """Without an approver a write never runs, and the model is told that nobody could be asked."""
    write = Counted(fine, name="write", effect="non_idempotent_write")

    talk = told(framework, Host(tools=[write]), [("write", "{}")])

    assert (write.count, codes(talk)) == (0, ["approval_denied"])


def test_blank_answers_are_said(framework: str) -> None:
    """Blank content goes out as words, and None is no result (P04)."""
    empty = plugin(lambda arguments: ToolResult.text(""), name="empty")
    blank = plugin(lambda arguments: ToolResult.text("\n \n"), name="blank")
    host = Host(tools=[empty, blank, plugin(lambda arguments: None, name="none")])

    talk = told(framework, host, [("empty", "{}"), ("blank", "{}"), ("none", "{}")])

    assert talk.answers[:2] == ["(no output)"] * 2
    assert codes(talk) == ["ok", "ok", "contract_error"]


def test_nothing_unbounded_or_dirty_goes_out(framework: str) -> None:
    """Five megabytes of hostile text are cut and cleaned, in content and in a failure (S5, P02)."""
    dirt = "\x1b]52;c;\x07 \u202e \U000e0041 \ud800 \x9b31m "

    def long(arguments: object) -> ToolResult:
        return ToolResult.text(dirt * 200_000)

    def failing(arguments: object) -> ToolResult:
        raise ToolError(dirt * 200_000, ErrorCode.NOT_FOUND)

    host = Host(tools=[plugin(long, name="long"), plugin(failing, name="failing")])

    talk = told(framework, host, [("long", "{}"), ("failing", "{}")])

    content, failure = (text.encode() for text in talk.answers)
    assert 40_000 < len(content) <= 50_000
    assert len(failure) <= 2_064 + len('{"error":""}')
    assert codes(talk) == ["ok", "not_found"]
    sent = talk.raw.decode() + "".join(talk.answers)
    assert not {c for c in sent if c < " " and c not in "\n\t\r"}
    assert not any(c in sent for c in "\x7f\x9b\u202e\U000e0041")
    assert not any(escape in sent for escape in (r"\u001b", r"\u202e", r"\ud800", r"\udb40"))


def test_arguments_are_the_seams_to_judge(framework: str) -> None:
    """Unknown keys and wrong types are refused by name, lossless repairs are made (P14)."""
    ran = []

    @tool(effect="read_only", data_class="public_content")
    def count(n: int) -> ToolResult:
        """Count."""
        ran.append(n)
        return ToolResult.text(str(n))

    asked = ['{"n": 1, "m": 2}', '{"n": "secret-7"}', "{}", '{"n": "5"}', '{"n": 7}']

    talk = told(framework, Host(tools=[count]), [("count", each) for each in asked])

    assert codes(talk) == ["invalid_arguments"] * 3 + ["ok", "ok"]
    assert "'m'" in talk.answers[0]
    assert "secret-7" not in talk.answers[1]
    assert ran == [5, 7]


@pytest.mark.parametrize("framework", ["pydantic_ai", "fastmcp"])
def test_a_lone_surrogate_is_refused(framework: str) -> None:
    """Half of a surrogate pair in the arguments never reaches the tool, a whole pair does (P02).

    The others end by themselves on what their own model said; their tools are asked directly.
    """
    seen: list[str] = []

    @tool(effect="read_only", data_class="public_content")
    def keep(text: str) -> ToolResult:
        """Keep."""
        seen.append(text)
        return ToolResult.text("kept")

    asked = [r'{"text": "ship \ud83d now"}', r'{"text": "ship \ud83d\ude80"}']

    talk = told(framework, Host(tools=[keep]), [("keep", each) for each in asked])

    assert codes(talk) == ["invalid_arguments", "ok"]
    assert seen == ["ship \U0001f680"]


def test_arguments_may_have_any_name(framework: str) -> None:
    """A tool's argument that is called as something of the framework's own arrives all the same."""
    seen: list[dict[str, Any]] = []

    def execute(arguments: dict[str, Any]) -> ToolResult:
        seen.append(arguments)
        return ToolResult.text("fine")

    properties = {name: {"type": "string"} for name in TAKEN}
    given = {name: f"of {name}" for name in TAKEN}
    host = Host(tools=[plugin(execute, name="probe", parameters={"properties": properties})])

    talk = told(framework, host, [("probe", json.dumps(given))])

    assert talk.answers == ["fine"]
    assert seen == [given]


def test_calls_of_a_turn_run_at_once(framework: str) -> None:
    """Four calls of one turn wait for each other, and a failing one takes no other with it."""
    meeting = threading.Barrier(4)

    def execute(arguments: dict[str, Any]) -> ToolResult:
        meeting.wait(10)
        if arguments["n"] == 2:
            raise SystemExit(3)
        return ToolResult.text(f"number {arguments['n']}")

    parameters = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
    host = Host(tools=[plugin(execute, name="meet", parameters=parameters)])

    talk = told(framework, host, [("meet", json.dumps({"n": n})) for n in range(4)])

    assert codes(talk) == ["ok", "ok", "execution_error", "ok"]
    assert talk.answers[3] == "number 3"


def test_only_what_is_offered_is_told(framework: str) -> None:
    """A tool that the actor may not use is not named to the model."""
    host = Host(tools=[Counted(fine), Counted(fine, name="secret_ops", requires_admin=True)])

    talk = told(framework, host, [FINE], actor=Actor("bob"))

    assert talk.answers == ["fine"]
    assert b"secret_ops" not in talk.raw
    assert b"A probe." in talk.raw


def test_a_schema_with_references_arrives(framework: str) -> None:
    """What the model writes is held to the tool's own schema, however the framework told it."""
    parameters = {
        "properties": {"rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}},
        "required": ["rows"],
        "$defs": {
            "row": {
                "type": "object",
                "properties": {"kind": {"enum": ["kg", "m"]}, "n": {"type": ["integer", "null"]}},
                "required": ["kind"],
            }
        },
    }
    host = Host(tools=[plugin(lambda arguments: fine(), parameters=parameters)])
    asked = [
        '{"rows": [{"kind": "kg", "n": 3}]}',
        '{"rows": [{"kind": "lb"}]}',
        '{"rows": [{"m": 1}]}',
    ]

    talk = told(framework, host, [("probe", each) for each in asked])

    assert codes(talk) == ["ok", "invalid_arguments", "invalid_arguments"]
    assert b'"kg"' in talk.raw


def test_a_far_model_is_told_no_secret_shapes(framework: str) -> None:
    """What looks like a key is masked on the way to the model, as in every conversation (§6)."""
    secret = f"ghp_{canary().text[-24:]}{'a1B2' * 3}"
    host = Host(tools=[plugin(lambda arguments: ToolResult.text(f"token: {secret}"))])

    talk = told(framework, host, [FINE])

    assert talk.answers[0].startswith("token: ")
    assert secret.encode() not in talk.raw
    assert secret not in talk.kept


def test_a_run_that_is_cancelled_ends_its_calls(framework: str) -> None:
    """The host's cancellation reaches the tool, is recorded, and goes on to the host (P07)."""
    begun, ended = threading.Event(), threading.Event()

    async def execute(arguments: object) -> ToolResult:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return fine()

    async def whole(session: Session) -> None:
        run = asyncio.ensure_future(DRIVES[framework](session, [[FINE]]))
        await asyncio.to_thread(begun.wait, 30)
        run.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await run

    with Host(tools=[plugin(execute)]) as host:
        session = host.session(actor=ADA)
        asyncio.run(whole(session))

    assert ended.is_set()
    assert [step.status for step in session.steps] == ["cancelled"]


def test_a_tool_keeps_its_name(framework: str) -> None:
    """The longest and the shortest name go out as they are, as the session's schemas say (P13)."""
    names = ["p" * 64, "q", "a_b__c_1"]

    with Host(tools=[Counted(fine, name=name) for name in names]) as host:
        session = host.session(actor=ADA)
        talk = drive(framework, session, [(name, "{}") for name in names])
        known = {each["function"]["name"] for each in session.schemas("openai")}

    assert talk.answers == ["fine"] * 3
    assert known == set(names)
    assert all(f'"{name}"'.encode() in talk.raw for name in names)


def test_the_trace_keeps_what_the_framework_may_not(framework: str) -> None:
    """Artifacts and data of a call stand in the session's steps, with one step a call."""

    def rich(arguments: object) -> ToolResult:
        return ToolResult.text("x", ToolArtifact.text("a", "b"), data={"n": 1})

    with Host(tools=[plugin(rich)]) as host:
        session = host.session(actor=ADA)
        talk = drive(framework, session, [FINE, FINE])

    assert [step.status for step in session.steps] == ["ok", "ok"]
    assert [str(step.wire) for step in session.steps] == talk.answers
    assert session.steps[0].data == {"n": 1}
    assert session.steps[0].artifacts[0].label == "a"
