"""Each builtin on real sizes: 5 million rows, 100,000 files, 2 GB of logs, 50,000 sources.

The index is of as many texts as it takes, 200,000, and the web application has 2,000 routes.

Every tool answers in a process of its own: how long its first call took, the memory at its peak,
and what it said about the budget that stopped it, if one did.
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from benchmarks.bars import Effort, Measured
from benchmarks.size_questions import QUESTIONS
from benchmarks.worker import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

_FULL_ROUNDS = 15
_ANSWERED = (None, "timeout")
"""A refusal for want of time says which budget stopped it; any other is a wrong question."""
_TABLES = """
CREATE TABLE page (
  id INTEGER PRIMARY KEY, parent_id INTEGER REFERENCES page (id), title TEXT NOT NULL,
  body TEXT NOT NULL, language TEXT NOT NULL, meta TEXT NOT NULL
);
CREATE TABLE page_history (
  id INTEGER PRIMARY KEY, page_id INTEGER NOT NULL REFERENCES page (id), field TEXT NOT NULL,
  old TEXT, new TEXT, changed_by TEXT NOT NULL, changed_at TEXT NOT NULL
);
CREATE INDEX page_history_page ON page_history (page_id);
CREATE TABLE event (
  id INTEGER PRIMARY KEY, page_id INTEGER NOT NULL REFERENCES page (id), kind TEXT NOT NULL,
  note TEXT, at TEXT NOT NULL
);
CREATE TABLE file (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL, title TEXT, alternative_text TEXT
);
CREATE TABLE member (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT, password_hash TEXT);
CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
"""
_NUMBERS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
    " INSERT INTO {table} SELECT {values} FROM n"
)
_ROWS = {
    "page": (
        1_000_000,
        """i, CASE WHEN i > 1 THEN i / 5 + 1 END, 'Page ' || i, 'About harbour ' || (i * 7919),
        CASE i % 3 WHEN 0 THEN 'en' WHEN 1 THEN 'de' ELSE 'fr' END,
        '{"colour": "blue", "size": ' || i || '}'""",
    ),
    "page_history": (
        500_000,
        "i, i % 1000000 + 1, 'title', 'Old ' || i, 'New ' || i, 'ada', '2026-03-15T10:00:00Z'",
    ),
    "event": (3_000_000, "i, i % 1000000 + 1, 'kind' || (i % 70), NULL, '2026-03-15'"),
    "file": (100_000, "i, (i / 1000) || '/file' || i || '.txt', 'File ' || i, NULL"),
    "member": (100_000, "i, 'member' || i, 'm' || i || '@museum.example', 'made-up-' || i"),
    "team": (1_000, "i, 'team' || i"),
}
_OTHERS, _OTHER_ROWS = 294, 1_017
_FILES, _SOURCES, _LOG_BYTES = 100_000, 50_000, 2_000_000_000
_SOURCE = '''"""Module {number}: one of many."""

import logging

LOG = logging.getLogger(__name__)
SECRET_KEY = "made-up-{number}"


def price_of(event: int, discount: float = 0.0) -> int:
    """Return cents."""
    LOG.info("asked for %s", event)
    return int(event * 100 * (1 - discount))
'''
_APP = """\
def view(*given):
    return None


class Layer:
    def __init__(self, app):
        self.app = app

    def __call__(self, *given):
        return self.app(*given)


app = Layer(Layer(view))
routes = [(f"/part{number}/([0-9]+)", view) for number in range(2_000)]
"""
_TRACEBACK = """\
2026-03-16 09:05:13,509 ERROR museum: request failed
Traceback (most recent call last):
  File "src/p0/m0.py", line 12, in price_of
    return int(event * 100 * (1 - discount))
ValueError: invalid literal for int() with base 10: '14,00'
"""
_CHILD = """
import json, resource, sys, time
from importlib import import_module
from toolseam import Actor
from toolseam.testing import harness
from toolseam_builtin.workspace import AccountSettings, IndexSettings, TableSettings, Workspace

folder, module, arguments = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
tables = {
    "page": TableSettings(label="title", parent="parent_id", history="page_history"),
    "file": TableSettings(label="title", files=("path",), alternative_text="alternative_text"),
}
workspace = Workspace(
    folder=folder, database="big.sqlite", source_root="src", logs=("logs/app.log*",),
    storages={"media": "media"}, tables=tables, trusted=True,
    accounts=AccountSettings(users="member", groups="team"),
    index=IndexSettings(columns=("page.body",)), web_app="app:app", web_routes="app:routes",
    config_files=("config.toml",), settings_layers=("config.toml",), templates=("templates",),
)
if module == "index":
    from toolseam_builtin._index import build_index

    build_index(workspace)
    sys.exit()
