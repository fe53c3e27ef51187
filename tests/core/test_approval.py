from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.tools import ADA, BOB, Counted, approved, fine, plugin
from toolseam import Actor, Host, ToolError, ToolResult
from toolseam._approval import CHARACTERS, LINES, Approval, Preview, preview_lines
from toolseam._text import clean, is_clean


def writing(preview: object = None, **spec: object) -> Host:
    """Return a host with a write tool."""
    return Host(tools=[plugin(lambda arguments: fine(), preview=preview, effect="unknown", **spec)])


def shown(text: str) -> Preview:
    """Return what an approver sees of a preview that gives this text."""
    host = writing(lambda arguments, context: ToolResult.text(text))
    return host.preview("probe", actor=ADA)


def test_a_preview_shows_arguments_and_lines() -> None:
    """Complete arguments and what the tool says it would do."""
    host = writing(
        lambda arguments: ToolResult.text(f"would set {arguments['n']}\nand more"),
        parameters={"properties": {"n": {"type": "integer"}}},
    )

    preview = host.preview("probe", {"n": 5}, actor=ADA)

    assert (preview.tool, preview.arguments) == ("probe", {"n": 5})
    assert preview.lines == ("would set 5", "and more")
    assert (preview.failed, preview.cut) == (False, False)


def test_twenty_lines_of_five_hundred_characters_are_shown() -> None:
    """Exactly at the bounds nothing is cut."""
    preview = shown("\n".join(["x" * 500] * 20))

    assert len(preview.lines) == 20
    assert not preview.cut


def test_what_is_cut_is_counted() -> None:
    """Lines and characters beyond the bounds are left out, and the approver sees how many."""
    preview = shown("\n".join(["y" * 507] + ["x"] * 24))

    assert preview.lines[0] == "y" * 500 + " [7 characters more]"
    assert preview.lines[-1] == "x [5 lines more]"
    assert (len(preview.lines), preview.cut) == (20, True)


@given(st.text(max_size=2_000))
def test_no_text_shows_more_than_the_bounds_or_anything_hidden(text: str) -> None:
    """Every line is clean, and there are never more than twenty of them."""
    lines, cut = preview_lines(text)

    assert 1 <= len(lines) <= LINES
    assert all(is_clean(line) and "\n" not in line for line in lines)
    assert all(len(line) <= CHARACTERS + 60 for line in lines)
    assert cut or list(lines) == [clean(line) for line in text.splitlines() or [""]]


def test_control_characters_show_as_pictures() -> None:
    """An escape sequence is seen, not obeyed."""
    assert shown("\x1b[2Kdelete \u202eall").lines == ("␛[2Kdelete \ufffdall",)


def raised(error: ToolError) -> None:
    """Raise an error where only an expression may stand."""
    raise error


@pytest.mark.parametrize(
    ("preview", "fact"),
    [
        (None, "offers no preview"),
        (lambda arguments, context: None, "NoneType"),
        (lambda arguments, context: "text", "str"),
        (lambda arguments, context: (_ for _ in ()), "generator"),
        (lambda arguments, context: ToolResult.error("x", "not_found"), "not_found"),
        (lambda arguments, context: raised(ToolError("No page 9.", "not_found")), "No page 9."),
        (lambda arguments, context: {}["x"], "KeyError"),
        (lambda arguments, context: exec("raise SystemExit(3)"), "SystemExit"),
        (lambda arguments, context: object.__new__(ToolResult), "no factory"),
    ],
)
def test_a_failing_preview_says_so(preview: object, fact: str) -> None:
    """The approver is told, and a rule could not approve it."""
    found = writing(preview).preview("probe", actor=ADA)

    assert found.failed
    assert fact in found.lines[0]


def test_a_preview_runs_under_the_owners_identity() -> None:
    """The tool sees who will be acting, not who approves."""
    host = writing(lambda arguments, context: ToolResult.text(context.actor.name))

    assert host.preview("probe", actor=BOB).lines == ("bob",)


def test_a_preview_cannot_reach_what_runs() -> None:
    """What it does to its arguments is gone before the tool gets its own."""
    seen: list[object] = []

    def preview(arguments: dict[str, list[str]]) -> ToolResult:
        arguments["names"].append("all")
        arguments.clear()
        return ToolResult.text("would")

    def execute(arguments: dict[str, list[str]]) -> ToolResult:
        seen.append(arguments)
        return fine()

    schema = {"properties": {"names": {"type": "array"}}}
    host = Host(tools=[plugin(execute, preview=preview, effect="unknown", parameters=schema)])
    found = host.preview("probe", {"names": ["one"]}, actor=ADA)
    host.call("probe", {"names": ["one"]}, actor=ADA, approval=host.approve(found, actor=ADA))

    assert found.arguments == {"names": ["one"]}
    assert seen == [{"names": ["one"]}]


