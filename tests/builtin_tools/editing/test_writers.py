"""The two engines themselves: what they do where a tool has no way to bring them."""

from __future__ import annotations

import resource
import sqlite3
import time
from typing import TYPE_CHECKING, Any

import pytest

from builtin_tools.editing.conftest import Site, postgres_site, sqlite_site
from toolseam import ErrorCode, ToolError
from toolseam_builtin._database._faults import Deadline
from toolseam_builtin._database._writing._faults import not_as_previewed
from toolseam_builtin._database._writing._model import Change
from toolseam_builtin._database._writing._open import carry_out, open_writer, writable
from toolseam_builtin._database._writing._sqlite_guard import Announced, WritingGuard
from toolseam_builtin.editing import create_record_draft, update_record_metadata
from toolseam_builtin.editing._room import Previews
from toolseam_builtin.editing.update_record_metadata import Arguments, make_plan
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.postgres import Postgres

RENAME = Arguments("pages", 2, {"title": "Stay"})


def code_of(call: Callable[[], object]) -> ErrorCode:
    """Return the code with which a call is refused."""
    with pytest.raises(ToolError) as failure:
        call()
    return failure.value.code


def test_what_nobody_waits_for_any_more_is_not_kept(site: Site) -> None:
    """A call that was given up ends before its transaction does."""
    before = site.everything()

    with open_writer(site.workspace) as writer:
        plan = make_plan(RENAME, writer, site.workspace)
        code = code_of(lambda: carry_out(writer, plan, "ada", lambda: False))

    assert code is ErrorCode.CANCELLED
    assert site.everything() == before


def test_taking_back_says_whether_it_worked(site: Site) -> None:
    """A writer that has taken all back has nothing of it in its hands."""
    with open_writer(site.workspace) as writer:
        plan = make_plan(RENAME, writer, site.workspace)
        writer.announce(plan.changes, plan.history)
        writer.update(plan.changes[0])

        assert writer.undo()

    assert site.run("select title from pages where id = 2") == [("Visit",)]


def test_taking_back_twice_is_no_success_on_a_file(tmp_path: Path) -> None:
    """Without a transaction there is nothing to take back."""
    with open_writer(sqlite_site(tmp_path).workspace) as writer:
        assert writer.undo()
        assert not writer.undo()


def test_a_failed_undo_is_not_called_harmless(site: Site) -> None:
    """If taking back failed, nobody knows what was kept; otherwise nothing was."""
    with open_writer(site.workspace) as writer:
        table = writer.table("pages")

    assert not_as_previewed(table, undone=True).code is ErrorCode.CONFLICT
    assert not_as_previewed(table, undone=False).code is ErrorCode.EXECUTION_ERROR


def test_a_record_that_is_gone_is_not_exactly_one(site: Site) -> None:
    """A statement that touches no row ends the write."""
    with open_writer(site.workspace) as writer:
        plan = make_plan(RENAME, writer, site.workspace)
        nobody = Change(plan.table, (("id", 99),), (("title", "x"),))
        writer.announce([nobody], plan.history)

        assert code_of(lambda: writer.texts(plan.table, (("id", 99),), ["title"])) == "conflict"
        assert code_of(lambda: writer.update(nobody)) == "conflict"


def test_previews_are_kept_once_and_not_for_ever() -> None:
    """A text is there for one call, and the oldest make room."""
    previews = Previews()
    for number in range(300):
        previews.keep(f"run:{number}", str(number))

    assert previews.take("run:0") is None
    assert previews.take("run:299") == "299"
    assert previews.take("run:299") is None


# -- SQLite ------------------------------------------------------------------------------------


def test_an_address_for_writing_is_for_servers(tmp_path: Path) -> None:
    """A file is written where it is; an address beside it is a mistake of the operator."""
    workspace = Workspace(folder=tmp_path, write_database="postgresql://x@localhost/y")

    assert code_of(lambda: writable(workspace)) is ErrorCode.UNAVAILABLE


