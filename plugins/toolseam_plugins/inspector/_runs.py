"""Runs and steps, wherever they are kept: in this host's memory, or in the audit store.

Each run is shown from one of the two: from memory where all of it is there, else from the store.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import orjson

from toolseam import Step
from toolseam.runs import RunStep
from toolseam_plugins.audit import NEWEST, AuditError
from toolseam_plugins.inspector import _rows as live
from toolseam_plugins.inspector import _stored as stored
from toolseam_plugins.inspector._gate import Refused
from toolseam_plugins.inspector._json import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolseam_plugins.audit import Audit
    from toolseam_plugins.inspector._seen import Entry, LiveRun, Seen

PAGE = 2_000
CALLS = 50_000
_BUCKETS = 48
_HOUR = 3_600.0

Place = tuple[float, str]


class Runs:
    """What happened, newest first."""

    def __init__(self, seen: Seen, store: stored.Stored) -> None:
        self._seen = seen
        self._store = store

    # -- runs -------------------------------------------------------------------------------------

    def page(self, before: str, limit: int, status: str) -> dict[str, Any]:
        """Return runs that began before a place, and where the next page begins.

        Args:
            before: what the page before said, or "".
            limit: at most so many.
            status: only these; "" is any.
        """
        place = _place(before)
        try:
            with self._store.look() as audit:
                return self._page(audit, place, limit, status)
        except AuditError:
            return self._page(None, place, limit, status)

    def _page(self, audit: Audit | None, place: Place, limit: int, status: str) -> dict[str, Any]:
        here = {run.id: run for run in self._seen.runs() if run.count or run.facts}
        found: list[tuple[Place, LiveRun | dict[str, Any]]] = []
        for run in here.values():
            self._date(run, audit)
            at = run.began, run.id
            if at < place and (not status or run.status == status):
                found.append((at, run))
        if audit is not None:
            pairs = audit.page(place, limit + len(here) + 1, status)
            found += [(at, kept) for at, kept in pairs if at[1] not in here]
        found.sort(key=lambda pair: pair[0], reverse=True)
        shown, more = found[:limit], len(found) > limit
        last = f"{shown[-1][0][0]!r}:{shown[-1][0][1]}" if more else None
        return {"runs": [_row(audit, each) for _, each in shown], "next": last}

    def _date(self, run: LiveRun, audit: Audit | None) -> None:
        """Find out once when a run began that did so elsewhere: that is its place in the list."""
        if audit is None or run.first <= 1 or run.is_dated:
            return
        began = None if (kept := _of(audit, run.id)) is None else stored.run_row(kept)["began"]
        if began is not None:
            self._seen.correct(run, began)

    def _kept(self, run_id: str) -> dict[str, Any] | None:
        try:
            with self._store.look() as audit:
                return _of(audit, run_id)
        except AuditError:
            return None

    # -- one run ----------------------------------------------------------------------------------

    def one(self, run_id: str, after: int, limit: int) -> dict[str, Any]:
        """Return a run and a page of its steps, oldest first; raises `Refused`."""
        run = self._seen.run(run_id)
        kept = None if run is not None and run.is_whole else self._kept(run_id)
        if kept is not None:
            return self._one_stored(kept, after, limit)
        if run is None:
            raise Refused(404, "not_found", "There is no run of this id.")
        kept_here = self._seen.entries(run)
        entries = [entry for entry in kept_here if entry.n > after]
        steps = [live.step_row(run, entry) for entry in entries[:limit]]
        answer = _answer(run, kept_here)
        row = {
            **live.run_row(run),
            "answer_json": None if answer is None else text(answer),
            "decisions": _decisions(kept_here),
        }
        more = entries[limit - 1].n if len(entries) > limit else None
        return {"run": row, "steps": steps, "next": more}

    def _one_stored(self, run: dict[str, Any], after: int, limit: int) -> dict[str, Any]:
        with self._store.look() as audit:
            found = audit.outline(run["run"], after, limit + 1)
            first = found if after == 0 else audit.outline(run["run"], 0, 1)
            decisions = audit.decisions(run["run"])
        began = stored.began_of(first[0]) if first else 0.0
        answer = run["answer"]
        row = {
            **stored.run_row(run),
            "answer_json": None if answer is None else text(answer),
            "decisions": decisions,
        }
        return {
            "run": row,
            "steps": [stored.step_row(run["run"], step, began) for step in found[:limit]],
            "next": found[limit - 1]["seq"] if len(found) > limit else None,
        }

    # -- one step ---------------------------------------------------------------------------------

    def step(self, step_id: str) -> dict[str, Any]:
        """Return a step with all that is kept of it; raises `Refused`."""
        found = self._seen.entry(step_id)
        if found is not None:
            return live.step_detail(*found)
        place = stored.place_of(step_id)
        run = None if place is None else self._kept(place[0])
        if place is not None and run is not None:
            with self._store.look() as audit:
                step = audit.step(*place)
            if step is not None:
                return stored.step_detail(run, step)
        raise Refused(404, "not_found", "There is no step of this id; it may have made room.")

    def artifact(self, step_id: str, n: int) -> dict[str, Any]:
        """Return one artifact of a step, `type`, `label` and `data`; raises `Refused`."""
        artifacts = self.step(step_id)["artifacts"]
        if not 0 <= n < len(artifacts):
            raise Refused(404, "not_found", "The step has no such artifact.")
        found = artifacts[n]
        data = orjson.loads(found["data_json"])
        return {"type": found["type"], "label": found["label"], "data": data}

    # -- how calls ended --------------------------------------------------------------------------

    def codes(self, hours: float) -> dict[str, Any]:
        """Return how the calls of the last hours ended, by tool and over time."""
        end = time.time()
        start = end - hours * _HOUR
        width = (end - start) / _BUCKETS
        source, cut, counted = "store", False, start
        try:
            with self._store.look() as audit:
                newest = audit.calls_since(start, CALLS + 1)
            if cut := len(newest) > CALLS:
                counted = newest[CALLS - 1][0]
            calls = iter(newest[:CALLS])
        except AuditError:
            source, calls = "memory", self._calls_since(start)
        tools: dict[str, dict[str, list[int]]] = {}
        for at, tool, status in calls:
            counts = tools.setdefault(tool, {}).setdefault(status, [0] * _BUCKETS)
            counts[min(_BUCKETS - 1, max(0, int((at - start) / width)))] += 1
        return {
            "from": start,
            "to": end,
            "bucket_s": width,
            "buckets": _BUCKETS,
            "tools": dict(sorted(tools.items())),
            "source": source,
            "cut": cut,
            "counted_from": counted,
        }

    def _calls_since(self, start: float) -> Iterator[tuple[float, str, str]]:
        for run in self._seen.runs():
            for entry in self._seen.entries(run):
                if isinstance(entry.step, Step) and entry.at >= start:
                    yield entry.at, entry.step.tool, entry.step.status


def _place(said: str) -> Place:
    if not said:
        return NEWEST
    moment, _, run_id = said.partition(":")
    try:
        return float(moment), run_id
    except ValueError:
        raise Refused(400, "invalid_arguments", "before: this is no place.") from None


def _of(audit: Audit, run_id: str) -> dict[str, Any] | None:
    found = audit.run(run_id)
    return found if found is not None and found["run"] == run_id else None


def _row(audit: Audit | None, found: LiveRun | dict[str, Any]) -> dict[str, Any]:
    """Return a stored run, one of memory, or of the latter what the store knows better."""
    if isinstance(found, dict):
        return stored.run_row(found)
    row = live.run_row(found)
    kept = None if audit is None or found.is_whole else _of(audit, found.id)
    if kept is None:
        return row
    # Not all of it is here; how it stands now is known here, and by `began` it was sorted.
    return {**stored.run_row(kept), "status": row["status"], "began": row["began"]}


def _answer(run: LiveRun, entries: list[Entry]) -> str | None:
    """Return a run's last words: the text of the last reply, where it ended with one."""
    if run.facts.get("reason") is None:
        return None
    if not run.facts.get("answered"):
        return ""
    said = next((e.step for e in reversed(entries) if e.step.kind == "llm"), None)
    return said.content.value.get("text") if isinstance(said, RunStep) else None


def _decisions(entries: list[Entry]) -> list[dict[str, Any]]:
    """Return who decided what, in the order in which it was said."""
    found: list[dict[str, Any]] = []
    for entry in entries:
        step = entry.step
        if isinstance(step, Step) or step.facts.get("event") != "decided":
            continue
        facts = step.facts
        said = {key: facts.get(key) for key in ("position", "verdict", "decided_by")}
        found.append({"wait": step.round, "at": entry.at, **said})
    return found
