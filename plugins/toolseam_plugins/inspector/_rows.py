"""Runs and steps of this host as the page gets them: light rows, and one step whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolseam import Step
from toolseam_plugins.inspector._json import held, text

if TYPE_CHECKING:
    from toolseam import ToolArtifact
    from toolseam.runs import RunStep
    from toolseam_plugins.inspector._seen import Entry, LiveRun

_RUN_FACTS = ("reason", "zone", "provider", "rounds", "input_tokens", "output_tokens", "mark")


def run_row(run: LiveRun) -> dict[str, Any]:
    """Return a run or session without its steps."""
    facts = run.facts
    return {
        "id": run.id,
        "kind": "run" if facts else "session",
        "status": run.status,
        **{key: facts.get(key) for key in _RUN_FACTS},
        "owner": facts.get("actor") if facts else run.actor,
        "fault": facts.get("fault"),
        "truncated": facts.get("truncated", False),
        "level": None,
        "began": run.began,
        "ended": run.ended,
        "duration_s": None if run.ended is None else run.ended - run.began,
        "steps": run.count,
        "failures": run.failures,
        "lost": run.count - len(run.steps),
        "missing": 0,
        "source": "memory",
    }


def step_row(run: LiveRun, entry: Entry) -> dict[str, Any]:
    """Return a step without its content."""
    found = entry.step
    row: dict[str, Any] = {
        "id": found.id,
        "n": entry.n,
        "kind": found.kind,
        "round": found.round,
        "at": entry.at,
        "began": max(0.0, entry.began - run.began),
        "duration_s": found.duration_s,
        "sizes": {**dict.fromkeys(_CHANNELS), **entry.sizes},
    }
    return row | (_of_call(entry, found) if isinstance(found, Step) else _of_note(found))


_CHANNELS = ("arguments", "content", "artifacts", "data", "metadata")


def _of_call(entry: Entry, step: Step) -> dict[str, Any]:
    reason = _slug(step)
    flags = {
        "withdrawn": reason == "withdrawn",
        "denied": step.status == "approval_denied",
        "contract": step.status == "contract_error",
        "late": entry.late,
        "truncated": step.truncated,
        "masked": step.masked > 0,
        "repaired": bool(step.repairs),
        "left_out": any(" left out: " in note for note in step.notes),
    }
    return {
        "tool": step.tool,
        "alias": step.alias,
        "actor": step.actor,
        "status": step.status,
        "effect": step.effect,
        "reason": reason,
        "position": step.position,
        "characters": len(step.result.content),
        "truncated": step.truncated,
        "masked": step.masked,
        "repairs": len(step.repairs),
        "flags": [flag for flag, is_set in flags.items() if is_set],
        "facts_json": None,
    }


def _slug(step: Step) -> str | None:
    if step.status == "ok":
        return None
    said = step.metadata.value.get("reason")
    return said if isinstance(said, str) else None


def _of_note(step: RunStep) -> dict[str, Any]:
    facts = dict(step.facts)
    return {
        "tool": facts.get("tool"),
        "alias": None,
        "actor": facts.get("decided_by"),
        "status": facts.get("event") or facts.get("finish"),
        "effect": None,
        "reason": facts.get("refused"),
        "position": facts.get("position", 0),
        "characters": None,
        "truncated": False,
        "masked": 0,
        "repairs": 0,
        "flags": flags_of_note(step.kind, facts),
        "facts_json": text(facts),
    }


def flags_of_note(kind: str, facts: dict[str, Any]) -> list[str]:
    """Return the flags of a step that is no call: what was refused, and what was dropped."""
    denied = facts.get("verdict") == "deny"
    return [*(["denied"] if denied else []), *(["dropped"] if kind == "dropped" else [])]


def step_detail(run: LiveRun, entry: Entry) -> dict[str, Any]:
    """Return a step with all that it holds."""
    row: dict[str, Any] = step_row(run, entry)
    row |= {"run": run.id, "kept": None, "not_kept": []}
    step = entry.step
    if not isinstance(step, Step):
        content = held(step.content)
        return row | NO_CALL | {"content_json": content, "raw_json": text(_raw_note(step))}
    failure = step.result.failure
    return row | {
        "distribution": step.distribution,
        "version": step.version,
        "arguments_json": held(step.arguments),
        "content": step.result.content,
        "content_json": None,
        "wire": None if step.wire is None else str(step.wire),
        "wired": step.wire is not None,
        "message": None if failure is None else failure.message,
        "code": None if failure is None else failure.code.value,
        "retriable": None if failure is None else failure.retriable,
        "data_json": held(step.data),
        "metadata_json": held(step.metadata),
        "artifacts": [_artifact(n, each) for n, each in enumerate(step.artifacts)],
        "repairs_text": list(step.repairs),
        "notes": list(step.notes),
        "original_size": step.original_size,
        "breach": step.reason,
        "raw_json": text(_raw(step)),
    }


NO_CALL: dict[str, Any] = {
    **dict.fromkeys(("distribution", "version", "arguments_json", "content", "wire", "message")),
    **dict.fromkeys(("code", "retriable", "data_json", "metadata_json", "breach")),
    "original_size": None,
    "wired": None,
    "artifacts": [],
    "repairs_text": [],
    "notes": [],
}
"""The members of a call's detail that a step of another kind has not."""


def _artifact(n: int, artifact: ToolArtifact) -> dict[str, Any]:
    return {
        "n": n,
        "type": str(artifact.type),
        "label": artifact.label,
        "data_json": held(artifact.data),
    }


def _raw(step: Step) -> dict[str, Any]:
    """Return all members of a step, each under its own name."""
    failure = step.result.failure
    return {
        "id": step.id,
        "kind": step.kind,
        "run_id": step.run_id,
        "round": step.round,
        "position": step.position,
        "actor": step.actor,
        "tool": step.tool,
        "alias": step.alias,
        "distribution": step.distribution,
        "version": step.version,
        "arguments": None if step.arguments is None else step.arguments.value,
        "repairs": list(step.repairs),
        "status": step.status,
        "effect": step.effect,
        "content": step.result.content,
        "failure": None
        if failure is None
        else {
            "code": failure.code.value,
            "message": failure.message,
            "retriable": failure.retriable,
        },
        "data": None if step.data is None else step.data.value,
        "metadata": step.metadata.value,
        "artifacts": [
            {"type": str(each.type), "label": each.label, "data": each.data.value}
            for each in step.artifacts
        ],
        "wire": None if step.wire is None else str(step.wire),
        "truncated": step.truncated,
        "original_size": step.original_size,
        "masked": step.masked,
        "duration_s": step.duration_s,
        "notes": list(step.notes),
        "reason": step.reason,
    }


def _raw_note(step: RunStep) -> dict[str, Any]:
    return {
        "id": step.id,
        "kind": step.kind,
        "run_id": step.run_id,
        "round": step.round,
        "duration_s": step.duration_s,
        "facts": dict(step.facts),
        "content": step.content.value,
    }