with harness(import_module(module), settings=workspace) as double:
    start = time.perf_counter()
    result = double.call(arguments)
    taken = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({
    "seconds": taken, "megabytes": peak / 1024, "content": result.content,
    "code": None if result.failure is None else result.failure.code,
}))
"""


@attrs.frozen
class Inputs:
    """The workspace, and a data folder beside it for what is kept outside."""

    folder: Path
    state: Path


def measure(effort: Effort) -> Iterator[Measured]:
    """Ask every tool one question that makes it work, on inputs made for it."""
    share = 1.0 if effort.rounds >= _FULL_ROUNDS else 0.01
    with tempfile.TemporaryDirectory(prefix="toolseam-sizes-") as place:
        inputs = make_inputs(Path(place), share)
        make_index(inputs)
        most, heaviest = 0.0, ""
        for tool, (module, arguments) in QUESTIONS.items():
            said = ask(inputs, module, arguments)
            if share == 1 and said["code"] not in _ANSWERED:
                yield Measured(f"sizes.{tool}", None, said["content"].splitlines()[0])
                continue
            if said["megabytes"] > most:
                most, heaviest = said["megabytes"], tool
            yield Measured(f"sizes.{tool}", said["seconds"], _beside(said))
        yield Measured("sizes.memory", most, heaviest)


def ask(inputs: Inputs, module: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call one tool in a fresh process; its error text is the failure's if it breaks."""
    found: dict[str, Any] = json.loads(_run(inputs, module, arguments))
    return found


def make_index(inputs: Inputs) -> None:
    """Build the full-text index, which is kept in the state folder."""
    _run(inputs, "index", {})


def _run(inputs: Inputs, module: str, arguments: dict[str, Any]) -> str:
    words = [sys.executable, "-c", _CHILD, str(inputs.folder), module, json.dumps(arguments)]
    environ = os.environ | {"XDG_STATE_HOME": str(inputs.state)}
    done = subprocess.run(words, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{module}: {done.stderr.splitlines()[-1]}")
    return done.stdout


def _beside(said: dict[str, Any]) -> str:
    """Say how much memory it took and how the answer begins, and what stopped it if it says so."""
    lines = said["content"].splitlines() or [""]
    stopped = [line for line in lines[1:] if "top" in line and ("limit" in line or "Stop" in line)]
    shown = [f"{said['megabytes']:.0f} MB", lines[0][:110], *(line[:90] for line in stopped[:1])]
    return "; ".join(shown)


def make_inputs(place: Path, share: float) -> Inputs:
    """Make a workspace of the full sizes, or of a share of them."""
    folder = place / "workspace"
    folder.mkdir()
    _database(folder / "big.sqlite", share)
    _storage(folder / "media", int(_FILES * share))
    _sources(folder / "src", int(_SOURCES * share))
    _logs(folder / "logs", int(_LOG_BYTES * share))
    (folder / "config.toml").write_text('[cache]\nseconds = 5\n[mail]\npassword = "made-up"\n')
    (folder / "app.py").write_text(_APP)
    (folder / "templates").mkdir()
    (folder / "templates" / "page.html").write_text("{{ page }}\n")
    return Inputs(folder, place / "state")


def _database(file: Path, share: float) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(_TABLES)
        for table, (count, values) in _ROWS.items():
            wanted = max(1, int(count * share))
            connection.execute(_NUMBERS.format(count=wanted, table=table, values=values))
        for number in range(_OTHERS):
            name = f"other_{number:03}"
            connection.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, note TEXT)")
            values, count = "i, 'note ' || i", max(1, int(_OTHER_ROWS * share))
            connection.execute(_NUMBERS.format(count=count, table=name, values=values))


def _storage(folder: Path, files: int) -> None:
    for number in range(files):
        if number % 1000 == 0:
            (folder / str(number // 1000)).mkdir(parents=True)
        (folder / str(number // 1000) / f"file{number}.txt").write_bytes(b"text\n")


def _sources(folder: Path, files: int) -> None:
    for number in range(files):
        if number % 100 == 0:
            (folder / f"p{number // 100}").mkdir(parents=True)
        text = _SOURCE.format(number=number)
        (folder / f"p{number // 100}" / f"m{number}.py").write_text(text, "utf-8")


def _logs(folder: Path, size: int) -> None:
    """Write the current log, a rotated one and a packed one of about a third each."""
    folder.mkdir()
    line = "2026-03-16 08:00:02,240 INFO museum: GET /pages/visit answered in {} ms\n"
    block = "".join(line.format(number) for number in range(15_000)).encode()
    warning = b"2026-03-16 08:00:03,000 WARNING museum: a.py:3: DeprecationWarning: old names\n"
    blocks = max(1, size // 3 // len(block))
    with gzip.open(folder / "app.log.2.gz", "wb", compresslevel=1) as packed:
        for _ in range(blocks):
            packed.write(block)
    for name in ("app.log.1", "app.log"):
        with (folder / name).open("wb") as log:
            log.writelines(block for _ in range(blocks))
            log.write(warning + _TRACEBACK.encode() + block[: len(block) // 2])
