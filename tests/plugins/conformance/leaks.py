"""How an adapter could leak each planted place: what a mutant adds to what it tells."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam import Session, Step


def _shape(kind: str) -> Callable[[Session, Step], str]:
    def leak(session: Session, step: Step) -> str:
        return json.dumps([each.data.value for each in step.artifacts if each.type == kind])

    return leak


def _tool(session: Session, step: Step) -> Any:
    return session._conversation.state.registry.get(step.tool)


def _plugin(session: Session, step: Step) -> Any:
    """Return what a tool's hook gives where nobody asks the seam."""
    tool = _tool(session, step)
    return tool and tool.plugin.execute({})


def _settings(session: Session, step: Step) -> str:
    """Return what `context.settings` shows in a call."""
    tool = _tool(session, step)
    return str(tool and session._conversation.state.settings_of(tool))


def _raised(session: Session, step: Step) -> str:
    if step.status != "execution_error":
        return ""
    try:
        _plugin(session, step)
    except ValueError as error:
        return str(error)
    return ""


def _dropped(session: Session, step: Step) -> str:
    if step.status != "contract_error":
        return ""
    return json.dumps(_plugin(session, step))


LEAKS: dict[str, Callable[[Session, Step], str]] = {
    "data": lambda session, step: json.dumps(step.data and step.data.value),
    "metadata": lambda session, step: step.metadata.value.get("metadata", ""),
    "artifact_table": _shape("table"),
    "artifact_text": _shape("text"),
    "artifact_tree": _shape("tree"),
    "artifact_key_value": _shape("key_value"),
    "artifact_code": _shape("code"),
    "artifact_label": lambda session, step: " ".join(each.label for each in step.artifacts),
    "failure_metadata": lambda session, step: step.metadata.value.get("remote", ""),
    "exception": _raised,
    "look_alike": _dropped,
    "settings": _settings,
    "environment": lambda session, step: str(dict(os.environ)),
}
"""By the place: given the session and a step of it, the text that should have stayed."""
