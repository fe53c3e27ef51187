"""The directive `{tool} NAME`: what a builtin takes, and a call of it that this build made.

All questions are asked once, in a fresh demo workspace, before the first page is read.
"""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from toolseam.cli._demo._everything import everything, questions
from toolseam.cli._demo._workspace import make_workspace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sphinx.application import Sphinx

    from toolseam import ToolSpec
    from toolseam.cli._demo._everything import Answered

ANSWERS: dict[str, tuple[ToolSpec, Answered]] = {}
"""What was asked and answered in this build."""


class ToolDirective(SphinxDirective):
    """Shows one tool."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Give description, rights, arguments, and the call with its answer."""
        name = self.arguments[0]
        if name not in ANSWERS:
            raise self.error(f"the demo asks no tool {name!r}")
        spec, answered = ANSWERS[name]
        told = nodes.literal_block(text=_call(answered))
        told["language"] = "text"
        shown: list[nodes.Node] = [
            nodes.paragraph(text=spec.description),
            nodes.paragraph(text=_rights(spec)),
        ]
        arguments = _arguments(spec.schema)
        return [*shown, *([arguments] if arguments is not None else []), told]


def _rights(spec: ToolSpec) -> str:
    parts = [f"Data class {spec.data_class.value}", f"effect {spec.effect.value}"]
    parts += ["for admins"] * spec.requires_admin
    parts += ["needs approval"] * (spec.effect.value != "read_only")
    parts += ["off until the operator enables it"] * (not spec.enabled_by_default)
    return ", ".join(parts) + "."


def _arguments(schema: Mapping[str, Any]) -> nodes.Node | None:
    """List the arguments with type, bounds and default."""
    described = nodes.definition_list()
    for name, found in schema.get("properties", {}).items():
        notes = ["required"] if name in schema.get("required", ()) else []
        if found.get("default") is not None:
            notes.append(f"{found['default']!r} by default")
        notes += [f"{word} {found[key]:,}" for key, word in _BOUNDS.items() if key in found]
        term = nodes.term("", "", nodes.literal(text=name))
        term += nodes.Text(f" ({', '.join(notes)})" if notes else "")
        text = nodes.paragraph(text=found.get("description", ""))
        described += nodes.definition_list_item("", term, nodes.definition("", text))
    return described if described.children else None


_BOUNDS = {"minimum": "from", "maximum": "to", "maxLength": "characters up to"}


def _call(answered: Answered) -> str:
    """Write the call as it would be typed, the preview of a write, and what was told."""
    words = ["toolseam", "run", answered.tool]
    for key, value in answered.arguments.items():
        words += ["--arg", f"{key}={value if isinstance(value, str) else _json(value)}"]
    lines = [f"$ {shlex.join(words)}"]
    if answered.preview:
        lines += ["What it says it would do", *(f"  {line}" for line in answered.preview), ""]
    lines.append(str(answered.step.wire))
    artifacts = [f"{each.type} {each.label!r}" for each in answered.step.artifacts]
    if artifacts:
        lines += ["", f"Beside it, for people: {', '.join(artifacts)}."]
    return "\n".join(lines)


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def ask_everything(_: Sphinx) -> None:
    """Ask every question; a tool that does not answer stops the build."""
    if ANSWERS:
        return
    with tempfile.TemporaryDirectory(prefix="toolseam-docs-") as place:
        folder = make_workspace(str(Path(place) / "museum"))
        with everything(folder) as asked:
            for group, name in questions():
                tool = asked.host.tool(name)
                answered = asked.ask(group, name)
                if tool is None or answered.step.status != "ok":
                    raise ExtensionError(f"{name} did not answer: {answered.step.wire}")
                ANSWERS[name] = tool.spec, answered


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of the directive."""
    app.add_directive("tool", ToolDirective)
    app.connect("builder-inited", ask_everything)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