@pytest.mark.parametrize(
    ("action", "first", "second", "schema", "via", "allowed"),
    [
        (sqlite3.SQLITE_UPDATE, "Pages", "TITLE", "main", None, True),
        (sqlite3.SQLITE_UPDATE, "pages", "slug", "main", None, False),
        (sqlite3.SQLITE_UPDATE, "pages", "title", "main", "sly", False),
        (sqlite3.SQLITE_UPDATE, "pages", "title", "temp", None, False),
        (sqlite3.SQLITE_UPDATE, "users", "name", "main", None, False),
        (sqlite3.SQLITE_INSERT, "pages_history", None, "main", None, True),
        (sqlite3.SQLITE_INSERT, "pages", None, "main", None, False),
        (sqlite3.SQLITE_DELETE, "pages", None, "main", None, False),
        (sqlite3.SQLITE_READ, "users", "id", "main", None, True),
        (sqlite3.SQLITE_FUNCTION, None, "count", None, None, True),
        (sqlite3.SQLITE_FUNCTION, None, "load_extension", None, None, False),
        (sqlite3.SQLITE_PRAGMA, "user_version", "7", None, None, False),
        (sqlite3.SQLITE_ATTACH, "other.db", None, None, None, False),
        (sqlite3.SQLITE_TRANSACTION, "COMMIT", None, None, None, True),
        (sqlite3.SQLITE_TRANSACTION, "BEGIN", None, None, None, False),
    ],
)
def test_only_what_was_announced_is_authorized(
    action: int,
    first: str | None,
    second: str | None,
    schema: str | None,
    via: str | None,
    allowed: bool,
) -> None:
    """Columns of existing rows, tables with new ones, and the end of the transaction."""
    guard = WritingGuard(Deadline(time.monotonic() + 60))
    guard.announced = Announced({"pages": frozenset({"title"})}, frozenset({"pages_history"}))

    answer = guard.authorize(action, first, second, schema, via)

    assert answer == (sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY)


def test_a_duplicate_by_an_expression_names_the_table(tmp_path: Path) -> None:
    """Where no column alone must be unique, none is named."""
    site = sqlite_site(tmp_path, "create unique index one on pages (lower(title))")

    result = site.write(update_record_metadata, table="pages", key=2, values={"title": "HOME"})

    assert result.failure is not None
    assert result.failure.metadata["reason"] == "duplicate"
    assert "pages must be unique" in result.content


def test_a_reference_that_is_judged_at_the_end_is_refused_there(tmp_path: Path) -> None:
    """A deferred foreign key refuses the whole transaction."""
    site = sqlite_site(
        tmp_path,
        "alter table pages add column shelf integer references users (id)"
        " deferrable initially deferred",
    )
    before = site.everything()
    words = site.settings("pages", editable=("shelf",))

    result = words.write(update_record_metadata, table="pages", key=2, values={"shelf": 99})

    assert result.failure is not None
    assert result.failure.code is ErrorCode.CONFLICT
    assert site.everything() == before


def test_a_file_that_may_not_be_written_is_unavailable(tmp_path: Path) -> None:
    """A file of a format that this SQLite only reads stays as it is."""
    site = sqlite_site(tmp_path)
    file = tmp_path / "app.db"
    content = bytearray(file.read_bytes())
    content[18] = 3  # the lowest version that may write it
    file.write_bytes(content)

    result = site.write(update_record_metadata, table="pages", key=2, values={"title": "x"})

    assert result.failure is not None
    assert result.failure.code is ErrorCode.UNAVAILABLE
    assert file.read_bytes() == content


