"""S9, the mark: what a run has read goes to nobody who stands too far away, by any way out."""

from collections.abc import Iterator
from typing import Any

import pytest

from support.makers import MAKERS, Maker
from support.provider_recorder import Recorder, as_json, recording
from support.tools import ADA, fine, plugin
from toolseam import Host, Step, ToolResult
from toolseam.providers import ProviderError, ProviderFault, UserMessage
from toolseam.runs import Decision, Run, RunStep
from toolseam.testing import ScriptedProvider
from toolseam_builtin.system import probe_url
from toolseam_builtin.workspace import HostSettings, Workspace
from toolseam_plugins import audit

CODE = "def price(): return 'CANARY-OF-THE-SOURCE'"


def read(arguments: Any) -> ToolResult:
    """Return a piece of source code."""
    return ToolResult.text(CODE)


def write(arguments: Any) -> ToolResult:
    """Write something."""
    return fine()


def host(*tools: Any, workspace: Workspace | None = None, **settings: Any) -> Host:
    """Return a host whose `read` gives source code and whose `write` waits for people."""
    return Host(
        tools=[
            plugin(read, name="read", data_class="source_code"),
            plugin(write, name="write", effect="idempotent_write", preview=write),
            *tools,
        ],
        plugins=[audit],
        settings={"enable": ["write"], **settings},
        plugin_settings=() if workspace is None else (workspace,),
    )


def near(*script: Any) -> ScriptedProvider:
    """Return a provider on this machine."""
    return ScriptedProvider(script, name="near", zone="local")


@pytest.fixture(params=MAKERS.values(), ids=list(MAKERS))
def maker(request: pytest.FixtureRequest) -> Maker:
    """One of our own providers."""
    found: Maker = request.param
    return found


@pytest.fixture
def recorder(maker: Maker) -> Iterator[Recorder]:
    """What a provider far away is sent."""
    with recording(maker.say("Thank you.")) as listening:
        yield listening


def denied(run: Run, recorder: Recorder) -> None:
    """Hold a run to having ended before anything was sent."""
    assert (run.status, run.reason) == ("failed", "policy_denied")
    assert recorder.heard == []


def reason_of(step: Any) -> Any:
    """Return the reason that a refused call gives."""
    return step.metadata.value.get("reason")


def test_no_page_is_asked_for_what_was_read() -> None:
    """After source code `probe_url` asks no host of a zone that may not get it (a)."""
    with recording(as_json({})) as server:
        allowed = HostSettings(private=True, ports=(server.port,))
        script: list[Any] = [
            ("read", {}),
            ("probe_url", {"url": f"{server.url}/?{CODE[:3]}"}),
            "done",
        ]
        with host(probe_url, workspace=Workspace(hosts={"127.0.0.1": allowed})) as made:
            run = made.session(actor=ADA, zone="local").run(near(*script), "q")

    last = [each for each in run.steps if isinstance(each, Step)][-1]
    assert (last.status, reason_of(last)) == ("permission_denied", "sends_to")
    assert server.heard == []


def test_no_tool_that_sends_elsewhere_is_told() -> None:
    """A read that hands its arguments to a server far away is offered before, and not after (b)."""
    told: list[str] = []

    def tell(arguments: Any) -> ToolResult:
        told.append("x")
        return fine()

    far = plugin(tell, name="tell", sends_to="external_global")
    provider = near(("tell", {}), ("read", {}), ("tell", {}), "done")

    with host(far) as made:
        run = made.session(actor=ADA, zone="local").run(provider, "q")

    steps = [each for each in run.steps if isinstance(each, Step)]
    assert [each.status for each in steps] == ["ok", "ok", "permission_denied"]
    assert reason_of(steps[-1]) == "sends_to"
    assert told == ["x"]
    offered = [{spec.name for spec in request.tools} for request in provider.requests]
    assert ["tell" in each for each in offered] == [True, True, False, False]


