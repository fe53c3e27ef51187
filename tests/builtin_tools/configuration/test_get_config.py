import os
import time
from pathlib import Path

import pytest

from support.configuration import FILES, SECRETS
from toolseam import Actor, ErrorCode, ToolResult
from toolseam.guards import MASK
from toolseam.testing import harness
from toolseam_builtin.configuration import get_config
from toolseam_builtin.workspace import Workspace


def ask(workspace: Workspace, file: str, path: str | None = None) -> ToolResult:
    """Call the tool through the seam."""
    return harness(get_config, settings=workspace).call({"file": file, "path": path})


def written(folder: Path, name: str, text: str | bytes) -> Workspace:
    """Write one file, and return the workspace of its folder."""
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return Workspace(folder=folder)


def everything(result: ToolResult) -> str:
    """Return all that leaves, whatever the channel."""
    artifacts = [artifact.data.value for artifact in result.artifacts]
    return f"{result.content}{artifacts}{result.data}{result.metadata}{result.failure}"


def test_the_overview_names_the_top_level_keys(workspace: Workspace) -> None:
    """Without a path the answer says each top-level key, and how much is below it."""
    result = ask(workspace, "config/site.toml")

    assert result.content.split("\n") == [
        "config/site.toml (TOML): 4 top-level keys.",
        'title = "Harbour"',
        "languages = a list of 2",
        "mail = 4 keys: host, port, password, relay",
        "servers = a list of 2",
    ]


def test_a_path_shows_all_below_it(workspace: Workspace) -> None:
    """A path gives each value below, masked by key and by shape, in text, artifact and data."""
    result = ask(workspace, "config/site.toml", "mail")

    assert result.content.split("\n")[1:] == [
        'mail.host = "mail.example"',
        "mail.port = 587",
        f"mail.password = {MASK}",
        f'mail.relay = "smtp://{MASK}@relay.example/x"',
    ]
    items = result.artifacts[0].data.value["items"]
    assert [f"{key} = {text}" for key, text in items] == result.content.split("\n")[1:]
    assert result.data is not None
    assert result.data["rows"][1] == ["mail.port", 587]
    assert result.data["total"] == 4


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("servers.1.host", 'servers.1.host = "b.example"'),
        ("servers[1].host", 'servers.1.host = "b.example"'),
        ('"mail"."port"', "mail.port = 587"),
        ("languages.0", 'languages.0 = "en"'),
        ("servers.1.api_key", f"servers.1.api_key = {MASK}"),
    ],
)
def test_indices_and_quotes_lead_further(workspace: Workspace, path: str, line: str) -> None:
    """List indices and quoted keys are steps too."""
    assert ask(workspace, "config/site.toml", path).content.split("\n")[1:] == [line]


@pytest.mark.parametrize("file", [*FILES, "out.toml"])
@pytest.mark.parametrize("listed", [False, True])
def test_no_secret_leaves(workspace: Workspace, folder: Path, file: str, listed: bool) -> None:
    """Whatever the format, the file and the path, no secret is in any channel (S8)."""
    settings = workspace if listed else Workspace(folder=folder)
    for path in (
        None,
        "mail",
        "servers",
        "a",
        "db",
        "headers",
        "NAME",
        "SECRET_KEY",
        "db.password",
    ):
        shown = everything(ask(settings, file, path))
        assert [secret for secret in SECRETS if secret in shown] == []


