import json
import sys
import time
from pathlib import Path
from typing import Any

import attrs
import pytest

from support.applications import DJANGO, FASTAPI, FLASK, PLAIN, STARLETTE, application
from support.databases import everything
from support.tools import BOB
from toolseam import Actor, ErrorCode, ToolResult
from toolseam.testing import harness
from toolseam_builtin._web._report import read_report
from toolseam_builtin.structure import resolve_url
from toolseam_builtin.workspace import Workspace

CAN = "Aster9Tulip77"


def told(**parts: Any) -> bytes:
    """Write an answer of the child with some parts of another shape."""
    whole: dict[str, Any] = {"framework": "", "application": "", "middleware": []}
    return json.dumps({**whole, "routes": None, "total": None, "match": None, **parts}).encode()


def ask(workspace: Workspace, url: str, *, actor: Actor | None = BOB, **how: Any) -> ToolResult:
    """Call the tool through the seam."""
    with harness(resolve_url, settings=workspace, actor=actor) as double:
        return double.call({"url": url}, **how)


def pairs(result: ToolResult) -> dict[str, str]:
    """Return what an answer says, by name."""
    assert result.success, result
    assert result.data is not None
    found = dict(result.data["pairs"])
    (artifact,) = result.artifacts
    assert dict(artifact.data["items"]) == found
    assert all(f"\n{name}: {value}" in result.content for name, value in found.items())
    return found


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/pages/tides", {"route": "/pages/{slug}", "endpoint": "main.page",
                          "methods": "GET, HEAD", "path parameter slug": "tides"}),
        ("/orders", {"route": "/orders", "endpoint": "main.page", "methods": "POST"}),
        ("/slash", {"route": "/slash/", "endpoint": "main.page", "methods": "GET, HEAD",
                    "note": "redirects to /slash/"}),
        ("/admin/users/7", {"route": "/admin/users/{user_id:int}", "endpoint": "main.admin",
                            "methods": "GET, HEAD", "path parameter user_id": "7"}),
        ("/static/a.css", {"route": "/static", "endpoint": "main.page"}),
        ("/live", {"route": "/live", "endpoint": "main.socket"}),
        ("http://api.example.test/v1/Aster9Tulip77",
         {"route": "api.example.test/v1/{token}", "endpoint": "main.admin",
          "methods": "GET, HEAD", "path parameter token": "[masked]"}),
    ],
)  # fmt: skip
def test_starlette_matches_as_it_would(tmp_path: Path, url: str, expected: dict[str, str]) -> None:
    """Routes, mounts, hosts, other methods, websockets and slashes are found by Starlette."""
    workspace = application(tmp_path, STARLETTE, "main:app", web_hosts=("api.example.test",))
    if url.startswith("/"):
        workspace = attrs.evolve(workspace, web_hosts=())

    assert pairs(ask(workspace, url)) == expected


