"""Peers' virtual environments: one a peer, so that nobody's pins constrain another's."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import attrs

from benchmarks.bars import PEERS
from benchmarks.worker import ROOT

if TYPE_CHECKING:
    from pathlib import Path

_NAMES = {"pydantic-ai": "pydantic-ai-slim", "strands": "strands-agents"}
_SECONDS = 900


class NoPeer(Exception):
    """A peer's environment could not be made: offline, or the peer does not install here."""


@attrs.frozen
class Peer:
    """A framework to compare with: its name in the table, and how it is installed."""

    name: str
    requirement: str

    @property
    def distribution(self) -> str:
        """The name it is installed by."""
        return _NAMES.get(self.name, self.name)

    @property
    def module(self) -> str:
        """Our module that knows how to call it."""
        return "benchmarks.peers." + self.name.replace("-", "_")


def peers() -> list[Peer]:
    """List the peers, with the versions that `pyproject.toml` asks for."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    wanted = {line.partition(">")[0]: line for line in groups["benchmarks"]}
    return [Peer(name, wanted[_NAMES.get(name, name)]) for name in PEERS]


def interpreter(peer: Peer, folder: Path) -> Path:
    """Return the interpreter of a peer's environment, which is made if it is not there yet.

    Raises `NoPeer` with the last line that the installer said.
    """
    place = folder / peer.distribution
    python = place / "bin" / "python"
    done = place / "installed.txt"
    if done.exists() and done.read_text() == peer.requirement:
        return python
    print(f"making an environment for {peer.requirement} in {folder}", file=sys.stderr)
    shutil.rmtree(place, ignore_errors=True)
    uv = shutil.which("uv")
    if uv:
        _run(uv, "venv", "--quiet", "--python", sys.executable, str(place))
        arguments = ("--quiet", "--compile-bytecode", "--python", str(python))
        _run(uv, "pip", "install", *arguments, peer.requirement)
    else:
        _run(sys.executable, "-m", "venv", str(place))
        _run(str(python), "-m", "pip", "install", "--quiet", peer.requirement)
    done.write_text(peer.requirement)
    return python


def _run(*words: str) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise NoPeer(f"no answer in {_SECONDS} s") from None
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no word of why"]
        raise NoPeer(f"not installed: {lines[-1].strip()[:160]}")
