"""The two settings files: strict, and the workspace's may only narrow."""

import os
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam import DataClass, Effect, Zone
from toolseam._errors import SettingsError
from toolseam._selection import OPERATOR_ONLY, Selection, read_selection
from toolseam._settings import Settings, coded_settings, load_settings
from toolseam._settings_files import operator_folder
from toolseam._settings_keys import OperatorSettings, WorkspaceSettings
from toolseam._settings_structure import structure


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace."""
    place = tmp_path / "workspace"
    place.mkdir()
    return place


def operator(text: str) -> Path:
    """Write the operator's file where it is looked for."""
    file = Path(operator_folder(), "config.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def refused(folder: Path | None, **given: Any) -> SettingsError:
    """Load settings that must be refused."""
    with pytest.raises(SettingsError) as error:
        load_settings(folder, **given)
    return error.value


def test_without_files_the_defaults_hold(folder: Path) -> None:
    """The limits are the contract's, nobody is trusted, nothing is observed."""
    settings = load_settings(folder)

    limits = settings.limits
    assert (limits.timeout_s, limits.threads, limits.waiting) == (60.0, 8, 64)
    assert (limits.content_bytes, limits.message_bytes) == (50_000, 2_000)
    assert settings.operator.trust == ()
    assert (settings.enforce, settings.on_contract_error) == ("enforce", "continue")
    assert settings.operator.zone is Zone.EXTERNAL_GLOBAL
    assert (settings.workspace_file, settings.workspace_trusted) == (None, False)


def test_the_operator_decides(folder: Path) -> None:
    """Every key of his file arrives in its own kind."""
    file = operator(
        """
        trust = ["acme"]
        allow = ["acme", "toolseam"]
        strict = true
        enable = ["send"]
        on_contract_error = "stop"
        enforce = "observe"
        zone = "external_eu"
        prefer = { ping = "twin-one" }
        [sets.support]
        block = ["other"]
        [groups]
        disable = ["system"]
        [tools.greet]
        data_class = "source_code"
        effect = "unknown"
        requires_admin = true
        [tables]
        allow = ["*"]
        deny = ["users"]
        [limits]
        timeout_s = 5
        threads = 100
        [plugins.acme]
        url = "x"
        [secrets]
        token = "ACME_TOKEN"
        """
    )

    settings = load_settings(folder)

    assert settings.operator_file == file
    assert settings.operator.allow == ("acme", "toolseam")
    assert settings.operator.sets["support"].block == ("other",)
    assert settings.operator.plugins == {"acme": {"url": "x"}}
    assert settings.operator.tables.allow == ("*",)
    assert settings.operator.zone is Zone.EXTERNAL_EU
    assert (settings.limits.timeout_s, settings.limits.threads) == (5.0, 100)
    assert (settings.enforce, settings.on_contract_error) == ("observe", "stop")
    assert settings.tools["greet"].data_class is DataClass.SOURCE_CODE
    assert settings.tools["greet"].effect is Effect.UNKNOWN
    assert settings.disabled_groups == {"system"}
    assert settings.selection().strict


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ('trust = "acme"', "trust", "a list of texts"),
        ("trust = [1]", "trust.0", "a text"),
        ("allow = [1]", "allow.0", "a text"),
        ('strict = "yes"', "strict", "true or false"),
        ("strict = 1", "strict", "true or false"),
        ('prefer = "twin-one"', "prefer", "a table"),
        ("[prefer]\nping = 1", "prefer.ping", "a text"),
        ("groups = 1", "groups", "a table"),
        ("plugins.acme = 1", "plugins.acme", "a table"),
        ('limits.threads = "8"', "limits.threads", "a whole number"),
        ("limits.threads = 8.0", "limits.threads", "a whole number"),
        ("limits.threads = true", "limits.threads", "a whole number"),
        ("limits.threads = 0", "limits.threads", "from 1 to"),
        ("limits.content_bytes = 50001", "limits.content_bytes", "to 50,000"),
        ("limits.content_bytes = 0", "limits.content_bytes", "from 200"),
        ("limits.timeout_s = nan", "limits.timeout_s", "a number"),
        ("limits.timeout_s = 0", "limits.timeout_s", "from 0.001"),
        ("limits.timeout_s = true", "limits.timeout_s", "a number"),
        ('enforce = "Observe"', "enforce", "one of enforce, observe"),
        ('zone = "mars"', "zone", "one of external_global"),
        ('tools.x.data_class = "high"', "tools.x.data_class", "one of public_content"),
        ('tools.x.effect = "boom"', "tools.x.effect", "one of read_only"),
        ("sets.a.allow = 1", "sets.a.allow", "a list of texts"),
        ("trusted_workspaces.x = 1", "trusted_workspaces.x", "a text"),
    ],
)
def test_a_wrong_value_names_file_key_and_what_was_expected(
    folder: Path, text: str, key: str, expected: str
) -> None:
    """Nothing is converted from one kind into another."""
    file = operator(text)

    error = refused(folder)

    assert (error.file, error.key) == (file, key)
    assert str(error).startswith(f"{file}: {key}: expected ")
    assert expected in str(error)


