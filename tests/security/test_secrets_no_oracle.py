"""S8: no argument of any builtin tells how a secret goes on (H46).

Every text that a tool is asked with is listed here with its calls. What holds a true beginning of
the secret, or all of it, is answered like what holds a false one: in count, text, table and data.
"""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from builtin_tools.conftest import plenty_of_time
from support.databases import everything, sqlite_workspace
from support.doors import COLUMNS, READABLE, TABLES
from support.ground import ADMIN, DIGITS, SITE, SLOW, WRITERS, Ground, builtins, ground, planted
from toolseam import ToolError
from toolseam.testing import canary, harness
from toolseam_builtin.content import count_records, read_records

__all__ = ["ground", "planted", "plenty_of_time"]

GUESS = "{guess}"
OF_A_PAGE = {"table": "page", "key": 1}
ASKS: dict[str, list[dict[str, Any]]] = {
    "get_record_content.table": [{"table": GUESS, "key": 1}],
    "get_record_content.key": [{"table": "invite", "key": GUESS}, {"table": "copy", "key": GUESS}],
    "get_record_history.table": [{"table": GUESS, "key": 1}],
    "get_record_history.key": [{"table": "invite", "key": GUESS}],
    "get_record_history.field": [{**OF_A_PAGE, "field": GUESS}],
    "read_records.table": [{"table": GUESS}],
    "read_records.where": [
        {"table": table, "where": {column: GUESS}}
        for table, column in (("page", "api_token"), ("note", "title"), ("invite", "token"))
    ],
    "read_records.fields": [{"table": "page", "fields": [GUESS]}],
    "count_records.table": [{"table": GUESS}],
    "count_records.where": [
        {"table": table, "where": {column: GUESS}}
        for table, column in (("change", "new"), ("note", "title"), ("copy", "label"))
    ],
    "count_records.group_by": [{"table": "page", "group_by": GUESS}],
    "search_records.query": [{"query": GUESS}, {"query": GUESS, "table": "page"}],
    "search_records.table": [{"query": "see", "table": GUESS}],
    "update_record_metadata.table": [{"table": GUESS, "key": 1, "values": {"title": "a"}}],
    "update_record_metadata.key": [{"table": "invite", "key": GUESS, "values": {"name": "a"}}],
    "update_record_metadata.values": [
        {**OF_A_PAGE, "values": {column: GUESS}} for column in ("title", "data", "api_token")
    ],
    "set_file_alternative_text.file": [{"file": GUESS, "text": "a"}],
    "set_file_alternative_text.text": [{"file": "harbour.svg", "text": GUESS}],
    "move_record.table": [{"table": GUESS, "key": 1, "parent": None}],
    "move_record.key": [{"table": "invite", "key": GUESS, "parent": None}],
    "move_record.parent": [{"table": "page", "key": 2, "parent": GUESS}],
    "move_record.after": [{"table": "page", "key": 2, "parent": 1, "after": GUESS}],
    "create_record_draft.table": [{"table": GUESS, "values": {"title": "a"}}],
    "create_record_draft.values": [
        {"table": "page", "values": {"title": GUESS}},
        {"table": "invite", "values": {"token": GUESS}},
    ],
    "create_record_draft.after": [{"table": "page", "values": {"title": "a"}, "after": GUESS}],
    "create_translation_draft.table": [{"table": GUESS, "key": 1, "language": "de"}],
    "create_translation_draft.key": [{"table": "invite", "key": GUESS, "language": "de"}],
    "create_translation_draft.language": [{**OF_A_PAGE, "language": GUESS}],
    "list_tables.filter": [{"filter": GUESS}],
    "list_tables.schema": [{"schema": GUESS}],
    "get_table_schema.table": [{"table": GUESS}],
    "get_json_column_schema.table": [{"table": GUESS, "column": "data"}],
    "get_json_column_schema.column": [{"table": "page", "column": GUESS}],
    "get_json_column_schema.path": [
        {"table": "page", "column": "data", "path": path} for path in ([GUESS], ["token", GUESS])
    ],
    "validate_schema.table": [{"table": GUESS}],
    "get_record_tree.table": [{"table": GUESS}],
    "get_record_tree.root": [{"table": table, "root": GUESS} for table in ("invite", "page")],
    "resolve_url.url": [{"url": f"/hook?token={GUESS}"}],
    "read_file_meta.file": [{"file": GUESS}],
    "get_config.file": [{"file": GUESS}],
    "get_config.path": [
        {"file": "config.yaml", "path": GUESS},
        {"file": "config.yaml", "path": f"db.password.{GUESS}"},
        {"file": "docker.json", "path": f"auths.registry.example.auth.{GUESS}"},
        {"file": ".env", "path": GUESS},
    ],
    "get_settings.path": [{"path": GUESS}, {"path": f"SECRET_KEY.{GUESS}"}],
    "check_config.file": [{"file": GUESS}],
    "get_workspace_config.name": [{"name": GUESS}, {"name": f"storages.server.{GUESS}"}],
    "resolve_template.name": [{"name": GUESS}],
    "resolve_template.kind": [{"name": "base", "kind": GUESS}],
    "get_last_exception.search": [{"search": GUESS}],
    "read_source.path": [{"path": GUESS}],
    "search_code.pattern": [{"pattern": GUESS}, {"pattern": GUESS, "regex": True}],
    "search_code.path": [{"pattern": "token", "path": GUESS}],
    "browse_folder.folder": [{"folder": GUESS}],
    "browse_folder.storage": [{"storage": GUESS}],
    "search_files.query": [{"query": GUESS}, {"query": GUESS, "storage": "media"}],
    "search_files.storage": [{"query": "page", "storage": GUESS}],
    "find_missing_files.storage": [{"storage": GUESS}],
    "get_file_references.file": [{"file": GUESS}],
    "fetch_logs.source": [{"source": GUESS}],
    "fetch_logs.since": [{"since": GUESS}],
    "fetch_logs.search": [{"search": GUESS}],
    "get_env.name": [{"name": GUESS}],
    "list_packages.filter": [{"filter": GUESS}],
    "list_scheduled_tasks.file": [{"file": GUESS}],
    "probe_url.url": [{"url": f"{SITE}{GUESS}"}],
    "list_users.filter": [{"filter": GUESS}],
    "list_groups.filter": [{"filter": GUESS}],
    "rag_query.question": [{"question": GUESS}],
    "rag_fetch_source.source_id": [{"source_id": GUESS}],
}
LEADS = (
    *("", "x", "?token=", "page?token=", "https://app:", "see https://app:", "sessionid="),
    *("password: ", 'password": "', 'SECRET_KEY = "', "--password ", "Bearer "),
)
COMPARED = (
    *(".key", ".where", ".values", ".parent", ".after", ".root", ".field", ".fields", ".group_by"),
    *(".since", ".language"),
)
"""These are held against whole values: with what stands before it, a beginning is like none."""
TIMES = re.compile(r"\d[\d,.]* ?m?s\b|('seconds': )[\d.]+")


