"""What a span says of a call: the strings of the GenAI conventions, and ours beside them.

They are written out here since the conventions move: Python's package of them calls each one of
these deprecated. Words that a model or a tool chose are never among the values.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolseam import Step, ToolSpec

OPERATION = "gen_ai.operation.name"
TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
CONVERSATION = "gen_ai.conversation.id"

_SLUG = re.compile(r"[a-z][a-z_]{0,31}")


def name_of(step: Step) -> str:
    """Return the name of a span; without the tool's where it is only what somebody asked for."""
    return f"execute_tool {step.tool}" if step.distribution else "execute_tool"


def type_of(tool: ToolSpec) -> str:
    """Return how the conventions call a tool that runs here, or one that asks another program."""
    return "function" if tool.remote_name is None else "extension"


def facts_of(step: Step, *, ran: bool) -> dict[str, str | int | bool]:
    """Return the attributes of a finished call.

    Args:
        step: what came of it.
        ran: whether its tool was begun; the reason of one that was may be the tool's own word.
    """
    facts: dict[str, str | int | bool] = {
        OPERATION: "execute_tool",
        "gen_ai.tool.call.id": step.id,
        CONVERSATION: step.run_id,
        "toolseam.effect": step.effect,
        "toolseam.content.bytes": len(step.result.content.encode()),
        "toolseam.content.truncated": step.truncated,
        "toolseam.artifacts": len(step.artifacts),
        "toolseam.masked": step.masked,
    }
    if step.distribution:
        facts[TOOL_NAME] = step.tool
        facts["toolseam.distribution"] = step.distribution
        facts["toolseam.distribution.version"] = step.version
    if step.original_size is not None:
        facts["toolseam.content.original_bytes"] = step.original_size
    if step.status != "ok":
        facts["error.type"] = step.status
    if not ran:
        reason = step.metadata.value.get("reason")
        if isinstance(reason, str) and _SLUG.fullmatch(reason):
            facts["toolseam.reason"] = reason
    return facts
