"""What the database of durable runs holds: nothing that anybody wrote, and nothing to be moved."""

from __future__ import annotations

import base64

import psycopg
import pytest

from support.durable import ENDED, approve, durable, wait, workers
from support.tools import ADA
from toolseam.runs import Decision, RunError
from toolseam_plugins.durable import DurableError

CANARIES = ("canary-question", "canary-read", "canary-write", "canary-edit", "canary-artifact")


def dump(url: str) -> str:
    """Return every value of every table of the database, in all schemas but the server's own."""
    found: list[str] = []
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            b"SELECT schemaname, tablename FROM pg_tables"
            b" WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        for schema, table in tables:
            rows = connection.execute(f'SELECT t::text FROM "{schema}"."{table}" t'.encode())
            found += [row[0] for row in rows.fetchall()]
    return "\n".join(found)


def shapes(canary: str) -> set[str]:
    """Return a text as it may stand in a dump: as it is, in hexadecimal digits, in base64."""
    text = canary.encode()
    parts = {base64.b64encode(bytes(lead) + text).decode()[4:-4] for lead in range(3)}
    return {canary, text.hex(), *parts}


def test_the_database_holds_no_content(url: str) -> None:
    """Not while a run waits, nor after it has ended: not a word, in no column of any table."""
    with durable(url) as found, workers(url):
        question = "read canary-read;write canary-write;artifact canary-artifact"
        run_id = found.start("told", question, actor=ADA, instructions="canary-question")
        wait(found, run_id, "waiting_for_approval", *ENDED)
        (pending,) = found.host.session().waiting(run_id)
        before = dump(url)
        edit = Decision.edit(pending, {"text": "canary-edit"}, actor=ADA)
        found.decide(run_id, [edit])
        ended = wait(found, run_id, *ENDED)
        after = dump(url)

    assert (ended.status, ended.answer) == ("completed", "It is done.")
    assert run_id in before
    assert run_id in after
    for canary in (*CANARIES, "It is done."):
        for shape in shapes(canary):
            assert shape not in before
            assert shape not in after


def give(url: str, table: str, column: str, key: str, one: str, other: str) -> None:
    """Give a row what another one has in a column, as if it were its own."""
    move = f"UPDATE {table} t SET {column} = o.{column} FROM {table} o WHERE t.{key} = %s"
    with psycopg.connect(url) as connection:
        connection.execute(f"{move} AND o.{key} = %s".encode(), (one, other))
        if column == "inputs":
            rename = f"UPDATE {table} SET inputs = replace(inputs, %s, %s) WHERE {key} = %s"
            connection.execute(rename.encode(), (other, one, one))


def test_what_was_moved_does_not_open(url: str) -> None:
    """A run that got another one's question fails, and so does one that got another's state."""
    with durable(url) as found:
        runs = [found.start("told", f"read {key};write {key}", actor=ADA) for key in "abc"]
        give(url, "toolseam_dbos.workflow_input", "inputs", "workflow_uuid", runs[0], runs[1])
        with workers(url):
            failed = [wait(found, runs[0], *ENDED)]
            for run_id in runs[1:]:
                wait(found, run_id, "waiting_for_approval", *ENDED)
            give(url, "toolseam_durable.run", "state", "id", runs[1], runs[2])
            with pytest.raises(RunError, match="altered"):
                approve(found, runs[1])
            failed.append(found.status(runs[1]))

    assert {(run.status, run.reason) for run in failed} == {("failed", "altered")}


def test_a_worker_with_another_key_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it drives anything: to it each run would look as if it had been altered."""
    with durable(url):
        pass
    monkeypatch.setenv("OTHER_KEY", base64.b64encode(bytes(32)).decode())

    with (
        pytest.raises(DurableError, match="another key"),
        durable(url, audit={"key_env": "OTHER_KEY"}),
    ):
        pass


def test_a_database_that_is_away_is_named_without_its_password() -> None:
    """What is raised has the kind of the fault, and nothing of the address."""
    with pytest.raises(DurableError) as refused, durable("postgresql://me:canary@127.0.0.1:1/x"):
        pass

    assert "canary" not in str(refused.value)
    assert refused.value.__cause__ is None