@pytest.mark.parametrize(
    ("text", "key", "meant"),
    [
        ("trusts = []", "trusts", "trust"),
        ("limits.thread = 1", "limits.thread", "threads"),
        ("sets.a.blocks = []", "sets.a.blocks", "block"),
        ('tools.x.dataclass = "x"', "tools.x.dataclass", "data_class"),
    ],
)
def test_an_unknown_key_gets_a_near_miss(folder: Path, text: str, key: str, meant: str) -> None:
    """A typing error is no silent default."""
    operator(text)

    error = refused(folder)

    assert error.key == key
    assert f"did you mean '{meant}'?" in str(error)


def test_several_faults_are_told_at_once(folder: Path) -> None:
    """One look is enough to mend a file."""
    operator('strict = 1\nlimits.threads = "x"\nwhatever = 1\n')

    text = str(refused(folder))

    assert all(key in text for key in ("strict", "limits.threads", "whatever"))


def test_a_fault_never_shows_the_value(folder: Path) -> None:
    """A secret that was written under the wrong key stays out of the log."""
    operator('strict = "CANARY"\n[secrets]\ntoken = ["CANARY"]\nlimits = "CANARY"\n')

    assert "CANARY" not in str(refused(folder))


@pytest.mark.parametrize(
    "data",
    [b"a", b"\xff", b"a = " + b"[" * 100_000, b"#" * (1 << 20) + b"##", b"a = " + b"9" * 5_000],
)
@pytest.mark.parametrize("name", ["config.toml", "trust.toml"])
def test_a_file_that_cannot_be_parsed_is_named(folder: Path, data: bytes, name: str) -> None:
    """No TOML, no UTF-8, too deep, too large, too long a number: the file is named."""
    file = operator("").parent / name
    file.write_bytes(data)

    assert refused(folder).file == file


def test_a_pipe_instead_of_a_file_is_refused(folder: Path) -> None:
    """A workspace can hold anything under the file's name; nothing waits for it."""
    os.mkfifo(folder / "toolseam.toml")

    assert "regular file" in str(refused(folder))


def test_a_file_that_cannot_be_opened_is_refused(folder: Path) -> None:
    """A link that leads to itself is there and cannot be read."""
    (folder / "toolseam.toml").symlink_to(folder / "toolseam.toml")

    error = refused(folder)

    assert (error.file, "Errno" in str(error)) == (folder / "toolseam.toml", False)


def test_host_code_alone_makes_settings_too() -> None:
    """`Host(tools=...)` looks for no file, and is as strict about its keys."""
    operator("this is not read")

    assert coded_settings({"limits": {"threads": 2}}).limits.threads == 2
    assert coded_settings().workspace_trusted is False
    with pytest.raises(SettingsError):
        coded_settings({"trusts": []})


def test_an_operator_file_that_is_named_must_exist(folder: Path, tmp_path: Path) -> None:
    """Only the default may be absent."""
    error = refused(folder, operator_file=tmp_path / "none.toml")

    assert error.file == tmp_path / "none.toml"


def test_the_operator_file_can_be_another(tmp_path: Path) -> None:
    """Trust given by the command then stands beside that one."""
    (tmp_path / "mine.toml").write_text('trust = ["acme"]')
    (tmp_path / "trust.toml").write_text('trust = ["other"]')

    settings = load_settings(operator_file=tmp_path / "mine.toml")

    assert settings.operator.trust == ("acme", "other")


def test_the_trust_file_holds_trust_alone(folder: Path) -> None:
    """What the command writes decides nothing else."""
    (operator("").parent / "trust.toml").write_text('zone = "local"')

    assert refused(folder).key == "zone"


def test_a_relative_config_home_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """The XDG rule; else the current folder could bring the operator's file."""
    monkeypatch.setenv("XDG_CONFIG_HOME", ".")
    monkeypatch.setenv("HOME", "/home/ada")

    assert operator_folder() == "/home/ada/.config/toolseam"


