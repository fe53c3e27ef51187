import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from support.applications import DJANGO, FASTAPI, FLASK, PLAIN, STARLETTE
from toolseam_builtin._web import _child
from toolseam_builtin._web._describe import describe
from toolseam_builtin._web._layers import framework_of, name_of, peel


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test imports is forgotten after it."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in {"main", "mysite", "broken"}:
            del sys.modules[name]


def module(source: str) -> Any:
    """Run an application's source as the module `main`."""
    made = ModuleType("main")
    exec(compile(source, "main.py", "exec"), vars(made))
    return made


@pytest.mark.parametrize(
    ("source", "framework", "path", "pattern"),
    [
        (STARLETTE, "Starlette", "/pages/a", "/pages/{slug}"),
        (STARLETTE, "Starlette", "/slash", "/slash/"),
        (STARLETTE, "Starlette", "/admin/users/7", "/admin/users/{user_id:int}"),
        (STARLETTE, "Starlette", "/live", "/live"),
        (STARLETTE, "Starlette", "/nope", None),
        (STARLETTE, "Starlette", None, None),
        (FASTAPI, "FastAPI", "/items/7", "/items/{item_id}"),
        (FASTAPI, "FastAPI", "/itemz/7", None),
        (FLASK, "Flask", "/shop/orders/7", "/shop/orders/<int:number>"),
        (FLASK, "Flask", "/slash", "/slash/"),
        (FLASK, "Flask", "/nope", None),
        (FLASK, "Flask", None, None),
    ],
)
def test_each_framework_describes_its_application(
    source: str, framework: str, path: str | None, pattern: str | None
) -> None:
    """Framework, layers, routes and match come from the framework's own objects."""
    told = describe(module(source).app, None, path, "localhost")

    assert told["framework"] == framework
    assert told["middleware"]
    assert told["total"] == len(told["routes"]) > 0
    assert (told["match"] and told["match"]["pattern"]) == pattern


@pytest.mark.parametrize("path", [None, "/old/12", "/nope"])
def test_a_table_describes_a_plain_application(path: str | None) -> None:
    """Pairs of pattern and endpoint stand for routes where there are none."""
    made = module(PLAIN)

    told = describe(made.make(), made.ROUTES, path, "localhost")

    assert told["framework"] == "plain"
    assert [name for name, _ in told["middleware"]] == [
        "main.Timing",
        "main.limit.<locals>.limited",
    ]
    assert told["total"] == 3
    assert (told["match"] and told["match"]["endpoint"]) == ("old" if path == "/old/12" else None)


@pytest.mark.usefixtures("modules")
def test_the_child_imports_from_the_first_folder_that_has_it(tmp_path: Path) -> None:
    """The application, what it calls, and Django's parts are found by the names that are given."""
    for file, text in DJANGO.items():
        (tmp_path / "src" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / file).write_text(text)
    roots = [str(tmp_path), str(tmp_path / "src")]

    app = _child._application({"app": "mysite.wsgi:application", "roots": roots})

    assert sys.path[0] == roots[1]
    assert framework_of(app) == "Django"
    for path, pattern in (("/pages/a", "/pages/<slug:slug>/"), ("/nope", None), (None, None)):
        told = describe(app, _child._routes({"routes": None}), path, "localhost")
        assert (told["match"] and told["match"]["pattern"]) == pattern
    assert _child._named("collections:OrderedDict.fromkeys") is not None
    assert _child._named("collections:OrderedDict()") == {}


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("\n1 / 0", {"type": "ZeroDivisionError", "missing": None, "place": ["broken.py", 2]}),
        ("import nope", {"type": "ModuleNotFoundError", "missing": "nope",
                         "place": ["broken.py", 1]}),
    ],
)  # fmt: skip
def test_a_fault_is_told_by_type_and_place(
    tmp_path: Path, source: str, fault: dict[str, Any]
) -> None:
    """The last line of the workspace's own that was running is named, the text is not."""
    (tmp_path / "broken.py").write_text(source)

    with pytest.raises(Exception, match=r".") as caught:
        _child._application({"app": "broken:app", "roots": [str(tmp_path)]})

    assert _child._fault(caught.value, tmp_path) == fault


def test_the_child_finds_its_own_rooms() -> None:
    """The describing function is of the copy that the child's file belongs to."""
    before = list(sys.path)

    assert _child._own_room(describe.__module__) is describe
    assert sys.path == before


class Proxy:
    """Raises whatever it is asked for."""

    def __getattr__(self, name: str) -> object:
        """Raise."""
        raise ValueError

    def __call__(self, environ: object, start_response: object) -> None:
        """Answer nothing."""


def open_cell() -> Any:
    """Return a function over a name that nothing is assigned to any more."""
    app: Any = None

    def layer(environ: object, start_response: object) -> object:
        return app  # noqa: F821 - deleted below, on purpose

    del app
    return layer


@pytest.mark.parametrize("make", [Proxy, open_cell, lambda: len, lambda: Proxy])
def test_odd_objects_have_no_layers(make: Callable[[], Any]) -> None:
    """What raises, is not yet bound, or is a class or a builtin, is the innermost itself."""
    app = make()

    assert peel(app) == ([], app)
    assert "." in name_of(app)
