"""The store on a server: its own schema, held to what we make; no address and no driver's text."""

import sys
from contextlib import closing
from typing import Any

import pytest

from support.audit import Kept, echo, host
from support.postgres import Postgres
from support.tools import ADA
from toolseam_plugins.audit import AuditError, _postgres
from toolseam_plugins.audit._postgres import PostgresDatabase, shown


@pytest.fixture
def server(postgres: Postgres) -> Kept:
    """A store in a database of its own."""
    return Kept(postgres.url(postgres.database()), postgres)


def refused(kept: Kept, **audited: Any) -> str:
    """Return why a host does not start, and all that this came of."""
    with pytest.raises(AuditError) as error:
        host(kept, **audited)
    told: list[str] = []
    fault: BaseException | None = error.value
    while fault is not None:
        told.append(str(fault))
        fault = fault.__context__
    return " ".join(told)


INTRUDERS = {
    "trigger": (
        """
        CREATE FUNCTION public.gone() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN RETURN NULL; END';
        CREATE TRIGGER gone BEFORE INSERT ON run_step FOR EACH ROW EXECUTE FUNCTION public.gone()
        """,
        "trigger 'gone'",
    ),
    "rule": ("CREATE RULE gone AS ON INSERT TO run_step DO INSTEAD NOTHING", "rule 'gone'"),
    "view": ("CREATE VIEW peek AS SELECT * FROM run_step", "view 'peek'"),
    "table as a view": (
        """
        ALTER TABLE run_step SET SCHEMA public;
        CREATE VIEW run_step AS SELECT * FROM public.run_step
        """,
        "'run_step'",
    ),
    "another table": ("CREATE TABLE more (x int)", "table 'more'"),
    "row security": ("ALTER TABLE run ENABLE ROW LEVEL SECURITY", "'run'"),
    "an index": ("CREATE INDEX mine ON run (upper(owner))", "index 'mine'"),
    "a column": ("ALTER TABLE run ADD COLUMN more text", "'run.more'"),
    "another type": ("ALTER TABLE run ALTER COLUMN owner TYPE varchar(9)", "'run.owner'"),
    "no column": ("ALTER TABLE run DROP COLUMN fault", "'run.fault'"),
    "no table": ("DROP TABLE run_decision", "run_decision"),
    "a newer version": (
        "COMMENT ON SCHEMA toolseam_audit IS 'toolseam audit, version 99'",
        "newer toolseam",
    ),
    "no comment": ("COMMENT ON SCHEMA toolseam_audit IS NULL", "no audit store"),
    "another's comment": (
        "COMMENT ON SCHEMA toolseam_audit IS 'toolseam audit, version x'",
        "no audit store",
    ),
}


@pytest.mark.parametrize("intruder", INTRUDERS)
def test_what_is_not_ours_stops_the_start(server: Kept, intruder: str) -> None:
    """A foreign trigger, rule, view, table, index or column is named."""
    statements, named = INTRUDERS[intruder]
    host(server).close()
    server.rows(statements)

    assert named in refused(server)


def test_the_schema_is_made_once_by_many(server: Kept) -> None:
    """Hosts that start at the same moment make one schema."""
    import threading

    faults: list[BaseException] = []
    ready = threading.Barrier(6)

    def start() -> None:
        ready.wait()
        try:
            host(server).close()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert faults == []


def test_a_lost_connection_is_opened_again(server: Kept) -> None:
    """The server drops it: a row may be lost and is counted; the name of the store lives on."""
    with host(server, echo()) as made:
        session = made.session(actor=ADA)
        session.call("echo", {"text": "a"})
        store: Any = made._state.store
        writer = store._writer._name
        server.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'toolseam'"
        )
        session.call("echo", {"text": "b"})
        store._writer._rests_until = 0.0
        session.call("echo", {"text": "c"})
        with closing(PostgresDatabase(str(server.url))) as other:
            assert other.is_alive(writer)
            assert not other.is_alive("0" * 16)
            assert not other.is_alive("no name")

    assert server.rows("SELECT count(*) FROM run_step") == [(2,)]
    assert server.rows("SELECT lost FROM run") == [(1,)]


def test_an_idle_session_that_was_ended_costs_nothing(
    server: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it is used again it is asked for nothing, and opened anew: no row is lost."""
    monkeypatch.setattr(_postgres, "IDLE_S", 0.0)
    with host(server, echo()) as made:
        session = made.session(actor=ADA)
        for text in "abc":
            session.call("echo", {"text": text})
            server.rows(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'toolseam'"
            )

    assert server.rows("SELECT count(*) FROM run_step") == [(3,)]
    assert server.rows("SELECT lost FROM run") == [(0,)]


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:plum@127.0.0.1:1/nowhere",
        "postgresql+psycopg://ada:plum@127.0.0.1:1/nowhere?application_name=plum",
        "postgres://ada:plum@127.0.0.1:1/nowhere",
        "postgresql://ada:plum@127.0.0.1:port/nowhere",
        "postgresql://ada:%zzplum@127.0.0.1/nowhere",
        "postgresql://ada:plum@127.0.0.1/nowhere?nonsense=plum",
    ],
)
def test_no_password_and_no_text_of_the_driver_is_told(url: str) -> None:
    """A server that cannot be reached stops the start with its address alone."""
    said = refused(Kept(url))

    assert "plum" not in said
    assert "ada" not in said
    assert "cannot be reached" in said


def test_without_its_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL is an extra of its own."""
    monkeypatch.setitem(sys.modules, "psycopg", None)

    assert "toolseam[sql]" in refused(Kept("postgresql://127.0.0.1:1/x"))


def test_a_role_that_may_make_nothing(postgres: Postgres) -> None:
    """It is told that the store cannot be used, and nothing of why the driver thinks so."""
    postgres.execute(
        "DO $$ BEGIN CREATE ROLE bystander LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
    )
    database = postgres.database()

    assert "cannot be used (InsufficientPrivilege)" in refused(
        Kept(postgres.url(database, "bystander"), postgres)
    )


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://u:p@host:5/db?x=y", "postgresql://host:5/db"),
        ("postgresql:///db", "postgresql:///db"),
        ("postgresql://[::1", "postgresql://"),
        ("postgresql://u:1/p@host/db", "postgresql://"),
        ("postgresql://u:1#p@host/db", "postgresql://"),
        ("postgresql://u:1?p@host/db", "postgresql://"),
    ],
)
def test_what_of_an_address_is_shown(url: str, said: str) -> None:
    """Host, port and database; no user, no password, no options."""
    assert shown(url) == said


def test_reading_makes_no_schema(server: Kept) -> None:
    """Who only looks finds nothing, and leaves nothing."""
    from toolseam._settings import coded_settings
    from toolseam_plugins.audit import look

    settings = coded_settings(server.settings())
    with pytest.raises(AuditError, match="Nothing is stored"), look(settings):
        pass
    found = server.rows("SELECT count(*) FROM pg_namespace WHERE nspname = 'toolseam_audit'")
    assert found == [(0,)]
