"""`toolseam inspect`: a local page with tools, runs, calls and approvals, for one browser."""

from __future__ import annotations

import os
import signal
import socket
import sys
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolseam.cli._terminal import complain, note, on_terminal, say, say_json

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Generator

    from toolseam import Host
    from toolseam_plugins.inspector._app import Inspector

_LOOPBACK = "127.0.0.1"
_PORTS = 65_536
_GRACE_S = 2


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    parser.add_argument(
        "--port", type=_port, default=0, metavar="N", help="listen on this port; else on a free one"
    )
    parser.add_argument(
        "--role",
        action="append",
        default=[],
        metavar="ROLE",
        help="a role under which the page acts; repeat it. Without one it has none",
    )
    parser.add_argument("--no-open", action="store_true", help="print the link and open no browser")
    parser.add_argument("--json", action="store_true", help="print one object with the link")
    parser.epilog = """\
examples:
  toolseam inspect
  toolseam inspect --role admin --port 8321 --no-open

The page is served on this machine alone. The link is good for one visit: whoever opens it first is
let in, and acts under your name with the roles that you give. Ctrl-C ends it.

exit codes: 0 ended, 2 usage, settings, or a port that is taken
"""


def _port(word: str) -> int:
    from argparse import ArgumentTypeError

    if not (word.isascii() and word.isdigit() and len(word) <= 5 and int(word) < _PORTS):  # noqa: PLR2004
        raise ArgumentTypeError("expected a port, 0 to 65535")
    return int(word)


def main(options: Namespace) -> int:
    """Serve the page of the current folder until somebody stops it."""
    from importlib.util import find_spec

    from toolseam import Host
    from toolseam.cli._person import person

    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        complain("the inspector needs the extra `inspector`: pip install 'toolseam[inspector]'")
        return 2
    from toolseam_plugins import inspector

    with Host.load() as host, _door() as door:
        # Or a restart would wait a minute for the connections of the one before.
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((_LOOPBACK, options.port))
        except OSError:
            complain(
                f"port {options.port} is taken or not allowed; leave --port out for a free one"
            )
            return 2
        app = inspector.asgi(
            host,
            origin=f"http://{_LOOPBACK}:{door.getsockname()[1]}",
            actor=person(roles=options.role),
            hint=_hint(host),
        )
        # Whoever opens the link at once waits until it is answered.
        door.listen()
        link = app.new_link()
        _tell(link, options)
        opens = not options.no_open and _shows_windows()
        with _opened(link, Path.cwd()) if opens else nullcontext(), suppress(KeyboardInterrupt):
            # The server passes on what ended it; that is how this is ended.
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            _serve(app, door)
    return 0


def _door() -> socket.socket:
    # Said in full: asyncio sends small answers at once only where the socket says that it is TCP,
    # and without that each answer on a connection that is kept waits forty milliseconds.
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)


def _hint(host: Host) -> Any:  # noqa: ANN401 - a function, and typing it would import more
    from toolseam.cli._hints import setting_for

    def hint(tool: Any, reason: str) -> str:  # noqa: ANN401
        if reason in {"requires_admin", "no_actor"}:
            return "only an administrator may call it: toolseam inspect --role admin"
        return setting_for(host, tool, reason)

    return hint


def _tell(link: str, options: Namespace) -> None:
    """Print the link, and open it where a person sits; it is written nowhere else."""
    if options.json:
        say_json({"link": link})
    elif on_terminal():
        say(f"Inspector: {link}")
        note("The link is good for one visit. Ctrl-C ends it.")
    else:
        say(link)
    sys.stdout.flush()


@contextmanager
def _opened(link: str, folder: Path) -> Generator[None]:
    """Open the link in a browser, by way of a file that is ours alone, and drop that at the end.

    What a program is started with can be read by everybody on the machine.
    """
    from toolseam.guards import UnsafePlace, make_private, state_folder

    try:
        place = make_private(state_folder(folder), outside=folder)
    except UnsafePlace:  # the link is printed all the same
        yield
        return
    file = place / f"inspect-{os.getpid()}.html"
    file.unlink(missing_ok=True)
    try:
        with open(file, "x", opener=_private) as page:
            page.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={link}">')
        import webbrowser

        webbrowser.open(file.as_uri())
        yield
    finally:
        file.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _shows_windows() -> bool:
    """Tell whether a browser would get a window of its own, and not this terminal."""
    shown = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return on_terminal() and bool(shown or sys.platform in {"darwin", "win32"})


def _serve(app: Inspector, door: socket.socket) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            # Streams end when the page does, and not when their readers leave.
            app.close()
            await super().shutdown(sockets)

    # No access log: addresses are nobody's business, and it is noise beside the link.
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=_GRACE_S,
    )
    Server(config).run([door])