def test_fastapi_matches_through_its_routers(tmp_path: Path) -> None:
    """A route of an included router is found, with its parameters as text."""
    found = pairs(ask(application(tmp_path, FASTAPI, "main:app"), "/items/7?q=tide"))

    assert found["endpoint"] == "main.read_item"
    assert found["route"] == "/items/{item_id}"
    assert found["path parameter item_id"] == "7"
    assert found["query parameter q"] == "tide"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/pages/tides", {"route": "/pages/<slug>", "endpoint": "main.page",
                          "methods": "GET, HEAD, OPTIONS", "path parameter slug": "tides"}),
        ("/shop/orders/7", {"route": "/shop/orders/<int:number>", "endpoint": "main.order",
                            "methods": "OPTIONS, POST", "path parameter number": "7"}),
        ("/slash", {"route": "/slash/", "endpoint": "main.slash",
                    "methods": "GET, HEAD, OPTIONS", "note": "redirects to /slash/"}),
    ],
)  # fmt: skip
def test_flask_matches_as_it_would(tmp_path: Path, url: str, expected: dict[str, str]) -> None:
    """Routes, blueprints, other methods and slashes are found by werkzeug."""
    assert pairs(ask(application(tmp_path, FLASK, "main:app"), url)) == expected


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/pages/tides/", {"route": "/pages/<slug:slug>/", "endpoint": "mysite.urls.page",
                           "path parameter slug": "tides"}),
        ("/pages/tides", {"route": "/pages/<slug:slug>/", "endpoint": "mysite.urls.page",
                          "note": "redirects to /pages/tides/", "path parameter slug": "tides"}),
        ("/shop/orders/7", {"route": "/shop/orders/<int:number>",
                            "endpoint": "mysite.urls.Order", "path parameter number": "7"}),
        ("/old/12", {"route": "/^old/(\\d+)$", "endpoint": "mysite.urls.page",
                     "path parameter 1": "12"}),
    ],
)  # fmt: skip
def test_django_matches_as_it_would(tmp_path: Path, url: str, expected: dict[str, str]) -> None:
    """Includes, class views, expressions and slashes are found by Django."""
    workspace = application(tmp_path, DJANGO, "mysite.wsgi:application")

    result = ask(workspace, url)

    assert pairs(result) == expected
    assert CAN not in everything(result)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/", {"route": "/$", "endpoint": "home"}),
        ("/pages/tides?a=1&a=2&token=Aster9Tulip77&e=",
         {"route": "/pages/(?P<slug>[a-z-]+)$", "endpoint": "main.show",
          "path parameter slug": "tides", "query parameter a": "2",
          "query parameter token": "[masked]", "query parameter e": ""}),
        ("/old/12", {"route": "/old/(\\d+)", "endpoint": "old", "path parameter 1": "12"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["main:application", "main:make()"])
def test_a_table_of_routes_does_for_an_application_without(
    tmp_path: Path, name: str, url: str, expected: dict[str, str]
) -> None:
    """Pairs of pattern and endpoint that the workspace names are matched in order."""
    workspace = application(tmp_path, PLAIN, name, web_routes="main:ROUTES")

    result = ask(workspace, url)

    assert result.data is not None
    assert dict(result.data["pairs"]) == expected
    assert CAN not in everything(result)


def test_an_application_without_routes_is_said(tmp_path: Path) -> None:
    """Where nothing lists routes the answer says so, and how to name some."""
    result = ask(application(tmp_path, PLAIN, "main:application"), "/pages/x?y=1")

    assert result.content == (
        "main.respond does not list its routes; workspace.web_routes may name a table of pairs"
        " (pattern, endpoint).\nquery parameter y: 1"
    )


@pytest.mark.parametrize("source", [STARLETTE, FLASK])
def test_no_route_is_a_success_that_names_near_ones(tmp_path: Path, source: str) -> None:
    """A path that nothing answers is told with the number of routes and what looks alike."""
    result = ask(application(tmp_path, source, "main:app"), "/page/tides")

    assert result.success
    assert "fits this path" in result.content.split("\n")[0]
    assert "None of the" in result.content
    assert "- /pages/" in result.content


@pytest.mark.parametrize(
    "url",
    [
        *("http://evil.test/pages/x", "https://evil.test/", "http://u:p@localhost/", "ftp://x/"),
        *("http://api.example.test/v1", "http://2130706433/", "http://localhost.evil.test/"),
    ],
)
def test_foreign_hosts_are_one_refusal(tmp_path: Path, url: str) -> None:
    """A URL of another host is refused alike, before the application is imported."""
    workspace = application(tmp_path, "raise SystemExit", "main:app")

    failure = ask(workspace, url).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
    assert failure.message.startswith("That is no URL of this application")


@pytest.mark.parametrize("url", ["pages/x", "//evil.test/x", "/a b", "/a\\b", "localhost:80/x"])
def test_what_is_no_url_is_refused(tmp_path: Path, url: str) -> None:
    """What is neither a path nor an absolute URL is a wrong argument."""
    failure = ask(application(tmp_path, PLAIN, "main:application"), url).failure

    assert failure is not None
    assert failure.code == ErrorCode.INVALID_ARGUMENTS


@pytest.mark.parametrize("url", ["http://localhost:8000/", "https://127.0.0.1/", "http://[::1]/"])
def test_this_machine_is_always_the_applications_own(tmp_path: Path, url: str) -> None:
    """Loopback names with any port are the application's."""
    workspace = application(tmp_path, PLAIN, "main:application", web_routes="main:ROUTES")

    assert "home" in ask(workspace, url).content


def test_an_untrusted_workspace_imports_nothing(tmp_path: Path) -> None:
    """Without the operator's trust the application is not imported (H02, S1)."""
    source = "open('marker', 'w')\napp = None"
    workspace = application(tmp_path, source, "main:app", trusted=False)

    failure = ask(workspace, "/").failure

    assert failure is not None
    assert (failure.code, failure.metadata["reason"]) == ("unavailable", "untrusted_workspace")
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"web_app": None}, "workspace.web_app"),
        ({"web_app": "main"}, "workspace.web_app"),
        ({"web_app": "main:app; x"}, "workspace.web_app"),
        ({"web_app": "main:app", "web_routes": "-c:x"}, "workspace.web_routes"),
    ],
)
def test_what_is_not_configured_is_named(
    tmp_path: Path, settings: dict[str, Any], said: str
) -> None:
    """A missing or malformed setting is `unavailable` and names the key."""
    failure = ask(application(tmp_path, PLAIN, "main:app", **settings), "/").failure

    assert failure is not None
    assert failure.code == ErrorCode.UNAVAILABLE
    assert said in failure.message


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("\nraise ValueError('Aster9Tulip77')", "ValueError at main.py, line 2."),
        ("import no_such_thing.inner", "there is no module 'no_such_thing' at main.py, line 1."),
        ("raise SystemExit(3)", "SystemExit at main.py, line 1."),
        ("import os; os._exit(0)", "ended without an answer"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended without an answer"),
        ("def broken(:", "SyntaxError"),
        ("other = 1", "AttributeError"),
    ],
)
def test_an_application_that_does_not_import_is_unavailable(
    tmp_path: Path, source: str, said: str
) -> None:
    """What went wrong is told by type and place, never by the exception's text."""
    result = ask(application(tmp_path, source, "main:app"), "/")

    assert result.failure is not None
    assert (result.failure.code, result.failure.metadata["reason"]) == (
        "unavailable",
        "web_app_failed",
    )
    assert said in result.failure.message
    assert CAN not in everything(result)


