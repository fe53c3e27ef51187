"""What waits is sealed: altered, moved or never sealed, it ends the run and nothing runs (S4 h)."""

import base64
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.audit import Kept, host, waiting, writer
from support.tools import ADA, BOB
from toolseam.guards import state_folder
from toolseam.runs import Decision, RunError
from toolseam.testing import ScriptedProvider
from toolseam_plugins.audit._database import AuditError
from toolseam_plugins.audit._seal import Place, Seal, Sealed

HERE = Place("run", "state 1", "ada")


def literal(kept: Kept, blob: bytes) -> str:
    """Return bytes as each database writes them in a statement."""
    return f"X'{blob.hex()}'" if kept.server is None else f"'\\x{blob.hex()}'::bytea"


def flipped(blob: bytes) -> bytes:
    """Return bytes of which one bit in the middle is another."""
    middle = len(blob) // 2
    return blob[:middle] + bytes([blob[middle] ^ 1]) + blob[middle + 1 :]


TAMPERINGS: dict[str, Callable[[bytes, bytes], bytes]] = {
    "altered": lambda state, other: flipped(state),
    "cut": lambda state, other: state[:20],
    "empty": lambda state, other: b"",
    "clear": lambda state, other: b'{"version": 1}',
    "of another run": lambda state, other: other,
}


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_a_state_that_was_tampered_with_fails_the_run(kept: Kept, tampering: str) -> None:
    """Looking at it is enough: the run has failed, `altered`, and nothing has run or will."""
    done: list[str] = []
    with host(kept, writer(done)) as made:
        run, other = waiting(made), waiting(made)
        states = dict(kept.rows("SELECT id, state FROM run"))
        state = TAMPERINGS[tampering](states[run.id], states[other.id])
        kept.rows(f"UPDATE run SET state = {literal(kept, state)} WHERE id = '{run.id}'")

        session = made.session()
        said = [Decision.approve(run.pending[0], actor=ADA)]
        with pytest.raises(RunError) as refused:
            session.resume(run.id, said, ScriptedProvider(["never"]))
        assert refused.value.code == "conflict"
        with pytest.raises(RunError) as gone:
            session.waiting(run.id)
        assert gone.value.code == "not_found"

    row = kept.rows(f"SELECT status, reason, state FROM run WHERE id = '{run.id}'")
    assert (row, done) == ([("failed", "altered", None)], [])


@pytest.mark.parametrize("column", ["owner = 'eve'", "waits = 2"])
def test_a_state_belongs_to_its_owner_and_its_wait(kept: Kept, column: str) -> None:
    """A row that says another owner, or another wait, does not open it."""
    done: list[str] = []
    with host(kept, writer(done)) as made:
        run = waiting(made)
        kept.rows(f"UPDATE run SET {column}")
        with pytest.raises(RunError) as refused:
            made.session().waiting(run.id)

    assert (refused.value.code, done) == ("conflict", [])
    assert kept.rows("SELECT status, reason FROM run") == [("failed", "altered")]


@pytest.mark.parametrize("tampering", ["altered", "clear", "swapped"])
def test_a_decision_that_was_tampered_with_fails_the_run(kept: Kept, tampering: str) -> None:
    """An altered, an invented or a moved decision is none, and ends the run."""
    done: list[str] = []
    provider = ScriptedProvider([[("write", {"text": "a"}), ("write", {"text": "b"})], "never"])
    with host(kept, writer(done)) as made:
        session = made.session(actor=ADA)
        run = session.run(provider, "q")
        first, second = run.pending
        session.decide(run.id, [Decision.approve(first, actor=ADA)])
        session.decide(run.id, [Decision.deny(second, actor=BOB)])
        rows = dict(kept.rows("SELECT position, sealed FROM run_decision"))
        forged = {
            "altered": flipped(rows[1]),
            "clear": b'[1, "approve", ["ada", ["admin"], false], null, "", null]',
            "swapped": rows[0],
        }[tampering]
        kept.rows(f"UPDATE run_decision SET sealed = {literal(kept, forged)} WHERE position = 1")
        with pytest.raises(RunError) as refused:
            session.resume(run.id, [], provider)

    assert (refused.value.code, done) == ("conflict", [])
    assert kept.rows("SELECT status, reason FROM run") == [("failed", "altered")]


def test_an_invented_decision_row_opens_nothing(kept: Kept) -> None:
    """Who can write the table cannot approve in somebody's name."""
    done: list[str] = []
    with host(kept, writer(done)) as made:
        run = waiting(made)
        forged = literal(kept, b'[0, "approve", ["ada", ["admin"], false], null, "", null]')
        kept.rows(
            "INSERT INTO run_decision (run_id, wait, position, at, verdict, decided_by, sealed)"
            f" VALUES ('{run.id}', 1, 0, 0, 'approve', 'ada', {forged})"
        )
        with pytest.raises(RunError):
            made.session().resume(run.id, [], ScriptedProvider(["never"]))

    assert done == []


