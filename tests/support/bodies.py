"""Bodies that worker processes serve in the tests of isolation: good ones, and the worst.

A request is the name of one and its argument, with a blank between them.
"""

import os
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

SERVED = "support.bodies:serve"
CHANNEL = 3
LARGEST = 16 * 1024 * 1024

Ask = Callable[[bytes], bytes]
_LATE: list[Ask] = []


def serve(request: bytes, ask: Ask) -> bytes:
    """Run the body that a request names."""
    name, _, argument = request.partition(b" ")
    body: Callable[[bytes, Ask], bytes] = globals()[name.decode()]
    return body(argument, ask)


def echo(argument: bytes, ask: Ask) -> bytes:
    """Give back what came."""
    return argument


def asks(argument: bytes, ask: Ask) -> bytes:
    """Ask the host, and repeat what it says."""
    return b"the host said " + ask(argument)


def asks_late(argument: bytes, ask: Ask) -> bytes:
    """Ask with the way to ask of the call before this one."""
    before, _LATE[:] = [*_LATE], [ask]
    try:
        return before[0](argument) if before else b"kept"
    except RuntimeError as error:
        return str(error).encode()


def pid(argument: bytes, ask: Ask) -> bytes:
    """Name the process."""
    return b"%d" % os.getpid()


def sleeps(argument: bytes, ask: Ask) -> bytes:
    """Say so, and sleep so many seconds."""
    ask(b"asleep")
    time.sleep(float(argument))
    return b"awake"


def environment(argument: bytes, ask: Ask) -> bytes:
    """Show all variables."""
    return repr(dict(os.environ)).encode()


def prints(argument: bytes, ask: Ask) -> bytes:
    """Print by all ways there are, more than a pipe holds."""
    print("x" * 100_000)  # noqa: T201 - it is what is tested
    print("y", file=sys.stderr)  # noqa: T201 - likewise
    os.write(1, b"z" * 100_000)
    os.write(2, b"z" * 100_000)
    return b"read " + sys.stdin.read().encode()


def closes(argument: bytes, ask: Ask) -> bytes:
    """Close all descriptors, and stay for so many seconds."""
    os.closerange(0, 256)
    time.sleep(float(argument))
    return b"closed"


def garbage(argument: bytes, ask: Ask) -> bytes:
    """Write what is no frame."""
    os.write(CHANNEL, b"<html>It works!</html>\n" * 10)
    return b""


def half_a_frame(argument: bytes, ask: Ask) -> bytes:
    """Die in the middle of an answer."""
    os.write(CHANNEL, struct.pack(">c16sI", b"A", _token(ask), 1000) + b"half")
    os._exit(0)


def half_a_head(argument: bytes, ask: Ask) -> bytes:
    """Die in the middle of a head."""
    os.write(CHANNEL, b"A" + bytes(7))
    os._exit(0)


def claims_too_much(argument: bytes, ask: Ask) -> bytes:
    """Announce a gigabyte."""
    os.write(CHANNEL, struct.pack(">c16sI", b"A", _token(ask), 1 << 30))
    time.sleep(60)
    return b""


def sends_too_much(argument: bytes, ask: Ask) -> bytes:
    """Send an answer, and then a gigabyte."""
    channel = socket.socket(fileno=CHANNEL)
    channel.sendall(struct.pack(">c16sI", b"A", _token(ask), 5) + bytes(LARGEST))
    for _ in range(64):
        channel.sendall(bytes(LARGEST))
    return b""


def returns_too_much(argument: bytes, ask: Ask) -> bytes:
    """Return more than an answer may hold."""
    return bytes(LARGEST + 1)


def answers_another(argument: bytes, ask: Ask) -> bytes:
    """Write a frame of another call."""
    os.write(CHANNEL, struct.pack(">c16sI", b"A", bytes(16), 5) + b"other")
    return b""


def answers_twice(argument: bytes, ask: Ask) -> bytes:
    """Write two answers."""
    os.write(CHANNEL, (struct.pack(">c16sI", b"A", _token(ask), 5) + b"twice") * 2)
    time.sleep(60)
    return b""


def babbles_later(argument: bytes, ask: Ask) -> bytes:
    """Answer well, and say something afterwards that nobody asked for."""
    threading.Timer(0.05, lambda: os.write(CHANNEL, b"by the way")).start()
    return b"well"


def forks(argument: bytes, ask: Ask) -> bytes:
    """Come back twice."""
    return b"child" if os.fork() == 0 else b"parent"


