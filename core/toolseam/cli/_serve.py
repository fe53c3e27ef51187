"""`toolseam serve mcp`: the tools for MCP clients; not as the local administrator.

A model makes the calls, so they have the roles that the operator names, and none unsaid.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from toolseam.cli._terminal import complain, note
from toolseam.cli._words import UsageError

if TYPE_CHECKING:
    import socket
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator
    from pathlib import Path

    from toolseam import Actor, Host
    from toolseam_plugins.mcp import Wires

_PORT = 8710
_USAGE = 2
_LOCAL = "127.0.0.1"
_PATH = "/mcp"
_SHORTEST = 16


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    from toolseam import Zone

    parser.add_argument("protocol", choices=["mcp"], help="what the clients speak")
    parser.add_argument(
        "--actor", metavar="NAME", help="who acts; else `mcp.actor` of the settings"
    )
    parser.add_argument(
        "--role",
        action="append",
        metavar="ROLE",
        help="a role of the actor, say admin; else `mcp.roles` of the settings, else none",
    )
    parser.add_argument(
        "--tools", metavar="NAME,group:NAME", help="only these tools and groups, with commas"
    )
    parser.add_argument(
        "--zone",
        choices=[zone.value for zone in Zone],
        help="where the client's model stands; else `zone` of the settings",
    )
    http = parser.add_argument_group("over HTTP")
    http.add_argument("--http", action="store_true", help="serve HTTP, not standard streams")
    http.add_argument(
        "--port", type=int, default=_PORT, help=f"where, by default {_PORT}; 0 is a free one"
    )
    http.add_argument(
        "--bind", default=_LOCAL, metavar="ADDRESS", help=f"by default {_LOCAL}, this machine alone"
    )
    http.add_argument(
        "--host",
        action="append",
        default=[],
        metavar="NAME",
        help="a further name by which clients know this server",
    )
    http.add_argument(
        "--plaintext",
        action="store_true",
        help="with --bind: what goes over the network is not encrypted here",
    )
    http.add_argument(
        "--token-env", metavar="VARIABLE", help="the variable with the token; else one is made"
    )
    parser.epilog = """\
examples:
  toolseam serve mcp
  toolseam serve mcp --tools group:content,read_source --zone local
  toolseam serve mcp --http
  toolseam serve mcp --http --bind 10.0.0.5 --host tools.example.org --plaintext

A client starts the first two itself and speaks over standard streams. Over HTTP every request needs
the token, which is in a file that you alone can read; the command says where.

