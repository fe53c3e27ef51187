import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from support.databases import ask
from toolseam import Actor, Host, ToolError
from toolseam_builtin.structure import list_tables
from toolseam_builtin.workspace import TableSettings, Workspace


def make(path: Path) -> Path:
    """Make a SQLite file with one table named like the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"create table in_{path.stem} (id integer primary key)")
    return path


def refusal(workspace: Workspace) -> tuple[str, str]:
    """Return code and content of the refusal to list the tables."""
    result = ask(list_tables, workspace)
    assert result.failure is not None, result.content
    return result.failure.code, result.content


def test_the_only_database_is_found_whatever_it_is_called(tmp_path: Path) -> None:
    """A file is known by its first bytes, wherever it stands in the folder."""
    make(tmp_path / "data" / "shop.bin")
    (tmp_path / "fake.sqlite").write_text("no database")

    assert "in_shop" in ask(list_tables, Workspace(folder=tmp_path)).content


def test_hidden_folders_environments_and_links_are_left_out(tmp_path: Path) -> None:
    """What is hidden, installed or outside is no database of the workspace."""
    outside = make(tmp_path / "outside" / "other.db")
    folder = tmp_path / "app"
    make(folder / "shop.db")
    make(folder / ".cache" / "index.db")
    make(folder / "venv" / "lib" / "index.db")
    (folder / "venv" / "pyvenv.cfg").touch()
    (folder / "link.db").symlink_to(outside)
    (folder / "linked").symlink_to(outside.parent)
    os.mkfifo(folder / "pipe.db")

    assert "in_shop" in ask(list_tables, Workspace(folder=folder)).content


def test_several_databases_are_listed_and_none_is_taken(tmp_path: Path) -> None:
    """With several files the refusal lists them and names the setting."""
    make(tmp_path / "a.db")
    make(tmp_path / "b.db")

    code, content = refusal(Workspace(folder=tmp_path))

    assert code == "unavailable"
    assert "a.db, b.db" in content
    assert "[workspace]" in content


def test_no_database_names_the_setting(tmp_path: Path) -> None:
    """Without a file the refusal says what to write and where."""
    code, content = refusal(Workspace(folder=tmp_path))

    assert code == "unavailable"
    assert "database =" in content


@pytest.mark.parametrize("name", ["b.db", "sqlite:///b.db", "./sub/../b.db"])
def test_a_named_database_is_taken(tmp_path: Path, name: str) -> None:
    """A path or address that stays inside the folder decides."""
    make(tmp_path / "a.db")
    make(tmp_path / "b.db")

    assert "in_b" in ask(list_tables, Workspace(folder=tmp_path, database=name)).content


def test_a_database_outside_needs_trust(tmp_path: Path) -> None:
    """A path or link that leads out is refused until the operator trusts the workspace."""
    outside = make(tmp_path / "other.db")
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "link.db").symlink_to(outside)

    for name in ("../other.db", str(outside), "link.db", "../absent.db"):
        result = ask(list_tables, Workspace(folder=folder, database=name))
        assert result.failure is not None
        assert result.failure.code == "unavailable"
        assert result.metadata["reason"] == "untrusted_workspace"

    trusted = Workspace(folder=folder, database="../other.db", trusted=True)
    assert "in_other" in ask(list_tables, trusted).content


def test_a_server_needs_trust(tmp_path: Path) -> None:
    """Nothing that needs a connection works in a workspace that is not trusted."""
    workspace = Workspace(folder=tmp_path, database="postgresql://127.0.0.1:1/x")

    result = ask(list_tables, workspace)

    assert result.failure is not None
    assert result.failure.code == "unavailable"
    assert result.metadata["reason"] == "untrusted_workspace"


@pytest.mark.parametrize(
    "address",
    ["mysql://u:sesame@h/d", "postgresql://u:sesame@127.0.0.1:1/d", "postgresql://u:sesame@[/d"],
)
def test_an_address_never_shows_its_password(tmp_path: Path, address: str) -> None:
    """A server that cannot be used is unavailable, and its credentials stay unsaid."""
    code, content = refusal(Workspace(folder=tmp_path, database=address, trusted=True))

    assert code == "unavailable"
    assert "sesame" not in content


def test_the_sources_stay_inside(tmp_path: Path) -> None:
    """The source folder is absolute, and leads out of a trusted workspace only."""
    (tmp_path / "app" / "src").mkdir(parents=True)
    folder = tmp_path / "app"

    assert Workspace(folder=folder).source_path == folder
    assert Workspace(folder=folder, source_root="src").source_path == folder / "src"
    assert Workspace(folder=folder, source_root="..", trusted=True).source_path == tmp_path
    for root in ("..", "absent"):
        with pytest.raises(ToolError) as caught:
            _ = Workspace(folder=folder, source_root=root).source_path
        assert caught.value.code == "unavailable"


def test_table_settings_are_found_in_any_case() -> None:
    """What the workspace says of a table holds for the stored name."""
    workspace = Workspace(tables={"album": TableSettings(label="title")})

    assert workspace.table_settings("Album").label == "title"
    assert workspace.table_settings("other") == TableSettings()


DESCRIBED = """
[workspace]
database = "data/shop.db"
storages = { media = "file:///srv/media" }
source_root = "src"
logs = ["logs/*.log"]
config_files = ["app.toml"]
settings_layers = ["base.toml", "local.toml"]
templates = ["templates"]
web_app = "shop:app"
scheduler = "shop:scheduler"

[workspace.index]
folders = ["docs"]
columns = ["page.body"]

[workspace.tables.page]
label = "title"
parent = "up"
draft = "is_draft"
language = "lang"
history = "page_history"
editable = ["title"]
files = ["image"]

[workspace.accounts]
users = "people"
groups = "teams"
"""


def test_the_workspace_file_describes_all_of_it(tmp_path: Path) -> None:
    """Every key of the table can be written, and a tool works by it."""
    make(tmp_path / "data" / "shop.db")
    (tmp_path / "toolseam.toml").write_text(DESCRIBED)

    with Host.load(tmp_path) as host:
        result = host.call("list_tables", actor=Actor.system)

    assert "in_shop" in result.content


@pytest.mark.parametrize(
    "line",
    ["trusted = true", 'folder = "/"', 'tables_allow = ["*"]', "allow_privileged_role = true"],
)
def test_the_workspace_file_decides_nothing(tmp_path: Path, line: str) -> None:
    """What the operator decides cannot stand in the workspace's table."""
    (tmp_path / "toolseam.toml").write_text(f"[workspace]\n{line}\n")

    with Host.load(tmp_path) as host:
        result = host.call("list_tables", actor=Actor.system)
        (record,) = [record for record in host.records if record.name == "list_tables"]

    assert not result.success
    assert (record.status, record.reason) == ("broken", "settings")


def test_content_is_delicate_until_tables_are_listed() -> None:
    """Tools that read content count as system diagnostics until the operator lists tables."""
    spec = list_tables.tool_spec()

    assert spec.data_class == "editor_content"
    assert Workspace().data_class_of(spec) == "system_diagnostics"
    assert Workspace(tables_allow=("page",)).data_class_of(spec) == "editor_content"