def daemonises(argument: bytes, ask: Ask) -> bytes:
    """Leave a process that belongs to nobody."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            time.sleep(300)
        os._exit(0)
    os.wait()
    return b"left one"


def keeps_forking(argument: bytes, ask: Ask) -> bytes:
    """Be another process every now and then."""
    if os.fork() == 0:
        while True:
            if os.fork():
                os._exit(0)
            time.sleep(0.0005)
    ask(b"begun")
    time.sleep(300)
    return b""


def explodes(argument: bytes, ask: Ask) -> bytes:
    """Be many processes, all of which come and go."""
    ask(b"begun")
    for _ in range(6):
        os.fork()
    while True:
        if os.fork() == 0:
            os._exit(0)
        os.wait()


def ignores(argument: bytes, ask: Ask) -> bytes:
    """Hear no signal that can be ignored, and sleep."""
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    return sleeps(b"300", ask)


def allocates(argument: bytes, ask: Ask) -> bytes:
    """Take all the memory there is, and keep it if so told; say how many blocks of 8 MiB."""
    kept: list[bytes] = []
    try:
        while True:
            kept.append(bytes(8 * 1024 * 1024))
    except MemoryError:
        count = len(kept)
        if argument:
            _KEPT.extend(kept)
        return b"%d" % count


_KEPT: list[bytes] = []


def spins(argument: bytes, ask: Ask) -> bytes:
    """Work for ever, and hear no signal if so told."""
    if argument:
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    while True:
        pass


def works(argument: bytes, ask: Ask) -> bytes:
    """Use so many seconds of processor time."""
    until = time.process_time() + float(argument)
    while time.process_time() < until:
        pass
    return pid(b"", ask)


def exits(argument: bytes, ask: Ask) -> bytes:
    """End the process."""
    os._exit(int(argument))


def raises(argument: bytes, ask: Ask) -> bytes:
    """Raise what ends a program."""
    raise SystemExit("a body never raises")


def kills(argument: bytes, ask: Ask) -> bytes:
    """Kill a process: the worker itself, or its supervisor."""
    os.kill(os.getppid() if argument == b"supervisor" else os.getpid(), signal.SIGKILL)
    time.sleep(60)
    return b""


def writes(argument: bytes, ask: Ask) -> bytes:
    """Write so many MiB to a file of a folder, and say what came of it."""
    size, _, folder = argument.decode().partition(" ")
    try:
        with (Path(folder) / "written").open("wb") as file:
            for _ in range(int(size)):
                file.write(bytes(1024 * 1024))
    except OSError as error:
        return type(error).__name__.encode() + b" %d" % (error.errno or 0)
    return b"written"


def fills(argument: bytes, ask: Ask) -> bytes:
    """Write small files into a folder until it takes no more."""
    try:
        for number in range(100):
            (Path(argument.decode()) / f"part{number}").write_bytes(bytes(512 * 1024))
    except OSError as error:
        return type(error).__name__.encode() + b" %d" % (error.errno or 0)
    return b"filled"


def opens(argument: bytes, ask: Ask) -> bytes:
    """Open files without end, and leave them open."""
    try:
        while True:
            os.open(os.devnull, os.O_RDONLY)
    except OSError as error:
        return b"errno %d" % (error.errno or 0)


def reads(argument: bytes, ask: Ask) -> bytes:
    """Read a file."""
    try:
        return Path(argument.decode()).read_bytes()
    except OSError as error:
        return type(error).__name__.encode()


def lists(argument: bytes, ask: Ask) -> bytes:
    """List a folder."""
    try:
        return "\n".join(sorted(each.name for each in Path(argument.decode()).iterdir())).encode()
    except OSError as error:
        return type(error).__name__.encode()


def connects(argument: bytes, ask: Ask) -> bytes:
    """Connect to a port of this machine."""
    try:
        with socket.create_connection(("127.0.0.1", int(argument)), timeout=5):
            return b"connected"
    except OSError as error:
        return type(error).__name__.encode()


def imports(argument: bytes, ask: Ask) -> bytes:
    """Import a module."""
    try:
        return str(__import__(argument.decode()).__name__).encode()
    except ImportError as error:
        return type(error).__name__.encode()


def _token(ask: Ask) -> bytes:
    """Take the token of the call from where no honest body would look for it."""
    token: bytes = ask.__self__._token  # type: ignore[attr-defined]
    return token
