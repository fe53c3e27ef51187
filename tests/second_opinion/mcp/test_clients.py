"""Clients that others wrote against our server: MCP's inspector, and the SDK of either major."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.mcp_conformance import TOKEN
from support.node import SERVER, ask, program, python_of, served

CLIENT = Path(__file__).parents[2] / "support" / "mcp_client.py"
MAJORS = (1, 2)
WAYS = ("stdio", "http")
# What the inspector ends with.
FINE, FAILED = 0, 5


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, str]]:
    """Serve over HTTP, on each major of the SDK."""
    folders = [tmp_path_factory.mktemp(f"sdk{major}") for major in MAJORS]
    with served(python_of(1), folders[0]) as one, served(python_of(2), folders[1]) as two:
        yield {1: one, 2: two}


def target(addresses: dict[int, str], way: str, major: int, *header: str) -> tuple[str, ...]:
    """Return the words by which a client is told of a server."""
    if way == "http":
        return (addresses[major], *header)
    return (python_of(major), str(SERVER))


def inspect(where: tuple[str, ...], *words: str) -> tuple[int, dict[str, Any], str]:
    """Ask the inspector; return how it ended, the result that it got, and its complaint."""
    name = "@modelcontextprotocol/inspector"
    patient = ("--format", "json", "--connect-timeout", "60000")
    done = ask(*program(name, "mcp-inspector"), "--cli", *where, *patient, *words)
    result = json.loads(done.stdout)["result"] if done.stdout.strip() else {}
    return done.returncode, result, done.stderr


@pytest.mark.parametrize(("way", "major"), [("stdio", 1), ("http", 2)])
def test_the_inspector_lists_tools_and_finds_no_fault(addresses: Any, way: str, major: int) -> None:
    """Every schema passes its check of what other clients can read."""
    where = target(addresses, way, major)

    code, result, _ = inspect(where, "--method", "tools/list", "--strict")

    assert code == FINE
    tools = {tool["name"]: tool for tool in result["tools"]}
    assert len(tools) == 7
    assert tools["typed"]["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
    assert tools["typed"]["outputSchema"]["required"] == ["n"]


@pytest.mark.parametrize(
    ("way", "number", "code", "said"),
    [
        ("http", "3", None, "n is 3"),
        ("http", "-1", "invalid_arguments", "$.n"),
        ("stdio", "12", "execution_error", "One digit"),
    ],
)
def test_the_inspector_calls(
    addresses: Any, way: str, number: str, code: str | None, said: str
) -> None:
    """Data comes beside the text of a success alone, which TypeScript's clients insist on."""
    words = ("--method", "tools/call", "--tool-name", "typed", "--tool-arg", f"n={number}")

    ended, result, _ = inspect(target(addresses, way, 2), *words)

    assert ended == (FAILED if code else FINE)
    [block] = result["content"]
    assert said in block["text"]
    assert result["isError"] is bool(code)
    assert result.get("_meta", {}).get("toolseam/code") == code
    assert result.get("structuredContent") == (None if code else {"n": 3})


def test_the_inspector_without_the_token(addresses: Any) -> None:
    """A wrong token ends with a refusal of HTTP, before any tool."""
    header = ("--header", "Authorization: Bearer wrong")

    ended, result, said = inspect(target(addresses, "http", 2, *header), "--method", "tools/list")

    assert ended not in {FINE, FAILED}
    assert not result
    assert "auth_required" in said


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("theirs", MAJORS)
@pytest.mark.parametrize("ours", MAJORS)
def test_the_python_client(addresses: Any, way: str, theirs: int, ours: int) -> None:
    """The SDK's client of either major, and a server on either, understand each other."""
    where = target(addresses, way, ours, TOKEN)

    done = ask(python_of(theirs), "-W", "ignore", str(CLIENT), *where)

    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert len(seen["tools"]) == 7
    assert seen["text"]["content"][0]["text"].startswith("This is a simple text")
    assert seen["data"]["structuredContent"] == {"n": 3}
    assert seen["progress"] == [[0, 100], [50, 100], [100, 100]]
    failures = {name: seen[name] for name in ("failure", "wrong", "unknown")}
    assert {name: each["_meta"]["toolseam/code"] for name, each in failures.items()} == {
        "failure": "execution_error",
        "wrong": "invalid_arguments",
        "unknown": "not_found",
    }
    for each in failures.values():
        assert each["isError"] is True
        assert len(each["content"]) == 1
        assert "structuredContent" not in each
