"""`toolseam inspect`: a link that is good for one visit, on this machine alone."""

import http.client
import json
import re
import signal
import socket
import stat
import sys
from argparse import Namespace
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.commands import Running, documented, toolseam
from support.lab import Lab
from toolseam.cli import _inspect

SCHEMA = documented("inspect")


@contextmanager
def serving(
    workspace: Path, *words: str, environ: dict[str, str] | None = None
) -> Generator[tuple[str, Running]]:
    """Serve the page of a workspace in a process of its own; give its first line."""
    with Running("inspect", *words, cwd=workspace, environ=environ) as process:
        try:
            yield process.stdout.readline().decode().strip(), process
        finally:
            stop(process)


def stop(process: Running, how: signal.Signals = signal.SIGINT) -> None:
    """End it as a person or a supervisor does, and wait for that."""
    if process.poll() is None:
        process.send_signal(how)
    process.wait(20)


def asked(link: str, path: str, said: Any = None, **headers: str) -> tuple[int, Any]:
    """Send one request to where a link leads, and return status and JSON."""
    where = re.fullmatch(r"http://(127\.0\.0\.1):(\d+)/#[\w-]+", link)
    assert where is not None
    line = http.client.HTTPConnection(where[1], int(where[2]), timeout=20)
    body = None if said is None else json.dumps(said)
    given = {"Content-Type": "application/json", **headers}
    line.request("GET" if said is None else "POST", path, body, given)
    answer = line.getresponse()
    told = json.loads(answer.read())
    cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
    line.close()
    return answer.status, {**told, "cookie": cookie}


def entered(link: str) -> dict[str, str]:
    """Use the link up, and return the headers that let a request in."""
    status, told = asked(link, "/api/enter", {"token": link.partition("#")[2]})
    assert status == 200
    return {"Cookie": told["cookie"], "X-Toolseam-Key": told["key"]}


def test_the_link_leads_to_the_tools_of_the_folder(workspace: Path, lab: Lab) -> None:
    """Once; whoever came in acts under the person's name, and with no role."""
    with serving(workspace, environ=lab.environ) as (link, _):
        headers = entered(link)
        again = asked(link, "/api/enter", {"token": link.partition("#")[2]})
        _, about = asked(link, "/api/host", **headers)
        _, told = asked(link, "/api/tools", **headers)

    assert again[0] == 401
    assert about["actor"]["roles"] == []
    assert about["folder"] == str(workspace)
    admins = [tool for tool in told["tools"] if tool["requires_admin"]]
    assert {tool["setting"] for tool in admins if tool["reason"] == "requires_admin"} <= {
        "only an administrator may call it: toolseam inspect --role admin"
    }
    off = [tool["setting"] for tool in told["tools"] if tool["reason"] == "disabled"]
    assert off
    assert all("enable" in setting for setting in off)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_with_the_host_closed(workspace: Path, how: signal.Signals) -> None:
    """Ctrl-C and a supervisor's word are how it is meant to end: exit code 0, nothing said."""
    with serving(workspace) as (link, process):
        line = socket.create_connection(("127.0.0.1", int(link.split(":")[2].split("/")[0])))
        entered(link)
        stop(process, how)
        line.close()
        said = process.stderr.read()

    assert (process.returncode, said) == (0, b"")


def test_a_role_is_what_the_operator_says(workspace: Path) -> None:
    """On the command line, and nowhere else."""
    with serving(workspace, "--role", "admin", "--role", "ops") as (link, _):
        _, about = asked(link, "/api/host", **entered(link))

    assert about["actor"]["roles"] == ["admin", "ops"]


def test_the_link_comes_as_an_object_too(workspace: Path) -> None:
    """As the reference page says."""
    with serving(workspace, "--json") as (_, process):
        rest = ""
        while not rest.rstrip().endswith("}"):
            rest += process.stdout.readline().decode()

    told = json.loads("{" + rest)
    SCHEMA.validate(told)
    assert told["link"].startswith("http://127.0.0.1:")


def test_the_token_is_in_no_line_but_the_link(workspace: Path) -> None:
    """Neither a log nor standard error has it, whatever is asked."""
    with serving(workspace) as (link, process):
        token = link.partition("#")[2]
        asked(link, "/api/host")
        entered(link)
        stop(process)
        out, err = process.communicate()

    assert token.encode() not in out + err


def test_a_port_that_is_taken_is_said(workspace: Path) -> None:
    """With what to do, and exit code 2."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ran = toolseam("inspect", "--port", str(taken.getsockname()[1]), cwd=workspace)

    assert ran.code == 2
    assert "is taken" in ran.err


@pytest.mark.parametrize("word", ["-1", "65536", "x", "\uff19", "123456"])
def test_a_port_that_is_none_is_usage(workspace: Path, word: str) -> None:
    """Before anything is loaded."""
    ran = toolseam("inspect", f"--port={word}", cwd=workspace)

    assert (ran.code, ran.out) == (2, "")
    assert "expected a port" in ran.err


def test_the_extra_is_named_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one sentence that says what to install."""
    monkeypatch.setitem(sys.modules, "uvicorn", None)

    assert _inspect.main(None) == 2  # type: ignore[arg-type]
    assert "toolseam[inspector]" in capsys.readouterr().err


def test_the_browser_is_given_a_file_and_no_token(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a program is started with everybody can read; the file only its owner, and it goes."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with _inspect._opened("http://127.0.0.1:1/#token", workspace):
        file = Path(opened[0].removeprefix("file://"))
        mode, text = stat.S_IMODE(file.stat().st_mode), file.read_text()

    assert (mode, "token" in opened[0]) == (0o600, False)
    assert 'url=http://127.0.0.1:1/#token"' in text
    assert not file.exists()


def test_without_a_private_place_no_browser_is_opened(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link is printed all the same."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setenv("XDG_STATE_HOME", str(workspace))
    with _inspect._opened("http://127.0.0.1:1/#token", workspace):
        assert opened == []


@pytest.mark.parametrize(
    ("display", "terminal", "shows"), [(":0", True, True), ("", True, False), (":0", False, False)]
)
def test_a_browser_is_opened_on_a_desktop_alone(
    monkeypatch: pytest.MonkeyPatch, display: str, *, terminal: bool, shows: bool
) -> None:
    """Elsewhere it would take the terminal, or fail."""
    monkeypatch.setattr(_inspect, "on_terminal", lambda: terminal)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)

    assert _inspect._shows_windows() is shows


def test_small_answers_are_sent_at_once() -> None:
    """The socket says that it is TCP, which asyncio asks of it before it stops waiting for more."""
    with _inspect._door() as door:
        assert (door.family, door.proto) == (socket.AF_INET, socket.IPPROTO_TCP)


def test_a_person_is_told_what_the_link_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal with a word before it, and how it ends."""
    monkeypatch.setattr(_inspect, "on_terminal", lambda: True)
    _inspect._tell("http://127.0.0.1:1/#token", Namespace(json=False))
    told = capsys.readouterr()

    assert told.out == "Inspector: http://127.0.0.1:1/#token\n"
    assert "one visit" in told.err
