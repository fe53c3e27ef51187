"""The form of all builtins: one module, one entry point, one documented way out."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from toolseam import ToolSpec

ROOT = Path(__file__).parent.parent.parent
BUILTIN = ROOT / "builtin_tools" / "toolseam_builtin"
PAGES = ROOT / "docs" / "reference" / "tools"
POINTS: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "entry-points"
]["toolseam.tools"]
GROUPS = {
    "content": 5,
    "editing": 5,
    "structure": 7,
    "configuration": 5,
    "code": 3,
    "files": 5,
    "system": 11,
    "accounts": 3,
    "rag": 2,
}
CLASSES = {
    "content": "editor_content",
    "editing": "editor_content",
    "structure": "internal_configuration",
    "configuration": "internal_configuration",
    "code": "source_code",
    "files": "editor_content",
    "system": "system_diagnostics",
    "accounts": "secret_adjacent",
    "rag": "editor_content",
}
OTHER_CLASSES = {
    **dict.fromkeys(("list_tables", "get_table_schema", "get_record_tree"), "editor_content"),
    **dict.fromkeys(("get_workspace_config", "get_last_exception"), "secret_adjacent"),
    **dict.fromkeys(("fetch_logs", "list_deprecations"), "secret_adjacent"),
    **dict.fromkeys(("get_env_raw", "get_python_info_raw"), "secret_adjacent"),
}
FOR_ADMINS = {"configuration", "code", "system", "accounts"}
OFF = {"get_env_raw", "get_python_info_raw", "list_users_raw"}
EFFECTS = {
    "update_record_metadata": "idempotent_write",
    "set_file_alternative_text": "idempotent_write",
    "move_record": "idempotent_write",
    "create_record_draft": "non_idempotent_write",
    "create_translation_draft": "non_idempotent_write",
}
HEAVY = {
    *("csv", "gzip", "hashlib", "http.client", "importlib.metadata", "sched"),
    *("psycopg", "sqlite3", "sqlalchemy", "httpx", "httpx2", "fsspec", "psutil", "jinja2", "yaml"),
    *("ruamel", "re2", "tomllib", "configparser", "tempfile"),
    *("importlib_metadata", "urllib.request", "xml", "zoneinfo", "cronsim"),
    *("email.utils", "jsonschema_rs"),
}
LISTING = """
import json, sys
from toolseam import Host
with Host.load() as host:
    names = [tool.name for tool in host.tools()]
print(json.dumps([names, sorted(sys.modules)]))
"""


def modules() -> list[Path]:
    """List the modules that are tools: those without underscore in a group's folder."""
    found = [path for group in GROUPS for path in (BUILTIN / group).glob("[!_]*.py")]
    return sorted(found)


def tree_of(path: Path) -> ast.Module:
    """Read a module as a tree."""
    return ast.parse(path.read_text("utf-8"))


def spec_of(name: str) -> ToolSpec:
    """Ask a tool what it is."""
    made: ToolSpec = import_module(POINTS[name]).tool_spec()
    return made


def test_there_are_46_in_nine_groups() -> None:
    """Entry points, modules and groups agree, and there are 46 of them."""
    expected = {path.stem: f"toolseam_builtin.{path.parent.name}.{path.stem}" for path in modules()}

    assert expected == POINTS
    assert len(POINTS) == 46
    per_group = [target.split(".")[1] for target in POINTS.values()]
    assert {group: per_group.count(group) for group in GROUPS} == GROUPS


