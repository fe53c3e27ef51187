"""Runs and steps of the audit store as the page gets them: what its level of privacy kept."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from toolseam_plugins.audit import NEWEST, AuditError, look
from toolseam_plugins.inspector._json import text
from toolseam_plugins.inspector._rows import NO_CALL, flags_of_note

if TYPE_CHECKING:
    from collections.abc import Generator

    from toolseam import Host
    from toolseam_plugins.audit import Audit

_HEAD = 20
_STORED = ":s"
_KEEPING = {"redacted", "full"}
_OPEN = {"intended", "interrupted"}


class Stored:
    """The audit store of a host, opened anew for each look."""

    def __init__(self, host: Host) -> None:
        self._host = host

    @contextmanager
    def look(self) -> Generator[Audit]:
        """Open the store; raises `AuditError` where there is none that can be read."""
        with look(self._host.settings) as audit:
            yield audit

    def fault(self) -> str | None:
        """Return why nothing that was stored can be shown, None if it can."""
        try:
            with self.look() as audit:
                audit.page(NEWEST, 1)
        except AuditError as fault:
            return str(fault)
        return None

    def head(self) -> bytes | None:
        """Return what is another text as soon as something newer is stored."""
        try:
            with self.look() as audit:
                return text([run for _, run in audit.page(NEWEST, _HEAD)]).encode()
        except AuditError:
            return None


def run_row(run: dict[str, Any]) -> dict[str, Any]:
    """Return a stored run or session without its steps."""
    began, ended = _moment(run["began"]), _moment(run["ended"])
    kept = ("status", "reason", "owner", "zone", "provider", "level", "rounds", "mark", "fault")
    counts = ("input_tokens", "output_tokens", "truncated", "steps", "lost", "missing")
    return {
        "id": run["run"],
        "kind": run["kind"],
        **{key: run[key] for key in (*kept, *counts)},
        "began": began,
        "ended": ended,
        "duration_s": None if began is None or ended is None else ended - began,
        "failures": None,
        "source": "store",
    }


def _moment(said: str | None) -> float | None:
    return None if said is None else datetime.fromisoformat(said).timestamp()


def step_id(run_id: str, seq: int) -> str:
    """Return the id under which the page asks for a stored step."""
    return f"{run_id}{_STORED}{seq}"


def place_of(found: str) -> tuple[str, int] | None:
    """Return run and number of a stored step's id; None if it is none."""
    run_id, mark, seq = found.rpartition(_STORED)
    return (run_id, int(seq)) if mark and seq.isascii() and seq.isdigit() else None


def step_row(run_id: str, step: dict[str, Any], began: float) -> dict[str, Any]:
    """Return a stored step without its content; `began` is when the first step of its run did."""
    facts: dict[str, Any] = step["facts"] or {}
    at = _moment(step["at"]) or began
    return {
        "id": step_id(run_id, step["seq"]),
        "n": step["seq"],
        **{key: step[key] for key in ("kind", "round", "position", "duration_s", "actor", "tool")},
        **{key: step[key] for key in ("status", "effect")},
        "at": at,
        "began": max(0.0, at - (step["duration_s"] or 0.0) - began),
        "alias": facts.get("alias"),
        "reason": facts.get("reason") or facts.get("refused"),
        "sizes": {
            **dict.fromkeys(("arguments", "artifacts", "data", "metadata")),
            "content": facts.get("original_size"),
        },
        "characters": facts.get("characters"),
        "truncated": bool(facts.get("truncated")),
        "masked": facts.get("masked", 0),
        "repairs": facts.get("repairs", 0),
        "flags": _flags(step, facts),
        "facts_json": text(facts),
    }


def began_of(step: dict[str, Any]) -> float:
    """Return when a stored step began, in seconds of the epoch."""
    return (_moment(step["at"]) or 0.0) - (step["duration_s"] or 0.0)


def _flags(step: dict[str, Any], facts: dict[str, Any]) -> list[str]:
    if step["kind"] != "tool":
        return flags_of_note(step["kind"], facts)
    flags = {
        "withdrawn": facts.get("reason") == "withdrawn",
        "denied": step["status"] == "approval_denied",
        "contract": step["status"] == "contract_error",
        "truncated": bool(facts.get("truncated")),
        "masked": bool(facts.get("masked")),
        "repaired": bool(facts.get("repairs")),
    }
    return [flag for flag, is_set in flags.items() if is_set]


def step_detail(run: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
    """Return a stored step with what the level of its run kept, and the names of what it did not.

    Args:
        run: the run, as it is stored.
        step: the step, as it is stored.
    """
    content: dict[str, Any] = step["content"] or {}
    facts: dict[str, Any] = step["facts"] or {}
    row = step_row(run["run"], step, began_of(step))
    row |= {"run": run["run"], "kept": run["level"], "raw_json": text(step)}
    keeps = run["level"] in _KEEPING
    if step["kind"] != "tool":
        kept = text(content) if content else None
        missing = ["content"] if not keeps and _had_content(facts) else []
        return row | NO_CALL | {"content_json": kept, "not_kept": missing}
    wired = facts.get("wire", None if step["status"] in _OPEN else False)
    artifacts: list[dict[str, Any]] = _list(content.get("artifacts"))
    return row | {
        **NO_CALL,
        "distribution": step["distribution"],
        "version": step["version"],
        "arguments_json": _text(content, "arguments") or _none_given(step, keeps=keeps),
        "content": content.get("result"),
        "content_json": None,
        "wire": content.get("told", content.get("result", "")) if wired and keeps else None,
        "wired": wired,
        "message": content.get("message"),
        "code": step["status"] if _failed(step) else None,
        "data_json": _text(content, "data"),
        "metadata_json": _text(content, "metadata"),
        "artifacts": [_artifact(n, each) for n, each in enumerate(artifacts)],
        "repairs_text": _list(content.get("repairs")),
        "notes": _list(content.get("notes")),
        "original_size": facts.get("original_size"),
        "breach": content.get("breach"),
        "not_kept": [] if keeps else _not_kept(step, facts),
    }


def _none_given(step: dict[str, Any], *, keeps: bool) -> str | None:
    """Return `{}` for a call that was made without arguments: what is empty is not stored."""
    return "{}" if keeps and step["status"] == "ok" else None


def _had_content(facts: dict[str, Any]) -> bool:
    return any(key.endswith("_size") for key in facts)


def _failed(step: dict[str, Any]) -> bool:
    """Tell whether a call failed; of one that was begun and not ended nobody knows."""
    return step["status"] != "ok" and step["status"] not in _OPEN


def _not_kept(step: dict[str, Any], facts: dict[str, Any]) -> list[str]:
    """Return the members of which the facts say that they were there, and that no level kept."""
    had = {
        "arguments_json": True,
        "content": bool(facts.get("characters")),
        "wire": bool(facts.get("wire")),
        "message": _failed(step),
        "data_json": bool(facts.get("data")),
        "metadata_json": True,  # whether there was any, no fact says
        "artifacts": bool(facts.get("artifacts")),
    }
    return [member for member, was_there in had.items() if was_there]


def _text(content: dict[str, Any], key: str) -> str | None:
    return text(content[key]) if key in content else None


def _list(value: list[Any] | None) -> list[Any]:
    # What the redactor makes of a list is one.
    return value or []


def _artifact(n: int, stored: object) -> dict[str, Any]:
    found = cast("dict[str, Any]", stored) if isinstance(stored, dict) else {"data": stored}
    return {
        "n": n,
        "type": str(found.get("type", "")),
        "label": str(found.get("label", "")),
        "data_json": text(found.get("data")),
    }
