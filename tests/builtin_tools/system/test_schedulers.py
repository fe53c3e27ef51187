import importlib.util
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from support.databases import ask, everything
from toolseam import ErrorCode, ToolError, ToolResult
from toolseam_builtin.system import list_scheduled_tasks
from toolseam_builtin.system._scheduler import _read
from toolseam_builtin.system._scheduler_child import describe
from toolseam_builtin.workspace import Workspace

APSCHEDULER = """
from apscheduler.schedulers.background import BackgroundScheduler
scheduler = BackgroundScheduler(timezone="Asia/Tokyo")
def publish(token): ...
scheduler.add_job(publish, "cron", hour=6, minute=15, id="publish", args=["Aster9"])
scheduler.add_job(publish, "interval", minutes=5, id="mail", kwargs={"token": "Aster9"})
"""
CELERY = """
from celery import Celery
from celery.schedules import crontab
app = Celery("museum", broker="redis://u:Aster9@h/0")
app.conf.timezone = "Asia/Tokyo"
app.conf.beat_schedule = {
    "publish": {
        "task": "museum.publish", "schedule": crontab(hour=6, minute=15), "args": ("Aster9",)
    },
    "mail": {"task": "museum.mail", "schedule": 30.0},
}
def make():
    return app
"""
MAPPING = 'PLAN = {"publish": "15 6 * * *", "wrong": "61 6 * * *", "x://u:Aster9@h": "0 0 * * *"}\n'


def call(folder: Path, source: str, target: str, *, trusted: bool = True) -> ToolResult:
    """Write a module that makes a scheduler, and ask for its tasks."""
    (folder / "jobs.py").write_text(source)
    workspace = Workspace(folder=folder, scheduler=target, trusted=trusted)
    return ask(list_scheduled_tasks, workspace)


def test_jobs_of_apscheduler_are_told(tmp_path: Path) -> None:
    """Each job has its trigger and its next run in the scheduler's zone; arguments are not told."""
    result = call(tmp_path, APSCHEDULER, "jobs:scheduler")

    publish, mail = result.artifacts[0].rows
    assert publish[0] == "jobs:scheduler publish"
    assert publish[1] == "cron[hour='6', minute='15']"
    assert datetime.fromisoformat(publish[3]).strftime("%H:%M %z") == "06:15 +0900"
    assert publish[6] == "jobs:publish"
    assert mail[1] == "interval[0:05:00]"
    assert "2 scheduled tasks in 0 crontabs and a scheduler (APScheduler)." in result.content
    assert "Aster9" not in everything(result)


@pytest.mark.parametrize("target", ["jobs:app", "jobs:make()"])
def test_the_beat_of_celery_is_told(tmp_path: Path, target: str) -> None:
    """Each entry has its schedule, in words where it is cron's, and the task that it sends."""
    result = call(tmp_path, CELERY, target)

    publish, mail = result.artifacts[0].rows
    assert publish[1:3] == ["15 6 * * *", "At 06:15 every day"]
    assert datetime.fromisoformat(publish[3]).strftime("%H:%M %z") == "06:15 +0900"
    assert mail[1] == "every 0:00:30"
    assert [row[6] for row in (publish, mail)] == ["museum.publish", "museum.mail"]
    assert "Aster9" not in everything(result)


def test_a_mapping_of_cron_schedules_is_told(tmp_path: Path) -> None:
    """Names with five fields are read as a crontab's lines, and a wrong one is a warning."""
    result = call(tmp_path, MAPPING, "jobs:PLAN")

    assert [row[:3] for row in result.artifacts[0].rows] == [
        ["jobs:PLAN publish", "15 6 * * *", "At 06:15 every day"],
        ["jobs:PLAN x://[masked]@h", "0 0 * * *", "At 00:00 every day"],
    ]
    assert "jobs:PLAN wrong: minute" in result.metadata["warnings"][0]
    assert result.data is not None
    assert result.data["rows"][0][:3] == ["jobs:PLAN", None, "publish"]


def test_what_lists_no_tasks_is_said(tmp_path: Path) -> None:
    """An object of another kind is named, and nothing is guessed."""
    result = call(tmp_path, "class Own: ...\nown = Own()\n", "jobs:own")

    assert result.success
    assert "jobs:own is a Own, which does not list its tasks." in result.content


def test_crontabs_and_the_scheduler_are_told_together(tmp_path: Path) -> None:
    """What is in files comes first, then what the scheduler has."""
    (tmp_path / "crontab").write_text("0 0 * * * /opt/x\n")

    result = call(tmp_path, MAPPING, "jobs:PLAN")

    assert [row[0] for row in result.artifacts[0].rows][:2] == ["crontab:1", "jobs:PLAN publish"]
    assert "in 1 crontab and a scheduler (mapping)." in result.content


