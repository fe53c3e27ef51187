"""Calls of a server over its standard streams, by bare lines of JSON: the same client for all."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any, Self

from benchmarks.subject import ARGUMENTS
from benchmarks.worker import ROOT

if TYPE_CHECKING:
    from pathlib import Path

_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


class Piped:
    """A server that runs as a child; close it by `with`."""

    def __init__(self, python: Path | str, *words: str) -> None:
        self._number = 0
        self._running = subprocess.Popen(
            [python, "-m", *words],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._ask("initialize", _HELLO)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, name: str) -> int:
        """Call a tool; return the length of its text."""
        answer = self._ask("tools/call", {"name": name, "arguments": ARGUMENTS})
        return len(answer["result"]["content"][0]["text"])

    def _send(self, message: dict[str, Any]) -> None:
        assert self._running.stdin is not None
        self._running.stdin.write(json.dumps(message).encode() + b"\n")
        self._running.stdin.flush()

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        assert self._running.stdout is not None
        line = self._running.stdout.readline()
        if not line:
            raise RuntimeError("its server ended")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def __enter__(self) -> Self:
        """Hold the server."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the server."""
        self._running.communicate()