def test_host_code_is_the_operator(folder: Path) -> None:
    """Its keys replace the file's, tables name by name."""
    operator('trust = ["acme"]\n[limits]\nthreads = 3\nwaiting = 5\n')

    settings = load_settings(folder, overrides={"trust": ["b"], "limits": {"threads": 4}})

    assert settings.operator.trust == ("b",)
    assert (settings.limits.threads, settings.limits.waiting) == (4, 5)
    assert settings.selection().trusted == {"b"}


def test_host_code_is_checked_as_the_file_is(folder: Path) -> None:
    """A text is no list of letters, wherever it comes from."""
    error = refused(folder, overrides={"trust": "acme"})

    assert (error.file, error.key) == (None, "trust")


def test_the_workspace_may_narrow(folder: Path) -> None:
    """Of two words the stricter holds."""
    operator('on_contract_error = "continue"\nblock = ["a"]\n[tables]\ndeny = ["x"]\n')
    (folder / "toolseam.toml").write_text(
        """
        block = ["b"]
        disable = ["c"]
        strict = true
        on_contract_error = "stop"
        enforce = "enforce"
        groups.disable = ["system"]
        tables.deny = ["y"]
        limits.threads = 2
        tools.greet = { data_class = "secret_adjacent", requires_admin = true }
        workspace.database = "app.db"
        """
    )

    settings = load_settings(folder)

    assert settings.denied_tables == ("x", "y")
    assert (settings.limits.threads, settings.limits.waiting) == (2, 64)
    assert settings.on_contract_error == "stop"
    assert settings.disabled_groups == {"system"}
    assert settings.tools["greet"].requires_admin
    assert settings.workspace.workspace == {"database": "app.db"}
    selection = settings.selection()
    assert (selection.blocked, selection.disabled) == ({"a", "b"}, {"c"})
    assert selection.strict


WIDENING = {
    "trust": '["*"]',
    "allow": "[]",
    "prefer": '{ ping = "evil" }',
    "enable": '["send"]',
    "sets": "{ a = {} }",
    "zone": '"local"',
    "plugins": "{ acme = {} }",
    "providers": '{ openai = { base_url = "http://evil.test", zone = "local" } }',
    "ask": '{ roles = ["admin"] }',
    "mounts": '{ depot = { command = "depot" } }',
    "mcp": '{ structured = ["send"] }',
    "runs_in": '{ "*" = "inline" }',
    "process": "{ memory_mb = 100000 }",
    "sandbox": '{ send = { read = ["/"] } }',
    "executors": '{ far = { address = "tcp://evil.test:1" } }',
    "secrets": '{ a = "B" }',
    "trusted_workspaces": '{ "/" = "x" }',
}


@pytest.mark.parametrize(
    ("key", "line"),
    [
        *((key, f"{key} = {value}") for key, value in WIDENING.items()),
        ("enforce", 'enforce = "observe"'),
        ("on_contract_error", 'on_contract_error = "continue"'),
        ("tables.allow", 'tables.allow = ["users"]'),
        ("limits.threads", "limits.threads = 9"),
        ("tools.greet.data_class", 'tools.greet.data_class = "public_content"'),
        ("tools.greet.effect", 'tools.greet.effect = "read_only"'),
    ],
)
@pytest.mark.parametrize("name", ["toolseam.toml", "pyproject.toml"])
def test_the_workspace_may_not_widen(folder: Path, key: str, line: str, name: str) -> None:
    """H01: the error names both files and the key."""
    own = operator(
        'on_contract_error = "stop"\n'
        '[tools.greet]\ndata_class = "source_code"\neffect = "idempotent_write"\n'
    )
    head = "[tool.toolseam]\n" if name == "pyproject.toml" else ""
    (folder / name).write_text(f"{head}{line}\n")

    error = refused(folder)

    assert (error.file, error.key) == (folder / name, key)
    assert str(own) in str(error)


@pytest.mark.parametrize(
    ("his", "theirs", "level"),
    [
        ("full", None, "full"),
        ("full", "redacted", "redacted"),
        ("metadata", "none", "none"),
        ("a lot", None, "metadata"),
        ("full", "a lot", "metadata"),
        (None, None, "metadata"),
    ],
)
def test_the_strictest_level_of_privacy_holds(
    folder: Path, his: str | None, theirs: str | None, level: str
) -> None:
    """Of the operator's and the workspace's word the stricter; an unknown one is `metadata`."""
    if his is not None:
        operator(f'[audit]\nlevel = "{his}"\n')
    if theirs is not None:
        (folder / "toolseam.toml").write_text(f'[audit]\nlevel = "{theirs}"\n')

    assert load_settings(folder).audit.level == level


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('level = "full"', "audit.level"),
        ('level = "metadata"', "audit.level"),
        ('database = "sqlite:///x"', "audit.database"),
        ("enabled = false", "audit.enabled"),
        ("retention_days = 1", "audit.retention_days"),
        ('key_env = "X"', "audit.key_env"),
    ],
)
def test_a_workspace_says_of_the_audit_only_what_is_stricter(
    folder: Path, line: str, key: str
) -> None:
    """A weaker level, and every other key, is an error that names both files."""
    own = operator('[audit]\nlevel = "none"\n')
    (folder / "toolseam.toml").write_text(f"[audit]\n{line}\n")

    error = refused(folder)

    assert error.key == key
    assert str(own) in str(error)


