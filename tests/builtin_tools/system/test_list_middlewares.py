from pathlib import Path

import pytest

from support.applications import DJANGO, FASTAPI, FLASK, PLAIN, STARLETTE, application
from support.tools import ADA
from toolseam import Actor, ErrorCode, ToolResult
from toolseam.testing import harness
from toolseam_builtin._web._report import Report
from toolseam_builtin.system import list_middlewares
from toolseam_builtin.system.list_middlewares import compose
from toolseam_builtin.workspace import Workspace


def ask(workspace: Workspace, actor: Actor | None = ADA) -> ToolResult:
    """Call the tool through the seam."""
    with harness(list_middlewares, settings=workspace, actor=actor) as double:
        return double.call({})


def names(result: ToolResult) -> list[str]:
    """Return the layers by name, as text, table and data say alike."""
    assert result.success, result
    assert result.data is not None
    rows = result.data["rows"]
    (table,) = result.artifacts
    assert [[str(cell) for cell in row] for row in rows] == list(table.rows)
    assert all(f"\n{row[0]}. {row[1]}" in result.content for row in rows)
    return [row[1] for row in rows]


def test_layers_of_a_plain_application_are_unwrapped(tmp_path: Path) -> None:
    """Objects and closures that hold an application count as layers, the outermost first."""
    result = ask(application(tmp_path, PLAIN, "main:application"))

    assert names(result) == ["main.Timing", "main.limit.<locals>.limited"]
    assert result.content.split("\n")[0] == (
        "2 middleware round main.respond, the outermost first, 2 shown:"
    )


def test_starlette_tells_its_whole_stack(tmp_path: Path) -> None:
    """The layers that Starlette adds are there, and a function stands for its class."""
    found = names(ask(application(tmp_path, STARLETTE, "main:app")))

    assert found[0] == "starlette.middleware.errors.ServerErrorMiddleware"
    assert found[1:3] == ["starlette.middleware.gzip.GZipMiddleware", "main.timing"]
    assert found[-1].startswith("starlette.middleware.exceptions.")


def test_fastapi_tells_its_functions(tmp_path: Path) -> None:
    """A function that FastAPI takes as middleware is named."""
    assert "main.timing" in names(ask(application(tmp_path, FASTAPI, "main:app")))


def test_a_layer_round_a_framework_comes_first(tmp_path: Path) -> None:
    """What wraps a framework's application stands before the framework's own layers."""
    source = STARLETTE + "\nclass Outer:\n    def __init__(self, app): self.app = app\n"
    source += "    async def __call__(self, scope, receive, send): ...\nouter = Outer(app)\n"

    found = names(ask(application(tmp_path, source, "main:outer")))

    assert found[:2] == ["main.Outer", "starlette.middleware.errors.ServerErrorMiddleware"]


def test_flask_tells_layers_and_functions(tmp_path: Path) -> None:
    """What wraps `wsgi_app` comes first, then what runs before a request, with its kind."""
    result = ask(application(tmp_path, FLASK, "main:app"))

    assert names(result) == ["werkzeug.middleware.proxy_fix.ProxyFix", "main.check"]
    assert "2. main.check (before request)" in result.content


def test_django_tells_its_setting(tmp_path: Path) -> None:
    """The setting MIDDLEWARE is told in its order."""
    assert names(ask(application(tmp_path, DJANGO, "mysite.wsgi:application"))) == [
        "django.middleware.security.SecurityMiddleware",
        "django.middleware.common.CommonMiddleware",
    ]


@pytest.mark.parametrize(
    "source",
    [
        "def app(environ, start_response): ...",
        "class App:\n    def __call__(self, a, b): ...\napp = App()\napp.app = app",
        "class App:\n    def __call__(self, a, b): ...\n"  # noqa: ISC004
        "    def __getattr__(self, name): raise ValueError\napp = App()",
    ],
)
def test_no_layers_are_said(tmp_path: Path, source: str) -> None:
    """An application without layers, even one that names itself, is a success."""
    result = ask(application(tmp_path, source, "main:app"))

    assert result.success, result
    assert result.content.startswith(("No middleware is round main.", "1 middleware round"))


def test_a_full_page_says_how_many_are_shown() -> None:
    """Layers that do not fit are counted."""
    layers = tuple(("x" * 300, "layer") for _ in range(200))

    answer = compose(Report("plain", "main.app", layers, (), None, None))

    shown = len(answer.artifacts[0].rows)
    assert answer.text.startswith(f"200 middleware round main.app, the outermost first, {shown}")
    assert shown < 200


def test_an_untrusted_workspace_is_unavailable(tmp_path: Path) -> None:
    """Without trust nothing is imported."""
    failure = ask(application(tmp_path, PLAIN, "main:application", trusted=False)).failure

    assert failure is not None
    assert (failure.code, failure.metadata["reason"]) == ("unavailable", "untrusted_workspace")


@pytest.mark.parametrize("actor", [None, Actor("ada")])
def test_only_admins_may_look(tmp_path: Path, actor: Actor | None) -> None:
    """Without the role admin the tool is refused."""
    failure = ask(application(tmp_path, PLAIN, "main:application"), actor).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
