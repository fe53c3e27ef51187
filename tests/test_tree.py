"""The tree keeps its shape: floors, public names, packaging and neutral files."""

import ast
import importlib
import inspect
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import toolseam

ROOT = Path(__file__).parent.parent
CORE = ROOT / "core" / "toolseam"
BUILTIN = ROOT / "builtin_tools" / "toolseam_builtin"
PLUGINS = ROOT / "plugins" / "toolseam_plugins"

# From the ground up; a room imports from lower floors, or from rooms to its left on its own floor.
# `toolseam` is the front door, where the public names hang.
FLOORS = (
    ("_errors", "_text", "_jsontext", "_levels"),
    (
        *("_run_only", "_render", "_tables", "_shapes", "_artifacts", "_command"),
        *("_result", "_result_json", "_json_safe", "guards"),
    ),
    ("_schema", "_validator", "_repairs", "_plain", "_closed", "_spec", "_arguments", "_bounds"),
    (
        *("_hooks", "_context", "_steps", "_tool"),
        *("_messages", "_runs", "_held", "_run_store", "_context_fit"),
        *("_entrypoints", "_settings_files", "_selection", "_discovery", "_loading"),
        *("_settings_structure", "_settings_keys", "_settings", "_trust"),
    ),
    (
        *("_judgement", "_structure", "_binding", "_registry", "_wrappers"),
        *("_resources", "_body", "isolation"),
        *("_policy", "_rates", "_approval"),
    ),
    (
        "_watch",
        "_workers",
        "_trace",
        "_state",
        "_conversation",
        "_call",
        "_consent",
        "_outcome",
        "_placing",
        "_waiting",
        "_running",
        "_seam",
    ),
    (
        *("_lowering", "_run_state", "_replies", "_journal", "_turns", "_loop", "_run_control"),
        "_endpoints",
        *("_plugin_settings", "_runners", "_session", "_host"),
    ),
    ("toolseam", "providers", "runs", "testing", "cli", "__main__"),
)
PLACES = {
    room: (floor, place) for floor, rooms in enumerate(FLOORS) for place, room in enumerate(rooms)
}
SIDE_ROOMS = ("toolseam.guards", "toolseam.providers", "toolseam.runs", "toolseam.testing")
MOST_PUBLIC_NAMES = 36


def sources(folder: Path) -> list[Path]:
    """List the Python files below a folder."""
    return sorted(folder.rglob("*.py"))


def room_of(path: Path) -> str:
    """Name the room of the core that a file belongs to; a package is one room."""
    first = path.relative_to(CORE).parts[0]
    return "toolseam" if first == "__init__.py" else first.removesuffix(".py")


def executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk a module but for what only type checkers read: no door is entered there."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from (inner for child in node.orelse for inner in [child, *executed(child)])
        else:
            yield node
            yield from executed(node)


def imports(path: Path, root: Path) -> Iterator[tuple[str, str, int]]:
    """Give module, imported name and line of every import that runs, lazy ones too."""
    package = path.relative_to(root).with_suffix("").parts[:-1]
    for node in executed(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, "", node.lineno
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*parents, *([node.module] if node.module else [])])
            for alias in node.names:
                yield module, alias.name, node.lineno


def imported_room(module: str, name: str) -> str | None:
    """Name the room of the core that an import enters, if it enters the core at all."""
    package, _, rest = module.partition(".")
    if package != "toolseam":
        return None
    if rest:
        return rest.split(".")[0]
    return name if name in PLACES else "toolseam"


def public_names(module: ModuleType) -> list[str]:
    """List what a module says is public."""
    names: list[str] = module.__all__
    return names


def test_every_room_has_a_floor() -> None:
    """Each module of the core stands in the floor table, and the table names no other."""
    assert {room_of(path) for path in sources(CORE)} == set(PLACES)


@pytest.mark.parametrize("path", sources(CORE), ids=lambda path: str(path.relative_to(CORE)))
def test_a_room_imports_from_below_or_from_its_left(path: Path) -> None:
    """A module of the core imports only from lower floors, or from its left on its own floor."""
    room = room_of(path)
    if room == "toolseam":
        return

    wrong = [
        f"line {line}: {room} imports {entered}"
        for module, name, line in imports(path, CORE.parent)
        if (entered := imported_room(module, name)) not in (None, room)
        and PLACES[entered] > PLACES[room]
    ]

    assert wrong == []