def test_a_folder_that_is_not_trusted_is_not_imported(tmp_path: Path) -> None:
    """Without trust no code of the workspace runs; crontabs are told all the same (H02)."""
    source = f"open({str(tmp_path / 'ran')!r}, 'w').close()\nPLAN = {{}}\n"

    failure = call(tmp_path, source, "jobs:PLAN", trusted=False).failure
    (tmp_path / "crontab").write_text("0 0 * * * /opt/x\n")
    beside = call(tmp_path, source, "jobs:PLAN", trusted=False)

    assert failure is not None
    assert failure.code == ErrorCode.UNAVAILABLE
    assert failure.metadata["reason"] == "untrusted_workspace"
    assert len(beside.artifacts[0].rows) == 1
    assert "toolseam trust ." in beside.metadata["warnings"][0]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [
        ("raise ValueError('Aster9')\n", "jobs:PLAN", "ValueError at jobs.py, line 1"),
        ("import no_such_module\n", "jobs:PLAN", "no module 'no_such_module'"),
        ("", "jobs:PLAN", "AttributeError"),
        ("import os\nos._exit(0)\n", "jobs:PLAN", "without an answer"),
        ("PLAN = {'a': {}}\n", "jobs:PLAN", "KeyError"),
    ],
)
def test_a_scheduler_that_fails_is_unavailable(
    tmp_path: Path, source: str, target: str, words: str
) -> None:
    """The failure tells type and place, never the text of an exception."""
    result = call(tmp_path, source, target)

    assert result.failure is not None
    assert result.failure.code == ErrorCode.UNAVAILABLE
    assert result.failure.metadata["reason"] == "scheduler_failed"
    assert words in result.failure.message
    assert "Aster9" not in everything(result)


def test_more_tasks_than_are_taken_are_counted(tmp_path: Path) -> None:
    """A scheduler of thousands of tasks gives the first, and says how many there are."""
    source = "PLAN = {str(number): '0 0 * * *' for number in range(3_000)}\n"

    result = call(tmp_path, source, "jobs:PLAN")

    assert result.data is not None
    assert result.data["total"] == 2_000
    assert "jobs:PLAN has 3,000 tasks" in result.metadata["warnings"][0]


def made(folder: Path, source: str, name: str) -> Any:
    """Import what a module makes into this process, as the child does into its own."""
    file = folder / "jobs_here.py"
    file.write_text(source)
    spec = importlib.util.spec_from_file_location("jobs_here", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def test_each_kind_is_described(tmp_path: Path) -> None:
    """A paused job has no next run, spans have none, and what lists nothing has no tasks."""
    scheduler = made(tmp_path, APSCHEDULER, "scheduler")
    scheduler.add_job(print, "interval", hours=1, id="paused", next_run_time=None)
    beat = made(tmp_path, CELERY, "app")

    jobs = describe(scheduler)
    entries = describe(beat, None, None, "")
    plain = describe({"a": {"schedule": timedelta(minutes=5), "task": "x"}, "b": "0 0 * * *"})

    assert [row[0] for row in jobs["tasks"]] == ["publish", "mail", "paused"]
    assert [row[2] is None for row in jobs["tasks"]] == [False, False, True]
    assert entries["tasks"][0][1] == "15 6 * * *"
    assert entries["tasks"][1] == ["mail", "every 0:00:30", None, "museum.mail"]
    assert plain["tasks"] == [["a", "every 0:05:00", None, "x"], ["b", "0 0 * * *", None, ""]]
    assert describe(dict(beat.conf.beat_schedule))["tasks"][0][1] == "15 6 * * *"
    assert describe(object()) == {"kind": "object", "total": None, "tasks": None}


@pytest.mark.parametrize(
    "told",
    [
        [],
        {},
        {"kind": 1, "total": 0, "tasks": []},
        {"kind": "x", "total": "many", "tasks": []},
        {"kind": "x", "total": float("inf"), "tasks": []},
        {"kind": "x", "total": 1, "tasks": [["a"]]},
        {"kind": "x", "total": 1, "tasks": [["a", "b", "tomorrow", "c"]]},
        {"kind": "x", "total": 1, "tasks": [["a", "b", 5, "c"]]},
        {"fault": {}},
    ],
)
def test_an_answer_of_another_shape_is_refused(told: object) -> None:
    """The scheduler's own code may write the answer, so none of it is taken on trust."""
    with pytest.raises(ToolError) as caught:
        _read(json.dumps(told).encode())

    assert caught.value.metadata["reason"] == "scheduler_failed"


def test_a_moment_without_a_zone_is_local(tmp_path: Path) -> None:
    """What says no zone is meant for the machine's own."""
    rows = [["a", "b", "2026-03-19T06:15:00", "c"]]

    scheduler = _read(json.dumps({"kind": "x", "total": 1, "tasks": rows}).encode())

    moment = scheduler.tasks[0].next
    assert moment is not None
    assert moment.tzinfo is not None