@pytest.mark.parametrize("group", GROUPS)
def test_each_group_has_a_page_with_its_tools(group: str) -> None:
    """A group's page has one section for each of its tools, which the docs build runs."""
    told = (PAGES / f"{group}.md").read_text("utf-8").splitlines()
    wanted = sorted(path.stem for path in modules() if path.parent.name == group)

    assert sorted(line[3:].strip("`") for line in told if line.startswith("## ")) == wanted
    assert sorted(line.split()[-1] for line in told if line.startswith("```{tool}")) == wanted


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.stem)
def test_a_tool_has_one_way_out(path: Path) -> None:
    """`execute` ends in `return ToolResult.text(...)`, and nothing else there makes a result."""
    tree = tree_of(path)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    hooks = {
        node.name: node
        for node in functions
        if any(ast.unparse(decorator) == "hookimpl" for decorator in node.decorator_list)
    }

    assert {"tool_spec", "execute"} <= set(hooks)
    last = hooks["execute"].body[-1]
    assert isinstance(last, ast.Return)
    assert ast.unparse(last.value or ast.Constant(None)).startswith("ToolResult.text(")
    uses = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    made = [use for use in uses if use.startswith("ToolResult.")]
    assert len(made) == len(hooks) - 1
    assert set(made) == {"ToolResult.text"}


@pytest.mark.parametrize("path", sorted(BUILTIN.rglob("_*.py")), ids=lambda path: path.stem)
def test_a_shared_room_makes_no_result(path: Path) -> None:
    """What tools share gives answers and refusals; only a tool makes a result of one."""
    names = {node.id for node in ast.walk(tree_of(path)) if isinstance(node, ast.Name)}

    assert "ToolResult" not in names


def test_a_tool_is_short() -> None:
    """A tool's module has 150 lines as a rule, and never more than 180: the rest has rooms."""
    lengths = {path.stem: len(path.read_text("utf-8").splitlines()) for path in modules()}
    long = {name for name, length in lengths.items() if length > 150}

    assert max(lengths.values()) <= 180
    assert len(long) <= 8, long


@pytest.mark.parametrize("name", POINTS)
def test_a_tool_is_what_the_table_says(name: str) -> None:
    """Group, data class, effect, rights and default of each are those of the design."""
    spec = spec_of(name)
    group = POINTS[name].split(".")[1]
    effect = EFFECTS.get(name, "read_only")

    assert (spec.name, spec.group) == (name, group)
    assert spec.data_class == OTHER_CLASSES.get(name, CLASSES[group])
    assert spec.effect == effect
    assert spec.requires_admin is (group in FOR_ADMINS)
    assert spec.enabled_by_default is (name not in OFF and group != "editing")
    assert hasattr(import_module(POINTS[name]), "preview") is (group == "editing")


@pytest.mark.parametrize("name", POINTS)
def test_every_argument_is_described_and_bounded(name: str) -> None:
    """A text has a greatest length, a number a range, a list a most; all say what for."""
    schema: dict[str, Any] = dict(spec_of(name).schema)
    for argument, found in schema["properties"].items():
        choices = [found, *found.get("anyOf", ())]
        kinds = {kind for each in choices for kind in _kinds(each)}

        assert found.get("description"), argument
        bounds = {key for each in choices for key in each}
        assert "string" not in kinds or bounds & {"maxLength", "enum", "maxProperties"}, argument
        # What may be text as well is the key of a record.
        numbers = kinds & {"integer", "number"} and "string" not in kinds
        assert not numbers or "maximum" in bounds, argument
        assert "array" not in kinds or "maxItems" in bounds, argument


def _kinds(schema: dict[str, Any]) -> list[str]:
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else list(kind)


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What a process has imported that listed all tools."""
    folder = tmp_path_factory.mktemp("listing")
    done = subprocess.run(
        [sys.executable, "-c", LISTING], cwd=folder, capture_output=True, text=True, check=True
    )
    names, modules = json.loads(done.stdout)
    assert set(POINTS) <= set(names)
    return set(modules)


def test_listing_imports_nothing_heavy(imported: set[str]) -> None:
    """A host that lists 46 tools has imported none of the libraries that they work with."""
    assert HEAVY.intersection(imported) == set()


def test_listing_imports_few_rooms(imported: set[str]) -> None:
    """What tools do is imported when they do it: a listing knows their forms and arguments."""
    rooms = {name for name in imported if re.match(r"toolseam_builtin\b.*\._", name)}

    assert len(rooms) <= 12, rooms
