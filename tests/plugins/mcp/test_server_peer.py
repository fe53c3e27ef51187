"""What a client is told, before any transport."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from support.mcp_server import CANARY, host
from toolseam import Actor, Host, Session, ToolContext, ToolResult, Zone, tool
from toolseam_plugins.mcp._server_notes import Progress
from toolseam_plugins.mcp._server_peer import IDLE_S, Caller, Key, Peer

SECRET = "sk-" + "a1B2" * 12


@pytest.fixture(scope="module")
def tools() -> Iterator[Host]:
    """Return a host whose tools misbehave."""
    with host() as made:
        yield made


def peer_of(tools: Host, *structured: str, zone: Zone = Zone.EXTERNAL_GLOBAL) -> Peer:
    """Return a peer whose clients stand in a zone."""

    def opened(key: Key) -> Session:
        return tools.session(actor=Actor("client"), zone=zone)

    return Peer(tools, opened, frozenset(structured))


def told(peer: Peer, name: str, **arguments: object) -> tuple[dict[str, Any], list[Progress]]:
    """Make a call; return the answer, and the notes that came before it."""
    notes: list[Progress] = []

    async def send(note: Progress) -> None:
        notes.append(note)

    given: Mapping[str, object] = arguments
    answer = asyncio.run(peer.call(Caller(Key(), given), name, send, {}))
    return answer, notes


def test_declared_data_is_masked_for_whom_the_text_is_masked(tools: Host) -> None:
    """A secret shape in promised data reaches the zone `local` alone, as in the text."""
    for zone, shown in ((Zone.EXTERNAL_GLOBAL, False), (Zone.LOCAL, True)):
        answer, _ = told(peer_of(tools, "typed", zone=zone), "typed", word=SECRET)
        assert (SECRET in str(answer["structuredContent"])) is shown
        assert (SECRET in answer["content"][0]["text"]) is shown
        assert answer["structuredContent"]["number"] == 7
        assert CANARY not in str(answer)


def test_data_goes_nowhere_unless_it_is_promised_and_let_out(tools: Host) -> None:
    """Without the operator's word, a schema, or success there is none."""
    silent = peer_of(tools)
    asked = peer_of(tools, "typed", "full")

    for answer, _ in (
        told(silent, "typed"),
        told(asked, "full"),
        told(asked, "typed", number=-1),
    ):
        assert answer.keys() <= {"content", "isError", "_meta"}
        assert CANARY not in str(answer)


def test_progress_is_masked_and_only_goes_forward(tools: Host) -> None:
    """Each note is farther than the one before, and all come before the answer."""
    answer, notes = told(peer_of(tools), "backwards", text=SECRET)

    assert answer["content"][0]["text"] == "done"
    assert [note.done for note in notes] == [2, 3]
    assert SECRET not in str(notes)


def test_a_tool_that_was_given_up_may_go_on_telling() -> None:
    """Its call is answered after its deadline, and no note comes after the answer."""
    ended, notes = threading.Event(), list[Progress]()

    @tool(effect="read_only", data_class="public_content", timeout_s=0.2)
    def chatters(context: ToolContext) -> ToolResult:
        """Tell of progress until the test ends."""
        for done in range(1, 10**9):
            if ended.wait(0.0005):
                break
            context.progress(done)
        return ToolResult.text("late")

    async def send(note: Progress) -> None:
        await asyncio.sleep(0.001)
        notes.append(note)

    async def asked(peer: Peer) -> tuple[dict[str, Any], int]:
        call = peer.call(Caller(Key(), {}), "chatters", send, {})
        answer = await asyncio.wait_for(call, 10)
        told = len(notes)
        await asyncio.sleep(0.1)
        return answer, told

    with Host(tools=[chatters]) as chatty:
        try:
            answer, told = asyncio.run(asked(peer_of(chatty)))
        finally:
            ended.set()

    assert answer["_meta"]["toolseam/code"] == "timeout"
    assert len(notes) == told > 0


def test_what_an_interrupt_leaves_is_an_answer(tools: Host) -> None:
    """A tool's KeyboardInterrupt, in a thread or in the loop, is told as its step says."""
    for name in ("raises", "raises_async"):
        answer, _ = told(peer_of(tools), name, kind="interrupt")
        assert answer["_meta"]["toolseam/code"] == "cancelled"


def test_a_conversation_with_an_end_is_forgotten_when_it_is_idle(tools: Host) -> None:
    """After half an hour a session is let go; what somebody asks without one stays."""
    peer = peer_of(tools)
    old, lasting, fresh = Key(None, "old"), Key(None, ""), Key(None, "fresh")
    before = {key: peer.session(key) for key in (old, lasting)}
    for held in peer._held.values():
        held.used -= IDLE_S + 1

    peer.session(fresh)

    assert peer.session(lasting) is before[lasting]
    assert peer.session(old) is not before[old]


def test_a_conversation_lasts_while_its_client_is_there(tools: Host) -> None:
    """A client that asks for nothing but a sign of life keeps its session."""
    peer = peer_of(tools)
    mine, nobodys = Key(None, "mine"), Key(None, "nobody's")
    before = peer.session(mine)
    peer._held[mine].used -= IDLE_S + 1

    peer.touch(mine)
    peer.touch(nobodys)
    peer.session(Key(None, "fresh"))

    assert peer.session(mine) is before
    assert nobodys not in peer._held


def test_a_closed_peer_has_no_sessions(tools: Host) -> None:
    """Its sessions go with it, and what was set in them."""
    peer = peer_of(tools)
    first = peer.session(Key())
    peer.set_level(Key(), "error")

    peer.close()

    assert peer.level(Key()) == "info"
    assert peer.session(Key()) is not first


def test_a_peer_that_is_let_go_leaves_nothing_behind() -> None:
    """It listens while calls are under way; of five servers in process the host keeps nothing."""

    async def twice(peer: Peer) -> None:
        async def send(_: Progress) -> None:
            pass

        calls = [peer.call(Caller(Key(), {"seconds": 0.05}), "waits", send, {}) for _ in "ab"]
        both = asyncio.gather(*calls)
        await asyncio.sleep(0.01)
        assert len(made._state.listeners.told) == 1
        await both

    with host() as made:
        for _ in range(5):
            asyncio.run(twice(peer_of(made)))
        assert made._state.listeners.told == ()