def test_of_an_environment_file_names_only(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of `.env` the names are shown, whether set to anything, and nothing expands (H29)."""
    monkeypatch.setenv("HOME", "Canary-3")

    result = ask(workspace, ".env")

    assert result.content.split("\n") == [
        ".env (environment, names only): 3 top-level keys.",
        "NAME = [set, not shown]",
        'EMPTY_TOKEN = ""',
        "NOTE = [set, not shown]",
    ]
    assert "Canary-3" not in everything(result)
    assert "Cedar-4" not in os.environ.values()


def test_ini_does_not_interpolate(workspace: Workspace) -> None:
    """`%(name)s` is shown as it is written (H29)."""
    assert 'a.url = "%(home)s/x"' in ask(workspace, "config/legacy.ini", "a").content


@pytest.mark.parametrize("known", ["Tulip", "Tulip-77", "T", "587", "x"])
def test_nothing_below_a_mask_is_found(workspace: Workspace, known: str) -> None:
    """A path through a masked value is refused alike, whatever is there (H46)."""
    results = [
        ask(workspace, "config/site.toml", f"mail.password.{step}") for step in (known, "zz")
    ]

    assert results[0].failure is not None
    assert results[0].failure.code == ErrorCode.NOT_FOUND
    assert results[0].content == results[1].content


def test_keys_with_the_shape_of_a_secret_are_masked(tmp_path: Path) -> None:
    """A key that is a token itself is neither shown nor found by its text."""
    key = "ghp_" + "A1b2C3d4E5f6" * 3
    workspace = written(tmp_path, "x.json", f'{{"clients": {{"{key}": {{"name": "ada"}}}}}}')

    shown = ask(workspace, "x.json", "clients")
    guessed = [ask(workspace, "x.json", f"clients.{each}") for each in (key, key[:-1] + "9")]
    followed = ask(workspace, "x.json", f'clients."{MASK}".name')

    assert key not in everything(shown)
    assert f'clients."{MASK}".name = "ada"' in shown.content
    assert guessed[0].content.replace(key, "") == guessed[1].content.replace(key[:-1] + "9", "")
    assert '"ada"' in followed.content


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("nope.toml", ErrorCode.NOT_FOUND),
        ("config", ErrorCode.INVALID_ARGUMENTS),
        ("notes.md", ErrorCode.INVALID_ARGUMENTS),
        ("zero.toml", ErrorCode.INVALID_ARGUMENTS),
        (".env.local", ErrorCode.PERMISSION_DENIED),
        (".env.none", ErrorCode.PERMISSION_DENIED),
        ("../outside.toml", ErrorCode.PERMISSION_DENIED),
        ("../none.toml", ErrorCode.PERMISSION_DENIED),
        ("out.toml", ErrorCode.PERMISSION_DENIED),
        ("/etc/passwd", ErrorCode.PERMISSION_DENIED),
        ("a\0b", ErrorCode.INVALID_ARGUMENTS),
    ],
)
def test_files_are_refused_by_kind(
    workspace: Workspace, folder: Path, file: str, code: ErrorCode
) -> None:
    """What is absent, no configuration, hidden and unlisted, or outside has its code."""
    (folder / "notes.md").write_text("x")
    (folder / "zero.toml").write_bytes(b"a\0b")

    failure = ask(workspace, file).failure

    assert failure is not None
    assert failure.code == code


def test_an_absent_file_names_those_that_are_there(workspace: Workspace, folder: Path) -> None:
    """The refusal lists the workspace's files, or those found where it lists none."""
    listed = ask(workspace, "nope.toml").failure
    found = ask(Workspace(folder=folder), "nope.toml").failure

    assert listed is not None
    assert "config/site.toml, config/legacy.ini" in listed.message
    assert found is not None
    assert "compose.yaml, config/data.json" in found.message
    assert ".env" not in found.message


@pytest.mark.parametrize(
    ("path", "code", "said"),
    [
        ("mial.host", ErrorCode.NOT_FOUND, "near it: mail"),
        ("mail.hots", ErrorCode.NOT_FOUND, "near it: host"),
        ("servers.2", ErrorCode.NOT_FOUND, "a list of 2"),
        ("servers.01", ErrorCode.NOT_FOUND, "a list of 2"),
        ("title.x", ErrorCode.NOT_FOUND, "no list and no mapping"),
        ("zzz", ErrorCode.NOT_FOUND, "4 keys: title"),
        (".", ErrorCode.INVALID_ARGUMENTS, "mail.host"),
        ("a..b", ErrorCode.INVALID_ARGUMENTS, "mail.host"),
        ("a.", ErrorCode.INVALID_ARGUMENTS, "mail.host"),
        ('"a', ErrorCode.INVALID_ARGUMENTS, "mail.host"),
        ('"a"b', ErrorCode.INVALID_ARGUMENTS, "mail.host"),
        ("a[x]", ErrorCode.INVALID_ARGUMENTS, "mail.host"),
    ],
)
def test_a_path_to_nothing_says_what_is_near(
    workspace: Workspace, path: str, code: ErrorCode, said: str
) -> None:
    """A path that leads nowhere names near misses, one that is none how it is written."""
    failure = ask(workspace, "config/site.toml", path).failure

    assert failure is not None
    assert failure.code == code
    assert said in failure.message


@pytest.mark.parametrize(
    ("name", "text"), [("a.toml", "a = 1\n"), ("a.json", '{"a": 1}'), ("a.ini", "[a]\nb = 1\n")]
)
def test_a_byte_order_mark_is_ignored(tmp_path: Path, name: str, text: str) -> None:
    """Files that begin with EF BB BF read as if without it (P28)."""
    plain = ask(written(tmp_path, name, text), name)
    marked = ask(written(tmp_path, name, b"\xef\xbb\xbf" + text.encode()), name)

    assert plain.success
    assert plain.content == marked.content


def test_retyped_scalars_show_what_they_are_read_as(tmp_path: Path) -> None:
    """Bare scalars show their value and their written form, and keys are found as written (P28)."""
    text = "country: no\nstart: 22:30\nmode: 0755\nver: 1.10\non: push\nport: 8080\nport: 9090\n"
    workspace = written(tmp_path, "b.yaml", text)

    assert ask(workspace, "b.yaml").content.split("\n")[1:] == [
        "country = false (written no)",
        "start = 1350 (written 22:30)",
        "mode = 493 (written 0755)",
        "ver = 1.1 (written 1.10)",
        'on = "push"',
        "port = 9090",
        "check_config has 6 findings on this file.",
        "Warning: `port` is set twice, in lines 6 and 7; most parsers keep the last, some refuse",
    ]
    assert 'on = "push"' in ask(workspace, "b.yaml", "on").content


def test_several_documents_are_numbered(tmp_path: Path) -> None:
    """Each document of a YAML file is shown under its number (P28)."""
    workspace = written(tmp_path, "d.yaml", "a: 1\n---\na: 2\n")

    overview = ask(workspace, "d.yaml").content

    assert "The file holds several documents" in overview
    assert "document2.a = 2" in ask(workspace, "d.yaml", "document2").content


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{key}: &{key} [{','.join([f'*{before}'] * 9)}]\n"
    for before, key in zip("abcdefg", "bcdefgh", strict=True)
)

