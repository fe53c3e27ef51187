"""What a sandbox lets in is granted, never assumed (policy-and-runs, Scale)."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import attrs
import pytest

from support import apart
from support.tools import ADA, spec
from toolseam import Host, ToolResult, ToolSpec, hookimpl
from toolseam._settings_keys import Grants


@attrs.frozen
class Needy:
    """Settings of a tool that says what it needs."""

    network: bool = False
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    fails: str | None = None

    def sandbox_needs(self, spec: ToolSpec) -> dict[str, object]:
        """Say it, or fail to."""
        if self.fails is not None:
            kinds = {"value": ValueError, "exit": SystemExit, "cancelled": asyncio.CancelledError}
            if self.fails in kinds:
                raise kinds[self.fails]
            return {self.fails: True}
        return {"network": self.network, "read": self.read, "write": self.write}


class Tool:
    """A tool with such settings."""

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Describe it."""
        return spec("needy", settings=Needy, group="db")

    @hookimpl
    def execute(self, arguments: object) -> ToolResult:
        """Answer."""
        return ToolResult.text("fine")


needy = Tool()


def sandboxed(sandbox: dict[str, Any], **needs: object) -> Host:
    """A host whose one tool runs in a sandbox and needs something."""
    settings = {
        "runs_in": {"*": "sandbox"},
        "sandbox": sandbox,
        "plugins": {"host code": json.loads(json.dumps(needs))},
    }
    return Host(tools=[needy], settings=settings)


def refused(sandbox: dict[str, Any], **needs: object) -> str:
    """Return what the run keeps of why a call was refused whose needs are not granted."""
    with sandboxed(sandbox, **needs) as host:
        failure = host.call("needy", actor=ADA).failure
    if failure is None or failure.metadata.value.get("reason") != "not_granted":
        return ""
    assert failure.code == "unavailable"
    assert failure.message == (
        "needy cannot run as it is set up here (not_granted): another call of it changes nothing."
    )
    return str(failure.metadata["detail"])


def test_what_is_not_granted_is_named_with_the_key(caplog: pytest.LogCaptureFixture) -> None:
    """A tool that needs more is not begun: the run and the log are told what, a model is not."""
    needs = {"network": True, "read": ["/data/in", "/data/other"], "write": ["/data/out"]}

    said = refused({}, **needs)
    assert "[sandbox.needy]" in said
    assert "network, read /data/in, read /data/other, write /data/out" in said
    assert said in caplog.text
    told = refused({"needy": {"network": True, "read": ["/data/in"], "write": []}}, **needs)
    assert "grants no read /data/other, write /data/out" in told


@pytest.mark.parametrize(
    ("fails", "kind"),
    [
        ("value", "ValueError"),
        ("exit", "SystemExit"),
        ("cancelled", "CancelledError"),
        ("networks", "TypeError"),
    ],
)
def test_needs_that_cannot_be_told_are_not_granted(fails: str, kind: str) -> None:
    """Whatever a plugin raises instead: the body never began, and doctor has a line of it."""
    why = f"asking needy what it needs raised {kind}"
    with sandboxed({}, fails=fails) as host:
        (tool,) = host.tools()

        assert host._runners.obstacle(tool) == why
    assert refused({}, fails=fails) == why


def test_a_folder_grants_what_stands_in_it() -> None:
    """What may be changed may be read; a name that only begins alike is another folder."""
    grants = {"group:db": {"read": ["/data"], "write": ["/out/"]}}

    assert not refused(grants, read=["/data/in", "/data", "/out/x"], write=["/out/x"])
    assert refused(grants, read=["/database"])
    assert refused(grants, write=["/data/in"])


def test_a_tools_own_grants_go_before_its_groups() -> None:
    """They are not added up: who writes a table for one tool means that table."""
    grants = {"group:db": {"read": ["/data"]}, "needy": {"network": True}}

    assert "read /data" in refused(grants, read=["/data"])


@pytest.mark.parametrize("path", ["data", "~/data", ""])
def test_a_grant_is_of_a_whole_path(path: str) -> None:
    """Anything but an absolute path is refused where the settings are read."""
    with pytest.raises(Exception, match="absolute"):
        Host(settings={"sandbox": {"needy": {"read": [path]}}})


@pytest.mark.parametrize(
    ("group", "name", "words", "wanted"),
    [
        ("content", "read_records", {}, Grants(read=("/HERE",))),
        ("editing", "move_record", {}, Grants(read=("/HERE",), write=("/HERE",))),
        ("system", "probe_url", {}, Grants(network=True, read=("/HERE",))),
        (
            "content",
            "read_records",
            {"database": "postgresql://db/shop"},
            Grants(network=True, read=("/HERE",)),
        ),
        (
            "files",
            "search_files",
            {"storages": {"far": "/far/files"}, "logs": ("/var/log/shop/*.log", "logs/*.log")},
            Grants(read=("/HERE", "/far/files", "/var/log/shop")),
        ),
    ],
    ids=["read", "edit", "probe", "server", "elsewhere"],
)
def test_builtin_tools_say_what_they_need(
    tmp_path: Path, group: str, name: str, words: dict[str, Any], wanted: Grants
) -> None:
    """The folder, what the workspace names outside it, the network of a server; no more."""
    from toolseam_builtin.workspace import Workspace

    made = Workspace(folder=str(tmp_path), **words)
    needs = Grants(**made.sandbox_needs(spec(name, group=group)))  # type: ignore[arg-type]

    here = {"/HERE": str(tmp_path.resolve())}
    read = tuple(here.get(path, path) for path in wanted.read)
    write = tuple(here.get(path, path) for path in wanted.write)
    assert needs == attrs.evolve(wanted, read=read, write=write)


def test_tools_that_ask_the_index_say_that_they_need_it(tmp_path: Path) -> None:
    """It stands in the user's state folder, and only it is needed of what is there."""
    from toolseam_builtin.workspace import Workspace

    made = Workspace(folder=str(tmp_path / "shop"), state=str(tmp_path))
    of_rag, other = spec("rag_query", group="rag"), spec("read_records", group="content")
    before = made.sandbox_needs(of_rag)["read"]
    (tmp_path / "index.sqlite").touch()

    assert before == (str(made.place),)
    assert made.sandbox_needs(of_rag)["read"] == (str(made.place), str(tmp_path / "index.sqlite"))
    assert made.sandbox_needs(other)["read"] == (str(made.place),)


def test_a_read_that_its_host_ended_is_unavailable() -> None:
    """Closing kills what runs; what has only read is lost, and nothing is wrong with the tool."""
    host = Host(tools=apart.TOOLS, settings={"runs_in": {"*": "process"}})
    begun = threading.Event()
    host.listen(lambda _: begun.set())

    def end() -> None:
        begun.wait(60)
        host.close()

    threading.Thread(target=end, daemon=True).start()
    failure = host.call("stays", {"seconds": 60}).failure

    assert failure is not None
    assert (failure.code, failure.metadata) == ("unavailable", {"reason": "closed"})


def test_a_closed_host_starts_nothing() -> None:
    """A runner that was not made before the end is not made after it."""
    with Host(tools=[needy], settings={"runs_in": {"*": "process"}}) as host:
        pass
    failure = host.call("needy", actor=ADA).failure

    assert failure is not None
    assert (failure.code, failure.metadata) == ("unavailable", {"reason": "closed"})