def key_file() -> Path:
    """Return where the key is."""
    return state_folder() / "key"


def test_without_the_key_a_run_waits_on(kept: Kept) -> None:
    """A key that is away ends nothing: the answer is `unavailable` until it is back."""
    done: list[str] = []
    with host(kept, writer(done)) as made:
        run = waiting(made)
    away = key_file().rename(key_file().with_name("away"))

    with host(kept, writer(done)) as made:
        with pytest.raises(RunError) as refused:
            made.session().waiting(run.id)
        assert refused.value.code == "unavailable"
        away.rename(key_file())
        assert made.session().waiting(run.id)


def test_another_key_opens_nothing(kept: Kept) -> None:
    """What was sealed with another key ends the run as failed."""
    with host(kept, writer([])) as made:
        run = waiting(made)
    key_file().write_bytes(os.urandom(32))

    with host(kept, writer([])) as made, pytest.raises(RunError) as refused:
        made.session().waiting(run.id)

    assert refused.value.code == "conflict"


def test_the_operators_key_is_used_instead(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `key_env` no key file is made, and who lacks the variable cannot open."""
    monkeypatch.setenv("AUDIT_KEY", base64.b64encode(os.urandom(32)).decode())
    with host(kept, writer([]), key_env="AUDIT_KEY") as made:
        run = waiting(made)
        assert made.session().waiting(run.id)
    assert not key_file().exists()

    monkeypatch.delenv("AUDIT_KEY")
    with host(kept, writer([]), key_env="AUDIT_KEY") as made, pytest.raises(RunError) as refused:
        made.session().waiting(run.id)
    assert refused.value.code == "unavailable"


@pytest.mark.parametrize("said", ["", "no base64!", base64.b64encode(b"short").decode()])
def test_a_variable_that_holds_no_key(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything but 32 bytes in base64 is refused, and not told."""
    monkeypatch.setenv("AUDIT_KEY", said)

    with pytest.raises(AuditError, match="32 bytes in base64") as refused:
        Seal("AUDIT_KEY").close(b"x", HERE)
    assert not said or said not in str(refused.value)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda file: file.chmod(0o640), "alone"),
        (lambda file: file.write_bytes(b"short"), "32 bytes"),
        (lambda file: file.write_bytes(b"x" * 33), "32 bytes"),
        (lambda file: (file.unlink(), file.symlink_to("/etc/hostname")), "cannot be read"),
        (lambda file: (file.unlink(), file.mkdir()), "own file"),
    ],
)
def test_a_key_file_that_is_no_key(spoil: Callable[[Path], Any], why: str) -> None:
    """One that others may read, of another length, a link or a folder is refused."""
    Seal().close(b"x", HERE)
    spoil(key_file())

    with pytest.raises(AuditError, match=why):
        Seal().close(b"x", HERE)


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_the_key_is_private_whatever_the_umask(umask: int) -> None:
    """File 0600, folder 0700 (S10)."""
    before = os.umask(umask)
    try:
        Seal().close(b"x", HERE)
    finally:
        os.umask(before)

    assert key_file().stat().st_mode & 0o777 == 0o600
    assert key_file().parent.stat().st_mode & 0o777 == 0o700


def test_a_disk_that_takes_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, without the words of the system."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no space, says the system")

    monkeypatch.setattr(os, "link", full)

    with pytest.raises(AuditError, match=r"cannot be made \(OSError\)$"):
        Seal().close(b"x", HERE)


def test_a_key_in_a_file_of_somebody_elses_place() -> None:
    """A state folder that cannot be made private is refused."""
    state_folder().parent.mkdir(parents=True)
    state_folder().write_text("a file")

    with pytest.raises(AuditError, match="folder of the key"):
        Seal().close(b"x", HERE)


@given(st.binary(), st.binary(min_size=1))
def test_what_was_sealed_opens_there_alone(text: bytes, noise: bytes) -> None:
    """There and back it is the same; elsewhere, and anything else, is `Sealed`."""
    seal = Seal()
    sealed = seal.close(text, HERE)

    assert seal.open(sealed, HERE) == text
    assert seal.close(text, HERE) != sealed
    for place in (
        Place("other", "state 1", "ada"),
        Place("run", "state 2", "ada"),
        Place("run", "state 1", None),
    ):
        with pytest.raises(Sealed):
            seal.open(sealed, place)
    for wrong in (noise, sealed + noise, sealed[:-1], noise + sealed, None, text.hex()):
        with pytest.raises(Sealed):
            seal.open(wrong, HERE)
