"""What a scheduler has planned, for the child process that imported it: one row a task.

Needs nothing but the standard library; what it is handed has its own library with it.
"""

import re
from datetime import datetime, timedelta, timezone
from typing import Any

MOST = 2_000
_CRONTAB = re.compile(r"<crontab: (.+) \(.*\)>")


def describe(scheduler: Any, *_: object) -> dict[str, Any]:  # noqa: ANN401 - whatever it is
    """Describe a scheduler: what it is, and its tasks as name, schedule, next run and command.

    Args:
        scheduler: of APScheduler, a Celery application, Celery's `beat_schedule`, or a mapping of
            names to five fields of cron.
    """
    kind, rows = _rows(scheduler)
    return {
        "kind": kind,
        "total": None if rows is None else len(rows),
        "tasks": None if rows is None else rows[:MOST],
    }


def _rows(scheduler: Any) -> tuple[str, list[list[Any]] | None]:  # noqa: ANN401
    now = datetime.now(timezone.utc)  # noqa: UP017 - as in any program
    if callable(getattr(scheduler, "get_jobs", None)):
        return "APScheduler", [_job(job, now) for job in scheduler.get_jobs()]
    planned: Any = getattr(getattr(scheduler, "conf", None), "beat_schedule", None)
    if planned is not None:
        return "Celery", [_entry(name, entry, scheduler, now) for name, entry in planned.items()]
    if callable(getattr(scheduler, "items", None)):
        return "mapping", [_entry(name, entry, None, now) for name, entry in scheduler.items()]
    return type(scheduler).__name__, None


def _job(job: Any, now: datetime) -> list[Any]:  # noqa: ANN401
    """Read a job of APScheduler; one that waits for its scheduler's start has no time yet."""
    paused = object()
    found = getattr(job, "next_run_time", paused)
    coming = job.trigger.get_next_fire_time(None, now) if found is paused else found
    return [str(job.id), str(job.trigger), _moment(coming), str(job.func_ref or job.name)]


def _entry(name: Any, entry: Any, app: Any, now: datetime) -> list[Any]:  # noqa: ANN401
    """Read an entry of Celery's beat, or a text that is a cron schedule itself."""
    if isinstance(entry, str):
        return [str(name), entry, None, ""]
    schedule = entry["schedule"]
    command = str(entry.get("task", ""))
    if isinstance(schedule, int | float):
        schedule = timedelta(seconds=schedule)
    if isinstance(schedule, timedelta):
        return [str(name), f"every {schedule}", None, command]
    if app is not None and hasattr(schedule, "app"):
        schedule.app = app  # its zone is the application's
    fields = _CRONTAB.fullmatch(str(schedule))
    # What remains is counted from a moment a little after `now`.
    coming = now + schedule.remaining_estimate(now) + timedelta(seconds=0.5)
    there = coming.replace(microsecond=0).astimezone(getattr(app, "timezone", None))
    text = fields[1] if fields else str(schedule)
    return [str(name), text, _moment(there), command]


def _moment(moment: Any) -> str | None:  # noqa: ANN401
    return moment.isoformat() if isinstance(moment, datetime) else None
