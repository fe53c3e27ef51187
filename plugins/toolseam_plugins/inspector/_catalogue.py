"""The tools of a host: what became of each entry point, its policy, and how makers are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from toolseam import Zone
from toolseam.providers import Dialect, Lowering
from toolseam_plugins.inspector._json import text

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam import Actor, Host, ToolSpec

_RECORD = ("name", "kind", "status", "reason", "detail", "distribution", "version", "location")


class Catalogue:
    """What a host offers, seen by one actor; `hint` says what would change the gate's answer."""

    def __init__(self, host: Host, actor: Actor, hint: Callable[[Any, str], str] | None) -> None:
        self._host = host
        self._actor = actor
        self._hint = hint

    def all(self) -> dict[str, Any]:
        """Return every tool that could be loaded, and every entry point with what became of it."""
        tools = [self._row(tool) for tool in self._host.tools()]  # loads them: the records say it
        return {"tools": tools, "records": [_record(each) for each in self._host.records]}

    def one(self, name: str) -> dict[str, Any] | None:
        """Return a tool with its schema and as each maker is told of it; None for no tool."""
        tool = self._host.tool(name)
        if tool is None:
            return None
        spec = tool.spec
        record = self._origin(tool.name)
        wanted = spec.settings
        output = spec.output_schema
        return {
            **self._row(tool),
            "schema_json": text(spec.schema),
            "output_schema_json": None if output is None else text(output),
            "zones": {zone.value: self._refusal(tool, zone) for zone in Zone},
            "told": [_told(dialect, spec) for dialect in Dialect],
            "settings": [] if wanted is None else [each.name for each in attrs.fields(wanted)],
            "target": None if record is None else record.value,
            "location": None if record is None else record.location,
            "violations": [
                {"path": each.path, "reason": each.reason, "wrapper": each.wrapper}
                for each in self._host.violations
                if each.tool == tool.name
            ],
        }

    def _row(self, tool: Any) -> dict[str, Any]:  # noqa: ANN401 - a tool as `Host.tools` gives it
        spec: ToolSpec = tool.spec
        decision = self._host.decide(tool, actor=self._actor, zone=Zone.LOCAL)
        reason = None if decision.allowed else decision.reason
        record = self._origin(spec.name)
        return {
            "name": spec.name,
            "description": spec.description,
            "group": spec.group,
            "effect": tool.effect.value,
            "data_class": tool.data_class.value,
            "claimed_data_class": spec.data_class.value,
            "requires_admin": tool.requires_admin,
            "requires_approval": tool.requires_approval,
            "sends_to": None if spec.sends_to is None else spec.sends_to.value,
            "enabled_by_default": spec.enabled_by_default,
            "timeout_s": spec.timeout_s,
            "aliases": list(spec.aliases),
            "distribution": tool.distribution,
            "version": tool.version,
            "builtin": record is not None and record.builtin,
            "allowed": decision.allowed,
            "reason": reason,
            "setting": None if reason is None else self._help(tool, reason),
        }

    def _origin(self, name: str) -> Any:  # noqa: ANN401 - a record as `Host.records` gives it
        """Return the entry point that a tool came from, None for one that code handed over."""
        ready = (each for each in self._host.records if each.status == "ready")
        return next((each for each in ready if each.name == name), None)

    def _refusal(self, tool: Any, zone: Zone) -> str | None:  # noqa: ANN401
        decision = self._host.decide(tool, actor=self._actor, zone=zone)
        if decision.allowed or decision.reason is None:
            return None
        return f"{decision.reason}: {self._help(tool, decision.reason)}".rstrip(": ")

    def _help(self, tool: Any, reason: str) -> str:  # noqa: ANN401
        return "" if self._hint is None else self._hint(tool, reason)


def _record(record: Any) -> dict[str, Any]:  # noqa: ANN401 - a record as `Host.records` gives it
    found = {key: getattr(record, key) or None for key in _RECORD}
    return found | {"builtin": record.builtin, "target": record.value}


def _told(dialect: Dialect, spec: ToolSpec) -> dict[str, Any]:
    """Return one tool exactly as a maker is told of it, or why it is left out."""
    lowered = Lowering(dialect)([spec])
    tools = lowered.tools
    return {
        "dialect": dialect.value,
        "name": lowered.exposed(spec.name),
        "text_json": text(tools[0]) if tools else None,
        "left_out": lowered.left_out.get(spec.name, ""),
        "unstrict": lowered.unstrict.get(spec.name, ""),
    }
