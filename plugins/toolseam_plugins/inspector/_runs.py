"""Runs and steps, wherever they are kept: in this host's memory, or in the audit store.

Each run is shown from one of the two: from memory where all of it is there, else from the store.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import orjson

from toolseam import Step
from toolseam_plugins.audit import NEWEST, AuditError
from toolseam_plugins.inspector import _rows as live
from toolseam_plugins.inspector import _stored as stored
from toolseam_plugins.inspector._gate import Refused
from toolseam_plugins.inspector._json import text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolseam_plugins.inspector._seen import LiveRun, Seen

PAGE = 2_000
_CALLS = 50_000
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
        here = {run.id: run for run in self._seen.runs() if run.count or run.facts}
        rows: list[tuple[Place, dict[str, Any]]] = []
        for run in here.values():
            row = self._shown(run)
            at = row["began"], run.id
            if at < place and (not status or row["status"] == status):
                rows.append((at, row))
        for at, kept in self._stored(place, limit + len(here) + 1, status):
            if at[1] not in here:
                rows.append((at, stored.run_row(kept)))
        rows.sort(key=lambda pair: pair[0], reverse=True)
        shown, more = rows[:limit], len(rows) > limit
        last = f"{shown[-1][0][0]!r}:{shown[-1][0][1]}" if more else None
        return {"runs": [row for _, row in shown], "next": last}

    def _stored(self, place: Place, limit: int, status: str) -> list[tuple[Place, dict[str, Any]]]:
        try:
            with self._store.look() as audit:
                return audit.page(place, limit, status)
        except AuditError:
            return []

    def _shown(self, run: LiveRun) -> dict[str, Any]:
        """Return a run of memory, or what the store knows better."""
        row = live.run_row(run)
        kept = None if run.is_whole else self._kept(run.id)
        if kept is None:
            return row
        # It began where nobody saw it; how it stands now is known here.
        return {**stored.run_row(kept), "status": row["status"]}

    def _kept(self, run_id: str) -> dict[str, Any] | None:
        try:
            with self._store.look() as audit:
                found = audit.run(run_id)
        except AuditError:
            return None
        return found if found is not None and found["run"] == run_id else None

    # -- one run ----------------------------------------------------------------------------------

    def one(self, run_id: str, after: int, limit: int) -> dict[str, Any]:
        """Return a run and a page of its steps, oldest first; raises `Refused`."""
        run = self._seen.run(run_id)
        kept = None if run is not None and run.is_whole else self._kept(run_id)
        if kept is not None:
            return self._one_stored(kept, after, limit)
        if run is None:
            raise Refused(404, "not_found", "There is no run of this id.")
        entries = [entry for entry in self._seen.entries(run) if entry.n > after]
        steps = [live.step_row(run, entry) for entry in entries[:limit]]
        answer = run.facts.get("answer")
        row = {
            **live.run_row(run),
            "answer_json": None if answer is None else text(answer),
            "decisions": _decisions(run),
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
        source = "store"
        try:
            with self._store.look() as audit:
                calls = iter(audit.calls_since(start, _CALLS))
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


def _decisions(run: LiveRun) -> list[dict[str, Any]]:
    """Return who decided what, in the order in which it was said."""
    found: list[dict[str, Any]] = []
    for entry in run.steps:
        step = entry.step
        if isinstance(step, Step) or step.facts.get("event") != "decided":
            continue
        facts = step.facts
        said = {key: facts.get(key) for key in ("position", "verdict", "decided_by")}
        found.append({"wait": step.round, "at": entry.at, **said})
    return found
