"""S8: a file's name is text of somebody's too; what looks like a secret in it is masked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.databases import ask, everything
from support.indexes import indexed
from toolseam.testing import Canary, canary
from toolseam_builtin.code import get_last_exception, search_code
from toolseam_builtin.configuration import resolve_template
from toolseam_builtin.files import browse_folder, search_files
from toolseam_builtin.rag import rag_query
from toolseam_builtin.system import fetch_logs, list_scheduled_tasks
from toolseam_builtin.workspace import Workspace

TEXT = """\
2026-03-16 09:05:13,509 ERROR shop: failed
Traceback (most recent call last):
  File "page?token=CAN.py", line 1, in page
OSError: no
2026-03-16 09:05:15,003 WARNING shop: page?token=CAN.py:4: DeprecationWarning: old
"""
FINDING: list[tuple[Any, dict[str, Any], str]] = [
    (search_code, {"pattern": "OSError"}, ".py"),
    (get_last_exception, {}, ".log"),
    (fetch_logs, {}, ".log"),
    (fetch_logs, {"source": "page?token=[masked]"}, ".log"),
    (list_scheduled_tasks, {}, ".cron"),
    (list_scheduled_tasks, {"file": "nope"}, ".cron"),
    (resolve_template, {"name": "page?token=canary"}, ".html"),
    (browse_folder, {}, ".txt"),
    (search_files, {"query": "page"}, ".txt"),
]


def written(folder: Path, secret: Canary, ending: str) -> Workspace:
    """Write two files of such names, and what names one of them."""
    for name in (secret.text, f"{secret.text}-2"):
        text = "1 2 * * * true\n" if ending == ".cron" else TEXT.replace("CAN", secret.text)
        (folder / f"page?token={name}{ending}").write_text(text)
    (folder / f"page?token={secret.text}.py").write_text(TEXT)
    return Workspace(folder=folder, templates=(".",), trusted=True)


@pytest.mark.parametrize(("tool", "arguments", "ending"), FINDING)
def test_a_secret_in_a_name_is_masked(
    tmp_path: Path, tool: Any, arguments: dict[str, Any], ending: str
) -> None:
    """Whatever finds files by itself names them with their secrets masked, in every channel."""
    secret = canary()
    workspace = written(tmp_path, secret, ending)

    told = everything(ask(tool, workspace, **arguments))

    assert "token=[masked]" in told
    assert not secret.is_in(told)


def test_files_that_look_alike_when_masked_stay_two(tmp_path: Path) -> None:
    """Two logs whose names differ in the secret alone are both read."""
    workspace = written(tmp_path, canary(), ".log")

    result = ask(fetch_logs, workspace)

    assert result.data is not None
    assert result.data["files"] == 2
    assert result.data["total"] == 4


def test_a_text_of_such_a_name_is_not_indexed(tmp_path: Path) -> None:
    """A source is asked for by its name, so one whose name is not shown is passed over."""
    secret = canary()
    texts = {f"page?token={secret.text}.md": "How to moor", "plain.md": "How to moor a ship"}
    workspace = indexed(tmp_path, texts)

    result = ask(rag_query, workspace, question="How to moor?")

    assert "docs/plain.md" in result.content
    assert not secret.is_in(everything(result))
