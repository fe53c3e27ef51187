"""S8: the tools that write show no secret of what they change, copy or fail at."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from support.databases import everything
from support.ground import ADMIN, EXAMPLES, WRITERS, Ground, ground, planted

__all__ = ["ground", "planted"]

SECRETIVE: list[tuple[str, dict[str, Any], bool]] = [
    *((name, EXAMPLES[name], True) for name in WRITERS),
    # What is changed or copied holds the secret.
    ("update_record_metadata", {"table": "page", "key": 3, "values": {"title": "New"}}, True),
    ("update_record_metadata", {"table": "page", "key": 1, "values": {"data": "{}"}}, True),
    ("update_record_metadata", {"table": "page", "key": 1, "values": {"api_token": "x"}}, False),
    ("create_translation_draft", {"table": "page", "key": 2, "language": "de"}, True),
    ("create_translation_draft", {"table": "page", "key": 3, "language": "fr"}, True),
    ("move_record", {"table": "page", "key": 3, "parent": None}, True),
    ("set_file_alternative_text", {"file": "harbour.svg", "text": ""}, True),
    # What the engine says of the failure holds the secret.
    ("update_record_metadata", {"table": "page", "key": 2, "values": {"title": "x" * 80}}, False),
    ("create_record_draft", {"table": "page", "values": {"title": "x" * 80}}, False),
    ("update_record_metadata", {"table": "note", "key": 2, "values": {"title": "x"}}, False),
    ("create_record_draft", {"table": "page", "values": {"title": "a", "api_token": "x"}}, False),
    ("move_record", {"table": "page", "key": 3, "parent": 2}, False),
]


@pytest.mark.parametrize(("name", "arguments", "succeeds"), SECRETIVE)
def test_a_write_tells_no_secret(
    ground: Ground, name: str, arguments: dict[str, Any], succeeds: bool
) -> None:
    """Preview, result, trace and log of a write are clean, whether it is made or refused."""
    preview = ground.host.preview(name, arguments, actor=ADMIN)
    assert not ground.leaks(*preview.lines), preview.lines

    session = ground.host.session(actor=ADMIN, zone="local")
    preview = session.preview(name, arguments)
    approval = ground.host.approve(preview, actor=ADMIN)
    _, step = session.call_wire(name, arguments, approval=approval)

    assert step.result is not None
    assert not ground.leaks(*preview.lines, everything(step.result), repr(step), str(step.wire))
    assert step.result.success is succeeds, step.wire
    for reader, asked in (
        ("get_record_history", {"table": "page", "key": 1}),
        ("get_record_history", {"table": "page", "key": 3}),
        ("get_record_content", {"table": "page", "key": 3}),
        ("search_records", {"query": "see"}),
    ):
        assert ground.call(reader, asked).success


def test_the_secret_was_there_to_be_told(ground: Ground) -> None:
    """The history that the writes left holds the secret as it was, for who may read the file."""
    with closing(sqlite3.connect(ground.folder / "app.db")) as connection:
        old = connection.execute("select old from change where page_id = 3").fetchall()

    assert any(ground.secret.text in str(row) for row in old)