def texts_of(schema: dict[str, Any]) -> set[str]:
    """Name the arguments that take any text, in themselves or in their items or fields."""
    found: set[str] = set()
    for name, rules in schema["properties"].items():
        parts = [rules, rules.get("items", {}), rules.get("additionalProperties", {})]
        if any("string" in part.get("type", ()) and "enum" not in part for part in parts if part):
            found.add(name)
    return found


def test_every_text_that_a_tool_takes_is_listed() -> None:
    """An argument that is new has to be held against the secret here, too."""
    raw = {"get_env_raw", "get_python_info_raw", "list_users_raw"}
    wanted = {
        f"{name}.{argument}"
        for name, spec in builtins().items()
        if name not in raw
        for argument in texts_of(dict(spec.schema))
    }

    assert set(ASKS) == wanted


def answer(ground: Ground, name: str, arguments: dict[str, Any], guess: str) -> str:
    """Ask with a guess, and take the guess and what took time out of what is said."""
    filled = ground.filled(json.loads(json.dumps(arguments).replace(GUESS, guess)))
    if name in WRITERS:
        try:
            said = "\n".join(ground.host.preview(name, filled, actor=ADMIN).lines)
        except ToolError as failure:
            said = f"{failure.code}: {failure} {failure.metadata}"
    else:
        said = everything(ground.host.call(name, filled, actor=ADMIN))
    # A question is taken apart into its words.
    words = said.replace(guess, "?").replace(guess.rpartition("-")[2], "?")
    return TIMES.sub("", words)


@pytest.mark.parametrize("ask", ASKS)
def test_a_true_guess_is_answered_like_a_false_one(ground: Ground, ask: str) -> None:
    """Neither a beginning of the secret nor all of it makes a difference to any answer."""
    name = ask.partition(".")[0]
    leads = LEADS[:1] if name in SLOW or ask.endswith((".table", ".storage")) else LEADS

    secret = ground.secret.text
    beginning = next(n for n in range(12, len(secret)) if secret[n - 1] in DIGITS)

    for arguments, lead, length in product(ASKS[ask], leads, (beginning, len(secret))):
        if lead and length == beginning and ask.endswith(COMPARED):
            continue
        true = secret[:length]
        false = true[:-1] + next(digit for digit in DIGITS if digit != true[-1])
        escaped = json.dumps(lead)[1:-1]
        with_lead = json.loads(json.dumps(arguments).replace(GUESS, escaped + GUESS))

        answers = [answer(ground, name, with_lead, guess) for guess in (true, false)]

        assert answers[0] == answers[1], (with_lead, length)


FORMS = (
    "{}",
    '{{"host": "db", "api_key": "{}"}}',
    '[{{"auth": "{{\\"client_secret\\": \\"{}\\"}}"}}]',
    "see https://app:{}@host/x",
)


@pytest.mark.parametrize("tool", [read_records, count_records])
@pytest.mark.parametrize("table", READABLE)
def test_no_equality_tells_that_a_guess_is_right(tmp_path: Path, table: str, tool: object) -> None:
    """Filtering any column by the very value is answered like filtering by another."""
    secret, other = canary(), canary()
    workspace = sqlite_workspace(tmp_path, TABLES.replace("CAN", secret.text))

    with closing(sqlite3.connect(workspace.place / "app.db")) as connection:
        there = {row[1] for row in connection.execute(f"pragma table_xinfo({table})")}
    absent = [column for column in COLUMNS if column not in there]

    with harness(tool, settings=workspace) as double:
        for column, form in [*product(sorted(there), FORMS), *product(absent, FORMS[:1])]:
            answers = []
            for guess in (secret.text, other.text):
                result = double.call({"table": table, "where": {column: form.format(guess)}})
                answers.append(everything(result).replace(guess, "?"))
            assert answers[0] == answers[1], (column, form)