@pytest.mark.parametrize(("his", "theirs"), [(True, False), (False, True), (True, True)])
def test_either_file_may_want_four_eyes(folder: Path, his: bool, theirs: bool) -> None:
    """One word is enough, whoever says it."""
    operator(f"[approval]\nfour_eyes = {str(his).lower()}\n")
    (folder / "toolseam.toml").write_text(f"[approval]\nfour_eyes = {str(theirs).lower()}\n")

    assert load_settings(folder).four_eyes


def test_every_key_of_the_operator_alone_is_known_to_be_his() -> None:
    """The list that `toolseam list` uses and the classes agree."""
    theirs = {field.name for field in attrs.fields(WorkspaceSettings)}
    his = {field.name for field in attrs.fields(OperatorSettings)}

    assert set(OPERATOR_ONLY) == his - theirs
    assert set(WIDENING) == set(OPERATOR_ONLY)


def test_both_workspace_files_are_one_too_many(folder: Path) -> None:
    """The error names both; a pyproject.toml that says nothing of us does not count."""
    (folder / "toolseam.toml").write_text("")
    (folder / "pyproject.toml").write_text('[project]\nname = "toolseam-user"\n')
    assert load_settings(folder).workspace_file == folder / "toolseam.toml"

    (folder / "pyproject.toml").write_text("[tool.toolseam]\n")

    text = str(refused(folder))
    assert "toolseam.toml" in text
    assert "pyproject.toml" in text


@pytest.mark.parametrize("text", ["tool = 1 # toolseam", "[tool]\ntoolseam = 1"])
def test_a_pyproject_of_another_shape(folder: Path, text: str) -> None:
    """`tool.toolseam` is a table, or it is not there."""
    (folder / "pyproject.toml").write_text(text)

    if "\n" in text:
        assert refused(folder).key == "tool.toolseam"
    else:
        assert load_settings(folder).workspace_file is None


def test_a_set_narrows_further(folder: Path) -> None:
    """Its allow-list holds beside the outer one, its block is added, its prefer comes first."""
    operator(
        'allow = ["a", "b"]\nblock = ["x"]\nprefer = { ping = "a", pong = "a" }\n'
        '[sets.support]\nallow = ["b"]\nblock = ["y"]\nprefer = { ping = "b" }\n'
    )

    selection = load_settings(folder).selection("support")

    assert selection.allows == ({"a", "b"}, {"b"})
    assert selection.blocked == {"x", "y"}
    assert selection.preferred == {"ping": "b", "pong": "a"}


def test_an_unknown_set_gets_a_near_miss(folder: Path) -> None:
    """The sets that there are, are named."""
    operator("[sets.support]\n")

    with pytest.raises(SettingsError, match="did you mean 'support'"):
        load_settings(folder).selection("suport")


def words(selection: Selection) -> list[Any]:
    """Everything that a selection says."""
    return [getattr(selection, name) for name in Selection.__slots__ if name != "ignored"]


@pytest.mark.parametrize("plugin_set", [None, "support"])
def test_the_light_way_gives_the_same_selection(folder: Path, plugin_set: str | None) -> None:
    """`toolseam list` and the host read one rule."""
    operator('trust = ["a", "/x"]\nallow = ["a"]\n[sets.support]\nblock = ["y"]\n')
    (folder / "toolseam.toml").write_text('block = ["z"]\ndisable = ["t"]\nstrict = true\n')

    light = read_selection(str(folder), plugin_set=plugin_set)

    assert words(light) == words(load_settings(folder).selection(plugin_set))
    assert light.ignored == ()


@pytest.mark.parametrize("text", ['trust = ["*"]\nprefer = { a = "b" }\n', "block = 1", "x = ["])
def test_a_listing_shows_what_a_workspace_may_not_say(folder: Path, text: str) -> None:
    """S1: `list` and `doctor` ignore it, and say so, where every other command refuses."""
    file = folder / "toolseam.toml"
    file.write_text(text)

    selection = read_selection(str(folder))

    assert words(selection) == words(Selection())
    assert {place for place, _ in selection.ignored} == {str(file)}


