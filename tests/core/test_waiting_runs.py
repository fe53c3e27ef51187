"""Runs that wait: who is listed, and what an edited call would do before anybody approves it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest

from support.tools import ADA, BOB, plugin
from toolseam import Host, ToolResult
from toolseam.providers import Endpoint
from toolseam.runs import Decision, Run, RunError
from toolseam.testing import ScriptedProvider

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def writer(kept: list[str]) -> Any:
    """Return a tool that writes into a list, with a preview of what is there."""

    def execute(arguments: Any) -> ToolResult:
        kept.append(arguments["text"])
        return ToolResult.text("kept")

    def preview(arguments: Any, context: Any) -> ToolResult:
        return ToolResult.text(f"{len(kept)} kept; would keep {arguments['text']}")

    more = {"effect": "idempotent_write", "parameters": TEXT}
    return plugin(execute, name="write", preview=preview, **more)


def host_of(kept: list[str]) -> Host:
    """Return a host with that tool, enabled."""
    return Host(tools=[writer(kept)], settings={"enable": ["write"]})


def asked(host: Host, provider: ScriptedProvider) -> Run:
    """Let ada ask; the run waits."""
    run = host.session(actor=ADA).run(provider, "Write.")
    assert run.status == "waiting_for_approval"
    return run


def provider() -> ScriptedProvider:
    """Return one that wants two writes in a turn, and is done."""
    return ScriptedProvider([[("write", {"text": "x"}), ("write", {"text": "y"})], "done"])


def test_runs_that_wait_are_listed_oldest_first() -> None:
    """Each with its owner, since when, whom it asked, its calls and what was decided."""
    with host_of([]) as host:
        first, second = asked(host, provider()), asked(host, provider())
        host.session().decide(second.id, [Decision.deny(second.pending[1], actor=ADA)])
        listed = host.waiting_runs()

    assert [each.id for each in listed] == [first.id, second.id]
    assert [sorted(each.decided) for each in listed] == [[], [1]]
    assert (listed[0].owner, listed[0].providers) == (ADA, ("scripted",))
    assert listed[0].pending == first.pending
    assert abs(datetime.now(UTC) - listed[0].since) < timedelta(minutes=1)


def test_a_run_that_went_on_is_not_listed() -> None:
    """Who resumes a run takes it off the list."""
    script = provider()
    with host_of([]) as host:
        run = asked(host, script)
        denied = [Decision.deny(each, actor=ADA) for each in run.pending]
        host.session().resume(run.id, denied, script)

        assert host.waiting_runs() == ()


def test_a_run_that_ends_while_one_looks_is_left_out() -> None:
    """What cannot be looked at any more is no error of the list."""
    with host_of([]) as host:
        asked(host, provider())
        host._state.store.suspend("unreadable", b"{}")

        assert len(host.waiting_runs()) == 1


def test_where_a_provider_stands_is_kept_and_its_key_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What waits names the address and the variable of the key, so that it can be asked again."""
    monkeypatch.setenv("MY_KEY", "canary-key")
    script: Any = provider()
    script.endpoint = Endpoint(
        "openai:m", "openai", "m", base_url="http://127.0.0.1:1/v1", api_key_env="MY_KEY"
    )
    with host_of([]) as host:
        run = asked(host, script)
        state = host._state.store.look(run.id)

    assert b'"base_url":"http://127.0.0.1:1/v1"' in state
    assert b"MY_KEY" in state
    assert b"canary-key" not in state


def test_an_edited_call_is_approved_as_it_was_shown() -> None:
    """`revised` previews it with the new arguments, and its digest approves exactly that."""
    kept: list[str] = []
    script = provider()
    with host_of(kept) as host:
        run = asked(host, script)
        session = host.session()
        shown = session.revised(run.id, run.pending[0], {"text": "z"})
        assert (shown.arguments, shown.lines) == ({"text": "z"}, ("0 kept; would keep z",))
        assert shown.digest != run.pending[0].digest
        edit = Decision.edit(shown, shown.arguments, actor=ADA)
        session.resume(run.id, [edit, Decision.deny(run.pending[1], actor=ADA)], script)

    assert kept == ["z"]