exit codes: 0 the client has ended, or SIGTERM came; 2 usage or settings
"""


def main(options: Namespace) -> int:
    """Serve until the client ends, or a signal comes."""
    from toolseam_plugins.mcp import claim_stdio, find_sdk

    # Before any plugin is imported: what it prints then is no answer of ours.
    wires = None if options.http else claim_stdio()
    from toolseam import Host

    try:
        find_sdk()
        if wires is not None:
            with Host.load() as host:
                return _over_streams(host, options, wires)
        with _listener(options) as listener, Host.load() as host:
            return _over_http(host, options, listener)
    except UsageError as error:
        complain(str(error))
        return _USAGE


def _over_streams(host: Host, options: Namespace, wires: Wires) -> int:
    from toolseam.cli._offers import wanted
    from toolseam_plugins.mcp import serve_stdio

    actor, names = _actor(host, options), wanted(host, options.tools)
    _introduce(host, options, actor)
    if os.isatty(wires.incoming):
        note("An MCP client starts this command itself; what is typed here is read as its JSON.")
    serve_stdio(
        host,
        actor=actor,
        tools=names,
        zone=options.zone,
        structured=host.settings.operator.mcp.structured,
        wires=wires,
    )
    return 0


def _over_http(host: Host, options: Namespace, listener: socket.socket) -> int:
    from toolseam.cli._offers import wanted
    from toolseam_plugins.mcp import asgi, names_of, serve_http

    actor, names = _actor(host, options), wanted(host, options.tools)
    own = names_of(listener)
    token, file = _token(options, listener)
    try:
        app = asgi(
            host,
            token=token,
            actor=actor,
            hosts=own | frozenset(options.host),
            tools=names,
            zone=options.zone,
            structured=host.settings.operator.mcp.structured,
            path=_PATH,
        )
        _introduce(host, options, actor)
        note(f"token: {f'the variable {options.token_env}' if file is None else file}")
        # What is announced can be ended: whoever reads it may send the signal at once.
        serve_http(app, listener, begun=lambda: note(f"serving http://{min(own)}{_PATH}"))
    finally:
        if file is not None:
            file.unlink(missing_ok=True)
    return 0


def _actor(host: Host, options: Namespace) -> Actor:
    from toolseam.cli._person import person

    said = host.settings.operator.mcp
    roles = said.roles if options.role is None else options.role
    return person(options.actor or said.actor, roles)


def _introduce(host: Host, options: Namespace, actor: Actor) -> None:
    """Say on standard error what is offered to whom, and what is not."""
    for line in _lines(host, options, actor):
        note(line)


def _lines(host: Host, options: Namespace, actor: Actor) -> Iterator[str]:
    from toolseam import Zone
    from toolseam._policy import Receiver
    from toolseam.cli._offers import told, wanted, withheld

    names = wanted(host, options.tools)
    allowed = None if names is None else frozenset(names)
    zone = Zone(options.zone or host.settings.operator.zone)
    roles = ", ".join(sorted(actor.roles)) or "no roles"
    yield f"toolseam serves MCP as {actor.name} ({roles}) to the zone {zone.value}"
    missing = withheld(host, Receiver(actor, zone, allowed), roles="mcp.roles")
    yield from told(missing, len(host.tools()))


def _listener(options: Namespace) -> socket.socket:
    """Return the listening socket; a network is only for who says that he knows."""
    import ipaddress

    from toolseam_plugins.mcp import listen

    try:
        place = ipaddress.ip_address(options.bind)
    except ValueError:
        message = f"--bind {options.bind}: expected an IP address of this machine"
        raise UsageError(message) from None
    if not place.is_loopback and not options.plaintext:
        message = f"--bind {options.bind}: what goes over a network needs TLS before it; with a"
        raise UsageError(f"{message} proxy that has it, or a network you trust, add --plaintext")
    if place.is_unspecified and not options.host:
        message = f"--bind {options.bind}: name with --host how clients call this machine"
        raise UsageError(message)
    try:
        return listen(options.bind, options.port)
    except (OSError, OverflowError):
        message = f"--port {options.port}: {options.bind} cannot be listened on there"
        raise UsageError(message) from None


def _token(options: Namespace, listener: socket.socket) -> tuple[str, Path | None]:
    """Return the token, and the file of one that is made; the file is the owner's alone."""
    if options.token_env is not None:
        given = os.environ.get(options.token_env, "")
        if len(given) < _SHORTEST:
            message = f"--token-env {options.token_env}: it holds no {_SHORTEST} characters"
            raise UsageError(message)
        return given, None
    import secrets
    from pathlib import Path

    from toolseam.guards import UnsafePlace, make_private, state_folder

    workspace = Path.cwd()
    token = secrets.token_urlsafe(32)
    address, port = listener.getsockname()[:2]
    # Two servers may have one port, each at an address of its own; no name has a colon everywhere.
    name = f"mcp-{address.replace(':', '_')}-{port}.token"
    try:
        file = make_private(state_folder(workspace), outside=workspace) / name
        file.unlink(missing_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as written:
            written.write(token)
    except (OSError, UnsafePlace) as error:
        why = str(error) if isinstance(error, UnsafePlace) else "cannot be written"
        message = f"the folder for the token {why}; give it with --token-env"
        raise UsageError(message) from None
    return token, file