MERGES = f"a: &a {{{', '.join(f'k{n}: v' for n in range(100))}}}\nb: {{<<: [{'*a,' * 1_100}]}}"


@pytest.mark.parametrize(
    ("name", "text", "limit"),
    [
        ("a.yaml", BOMB, "alias expansion"),
        ("b.yaml", "x: &x [1, *x]", "alias expansion"),
        ("h.yaml", f"a: &a {'[' * 40}{']' * 40}\nb: {'[' * 30}*a{']' * 30}", "nesting"),
        ("p.py", "A = " + "[" * 150 + "]" * 150, "nesting"),
        ("c.yaml", "[" * 500 + "]" * 500, "nesting"),
        ("m.yaml", MERGES, "alias expansion"),
        ("n.yaml", "".join("  " * n + f"k{n}:\n" for n in range(80)), "nesting"),
        ("c.json", "[" * 100_000 + "]" * 100_000, "nesting"),
        ("c.toml", "a = " + "[" * 20_000 + "]" * 20_000, "nesting"),
        ("k.toml", ".".join(["a"] * 500_000) + " = 1", "nesting"),
        ("t.toml", "[" + "a." * 100 + "a]\nx = 1", "nesting"),
        ("big.json", "[" + "1," * 1_000_000 + "1]", "size limit is 2,000,000"),
        ("big.py", "X = 1\n" * 60_000, "size limit for Python"),
    ],
)
def test_limits_are_named(tmp_path: Path, name: str, text: str, limit: str) -> None:
    """What explodes, nests or is too large is an `execution_error` with its limit, soon (P29)."""
    workspace = written(tmp_path, name, text)
    started = time.process_time()

    failure = ask(workspace, name).failure

    assert time.process_time() - started < 3
    assert failure is not None
    assert failure.code == ErrorCode.EXECUTION_ERROR
    assert failure.metadata == {"reason": "limit"}
    assert limit in failure.message


