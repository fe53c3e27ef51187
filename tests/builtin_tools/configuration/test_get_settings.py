import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.configuration import SECRETS
from toolseam import Actor, ErrorCode, ToolResult
from toolseam.guards import MASK
from toolseam.testing import harness
from toolseam_builtin._config._layers import Tree, lay, origin, plain, read_layers
from toolseam_builtin._config._shown import flat
from toolseam_builtin.configuration import get_settings
from toolseam_builtin.workspace import Workspace


def ask(workspace: Workspace, path: str | None = None) -> ToolResult:
    """Call the tool through the seam."""
    return harness(get_settings, settings=workspace).call({"path": path})


def layered(folder: Path, **layers: str) -> Workspace:
    """Write layers as YAML files, the weakest first, and return their workspace."""
    for name, text in layers.items():
        (folder / f"{name}.yaml").write_text(text)
    return Workspace(folder=folder, settings_layers=tuple(f"{name}.yaml" for name in layers))


def test_each_value_comes_with_its_layer(workspace: Workspace) -> None:
    """Layers are laid over each other, and a value says which set it and what it overrides."""
    result = ask(workspace)

    assert result.content.split("\n") == [
        "14 effective settings.",
        'title = "Harbour"  [config/site.toml]',
        'languages.0 = "en"  [config/site.toml]',
        'languages.1 = "de"  [config/site.toml]',
        'mail.host = "mail.example"  [config/site.toml]',
        "mail.port = 25  [config/site.local.toml, over config/site.toml: 587]",
        f"mail.password = {MASK}  [config/site.local.toml, over config/site.toml: {MASK}]",
        f'mail.relay = "smtp://{MASK}@relay.example/x"  [config/site.toml]',
        'servers.0.host = "a.example"  [config/site.toml]',
        'servers.1.host = "b.example"  [config/site.toml]',
        f"servers.1.api_key = {MASK}  [config/site.toml]",
        "DEBUG = true  [settings.py]",
        f"SECRET_KEY = {MASK}  [settings.py]",
        'HOSTS.0 = "a"  [settings.py]',
        "HOSTS.1 = [an expression, not evaluated]  [settings.py]",
        (
            "Layers, the weakest first: config/site.toml, settings.py, gone.toml (not there),"
            " config/site.local.toml."
        ),
    ]


def test_table_and_data_say_the_same(workspace: Workspace) -> None:
    """The table's cells are those of the text, the data holds them typed; no secret in any."""
    result = ask(workspace, "mail")

    assert result.data is not None
    assert result.artifacts[0].rows[1] == [
        *("mail.port", "25", "config/site.local.toml", "config/site.toml: 587")
    ]
    assert result.data["rows"][1] == [
        *("mail.port", 25, "config/site.local.toml", [["config/site.toml", "587"]])
    ]
    everything = f"{result.content}{result.artifacts[0].rows}{result.data}"
    assert [secret for secret in SECRETS if secret in everything] == []


def test_lists_and_scalars_are_replaced_whole(tmp_path: Path) -> None:
    """Mappings are merged; a list, or a mapping that becomes a scalar, is replaced and told."""
    workspace = layered(
        tmp_path,
        base="hosts: [a, b]\ndb: {host: h, port: 1}\nlog: text\n",
        local="hosts: [c]\ndb: sqlite\nlog: {level: info}\n",
    )

    assert ask(workspace).content.split("\n")[1:4] == [
        'hosts.0 = "c"  [local.yaml, over base.yaml: a list of 2]',
        'db = "sqlite"  [local.yaml, over base.yaml: 2 keys: host, port]',
        'log.level = "info"  [local.yaml, over base.yaml: "text"]',
    ]


@pytest.mark.parametrize(
    "local", ["a: {name: host}", "a: {name: host, value: y}", "a: [x, z]", "a: open", "token: []"]
)
def test_merging_unmasks_nothing(tmp_path: Path, local: str) -> None:
    """What is masked in its own layer stays masked, whatever a stronger layer makes of it."""
    base = "a: {name: password, value: Tulip-77}\nsession: {id: Tulip-77}\n"
    paired = "a: [password, Tulip-77]\ntoken: [Tulip-77]\n"

    for weak in (base, paired):
        result = ask(layered(tmp_path, base=weak, local=local + "\n"))
        everything = f"{result.content}{result.artifacts[0].rows}{result.data}"
        assert result.success
        assert "Tulip-77" not in everything


def test_a_value_that_becomes_secret_is_masked(tmp_path: Path) -> None:
    """A stronger layer that names a value as secret masks it, and all who set it are named."""
    workspace = layered(
        tmp_path,
        base="a: {name: x, value: {k: Tulip-77}}\n",
        middle="a: {value: {m: 1}}\n",
        local="a: {name: password}\n",
    )

    assert f"a.value = {MASK}  [base.yaml, middle.yaml]" in ask(workspace).content


