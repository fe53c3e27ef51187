"""A real SFTP server on loopback over one folder, gone with the block that asked for it."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import paramiko

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORD = "Tulip-77"


class Door(paramiko.ServerInterface):
    """Lets the one user in."""

    def check_auth_password(self, username: str, password: str) -> int:
        """Accept one password."""
        right = (username, password) == ("museum", PASSWORD)
        return paramiko.common.AUTH_SUCCESSFUL if right else paramiko.common.AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        """Open a session."""
        return paramiko.common.OPEN_SUCCEEDED


class Shelf(paramiko.SFTPServerInterface):
    """Files of the folder that the class made by `serve` names, read only."""

    root: Path

    def _place(self, path: str) -> str:
        return str(self.root / path.lstrip("/"))

    def list_folder(self, path: str) -> Any:
        """List a folder."""
        found: list[paramiko.SFTPAttributes] = []
        with suppress(OSError):
            for file in Path(self._place(path)).iterdir():
                found.append(paramiko.SFTPAttributes.from_stat(file.lstat(), file.name))
            return found
        return paramiko.SFTP_NO_SUCH_FILE

    def stat(self, path: str) -> Any:
        """Look at a file, links followed."""
        return self._looked(path, os.stat)

    def lstat(self, path: str) -> Any:
        """Look at a file or a link."""
        return self._looked(path, os.lstat)

    def _looked(self, path: str, look: Any) -> Any:
        try:
            return paramiko.SFTPAttributes.from_stat(look(self._place(path)))
        except OSError:
            return paramiko.SFTP_NO_SUCH_FILE

    def open(self, path: str, flags: int, attr: object) -> Any:
        """Open a file for reading."""
        handle = paramiko.SFTPHandle(flags)
        handle.filename = self._place(path)
        handle.readfile = Path(self._place(path)).open("rb")  # noqa: SIM115 - closed by the handle
        return handle


@contextmanager
def serving(root: Path) -> Iterator[tuple[int, paramiko.PKey]]:
    """Serve a folder to one connection after the other; give the port and the server's key."""
    key = paramiko.ECDSAKey.generate()
    listener = socket.create_server(("127.0.0.1", 0))
    shelf = type("ThisShelf", (Shelf,), {"root": root})
    transports: list[paramiko.Transport] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                transport = paramiko.Transport(connection)
                transports.append(transport)
                transport.add_server_key(key)
                transport.set_subsystem_handler("sftp", paramiko.SFTPServer, shelf)
                with suppress(paramiko.SSHException, EOFError):
                    transport.start_server(server=Door())

    server = threading.Thread(target=serve)
    server.start()
    try:
        yield int(listener.getsockname()[1]), key
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for transport in transports:
            transport.close()
        server.join()
