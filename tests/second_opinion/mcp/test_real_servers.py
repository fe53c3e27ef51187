"""Servers that others wrote, mounted: three of MCP's own, and ours on either major of the SDK."""

import asyncio
import os
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from support.mcp_conformance import TOKEN
from support.mcp_stub import mounted
from support.node import ask, program, python_of, served
from support.tools import ADA, approved
from toolseam import Actor, Host, ToolResult

TOOLS = {"everything": 13, "filesystem": 14, "memory": 9}
OPEN = {
    "enabled": True,
    "effect": "read_only",
    "data_class": "public_content",
    "requires_admin": False,
}
WRITES = {"create_entities", "write_file"}


@attrs.frozen
class Mounted:
    """A host that mounts the servers, and how its tools are called by their remote names."""

    host: Host
    folder: Path
    said: dict[str, Any]

    def name(self, remote: str) -> str:
        """Return the name here of a tool."""
        specs = self.host.session(actor=ADA).tools()
        return next(spec.name for spec in specs if spec.remote_name == remote)

    def call(self, remote: str, arguments: Any = None, **more: Any) -> ToolResult:
        """Call a tool as a person without roles."""
        return self.host.call(self.name(remote), arguments, actor=Actor("bo"), **more)


def code_of(result: ToolResult) -> str:
    """Return the code of a failure."""
    assert result.failure is not None
    return result.failure.code.value


def data_of(result: ToolResult) -> Any:
    """Return what a success carries beside its text."""
    assert result.failure is None
    return None if result.data is None else result.data.value


def pinned(config: Path, name: str) -> dict[str, Any]:
    """Return the tables that `toolseam mount` prints, with its tools let in."""
    command = (sys.executable, "-m", "toolseam", "mount", name)
    done = ask("env", f"XDG_CONFIG_HOME={config}", *command, folder=config)
    assert done.returncode == 0, done.stderr
    tables: dict[str, Any] = tomllib.loads(done.stdout)["mounts"][name]["tools"]
    writes = {"effect": "non_idempotent_write"}
    return {
        tool: {**said, **OPEN, **(writes if tool in WRITES else {})}
        for tool, said in tables.items()
    }