@pytest.mark.parametrize(
    "path",
    [*sources(BUILTIN), *sources(PLUGINS)],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_tools_and_plugins_use_public_names_only(path: Path) -> None:
    """Builtins and plugins take from toolseam only what a third party could take."""
    doors = {"toolseam": [*public_names(toolseam), *(room.split(".")[1] for room in SIDE_ROOMS)]}
    doors |= {room: public_names(importlib.import_module(room)) for room in SIDE_ROOMS}
    root = BUILTIN.parent if path.is_relative_to(BUILTIN) else PLUGINS.parent

    wrong = [
        f"line {line}: {module} {name}"
        for module, name, line in imports(path, root)
        if module.split(".")[0] == "toolseam"
        and (module not in doors or name not in ("", *doors[module]))
        and f"{module}.{name}" not in SIDE_ROOMS
    ]

    assert wrong == []


@pytest.mark.parametrize("name", ["toolseam", *SIDE_ROOMS])
def test_all_is_complete(name: str) -> None:
    """`__all__` names each public thing that a module offers, nothing else, and once."""
    module = importlib.import_module(name)
    listed = public_names(module)

    offered = {each for each in listed if hasattr(module, each)} | {
        each
        for each, value in vars(module).items()
        if not each.startswith("_")
        and each != "TYPE_CHECKING"
        and not inspect.ismodule(value)
        and getattr(value, "__module__", name) == name
    }

    assert sorted(offered) == sorted(listed)
    assert len(set(listed)) == len(listed)


def test_public_names_are_few() -> None:
    """The front door shows at most 36 names."""
    assert len(public_names(toolseam)) <= MOST_PUBLIC_NAMES


@pytest.mark.parametrize("name", toolseam.__all__)
def test_public_classes_live_at_the_front_door(name: str) -> None:
    """A public class says that it is of `toolseam`, so that no reader learns a private module."""
    value = getattr(toolseam, name)

    assert not inspect.isclass(value) or value.__module__ == "toolseam"


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    """The lazy front door refuses a name that it does not have, as any module does."""
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = toolseam.no_such_name  # type: ignore[attr-defined]


def test_entry_points_name_modules_that_exist() -> None:
    """Each builtin entry point names a file of the same name, found by guessing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    for name, target in project["entry-points"]["toolseam.tools"].items():
        assert target.rsplit(".", 1)[-1] == name
        assert (BUILTIN.parent / (target.replace(".", "/") + ".py")).is_file(), target


def test_every_tool_module_has_an_entry_point() -> None:
    """A module of a builtin group is a tool with an entry point, unless it has an underscore."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    targets = set(project["entry-points"]["toolseam.tools"].values())

    modules = {
        ".".join(path.relative_to(BUILTIN.parent).with_suffix("").parts)
        for path in BUILTIN.glob("[!_]*/[!_]*.py")
    }

    assert modules == targets


def test_every_tool_has_a_test_where_one_would_look() -> None:
    """The tests mirror the tools: `<group>/<tool>.py` is tested in `<group>/test_<tool>.py`."""
    missing = [
        tool.relative_to(BUILTIN)
        for tool in BUILTIN.glob("[!_]*/[!_]*.py")
        if not (ROOT / "tests/builtin_tools" / tool.parent.name / f"test_{tool.name}").is_file()
    ]

    assert missing == []


def tracked_files() -> list[Path]:
    """List the files of the tree: as git tracks them, or all where the tree is an sdist."""
    try:
        listing = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
        ).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        return [path for path in ROOT.rglob("*") if path.is_file()]
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_names_a_path_of_one_machine() -> None:
    """No tracked file names a folder that exists on one machine only."""
    machine_path = re.compile(rb"(?<![\w.])/(?:root|work)/[\w.]")

    found = [
        f"{path.relative_to(ROOT)}: {match[0].decode()}"
        for path in tracked_files()
        for match in machine_path.finditer(path.read_bytes())
    ]

    assert found == []


def test_no_test_is_switched_off() -> None:
    """Every test runs everywhere: nothing in the tests skips."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.attr}"
        for path in sources(ROOT / "tests")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in {"importorskip", "skip", "skipif"}
    ]

    assert found == []
