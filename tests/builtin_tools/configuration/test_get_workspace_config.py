from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam import Actor, ErrorCode, ToolResult
from toolseam.guards import MASK
from toolseam.testing import harness
from toolseam_builtin._config._addresses import shown_address
from toolseam_builtin.configuration import get_workspace_config
from toolseam_builtin.workspace import TableSettings, Workspace


@pytest.fixture
def settings(tmp_path: Path) -> Workspace:
    """Settings with a secret in each kind of address."""
    return Workspace(
        folder=tmp_path,
        database="postgresql://site:Tulip-77@db.example:5432/site?sslmode=require",
        storages={
            "media": "s3://bucket/media?secret=Fern_33",
            "token_store": "Hazel9",
            "ftp": "ftp://bob:Moss/12@files.example/x",
        },
        logs=("logs/*.log",),
        tables={"pages": TableSettings(label="title", editable=("title", "slug"))},
        tables_allow=("pages",),
        trusted=True,
    )


def ask(settings: Workspace, name: str | None = None) -> ToolResult:
    """Call the tool through the seam."""
    return harness(get_workspace_config, settings=settings).call({"name": name})


def test_all_settings_are_flattened(settings: Workspace) -> None:
    """Every setting has its line, addresses as scheme, host and database, unset ones as such."""
    lines = ask(settings).content.split("\n")

    assert lines[0] == f"{len(lines) - 1} settings of the workspace."
    assert {
        'database = "postgresql://db.example:5432/site"',
        'storages.media = "s3://bucket/media"',
        f"storages.token_store = {MASK}",
        f'storages.ftp = "ftp://{MASK}"',
        'logs.0 = "logs/*.log"',
        "scheduler = not set",
        'tables.pages.label = "title"',
        'tables.pages.editable.1 = "slug"',
        'tables_allow.0 = "pages"',
        "trusted = true",
        "tables_deny = []",
    } <= set(lines)


def test_no_secret_leaves(settings: Workspace) -> None:
    """No password, key or query of an address is in any channel."""
    for name in (None, "storages", "database"):
        result = ask(settings, name)
        everything = f"{result.content}{result.artifacts[0].data.value}{result.data}"
        for secret in ("Tulip-77", "Fern_33", "Hazel9", "Moss", "site:", "bob"):
            assert secret not in everything


def test_a_name_narrows(settings: Workspace) -> None:
    """A name gives that setting and what is below it, in text, artifact and data."""
    result = ask(settings, "tables.pages.editable")

    assert result.content.split("\n") == [
        "2 settings of the workspace below tables.pages.editable.",
        'tables.pages.editable.0 = "title"',
        'tables.pages.editable.1 = "slug"',
    ]
    assert result.artifacts[0].data.value == {
        "items": [["tables.pages.editable.0", '"title"'], ["tables.pages.editable.1", '"slug"']]
    }
    assert result.data is not None
    assert result.data["rows"] == [
        ["tables.pages.editable.0", "title"],
        ["tables.pages.editable.1", "slug"],
    ]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("databse", ErrorCode.NOT_FOUND),
        ("storages.token_store.x", ErrorCode.NOT_FOUND),
        ("a..b", ErrorCode.INVALID_ARGUMENTS),
    ],
)
def test_an_unknown_name_is_refused(settings: Workspace, name: str, code: ErrorCode) -> None:
    """A name that is none is `not_found` with near misses, or invalid."""
    failure = ask(settings, name).failure

    assert failure is not None
    assert failure.code == code
    assert name != "databse" or "near it: database" in failure.message


def test_many_settings_say_how_to_go_on(tmp_path: Path) -> None:
    """Settings that do not fit are counted, and the next is named."""
    tables = {f"table{n}": TableSettings(label="x" * 300) for n in range(200)}

    content = ask(Workspace(folder=tmp_path, tables=tables)).content

    assert " shown.\n" in content
    assert "Ask for the others with a name; the next is tables." in content


secrets = st.text("ab1/?#@:;&=% é", min_size=1, max_size=8).map(lambda text: f"Q{text}Q")


@given(st.sampled_from(["http", "postgresql+x", "s3", "cache::ftp"]), secrets, secrets)
def test_no_spelling_shows_a_password(scheme: str, user: str, password: str) -> None:
    """Whatever a user and a password hold, what is shown has nothing of them."""
    shown = shown_address(f"{scheme}://{user}:{password}@host.example/db?key={password}")

    assert shown.startswith(f"{scheme}://")
    assert "Q" not in shown


@pytest.mark.parametrize("actor", [None, Actor("ada")])
def test_only_admins_may_ask(settings: Workspace, actor: Actor | None) -> None:
    """Without the role admin the tool is refused."""
    failure = harness(get_workspace_config, settings=settings, actor=actor).call({}).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