def test_refused_calls_have_no_preview() -> None:
    """What would be refused before any approval raises that refusal, a copy of it."""
    host = writing()

    with pytest.raises(ToolError) as error:
        host.preview("probe", {"nope": 1}, actor=ADA)
    assert error.value.code == "invalid_arguments"
    with pytest.raises(ToolError) as error:
        host.preview("nope", actor=ADA)
    assert error.value.code == "not_found"


def test_an_approval_is_no_text_of_a_digest() -> None:
    """Only what host.approve gave counts, not something that looks like it."""
    host = writing()
    approval = approved(host, "probe")

    for fake in (approval.digest, True, attrs.asdict(approval), ADA):
        result = host.call("probe", actor=ADA, approval=fake)  # type: ignore[arg-type]
        assert result.failure is not None
        assert result.failure.code == "approval_denied"
    assert host.call("probe", actor=ADA, approval=approval).success


@pytest.mark.parametrize(
    "actor", [Actor.system, Actor("bot", {"admin"}, service=True), Actor("eve")]
)
def test_who_may_not_call_may_not_approve(actor: Actor) -> None:
    """A service account never approves, nor does one to whom the tool is not open (S4 e)."""
    host = writing(requires_admin=True)
    preview = host.preview("probe", actor=ADA)

    with pytest.raises(ToolError) as error:
        host.approve(preview, actor=actor)

    assert error.value.code == "permission_denied"


def test_approvals_of_another_host_do_not_count() -> None:
    """The run is another one, also for the very same tool (S4 b)."""
    tool = Counted(fine, effect="unknown")
    one, other = Host(tools=[tool]), Host(tools=[tool])

    result = other.call("probe", actor=ADA, approval=approved(one, "probe"))

    assert (result.failure.code, result.metadata["reason"]) == ("conflict", "other_run")  # type: ignore[union-attr]
    assert tool.count == 0


def test_a_forged_run_does_not_help() -> None:
    """The digest names the run: an approval that claims another one fits nothing."""
    tool = Counted(fine, effect="unknown")
    host = Host(tools=[tool])
    session = host.session(actor=ADA)
    approval = approved(host, "probe")
    forged = Approval(approval.digest, ADA, session.run_id, approval.position)

    result = session.call("probe", approval=forged)

    assert result.metadata["reason"] == "changed"
    assert tool.count == 0


@pytest.mark.parametrize("whose", ["host", "session"])
def test_the_call_id_is_the_same_from_preview_to_execution(whose: str) -> None:
    """An idempotency key: what was previewed for a remote system is what is sent to it."""
    seen: list[str] = []

    def note(arguments: object, context: Any) -> ToolResult:
        seen.append(context.call_id)
        return fine()

    host = Host(tools=[plugin(note, preview=note, effect="unknown")])
    session = host.session(actor=ADA)
    for _ in range(2):
        if whose == "host":
            approval = approved(host, "probe")
            assert host.call("probe", actor=ADA, approval=approval).success
        else:
            approval = host.approve(session.preview("probe"), actor=ADA)
            assert session.call("probe", approval=approval).success

    first, second = seen[:3], seen[3:]
    assert len(set(first)) == len(set(second)) == 1
    assert first[0] != second[0]


@attrs.frozen
class Strict:
    """Arguments that the author refuses."""

    n: int

    def __attrs_post_init__(self) -> None:
        """Refuse everything."""
        raise ValueError("n is never right")


def test_arguments_that_the_author_refuses_show_it_in_the_preview() -> None:
    """The approver sees why the call would fail."""
    host = writing(lambda arguments, context: fine(), parameters=Strict)

    found = host.preview("probe", {"n": 1}, actor=ADA)

    assert found.failed
    assert "n is never right" in found.lines[0]


def test_a_call_that_a_person_refuses_is_answered_and_recorded() -> None:
    """The model is told why, cleaned; the tool did not run, and another session is a conflict."""
    tool = Counted(fine, effect="unknown")
    host = Host(tools=[tool])
    session = host.session(actor=ADA)
    preview = session.preview("probe")

    wire, step = session.deny(preview, reason="not\x1b today")
    with pytest.raises(ToolError) as strange:
        host.session(actor=ADA).deny(preview)

    assert wire == "Error (approval_denied): A person refused this call: not\u241b today."
    assert (step.tool, step.status, step.effect) == ("probe", "approval_denied", "none")
    assert [each.id for each in session.steps] == [step.id]
    assert strange.value.code == "conflict"
    assert tool.count == 0