HOSTILE = """
import os, subprocess, sys, time
from pathlib import Path

HERE = Path(__file__).parent
print("stdout Aster9Tulip77"); print("stderr Aster9Tulip77", file=sys.stderr)
(HERE / "seen.txt").write_text(repr((dict(os.environ), sys.path, sys.stdin.read())))
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
(HERE / "pids.txt").write_text(f"{os.getpid()} {child.pid}")
app = lambda environ, start_response: None
"""


def alive(pid: int) -> bool:
    """Tell whether a process runs, and is no mere zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("ending", ["", "time.sleep(60)"])
def test_the_child_is_bare_and_ends_with_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], ending: str
) -> None:
    """No environment, no input, no output; what it started dies with it, in time or not."""
    monkeypatch.setenv("TOOLSEAM_CANARY", CAN)
    workspace = application(tmp_path, HOSTILE + ending, "main:app")
    began = time.monotonic()

    result = ask(workspace, "/", timeout=5 if ending else None)

    assert result.success is not bool(ending)
    assert not ending or "not imported within" in result.content
    assert time.monotonic() - began < 30
    assert CAN not in (tmp_path / "seen.txt").read_text()
    assert (tmp_path / "seen.txt").read_text().endswith("'')")
    assert capfd.readouterr() == ("", "")
    for pid in map(int, (tmp_path / "pids.txt").read_text().split()):
        for _ in range(100):
            if not alive(pid):
                break
            time.sleep(0.02)
        assert not alive(pid)


def test_nothing_is_left_in_the_folder_or_the_process(tmp_path: Path) -> None:
    """No byte code is written, no descriptor stays open."""
    workspace = application(tmp_path, FLASK, "main:app")
    ask(workspace, "/")
    before = len(list(Path("/proc/self/fd").iterdir()))

    ask(workspace, "/")

    assert [path.name for path in tmp_path.iterdir()] == ["main.py"]
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_package_is_found_below_the_folder_or_the_source_root(tmp_path: Path) -> None:
    """The folder that holds the application's package goes on the path, and no other."""
    (tmp_path / "src" / "shop").mkdir(parents=True)
    (tmp_path / "src" / "shop" / "web.py").write_text("import json\n" + PLAIN)
    (tmp_path / "src" / "shop" / "json.py").write_text("raise AssertionError")
    for root, name in (("src", "shop.web:application"), ("src/shop", "shop.web:application")):
        folder = tmp_path if root == "src" else tmp_path / "src"
        inner = "src" if root == "src" else "shop"
        workspace = Workspace(folder=folder, trusted=True, source_root=inner, web_app=name)

        assert ask(workspace, "/").success


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b"[" * 100_000,
        b'{"fault": {"type": 3, "missing": null, "place": []}}',
        told(framework=1),
        told(middleware=[["a"]]),
        told(routes=[["a"]], total=1),
        told(routes=[], total="many"),
        told(routes=[], total=float("inf")),
        told(routes=[], total=10**400),
        told(routes=[], total=-1),
        b'{"fault": {"type": "A", "missing": null, "place": ["a.py", 1e999]}}',
        told(routes=[], total=1, match={"pattern": "x"}),
    ],
)
def test_an_answer_of_another_shape_is_refused(answer: bytes) -> None:
    """The child's answer is anybody's: what does not fit is `unavailable`."""
    with pytest.raises(Exception, match="ended without an answer") as caught:
        read_report(answer)

    assert caught.value.metadata == {"reason": "web_app_failed"}  # type: ignore[attr-defined]