def test_honest_aliases_are_followed(tmp_path: Path) -> None:
    """A merge key brings what it names, and what stands beside it counts more (P29)."""
    text = "base: &b {host: h, port: 1}\nprod: {<<: *b, port: 2}\n"

    content = ask(written(tmp_path, "x.yaml", text), "x.yaml", "prod").content

    assert content.split("\n")[1:] == ['prod.host = "h"', "prod.port = 2"]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("c.yaml", "a:\n\tb: Tulip-77\n", 2),
        ("c.json", '{"a": 1,\n"b": Tulip-77}', 2),
        ("c.toml", "a = 1\nb = Tulip-77\n", 2),
        ("c.py", "A = 1\nB = (Tulip-77\n", 2),
    ],
)
def test_broken_files_say_the_line_only(tmp_path: Path, name: str, text: str, line: int) -> None:
    """A file that cannot be parsed is refused with its line, in words of ours."""
    result = ask(written(tmp_path, name, text), name)

    assert result.failure is not None
    assert result.failure.code == ErrorCode.EXECUTION_ERROR
    assert result.failure.metadata == {"reason": "syntax"}
    assert f"{name}, line {line}: " in result.failure.message
    assert "Tulip-77" not in everything(result)


def test_a_part_that_does_not_fit_says_how_to_go_on(tmp_path: Path) -> None:
    """The values that are there and those that are shown are counted, and the next is named."""
    text = "\n".join(f"[table{n}]\nname = '{'x' * 900}'" for n in range(1, 200))
    workspace = written(tmp_path, "x.toml", text.replace("[table", "[all.table"))

    result = ask(workspace, "x.toml", "all")

    assert result.data is not None
    shown = len(result.data["rows"])
    assert 20 < shown < 199
    assert f"x.toml, all: 199 values, {shown} shown." in result.content
    assert f"the next is all.table{shown + 1}.name." in result.content
    assert "… [900 characters in all]" in result.content


def test_one_value_is_shown_at_length(tmp_path: Path) -> None:
    """A path to one value shows more of it than a listing does."""
    workspace = written(tmp_path, "x.toml", f"a = '{'x' * 9000}'")

    assert "x" * 8000 in ask(workspace, "x.toml", "a").content
    assert "… [9,000 characters in all]" in ask(workspace, "x.toml", "a").content


def test_undecodable_bytes_are_told(tmp_path: Path) -> None:
    """Bytes that are no text show as U+FFFD, with a warning."""
    result = ask(written(tmp_path, "x.ini", b"[a]\nb = caf\xe9\n"), "x.ini", "a")

    assert 'a.b = "caf\ufffd"' in result.content
    assert "Warning: What could not be decoded shows as \ufffd." in result.content


def test_a_flask_environment_file_is_one(tmp_path: Path) -> None:
    """`.flaskenv` is an environment file like `.env`, where it is listed."""
    (tmp_path / ".flaskenv").write_text("FLASK_DEBUG=1\n")
    workspace = Workspace(folder=tmp_path, config_files=("./.flaskenv",))

    assert "FLASK_DEBUG = [set, not shown]" in ask(workspace, ".flaskenv").content


def test_values_forge_no_lines(tmp_path: Path) -> None:
    """Line ends in keys and values are shown as signs."""
    workspace = written(tmp_path, "x.json", '{"a\\nb = 1": "c\\nd = 2", "e": "f\\u2028g"}')

    assert len(ask(workspace, "x.json").content.split("\n")) == 3


@pytest.mark.parametrize(
    ("name", "text", "content"),
    [
        ("x.toml", "", "x.toml (TOML): 0 top-level keys."),
        ("x.yaml", "", "x.yaml (YAML): 1 top-level key.\n(the document) = null"),
        ("x.yaml", "[]", "x.yaml (YAML): 0 top-level keys."),
        ("x.json", '"hi"', 'x.json (JSON): 1 top-level key.\n(the document) = "hi"'),
        ("x.json", "[5]", "x.json (JSON): 1 top-level key.\n0 = 5"),
    ],
)
def test_documents_that_are_no_mapping(tmp_path: Path, name: str, text: str, content: str) -> None:
    """Empty documents, lists and lone scalars are answered too."""
    assert ask(written(tmp_path, name, text), name).content == content


def test_without_the_parser_the_extra_is_named(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where PyYAML is not installed the refusal names the extra."""
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)

    failure = ask(workspace, "compose.yaml").failure

    assert failure is not None
    assert failure.code == ErrorCode.UNAVAILABLE
    assert failure.metadata == {"reason": "missing_extra", "extra": "yaml"}


@pytest.mark.parametrize("actor", [None, Actor("ada")])
def test_only_admins_may_ask(workspace: Workspace, actor: Actor | None) -> None:
    """Without the role admin the tool is refused."""
    called = harness(get_config, settings=workspace, actor=actor).call({"file": "compose.yaml"})

    assert called.failure is not None
    assert called.failure.code == ErrorCode.PERMISSION_DENIED