@pytest.mark.parametrize(
    "text",
    ["trust = 1", "prefer = 1", "prefer.a = 1", "strict = 1", "sets = 1", "block = [1]", "x = ["],
)
def test_a_listing_refuses_a_broken_operator_file(folder: Path, text: str) -> None:
    """What the operator meant must not be guessed."""
    operator(text)

    with pytest.raises(SettingsError):
        read_selection(str(folder), plugin_set="a")


def test_a_listing_hides_no_mistake_of_ours() -> None:
    """Only what is wrong with the file is ignored."""
    with pytest.raises(ValueError, match="null"):
        read_selection("\0")


TEXTS = st.text(max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from([*(field.name for field in attrs.fields(OperatorSettings)), "x"])


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_any_table_gives_settings_or_a_settings_error(table: dict[str, Any]) -> None:
    """No value makes anything else happen."""
    outcome: object
    try:
        outcome = structure(table, OperatorSettings, "config.toml")
    except SettingsError as error:
        outcome = error

    assert isinstance(outcome, OperatorSettings) or str(outcome).startswith("config.toml: ")


@attrs.frozen
class Box:
    """Settings of a plugin, in the kinds that one would use."""

    place: Path
    names: list[str] = attrs.field(factory=list)
    sizes: tuple[int, ...] = ()
    inner: "dict[str, Box]" = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        """Refuse a place in a way of its own."""
        if self.place == Path("/CANARY"):
            raise LookupError(self.place)


def test_a_plugins_own_class_is_structured_as_strictly() -> None:
    """Faults name the dotted key under which the table stands, item by item."""
    good = structure({"place": "/x", "sizes": [1], "inner": {"a": {"place": "y"}}}, Box, None)
    assert good == Box(Path("/x"), sizes=(1,), inner={"a": Box(Path("y"))})

    with pytest.raises(SettingsError) as error:
        structure({"place": 1, "sizes": [1, "2"]}, Box, "config.toml", "plugins.acme")

    assert "plugins.acme.place: expected a path" in str(error.value)
    assert "plugins.acme.sizes.1: expected a whole number" in str(error.value)
    with pytest.raises(SettingsError, match=r"plugins\.acme: refused with LookupError$"):
        structure({"place": "/CANARY"}, Box, "config.toml", "plugins.acme")


def test_settings_are_immutable(folder: Path) -> None:
    """What was loaded is what holds."""
    settings = load_settings(folder)

    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        settings.enforce = "observe"  # type: ignore[misc]
    assert isinstance(settings, Settings)


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("[mounts.depot]", "mounts.depot", "`command` or `url`"),
        ('[mounts.depot]\ncommand = "a"\nurl = "http://b"', "mounts.depot", "`command` or `url`"),
        ('[mounts.depot]\ncommand = "a"\ntoken_env = "B"', "mounts.depot", "`url`: `token_env`"),
        ('[mounts.depot]\nurl = "http://b"\nargs = ["c"]', "mounts.depot", "`command`: `args`"),
        ('[mounts.a_b]\ncommand = "a"', "mounts", "small letters and digits"),
        ('[mounts.depot]\ncommand = "a"\nenv = "B"', "mounts.depot.env", "names of variables"),
        ('[mounts.depot]\ncommand = "a"\nenv = [1]', "mounts.depot.env", "names of variables"),
        (
            '[mounts.depot]\ncommand = "a"\ntools.x.sha256 = "12"',
            "mounts.depot.tools.x.sha256",
            "64 hexadecimal digits",
        ),
    ],
)
def test_a_mount_says_one_way_to_its_server(
    folder: Path, text: str, key: str, expected: str
) -> None:
    """Keys that do not go together are refused, with what would be right."""
    operator(f"{text}\n")

    error = refused(folder)

    assert (error.key, expected in str(error)) == (key, True)


def test_variables_of_a_mount_are_a_list_or_a_table(folder: Path) -> None:
    """A name alone is passed on as it is; a table takes its value from another variable."""
    operator(
        '[mounts.one]\ncommand = "a"\nenv = ["TOKEN"]\n'
        '[mounts.two]\ncommand = "a"\nenv = { TOKEN = "DEPOT_TOKEN" }\n'
    )

    mounts = load_settings(folder).operator.mounts

    assert mounts["one"].env == {"TOKEN": "TOKEN"}
    assert mounts["two"].env == {"TOKEN": "DEPOT_TOKEN"}
    assert mounts["one"].tools == {}
