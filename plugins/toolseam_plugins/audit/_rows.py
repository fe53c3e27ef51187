"""What happened, as the rows that are stored: facts at every level, content as the level lets it.

Facts are counts, names, codes and sizes. Nothing that a model, a tool or a person has written is a
fact, but for names that the core has cut to 64 characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from toolseam.runs import Privacy
from toolseam_plugins.audit._privacy import kept

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolseam import Step, ToolResult
    from toolseam.runs import Intent, Run, RunStep

INTENDED = "intended"
# The slugs of our own; a tool may write what it likes into its metadata.
_REASONS = frozenset(
    {
        *("disabled", "no_actor", "requires_admin", "not_in_session", "data_class", "sends_to"),
        *("withdrawn", "stopped", "wrapper", "depth", "busy", "settings", "no_secret", "audit"),
        *("other_run", "changed", "used"),
        *("budget", "cut_off", "repeated", "rate", "not_kept", "fence", "fenced"),
        *("worker_died", "worker_protocol", "worker_start", "cpu_limit", "process", "sandbox"),
        *("not_granted", "no_import", "import_failed", "other_version", "executor", "runs_apart"),
        "closed",
    }
)
_SHORT = 64


class StepRow(NamedTuple):
    """One row of `run_step`, but for its place and time; the members are its columns, in order."""

    run_id: str
    number: int
    kind: str
    round: int
    position: int
    duration_s: float
    actor: str | None
    tool: str | None
    distribution: str | None
    version: str | None
    status: str | None
    effect: str | None
    facts: str
    content: str | None


def of_step(step: Step, level: Privacy) -> StepRow:
    """Return the row of a finished call."""
    result = step.result
    facts = {
        "alias": step.alias,
        "reason": _reason(result),
        "truncated": step.truncated,
        "original_size": step.original_size,
        "masked": step.masked,
        "repairs": len(step.repairs),
        "characters": len(result.content),
        "wire": step.wire is not None,
        "data": step.data is not None,
        "artifacts": [str(artifact.type) for artifact in step.artifacts],
    }
    content = kept(_content(step), level) if level.rank > Privacy.METADATA.rank else None
    return StepRow(
        *_place(step),
        step.duration_s,
        name(step.actor),
        step.tool,
        step.distribution,
        step.version,
        step.status,
        step.effect,
        _facts(facts),
        _text(content),
    )


def of_intent(intent: Intent, level: Privacy) -> StepRow:
    """Return the row of a write that is about to run; what it does to the world is unknown."""
    content = {"arguments": intent.arguments.value, "repairs": list(intent.repairs)}
    return StepRow(
        *_place(intent),
        0.0,
        name(intent.actor),
        intent.tool,
        intent.distribution,
        intent.version,
        INTENDED,
        "unknown",
        _facts({"alias": intent.alias, "repairs": len(intent.repairs)}),
        _text(kept(_said(content), level)),
    )


def of_note(step: RunStep, level: Privacy) -> StepRow:
    """Return the row of a step that is no tool call."""
    content: dict[str, Any] = step.content.value
    sizes = {f"{key}_size": len(each) for key, each in content.items() if hasattr(each, "__len__")}
    facts: dict[str, Any] = {**step.facts, **sizes}
    tool = facts.pop("tool", None)
    return StepRow(
        step.run_id,
        number_of(step.id),
        step.kind,
        step.round,
        facts.pop("position", 0),
        step.duration_s,
        name(facts.pop("decided_by", None)),
        tool,
        None,
        None,
        facts.pop("event", None) or facts.get("finish"),
        None,
        _facts(facts),
        _text(kept(_said(content), level)),
    )


def of_answer(run: Run, level: Privacy) -> str | None:
    """Return what is stored of a run's last words."""
    # A provider's words have passed no cleaner: half a surrogate pair would not encode.
    said = run.answer.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _text(kept(_said({"answer": said}), level))


def name(said: object) -> str | None:
    """Return a name that somebody chose as one line of at most 64 characters."""
    if said is None:
        return None
    text = str(said)[:_SHORT]
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else "\ufffd" for each in text)


def _place(found: Step | Intent) -> tuple[str, int, str, int, int]:
    return found.run_id, number_of(found.id), "tool", found.round, found.position


def number_of(step_id: str) -> int:
    """Return the number that a step's id ends in."""
    return int(step_id.rpartition(":")[2])


def _reason(result: ToolResult) -> str | None:
    if result.failure is None:
        return None
    said = result.metadata.value.get("reason")
    return said if isinstance(said, str) and said in _REASONS else None


def _content(step: Step) -> dict[str, Any]:
    """Return the content keys of a call, the empty ones left out."""
    result, failure = step.result, step.result.failure
    artifacts = [
        {"type": str(each.type), "label": each.label, "data": each.data.value}
        for each in step.artifacts
    ]
    return _said(
        {
            "arguments": None if step.arguments is None else step.arguments.value,
            "repairs": list(step.repairs),
            "result": result.content,
            # Masked, or with a note before it, the provider was told something else.
            "told": None if step.wire in (None, result.content) else str(step.wire),
            "message": None if failure is None else failure.message,
            "data": None if step.data is None else step.data.value,
            "metadata": step.metadata.value,
            "artifacts": artifacts,
            "notes": list(step.notes),
            "breach": step.reason,
        }
    )


def _said(content: Mapping[str, Any]) -> dict[str, Any]:
    return {key: each for key, each in content.items() if each not in (None, "", [], {})}


def _facts(facts: Mapping[str, Any]) -> str:
    return _dumped({key: each for key, each in facts.items() if each not in (None, 0, [], "")})


def _text(content: dict[str, Any] | None) -> str | None:
    return None if not content else _dumped(content)


def _dumped(value: Mapping[str, Any]) -> str:
    """Return JSON text, in which no NUL and no control character is left: any database takes it."""
    return orjson.dumps(value).decode()
