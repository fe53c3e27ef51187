import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam.isolation import _frames as frames
from toolseam.isolation._frames import HEADER, LARGEST, Ended, Fault

KINDS = b"HRQYALO"
kinds = st.sampled_from([bytes([kind]) for kind in KINDS])
tokens = st.binary(min_size=16, max_size=16)
whole = st.tuples(kinds, tokens, st.binary(max_size=200))


class Source:
    """Bytes that come in pieces, and count what was asked for."""

    def __init__(self, given: bytes, pieces: list[int]) -> None:
        self.left = given
        self.largest = 0
        self._pieces = pieces

    def take(self, count: int) -> bytes:
        """Give at most the next piece."""
        self.largest = max(self.largest, count)
        most = self._pieces.pop() if self._pieces else count
        piece = self.left[: min(most, count)]
        self.left = self.left[len(piece) :]
        return piece


splits = st.lists(st.integers(min_value=1, max_value=40))


@given(st.lists(whole, max_size=5), splits)
def test_what_was_written_is_read(written: list[tuple[bytes, bytes, bytes]], at: list[int]) -> None:
    """Whole frames come out as they went in, wherever the bytes are split; then comes the end."""
    source = Source(b"".join(b"".join(frames.frame(*each)) for each in written), at)

    read = [frames.read(source.take, KINDS) for _ in written]

    assert read == written
    with pytest.raises(Ended):
        frames.read(source.take, KINDS)


@given(whole, st.integers(min_value=1), splits)
def test_a_frame_that_was_cut_is_a_fault(
    written: tuple[bytes, bytes, bytes], cut: int, at: list[int]
) -> None:
    """Half a frame is never taken for one, nor for the end between two frames."""
    data = b"".join(frames.frame(*written))
    source = Source(data[: 1 + cut % (len(data) - 1)], at)

    with pytest.raises(Fault) as caught:
        frames.read(source.take, KINDS)

    assert not isinstance(caught.value, Ended)


@given(st.binary(max_size=300) | whole.map(lambda each: b"".join(frames.frame(*each))), splits)
def test_any_bytes_are_frames_or_a_fault(data: bytes, at: list[int]) -> None:
    """Whatever comes is exactly what would be written, or a fault; nothing else is raised."""
    source = Source(data, at)
    read: list[bytes] = []

    def read_all() -> None:
        while True:
            read.extend(frames.frame(*frames.read(source.take, KINDS)))

    with pytest.raises(Fault):
        read_all()
    assert data.startswith(b"".join(read))


@given(kinds, tokens, st.integers(min_value=LARGEST + 1, max_value=2**32 - 1))
def test_a_frame_that_is_too_large_costs_nothing(kind: bytes, token: bytes, length: int) -> None:
    """Only the head is read of a frame that claims too much."""
    source = Source(HEADER.pack(kind, token, length) + b"more", [])

    with pytest.raises(Fault, match="too large"):
        frames.read(source.take, KINDS)

    assert source.left == b"more"
    assert source.largest == HEADER.size


@given(whole, tokens, kinds)
def test_another_call_or_kind_is_a_fault(
    written: tuple[bytes, bytes, bytes], token: bytes, kind: bytes
) -> None:
    """Only a kind that may come now, and only of the call that is meant, is read."""
    data = b"".join(frames.frame(*written))

    def read() -> object:
        return frames.read(Source(data, []).take, kind, token)

    if written[:2] == (kind, token):
        assert read() == written
    else:
        with pytest.raises(Fault):
            read()


def test_a_body_that_is_too_large_is_not_written() -> None:
    """Nobody begins to write what the other end would not read."""
    with pytest.raises(Fault):
        frames.frame(frames.ANSWER, frames.NO_CALL, bytes(LARGEST + 1))


def test_a_large_frame_goes_through_a_channel_that_blocks() -> None:
    """What does not fit at once is written piece by piece."""
    here, there = socket.socketpair()
    pieces = frames.frame(frames.REQUEST, bytes(16), bytes(range(256)) * 20_000)
    read: list[object] = []
    thread = threading.Thread(target=lambda: read.append(frames.read(there.recv, frames.REQUEST)))
    thread.start()

    with here, there:
        frames.write(here, pieces, pytest.fail)
        thread.join(30)

    assert read == [(frames.REQUEST, bytes(16), pieces[1])]


def test_a_large_frame_goes_through_a_channel_that_does_not_block() -> None:
    """What does not fit at once is written when there is room again, which is waited for."""
    here, there = socket.socketpair()
    here.setblocking(False)
    there.setblocking(False)
    pieces = frames.frame(frames.REQUEST, bytes(16), bytes(range(256)) * 20_000)
    read: list[bytes] = []

    def make_room() -> None:
        read.append(there.recv(70_000))

    with here, there:
        frames.write(here, pieces, make_room)
        while len(b"".join(read)) < len(pieces[0]) + len(pieces[1]):
            make_room()

    assert len(read) > 2
    assert b"".join(read) == b"".join(pieces)