def test_layers_after_the_time_limit_are_told(workspace: Workspace) -> None:
    """When the time is over the layers that are left are not read, and each is a warning."""
    layers = read_layers(workspace, time.monotonic() - 1)

    assert layers.said[1:] == [
        *("settings.py (not read)", "gone.toml (not read)", "config/site.local.toml (not read)")
    ]
    assert len(layers.warnings) == 3
    assert list(layers.tree) == ["title", "languages", "mail", "servers"]


def test_a_layer_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    """A broken layer is a warning that says why, and the others are merged."""
    workspace = layered(tmp_path, base="a: 1\n", broken="a: [Tulip-77\n", flat="- 1\n", empty="")

    result = ask(workspace)

    assert "a = 1  [base.yaml]" in result.content
    assert "broken.yaml (not read)" in result.content
    assert "Warning: broken.yaml is left out: broken.yaml, line 2: a bracket" in result.content
    assert "Warning: flat.yaml is left out: it holds no keys at its top." in result.content
    assert "Tulip-77" not in result.content
    assert result.metadata is not None
    assert len(result.metadata["warnings"]) == 2


def test_of_an_environment_layer_names_only(tmp_path: Path) -> None:
    """`.env` may be a layer where it is listed; its values are not shown."""
    (tmp_path / ".env").write_text("NAME=Tulip-77\n")
    workspace = Workspace(folder=tmp_path, settings_layers=(".env",))

    assert "NAME = [set, not shown]  [.env]" in ask(workspace).content


def test_a_star_import_is_told(tmp_path: Path) -> None:
    """What a Python layer imports with a star is not read, and the answer says so."""
    (tmp_path / "prod.py").write_text("from base import *\nDEBUG = False\n")

    content = ask(Workspace(folder=tmp_path, settings_layers=("prod.py",))).content

    assert "DEBUG = false  [prod.py]" in content
    assert "Warning: prod.py: what `import *` brings is not read here" in content


def test_without_layers_it_is_unavailable(tmp_path: Path) -> None:
    """Where the workspace names no layers, the refusal names the setting."""
    failure = ask(Workspace(folder=tmp_path)).failure

    assert failure is not None
    assert failure.code == ErrorCode.UNAVAILABLE
    assert failure.metadata == {"reason": "not_configured"}


def test_all_layers_absent_is_an_answer(tmp_path: Path) -> None:
    """No layer there is no failure: nothing is set, and the answer says where it looked."""
    content = ask(Workspace(folder=tmp_path, settings_layers=("a.toml",))).content

    assert content == "0 effective settings.\nLayers, the weakest first: a.toml (not there)."


@pytest.mark.parametrize(
    ("path", "code"),
    [("mial", ErrorCode.NOT_FOUND), ("mail.password.x", ErrorCode.NOT_FOUND), (".", None)],
)
def test_a_path_to_nothing_is_refused(
    workspace: Workspace, path: str, code: ErrorCode | None
) -> None:
    """A path that leads nowhere, or below a mask, is `not_found`; what is no path is invalid."""
    failure = ask(workspace, path).failure

    assert failure is not None
    assert failure.code == (code or ErrorCode.INVALID_ARGUMENTS)


def test_what_does_not_fit_says_how_to_go_on(tmp_path: Path) -> None:
    """Settings that do not fit are counted, and the next one is named."""
    workspace = layered(tmp_path, base="".join(f"k{n}: {'x' * 400}\n" for n in range(300)))

    result = ask(workspace)

    assert result.data is not None
    shown = len(result.data["rows"])
    assert f"300 effective settings, {shown} shown." in result.content
    assert f"the next is k{shown}." in result.content


values = st.recursive(
    st.integers(0, 9) | st.just("x"),
    lambda inner: (
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3) | st.lists(inner, max_size=2)
    ),
    max_leaves=8,
)
trees = st.dictionaries(st.sampled_from("abc"), values, max_size=3)


def merged(weak: dict[str, Any], strong: dict[str, Any]) -> dict[str, Any]:
    """Say by other means what two layers come to."""
    result = dict(weak)
    for key, value in strong.items():
        if isinstance(value, dict) and value and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


@given(trees, trees, trees)
def test_layers_merge_as_mappings_do(
    first: dict[str, Any], second: dict[str, Any], third: dict[str, Any]
) -> None:
    """Three layers come to what merging them one by one gives, and each leaf has its layer."""
    tree: Tree = {}
    for name, layer in (("1", first), ("2", second), ("3", third)):
        lay(tree, layer, name)

    assert plain(tree) == merged(merged(first, second), third)
    for leaf in flat(plain(tree)) if tree else ():
        assert origin(tree, leaf.path).layer in {"1", "2", "3"}


@pytest.mark.parametrize("actor", [None, Actor("ada")])
def test_only_admins_may_ask(workspace: Workspace, actor: Actor | None) -> None:
    """Without the role admin the tool is refused."""
    failure = harness(get_settings, settings=workspace, actor=actor).call({}).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
