import asyncio
from threading import Event

import pytest

from support.tools import ADA, BOB, Counted, CountedAsync, fine, plugin
from toolseam import Actor, Host, ToolError, WireText, Zone


@pytest.fixture
def host() -> Host:
    """A host with tools of several kinds."""
    return Host(
        tools=[
            Counted(fine, name="read", group="db"),
            Counted(fine, name="write", group="db", effect="unknown"),
            Counted(fine, name="admin", requires_admin=True),
            CountedAsync(fine, name="later", data_class="source_code"),
        ]
    )


def offered(host: Host, **given: object) -> list[str]:
    """Return the names that a session is offered."""
    return [spec.name for spec in host.session(**given).tools()]  # type: ignore[arg-type]


def test_what_is_offered_is_what_the_gate_lets_through(host: Host) -> None:
    """Actor, allow-list and zone narrow, and each tool that is offered can be called."""
    assert offered(host, actor=ADA, zone="local") == ["admin", "later", "read", "write"]
    assert offered(host, actor=BOB, zone="local") == ["later", "read", "write"]
    assert offered(host, actor=BOB, zone="external_global") == ["read", "write"]
    assert offered(host, actor=BOB, tools=["group:db"]) == ["read", "write"]
    assert offered(host, actor=BOB, tools=["admin", "read", "nope"]) == ["read"]
    assert offered(host, actor=ADA, tools=[]) == []
    assert offered(host, zone="local") == ["read", "write"]


def test_one_name_is_no_list_of_names(host: Host) -> None:
    """A text in the place of the allow-list is an error, not a list of letters."""
    with pytest.raises(TypeError):
        host.session(tools="read")


def test_the_zone_comes_from_the_settings() -> None:
    """Undeclared is the farthest one; an unknown word is an error."""
    assert Host().session().zone is Zone.EXTERNAL_GLOBAL
    assert Host(settings={"zone": "local"}).session().zone is Zone.LOCAL
    assert Host(settings={"zone": "local"}).session(zone="external_eu").zone is Zone.EXTERNAL_EU
    with pytest.raises(ValueError, match="moon"):
        Host().session(zone="moon")


def test_a_session_says_who_and_where(host: Host) -> None:
    """Actor, run and steps can be read, and its text shows no content."""
    session = host.session(actor=ADA)
    session.call("read")

    assert session.actor is ADA
    assert session.steps[0].run_id == session.run_id
    assert session.notes == ()
    assert repr(session) == f"<Session {session.run_id} 1 steps>"


def test_each_way_to_call_gives_the_same(host: Host) -> None:
    """call, acall, call_wire and acall_wire differ in how they wait and what they give."""
    session = host.session(actor=ADA)
    text, step = session.call_wire("read")
    atext, astep = asyncio.run(session.acall_wire("read"))

    assert session.call("read").content == text == atext == "fine"
    assert asyncio.run(session.acall("read")).content == "fine"
    assert type(text) is type(atext) is WireText
    assert (step.status, astep.status) == ("ok", "ok")
    assert len(session.steps) == 4


def test_a_refused_call_has_wire_text_too(host: Host) -> None:
    """Whatever becomes of a call, the provider is told one text."""
    session = host.session(actor=BOB)

    text, step = session.call_wire("nope")

    assert text == "Error (not_found): There is no tool 'nope'."
    assert step.status == "not_found"


def test_a_preview_is_made_in_the_session(host: Host) -> None:
    """It counts no attempt, and is refused where the call would be."""
    session = host.session(actor=BOB, tools=["write"])

    assert session.preview("write").run_id == session.run_id
    with pytest.raises(ToolError):
        session.preview("read")
    assert session.steps == ()


def test_an_approval_is_for_one_call_of_the_session(host: Host) -> None:
    """Who may make the call approves what the preview shows, once, and in this session only."""
    session, other = host.session(actor=ADA), host.session(actor=ADA)
    shown = session.preview("write")

    given = session.approve(shown, actor=BOB)
    outcomes = [each.call("write", approval=given) for each in (other, session, session)]

    assert [r.metadata.value.get("reason") for r in outcomes] == ["other_run", None, "used"]
    assert [r.success for r in outcomes] == [False, True, False]


@pytest.mark.parametrize(
    ("four_eyes", "approver"),
    [(False, Actor("robot", {"admin"}, service=True)), (True, Actor("ada", {"admin"}))],
    ids=["a service account", "the owner under four_eyes"],
)
def test_not_everybody_approves(four_eyes: bool, approver: Actor) -> None:
    """A machine never does, and the owner does not where the operator wants somebody else."""
    tool = Counted(fine, name="write", effect="unknown")
    host = Host(tools=[tool], settings={"approval": {"four_eyes": four_eyes}})
    session = host.session(actor=ADA)
    shown = session.preview("write")

    for door in (session, host):
        with pytest.raises(ToolError) as refused:
            door.approve(shown, actor=approver)
        assert refused.value.code == "permission_denied"


def test_a_session_approves_its_own_previews_alone(host: Host) -> None:
    """So that nobody's eyes count as somebody else's; the host's own code speaks for itself."""
    session, other = host.session(actor=ADA), host.session(actor=BOB)

    with pytest.raises(ToolError) as refused:
        other.approve(session.preview("write"), actor=ADA)

    assert refused.value.code == "conflict"
    shown = host.preview("write", actor=ADA)
    assert host.call("write", actor=ADA, approval=host.approve(shown, actor=ADA)).success


def test_a_session_never_shows_what_another_did(host: Host) -> None:
    """Traces are apart, also from the host's own."""
    one, other = host.session(actor=ADA), host.session(actor=ADA)
    one.call("read")

    assert len(one.steps) == 1
    assert other.steps == host.steps == ()


def test_a_session_without_an_end_keeps_what_it_is_told_to(host: Host) -> None:
    """With `keep` the last steps stay, numbered as if all had."""
    session = host.session(actor=ADA, keep=3)

    for _ in range(10):
        session.call("read")

    assert [step.id.partition(":")[2] for step in session.steps] == ["8", "9", "10"]


@pytest.mark.parametrize("waits", [False, True])
def test_a_call_for_a_provider_may_have_a_deadline(waits: bool) -> None:
    """call_wire and acall_wire tell the provider of a timeout, as call would."""
    held = Event()
    session = Host(tools=[plugin(lambda arguments: held.wait(5) and fine())]).session(actor=ADA)

    if waits:
        text, step = asyncio.run(session.acall_wire("probe", timeout=0.05))
    else:
        text, step = session.call_wire("probe", timeout=0.05)
    held.set()

    assert step.status == "timeout"
    assert str.__str__(text).startswith("Error (timeout): probe")