def test_an_edited_call_whose_preview_changed_is_a_conflict() -> None:
    """What the person saw of the edited call is what runs, or nothing does."""
    kept: list[str] = []
    script = provider()
    with host_of(kept) as host:
        run = asked(host, script)
        session = host.session()
        shown = session.revised(run.id, run.pending[0], {"text": "z"})
        kept.append("somebody else's")
        edit = Decision.edit(shown, shown.arguments, actor=ADA)
        with pytest.raises(RunError) as refused:
            session.resume(run.id, [edit, Decision.deny(run.pending[1], actor=ADA)], script)

    assert (refused.value.code, kept) == ("conflict", ["somebody else's"])


def test_the_digest_of_one_edit_approves_no_other() -> None:
    """Arguments that were changed once more after the look are a conflict."""
    kept: list[str] = []
    with host_of(kept) as host:
        run = asked(host, provider())
        session = host.session()
        shown = session.revised(run.id, run.pending[0], {"text": "z"})
        with pytest.raises(RunError) as refused:
            session.decide(run.id, [Decision.edit(shown, {"text": "other"}, actor=ADA)])

    assert (refused.value.code, kept) == ("conflict", [])


@pytest.mark.parametrize(
    ("position", "arguments", "code"),
    [
        (0, {"text": 5}, "invalid_arguments"),
        (0, {"words": "z"}, "invalid_arguments"),
        (7, {"text": "z"}, "not_found"),
    ],
)
def test_what_cannot_be_edited_says_why(
    position: int, arguments: dict[str, Any], code: str
) -> None:
    """Arguments that the tool does not take, and a place where nothing waits, are refused."""
    with host_of([]) as host:
        run = asked(host, provider())
        pending = attrs.evolve(run.pending[0], position=position)
        with pytest.raises(RunError) as refused:
            host.session(actor=BOB).revised(run.id, pending, arguments)

    assert refused.value.code == code
    assert "words" not in arguments or "words" in str(refused.value)


def test_a_call_that_is_looked_at_again_is_approved_as_it_is_now() -> None:
    """What changed while it waited is shown; the new digest approves it, the old one does not."""
    kept: list[str] = []
    script = provider()
    with host_of(kept) as host:
        run = asked(host, script)
        session = host.session()
        deny = Decision.deny(run.pending[1], actor=ADA)
        kept.append("somebody else's")
        with pytest.raises(RunError):
            session.resume(run.id, [Decision.approve(run.pending[0], actor=ADA), deny], script)
        seen = session.revised(run.id, run.pending[0])
        session.resume(run.id, [Decision.approve(seen, actor=ADA), deny], script)

    assert seen.lines == ("1 kept; would keep x",)
    assert kept == ["somebody else's", "x"]


def test_a_call_that_would_be_refused_now_is_not_shown_for_approval() -> None:
    """An owner who lost his right is told by the gate's code when somebody looks again."""
    with host_of([]) as host:
        run = asked(host, provider())
        tool = host.tool("write")
        assert tool is not None
        tool.requires_admin = True
        state = host._state.store.look(run.id).replace(b'"admin"', b'"guest"')
        host._state.store.suspend(run.id, state)
        with pytest.raises(RunError) as refused:
            host.session().revised(run.id, run.pending[0])

    assert refused.value.code == "permission_denied"


def test_an_approval_without_a_digest_is_none() -> None:
    """A decision that names nothing that was seen is a conflict."""
    kept: list[str] = []
    with host_of(kept) as host:
        run = asked(host, provider())
        blind = attrs.evolve(Decision.approve(run.pending[0], actor=ADA), digest=None)
        with pytest.raises(RunError) as refused:
            host.session().decide(run.id, [blind])

    assert (refused.value.code, kept) == ("conflict", [])
