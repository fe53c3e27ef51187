"""S10, store and log: private files, no planted schema, no byte of content, one line a record."""

import json
import logging
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.audit import Kept, echo, file, host
from support.tools import ADA, BOB, plugin
from toolseam import Decision, ToolError, ToolResult
from toolseam.guards import state_folder
from toolseam.testing import ScriptedProvider
from toolseam_plugins.audit import AuditError

KEPT = Kept(None)
CAN = "canary-7b1e9d"
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def tools() -> list[Any]:
    """Return tools that have the canary in what they say, would do and complain of."""

    def fail(arguments: Any) -> ToolResult:
        raise ToolError(f"{CAN} failed")

    def write(arguments: Any) -> ToolResult:
        return ToolResult.text(CAN, data={CAN: CAN}, metadata={"reason": CAN})

    more = {"effect": "unknown", "parameters": TEXT}
    return [plugin(fail, name="fail"), plugin(write, name="write", preview=write, **more)]


def test_store_and_key_are_private_with_an_open_umask() -> None:
    """With umask 000 every file is 0600, every folder 0700, and all of it outside a workspace."""
    before = os.umask(0)
    try:
        with host(KEPT, *tools()) as made:
            suspended(made)
            found = list(state_folder().rglob("*"))
            modes = {stat.S_IMODE(each.stat().st_mode) for each in found if each.is_file()}
            folders = {stat.S_IMODE(each.stat().st_mode) for each in found if each.is_dir()}
    finally:
        os.umask(before)

    assert (modes, folders) == ({0o600}, {0o700})
    assert (state_folder() / "key") in found


@pytest.mark.parametrize(
    ("script", "named"),
    [
        (
            "CREATE TRIGGER hush BEFORE INSERT ON run_step BEGIN SELECT RAISE(IGNORE); END",
            "hush",
        ),
        (
            "ALTER TABLE run_step RENAME TO kept; CREATE VIEW run_step AS SELECT * FROM kept",
            "kept",
        ),
    ],
)
def test_a_planted_store_stops_the_start(script: str, named: str) -> None:
    """A trigger that drops rows, or a view in a table's place, is named before anything runs."""
    host(KEPT).close()
    with closing(sqlite3.connect(file())) as connection:
        connection.executescript(script)

    with pytest.raises(AuditError, match=named):
        host(KEPT, echo())


def suspended(made: Any) -> str:
    """Have a run wait whose every content holds the canary; return its id."""
    turns = [("fail", {}), ("write", {"text": CAN}), ("write", {"text": "b"})]
    provider = ScriptedProvider([turns[:1], turns[1:]])
    run = made.session(actor=ADA).run(provider, f"What of {CAN}?")
    assert [each.needs_approval for each in run.pending] == [True, True]
    return str(run.id)


@pytest.mark.parametrize("level", ["none", "metadata"])
def test_no_content_is_in_any_byte(level: str) -> None:
    """Messages, arguments, failures, previews, denials: not while a run waits, nor after it."""
    with host(KEPT, *tools(), level=level) as made:
        run_id = suspended(made)
        assert CAN.encode() not in KEPT.bytes()
        session = made.session()
        first, second = session.waiting(run_id)
        session.decide(run_id, [Decision.approve(first, actor=ADA)])
        session.decide(run_id, [Decision.deny(second, actor=BOB, reason=CAN)])
        assert CAN.encode() not in KEPT.bytes()
        ended = session.resume(run_id, [], ScriptedProvider([CAN]))
        assert (ended.answer, CAN.encode() in KEPT.bytes()) == (CAN, False)

    assert CAN.encode() not in KEPT.bytes()


def test_an_exception_is_one_line_of_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A forged second record, an escape sequence and a secret shape are not in it."""

    def fail(arguments: Any) -> ToolResult:
        raise ValueError("x\nERROR root approved \x1b[2J sk-0123456789abcdef0123")

    log = tmp_path / "log"
    handler = logging.FileHandler(log)
    logging.getLogger("toolseam").addHandler(handler)
    try:
        with host(KEPT, plugin(fail, name="fail")) as made:
            made.call("fail", actor=ADA)
    finally:
        logging.getLogger("toolseam").removeHandler(handler)
        handler.close()

    text = log.read_text()
    assert len(text.splitlines()) == 1
    assert "\x1b" not in text
    assert "sk-0123456789abcdef0123" not in text
    facts = KEPT.rows("SELECT facts, content FROM run_step")
    assert "approved" not in json.dumps(facts)
