"""Programs of npm's that the second opinion asks: `nox -s second_opinion`."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

MODULES = "TOOLSEAM_NODE_MODULES"
"""The variable with the folder where npm put them."""
WAIT_S = 120.0
SERVER = Path(__file__).parent / "mcp_conformance.py"


def package(name: str) -> dict[str, Any]:
    """Return what a package says of itself."""
    text = (Path(os.environ[MODULES]) / name / "package.json").read_text("utf-8")
    said: dict[str, Any] = json.loads(text)
    return said


def program(name: str, command: str) -> tuple[str, str]:
    """Return the words that start a command of a package."""
    return "node", str(Path(os.environ[MODULES]) / name / package(name)["bin"][command])


def ask(*words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, and return what it said and how it ended."""
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=WAIT_S, check=False
    )


@contextmanager
def served(python: str, folder: Path) -> Iterator[str]:
    """Serve the tools of the conformance suites over HTTP, and give the address."""
    port_file = folder / "port"
    words = (python, str(SERVER), str(port_file))
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        try:
            until = time.monotonic() + WAIT_S
            while not (port_file.exists() and (port := port_file.read_text("utf-8"))):
                assert process.poll() is None, "the server has ended"
                assert time.monotonic() < until, "the server did not start"
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            # It ends by itself when its standard input does.
            process.communicate(timeout=WAIT_S)


def python_of(major: int) -> str:
    """Return an interpreter with this major of the SDK."""
    name = f"TOOLSEAM_MCP{major}_PYTHON"
    if name not in os.environ:
        pytest.fail(f"{name} names no interpreter: run this by `nox -s second_opinion`")
    return os.environ[name]