def test_no_fallback_below_the_mark(maker: Maker, recorder: Recorder) -> None:
    """A chain is as far as its farthest: what it may not read is neither offered nor called (c)."""
    gone = ProviderError("Nobody there.", ProviderFault.CONNECTION)
    first, far = near(("read", {}), gone), maker.at(recorder, zone="external_global")

    with host() as made:
        session = made.session(actor=ADA, zone="local")
        run = session.run([first, far], "q")
        handed = session.run([near("never"), far], "q", mark="source_code")

    assert "read" not in {spec.name for spec in first.requests[0].tools}
    steps = [each for each in run.steps if isinstance(each, Step)]
    assert (steps[0].status, reason_of(steps[0])) == ("permission_denied", "data_class")
    assert b"CANARY" not in recorder.raw
    assert (handed.status, handed.reason) == ("failed", "policy_denied")
    assert [each.kind for each in handed.steps] == []


@pytest.mark.parametrize("restarted", [False, True])
def test_no_resume_below_the_mark(maker: Maker, recorder: Recorder, restarted: bool) -> None:
    """A run that waited is asked nowhere farther, in this process or in another one (d)."""
    far = maker.at(recorder, zone="external_global")

    with host() as made, host() as other:
        run = made.session(actor=ADA, zone="local").run(near(("read", {}), ("write", {})), "q")
        yes = Decision.approve(run.pending[0], actor=ADA)
        ended = (other if restarted else made).session().resume(run.id, [yes], far)

    denied(ended, recorder)
    assert ended.mark == "source_code"


def test_no_closing_request_below_the_mark(maker: Maker, recorder: Recorder) -> None:
    """Nor is the last request, which has no tools, sent past the mark."""
    far = maker.at(recorder, zone="external_global")

    with host() as made:
        session = made.session(actor=ADA, zone="local")
        run = session.run(near(("read", {}), ("write", {})), "q", max_rounds=2)
        yes = Decision.approve(run.pending[0], actor=ADA)
        denied(session.resume(run.id, [yes], far), recorder)


@pytest.mark.parametrize("mark", [None, "source_code"])
def test_no_messages_of_the_host_below_their_mark(
    maker: Maker, recorder: Recorder, mark: str | None
) -> None:
    """What a host hands in counts as what it says, or else as the highest of all (e)."""
    far = maker.at(recorder, zone="external_global")

    with host() as made:
        run = made.session(actor=ADA).run(far, messages=[UserMessage(CODE)], mark=mark)

    denied(run, recorder)


def test_a_failure_raises_the_mark_too() -> None:
    """The message of a tool that failed may be a line of what it read."""

    def fail(arguments: Any) -> ToolResult:
        raise ValueError(CODE)

    failing = plugin(fail, name="fail", data_class="source_code")

    with host(failing) as made:
        run = made.session(actor=ADA, zone="local").run(near(("fail", {}), "done"), "q")

    assert run.mark == "source_code"


def test_a_run_inside_a_run_marks_both() -> None:
    """What a tool read by calling another one counts for the conversation that it is told to."""

    def outer(arguments: Any, context: Any) -> ToolResult:
        return ToolResult.text(context.call("read", {}).content)

    with host(plugin(outer, name="outer")) as made:
        run = made.session(actor=ADA, zone="local").run(near(("outer", {}), "done"), "q")

    assert run.mark == "source_code"


def test_observing_sends_and_says_so() -> None:
    """Under `observe` the rule of classes refuses no provider either, and each request says it."""
    far = ScriptedProvider([("read", {}), "done"], zone="external_global")

    with host(enforce="observe") as made:
        run = made.session(actor=ADA).run(far, "q")

    assert run.reason == "completed"
    requests = [e for e in run.steps if isinstance(e, RunStep) and e.kind == "request"]
    assert [each.facts.get("observed") for each in requests] == [None, "policy_denied"]