def test_a_disk_without_room_is_told_in_our_words(tmp_path: Path) -> None:
    """What the system refuses in the middle of a write leaves the file as it was."""
    site = sqlite_site(tmp_path)
    before = site.everything()
    size = (tmp_path / "app.db").stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        result = site.write(
            update_record_metadata, table="pages", key=2, values={"notes": "x" * 20_000}
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert result.failure is not None
    assert result.failure.code is ErrorCode.EXECUTION_ERROR
    assert "disk" in result.content
    assert site.everything() == before


def over(writer: Any, seconds: float) -> None:
    """Let the time of a writer be over so soon, however long it took until here."""
    writer._deadline.at = time.monotonic() + seconds


def test_a_deadline_ends_a_write(tmp_path: Path) -> None:
    """Past its deadline a writer does nothing more, and nothing is kept."""
    site = sqlite_site(tmp_path)
    with open_writer(site.workspace) as writer:
        plan = make_plan(RENAME, writer, site.workspace)
        writer.announce(plan.changes, plan.history)
        over(writer, 0.0)

        assert code_of(lambda: writer.update(plan.changes[0])) is ErrorCode.TIMEOUT

    assert site.run("select title from pages where id = 2") == [("Visit",)]


# -- PostgreSQL --------------------------------------------------------------------------------


def test_a_row_changed_by_another_transaction_is_a_conflict(postgres: Postgres) -> None:
    """What was read at the beginning must still be so at the end."""
    site = postgres_site(postgres)
    with open_writer(site.workspace) as writer:
        plan = make_plan(RENAME, writer, site.workspace)
        writer.announce(plan.changes, plan.history)
        site.run("update pages set notes = 'other' where id = 2")

        assert code_of(lambda: writer.update(plan.changes[0])) is ErrorCode.CONFLICT


def test_a_row_that_a_policy_hides_is_not_changed(postgres: Postgres) -> None:
    """Row level security lets a statement touch nothing without a word; that is no success."""
    site = postgres_site(
        postgres,
        "alter table pages enable row level security",
        "create policy seen on pages for select using (true)",
    )

    result = site.write(update_record_metadata, table="pages", key=2, values={"title": "x"})

    assert result.failure is not None
    assert result.failure.code is ErrorCode.CONFLICT


def test_a_condition_judged_at_the_end_is_refused_there(postgres: Postgres) -> None:
    """A deferred constraint ends the transaction, and nothing is kept."""
    site = postgres_site(
        postgres,
        "alter table pages drop constraint pages_slug_key",
        "alter table pages add unique (slug) deferrable initially deferred",
    )
    before = site.everything()

    result = site.write(update_record_metadata, table="pages", key=2, values={"slug": "home"})

    assert result.failure is not None
    assert result.failure.code is ErrorCode.CONFLICT
    assert site.everything() == before


def broken(site: Site, writer: Any) -> None:
    """End the writer's connection from outside."""
    (row,) = writer.table("pages") and site.run(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where usename = 'editor' and datname = current_database()"
    )
    assert row == (True,)


def test_a_connection_that_breaks_is_unavailable_before_the_end(postgres: Postgres) -> None:
    """Nothing was kept, and nothing of the driver is told."""
    site = postgres_site(postgres)
    with open_writer(site.workspace) as writer:
        plan = make_plan(RENAME, writer, site.workspace)
        writer.announce(plan.changes, plan.history)
        broken(site, writer)

        assert code_of(lambda: writer.update(plan.changes[0])) is ErrorCode.UNAVAILABLE
        assert not writer.undo()


def test_a_connection_that_breaks_at_the_end_leaves_a_doubt(postgres: Postgres) -> None:
    """If the answer to the commit is lost, nobody says that nothing was changed."""
    site = postgres_site(postgres)
    with open_writer(site.workspace) as writer:
        plan = make_plan(RENAME, writer, site.workspace)
        writer.announce(plan.changes, plan.history)
        writer.update(plan.changes[0])
        broken(site, writer)

        assert code_of(writer.keep) is ErrorCode.EXECUTION_ERROR


def test_the_servers_own_limits_end_a_write(postgres: Postgres) -> None:
    """A deadline that is nearer than the wait for a lock is a timeout."""
    import psycopg

    site = postgres_site(postgres)
    name = (site.workspace.database or "").rpartition("/")[2]
    with psycopg.connect(postgres.url(name)) as other:
        other.execute("update pages set notes = 'mine' where id = 2")
        with open_writer(site.workspace) as writer:
            plan = make_plan(RENAME, writer, site.workspace)
            writer.announce(plan.changes, plan.history)
            over(writer, 0.3)

            assert code_of(lambda: writer.update(plan.changes[0])) is ErrorCode.TIMEOUT


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"mood": "grim"}, "invalid_arguments"),
        ({"mood": "happy"}, None),
        ({"owner": 99}, "invalid_arguments"),
        ({"size": 5}, "invalid_arguments"),
    ],
)
def test_the_server_judges_its_own_types(
    postgres: Postgres, values: dict[str, Any], code: str | None
) -> None:
    """Words of an enumeration, references and checks are refused in our words."""
    site = postgres_site(
        postgres,
        "create type mood as enum ('happy', 'sad')",
        "alter table pages add mood mood, add owner int references users (id),"
        " add size int check (size > 9)",
    ).settings("pages", editable=("mood", "owner", "size"))

    result = site.write(update_record_metadata, table="pages", key=2, values=values)

    assert (result.failure and result.failure.code.value) == code, result.content


def test_bytes_go_to_history_as_their_number(postgres: Postgres) -> None:
    """A table with bytes can be written, and a partitioned one too."""
    site = postgres_site(
        postgres,
        "alter table pages add picture bytea",
        "update pages set picture = 'abc'",
    )
    from toolseam_builtin.editing import create_translation_draft

    result = site.write(create_translation_draft, table="pages", key=2, language="de")

    assert result.success, result.content
    assert site.run("select picture from pages where id = 6") == [(b"abc",)]
    assert site.run("select new from pages_history where field = 'picture'") == [("(3 bytes)",)]


def test_a_table_with_a_key_of_the_servers_making_is_filled(postgres: Postgres) -> None:
    """The key of a new record is what the server says it is."""
    site = postgres_site(
        postgres,
        "create table note (id uuid primary key default gen_random_uuid(), text text, draft bool)",
        "create table note_history (id int generated always as identity, note_id uuid"
        " references note, field text, new text, changed_by text)",
    ).settings("note", editable=("text",), history="note_history", draft="draft")

    result = site.write(create_record_draft, table="note", values={"text": "hello"})

    assert result.success, result.content
    assert result.data is not None
    (kept,) = site.run("select id::text, text, draft from note")
    assert kept == (result.data["key"], "hello", True)
    assert site.run("select field, new from note_history order by id") == [
        ("text", "hello"), ("draft", "t")
    ]  # fmt: skip
