"""No combination of settings ever widens what a stricter layer refused (policy-and-runs)."""

import tempfile
from pathlib import Path
from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tools import fine, plugin
from toolseam import Actor, Host, Zone
from toolseam._errors import SettingsError

NAMES = ("read", "look", "write")
GROUPS = ("shop", "yard")
ACTORS = (None, Actor("bob"), Actor("ada", {"admin"}))
CLASSES = ("public_content", "source_code", "system_diagnostics", "secret_adjacent")
EFFECTS = ("read_only", "idempotent_write", "unknown")
TOOLS = (
    plugin(lambda arguments: fine(), name="read", group="shop"),
    plugin(lambda arguments: fine(), name="look", group="yard", data_class="source_code"),
    plugin(lambda arguments: fine(), name="write", group="yard", effect="idempotent_write"),
)

some_names = st.lists(st.sampled_from(NAMES), max_size=2, unique=True)
rules = st.fixed_dictionaries(
    {},
    optional={
        "data_class": st.sampled_from(CLASSES),
        "effect": st.sampled_from(EFFECTS),
        "requires_admin": st.booleans(),
    },
)
common = {
    "disable": some_names,
    "groups": st.fixed_dictionaries({"disable": st.lists(st.sampled_from(GROUPS), max_size=1)}),
    "tools": st.dictionaries(st.sampled_from(NAMES), rules, max_size=2),
    "enforce": st.sampled_from(("enforce", "observe")),
    "limits": st.fixed_dictionaries({}, optional={"content_bytes": st.integers(200, 50_000)}),
}
operators = st.fixed_dictionaries({}, optional={**common, "enable": some_names})
workspaces = st.fixed_dictionaries({}, optional={**common, "enable": some_names})


def toml(table: dict[str, Any], prefix: str = "") -> str:
    """Write a table of plain values as TOML."""
    lines, below = [], []
    for key, value in table.items():
        if isinstance(value, dict):
            below.append(f"[{prefix}{key}]\n{toml(value, f'{prefix}{key}.')}")
        else:
            lines.append(f"{key} = {orjson.dumps(value).decode()}\n")
    return "".join([*lines, *below])


def offers(folder: Path | None, config: Path) -> tuple[dict[Any, Any], dict[str, Any]]:
    """Say who is offered what in which zone, and what each tool counts as."""
    with Host.load(folder or config.parent / "empty", operator_file=config, tools=TOOLS) as host:
        tools = [tool for name in NAMES if (tool := host.tool(name)) is not None]
        found = {
            (tool.name, actor, zone): host.decide(tool, actor=actor, zone=zone).allowed
            for tool in tools
            for actor in ACTORS
            for zone in Zone
        }
        claims = {
            tool.name: (tool.data_class.rank, tool.effect.rank, tool.requires_admin)
            for tool in tools
        }
    return found, claims


@settings(max_examples=25)
@given(operators, workspaces)
def test_a_workspace_never_widens(operator: dict[str, Any], workspace: dict[str, Any]) -> None:
    """What the operator alone refuses stays refused, and no claim sinks; or it is an error."""
    with tempfile.TemporaryDirectory() as place:
        folder, config = Path(place) / "work", Path(place) / "config.toml"
        (Path(place) / "empty").mkdir()
        folder.mkdir()
        config.write_text(toml(operator))
        (folder / "toolseam.toml").write_text(toml(workspace))

        alone, claims = offers(None, config)
        try:
            joined, raised = offers(folder, config)
        except SettingsError:
            return

    assert all(alone[place] for place, allowed in joined.items() if allowed)
    assert all(
        new >= old for name in claims for new, old in zip(raised[name], claims[name], strict=True)
    )


@settings(max_examples=20)
@given(operators, st.sampled_from(NAMES))
def test_a_rule_never_lowers_a_claim(operator: dict[str, Any], name: str) -> None:
    """Rules of a tool make it stricter than its code says, or leave it."""
    with tempfile.TemporaryDirectory() as place:
        config = Path(place) / "config.toml"
        (Path(place) / "empty").mkdir()
        config.write_text("")
        _, bare = offers(None, config)
        config.write_text(toml({"tools": operator.get("tools", {})}))
        _, ruled = offers(None, config)

    assert all(new >= old for new, old in zip(ruled[name], bare[name], strict=True))


@settings(max_examples=20)
@given(
    operators,
    st.none() | st.lists(st.sampled_from((*NAMES, *(f"group:{group}" for group in GROUPS)))),
    st.sampled_from(ACTORS),
    st.sampled_from(list(Zone)),
)
def test_a_session_never_widens(
    operator: dict[str, Any], allowed: list[str] | None, actor: Actor | None, zone: Zone
) -> None:
    """A session's allow-list offers no tool that the host refuses to its actor and zone."""
    with Host(tools=TOOLS, settings={k: v for k, v in operator.items() if k != "enforce"}) as host:
        session = host.session(actor=actor, tools=allowed, zone=zone)
        for spec in session.tools():
            tool = host.tool(spec.name)
            assert tool is not None
            assert host.decide(tool, actor=actor, zone=zone).allowed
            assert allowed is None or {spec.name, f"group:{spec.group}"} & {*allowed}