def commands(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the words that start each server."""
    words = {"everything": ("stdio",), "filesystem": (str(folder),), "memory": ()}
    return {
        name: (*program(f"@modelcontextprotocol/server-{name}", f"mcp-server-{name}"), *more)
        for name, more in words.items()
    }


@pytest.fixture(scope="module")
def all_three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mounted]:
    """Mount the three servers by what `toolseam mount` says of them."""
    folder, config = tmp_path_factory.mktemp("shelf"), tmp_path_factory.mktemp("config")
    node = shutil.which("node")
    assert node is not None
    lines: list[str] = []
    said: dict[str, Any] = {}
    for name, (_, *words) in commands(folder).items():
        said[name] = {"command": node, "args": words, "env": ["MEMORY_FILE_PATH"]}
        args = ", ".join(f'"{word}"' for word in words)
        more = f'args = [{args}]\nenv = ["MEMORY_FILE_PATH"]'
        lines.append(f'[mounts.{name}]\ncommand = "{node}"\n{more}\n')
    (config / "toolseam").mkdir()
    (config / "toolseam" / "config.toml").write_text("".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMORY_FILE_PATH", str(folder / "memory.jsonl"))
        for name, keys in said.items():
            keys["tools"] = pinned(config, name)
        with mounted(said) as host:
            yield Mounted(host, folder, said)


def test_every_tool_of_three_servers_is_mounted(all_three: Mounted) -> None:
    """All are listed, pinned as printed, and offered under names of ours."""
    health = {each[0]: each[1:] for each in all_three.host.health()}
    offered = [spec.name for spec in all_three.host.session(actor=ADA).tools()]

    assert health == {n: ("ok", f"{k} tools, {k} declared") for n, k in TOOLS.items()}
    for name, count in TOOLS.items():
        assert sum(each.startswith(f"{name}__") for each in offered) == count


@pytest.mark.parametrize(
    ("tool", "arguments", "told", "data"),
    [
        ("echo", {"message": "Größe"}, "Echo: Größe", None),
        ("get-sum", {"a": 1, "b": 2}, "The sum of 1 and 2 is 3.", None),
        ("get-tiny-image", {}, "[image left out: image/png, 4,035 bytes]", None),
        ("get-annotated-message", {"messageType": "error"}, "Error: Operation failed", None),
        ("get-resource-reference", {}, "[resource: <demo://resource/dynamic/text/1>]", None),
        ("get-resource-links", {"count": 1}, "[resource, not fetched: Blob Resource 1", None),
        (
            "get-structured-content",
            {"location": "Chicago"},
            '"humidity":82',
            {"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82},
        ),
    ],
)
def test_each_kind_of_answer(
    all_three: Mounted, tool: str, arguments: Any, told: str, data: Any
) -> None:
    """Text is content, what is structured is data, and the rest is named and not fetched."""
    result = all_three.call(tool, arguments)

    assert data_of(result) == data
    assert told in result.content
    assert len(result.artifacts) == 0


def test_a_remote_error_is_a_failure(all_three: Mounted) -> None:
    """What the server flags as an error is one, in a sentence of bounded length."""
    result = all_three.call("read_text_file", {"path": "/etc/passwd"})

    assert result.failure is not None
    assert result.failure.code == "execution_error"
    assert "Access denied" in result.failure.message
    assert len(result.failure.message) < 250


def test_wrong_arguments_reach_no_server(all_three: Mounted) -> None:
    """They are refused by the schema that the server gave."""
    assert code_of(all_three.call("get-sum", {"a": "much", "b": 2})) == "invalid_arguments"


def test_a_long_call_tells_how_far_it_is(all_three: Mounted) -> None:
    """Its progress arrives before its answer."""
    seen: list[tuple[float, float | None]] = []

    def listen(told: Any) -> None:
        if getattr(told, "kind", "") == "progress":
            seen.append((told.done, told.total))

    end = all_three.host.listen(listen)
    result = all_three.call("trigger-long-running-operation", {"duration": 0.4, "steps": 4})
    end()

    assert "completed" in result.content
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_call_ends_in_time(all_three: Mounted) -> None:
    """A deadline or a cancellation ends it, and the server answers the next call."""
    slow = (all_three.name("trigger-long-running-operation"), {"duration": 20, "steps": 2})
    host = all_three.host

    assert code_of(host.call(*slow, timeout=0.3, actor=ADA)) == "timeout"

    async def cancelled() -> None:
        task = asyncio.create_task(host.acall(*slow, actor=ADA))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(cancelled(), 5))
    assert all_three.call("echo", {"message": "still there"}).content == "Echo: still there"


def test_a_server_sees_no_more_of_the_environment_than_it_should(all_three: Mounted) -> None:
    """It gets PATH, HOME, LANG and what the mount names."""
    found = all_three.call("get-env").content

    assert "MEMORY_FILE_PATH" in found
    for name in set(os.environ) - {"PATH", "HOME", "LANG", "MEMORY_FILE_PATH"}:
        assert f'"{name}":' not in found


def test_a_write_waits_for_a_person(all_three: Mounted) -> None:
    """What the operator declares a write is approved, whatever the server says of itself."""
    name = all_three.name("create_entities")
    lamp = {"name": "lamp", "entityType": "thing", "observations": ["it burns"]}
    arguments = {"entities": [lamp]}
    host = all_three.host

    assert code_of(host.call(name, arguments, actor=ADA)) == "approval_denied"
    assert data_of(all_three.call("read_graph"))["entities"] == []
    approval = approved(host, name, arguments)
    assert host.call(name, arguments, actor=ADA, approval=approval).success
    assert data_of(all_three.call("read_graph"))["entities"] == [lamp]


def test_a_file_is_written_and_read(all_three: Mounted) -> None:
    """The same over another server, whose answer carries its text twice."""
    place = str(all_three.folder / "note.txt")
    name, arguments = all_three.name("write_file"), {"path": place, "content": "é\n"}
    approval = approved(all_three.host, name, arguments)

    assert all_three.host.call(name, arguments, actor=ADA, approval=approval).success

    assert Path(place).read_text("utf-8") == "é\n"
    assert all_three.call("read_text_file", {"path": place}).content.startswith("é")


def test_a_definition_that_nobody_read_is_not_called(all_three: Mounted) -> None:
    """With another digest a tool answers that its definition changed, and sends nothing."""
    filesystem = all_three.said["filesystem"]
    changed = {**filesystem["tools"]["read_text_file"], "sha256": "0" * 64}
    pins = {**filesystem["tools"], "read_text_file": changed}

    with mounted({"filesystem": {**filesystem, "tools": pins}}) as host:
        result = host.call("filesystem__read_text_file", {"path": "/etc/passwd"}, actor=ADA)
        other = host.call("filesystem__list_allowed_directories", actor=ADA)
        health = host.health()

    assert code_of(result) == "unavailable"
    assert result.metadata["reason"] == "definition_changed"
    assert str(all_three.folder) in other.content
    assert [each[1] for each in health if "read_text_file" in each[2]] == ["fault"]


@pytest.mark.parametrize("major", [1, 2])
def test_our_own_server_is_mounted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, major: int
) -> None:
    """The client of ours and the server of ours understand each other over HTTP."""
    monkeypatch.setenv("OURS_TOKEN", TOKEN)
    folder = tmp_path / "config" / "toolseam"
    folder.mkdir(parents=True)
    with served(python_of(major), tmp_path) as address:
        ours = {"url": address, "token_env": "OURS_TOKEN"}
        words = "".join(f'{key} = "{value}"\n' for key, value in ours.items())
        (folder / "config.toml").write_text(f"[mounts.ours]\n{words}")
        pins = pinned(folder.parent, "ours")
        with mounted({"ours": {**ours, "tools": pins}}) as host:
            fine = host.call("ours__typed", {"n": 3}, actor=ADA)
            failed = host.call("ours__typed", {"n": 12}, actor=ADA)

    assert fine.content == "n is 3"
    assert data_of(fine) == {"n": 3}
    assert code_of(failed) == "execution_error"
    assert "One digit is all." in failed.content
