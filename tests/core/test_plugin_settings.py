from pathlib import Path
from typing import Any

import attrs
import pytest

from support.tools import ADA, fine, plugin
from toolseam import Host, ToolResult
from toolseam._binding import bind
from toolseam._errors import SettingsError
from toolseam._plugin_settings import PluginSettings
from toolseam._settings import coded_settings, load_settings
from toolseam._settings_files import operator_folder


@attrs.frozen
class Settings:
    """Settings of a third party's plugin."""

    url: str = "http://localhost"
    retries: int = 3


@attrs.frozen
class Place:
    """Settings of the builtins, as far as this test needs them."""

    folder: Path = Path("nowhere")
    trusted: bool = False
    tables_deny: tuple[str, ...] = ()
    title: str = ""
    key: str = attrs.field(default="", metadata={"operator": True})


def tool(settings: type | None, distribution: str = "acme") -> Any:
    """Return a bound tool with a settings class."""
    made = plugin(lambda arguments: fine(), settings=settings)
    return bind(made, name=None, distribution=distribution, version="1")


def settings(words: dict[str, Any], *given: object) -> PluginSettings:
    """Return plugin settings of what host code says alone."""
    return PluginSettings(coded_settings(words), {type(g): g for g in given})


def refused(plugin_settings: PluginSettings, bound: Any) -> SettingsError:
    """Ask for settings that must be refused."""
    with pytest.raises(SettingsError) as error:
        plugin_settings.of(bound)
    return error.value


def test_a_tool_without_a_class_has_none() -> None:
    """Nothing is read for it."""
    assert settings({}).of(tool(None)) is None


def test_a_class_is_filled_from_its_distributions_table() -> None:
    """What is unsaid has the class's default, other distributions' tables are not looked at."""
    words = {"plugins": {"acme": {"url": "http://x"}, "other": {"retries": 9}}}

    assert settings(words).of(tool(Settings)) == Settings("http://x", 3)


def test_it_is_made_once() -> None:
    """Every tool of the distribution gets the same object."""
    made = settings({})

    assert made.of(tool(Settings)) is made.of(tool(Settings))
    assert made.of(tool(Settings)) is not made.of(tool(Settings, "other"))


def test_an_instance_by_code_wins() -> None:
    """The harness and host code give settings as they are."""
    mine = Settings("mine")

    assert settings({"plugins": {"acme": {"url": "x"}}}, mine).of(tool(Settings)) is mine


@pytest.mark.parametrize(
    ("table", "key"),
    [({"urll": "x"}, "plugins.acme.urll"), ({"retries": "many"}, "plugins.acme.retries")],
)
def test_a_bad_key_is_named(table: dict[str, Any], key: str) -> None:
    """With the dotted key, and without the value."""
    error = refused(settings({"plugins": {"acme": table}}), tool(Settings))

    assert error.key == key
    assert "many" not in str(error)


def test_bad_settings_make_the_tool_unavailable() -> None:
    """The call says so without the file's content, and doctor says more."""

    def execute(arguments: object, context: Any) -> ToolResult:
        return ToolResult.text(context.settings.url)

    words = {"plugins": {"host code": {"retries": "sk-secret"}}}
    host = Host(tools=[plugin(execute, settings=Settings)], settings=words)
    result = host.call("probe", actor=ADA)

    assert (result.failure.code, result.metadata["reason"]) == ("unavailable", "settings")  # type: ignore[union-attr]
    assert "sk-secret" not in result.content


def test_the_context_carries_the_settings() -> None:
    """An instance of the plugin's own class."""

    def execute(arguments: object, context: Any) -> ToolResult:
        return ToolResult.text(context.settings.url)

    host = Host(tools=[plugin(execute, settings=Settings)], plugin_settings=[Settings("mine")])

    assert host.call("probe").content == "mine"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace."""
    place = tmp_path / "workspace"
    place.mkdir()
    return place


def of_builtin(folder: Path, workspace: str = "", operator: str = "") -> PluginSettings:
    """Return plugin settings of a folder with both files."""
    (folder / "toolseam.toml").write_text(workspace)
    file = Path(operator_folder(), "config.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(operator)
    return PluginSettings(load_settings(folder), {})


def test_the_builtins_class_hears_the_workspace_and_the_operator(folder: Path) -> None:
    """The workspace describes, the operator's table goes over it, facts are the host's."""
    made = of_builtin(
        folder,
        '[workspace]\ntitle = "from the folder"\n[tables]\ndeny = ["users"]',
        '[plugins.toolseam]\nkey = "k"',
    ).of(tool(Place, "toolseam"))

    assert (made.title, made.key) == ("from the folder", "k")
    assert (made.folder, made.trusted, made.tables_deny) == (folder, False, ("users",))


@pytest.mark.parametrize("key", ['key = "k"', "trusted = true", 'folder = "/"'])
def test_a_workspace_may_not_say_what_is_the_operators(folder: Path, key: str) -> None:
    """A reserved field, or a fact of the host, in the workspace file is refused by name."""
    error = refused(of_builtin(folder, f"[workspace]\n{key}"), tool(Place, "toolseam"))

    assert error.key == f"workspace.{key.partition(' ')[0]}"
    assert error.file == folder / "toolseam.toml"


def test_not_even_the_operator_sets_a_fact(folder: Path) -> None:
    """Whether a folder is trusted is not a key."""
    error = refused(
        of_builtin(folder, "", "[plugins.toolseam]\ntrusted = true"), tool(Place, "toolseam")
    )

    assert error.key == "plugins.toolseam.trusted"


def test_a_third_party_hears_nothing_of_the_workspace(folder: Path) -> None:
    """What a folder says reaches the builtins alone."""
    made = of_builtin(folder, '[workspace]\nurl = "http://evil"').of(tool(Settings))

    assert made == Settings()