def test_an_endless_answer_is_cut_off(tmp_path: Path) -> None:
    """An application that writes on the pipe without end is stopped."""
    source = "import os, sys\npipe = int(sys.argv[1])\nwhile True: os.write(pipe, b'x' * 65536)"

    failure = ask(application(tmp_path, source, "main:app"), "/").failure

    assert failure is not None
    assert "more to tell" in failure.message


def test_what_the_application_names_is_one_masked_line(tmp_path: Path) -> None:
    """Names of routes and endpoints forge no line and carry no secret."""
    source = PLAIN + (
        "\nROUTES = [('/x', 'a\\nroute: /forged postgresql://u:Aster9Tulip77@h/d' + 'x' * 900)]"
    )
    workspace = application(tmp_path, source, "main:application", web_routes="main:ROUTES")

    result = ask(workspace, "/x")

    assert CAN not in everything(result)
    assert result.content.count("\nroute: ") == 1
    assert len(result.content) < 1_000


def test_many_parameters_are_counted(tmp_path: Path) -> None:
    """More query parameters than are shown are counted."""
    query = "&".join(f"p{number}=1" for number in range(60))

    result = ask(application(tmp_path, PLAIN, "main:application"), f"/?{query}")

    assert "more: 10 query parameters of 60" in result.content


def test_without_an_interpreter_it_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host whose interpreter cannot be started says so."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))

    failure = ask(application(tmp_path, PLAIN, "main:application"), "/").failure

    assert failure is not None
    assert failure.metadata["reason"] == "web_app_failed"


def test_no_user_is_no_permission(tmp_path: Path) -> None:
    """Without an acting user the tool is refused."""
    failure = ask(application(tmp_path, PLAIN, "main:application"), "/", actor=None).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
