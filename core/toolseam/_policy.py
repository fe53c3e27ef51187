"""One gate: may this tool be offered to this session, and called in it (policy-and-runs)?

A pure AND, the cheapest and least revealing reason first. It is asked when tools are offered and
again in the seam; settings may raise a class, an effect or `requires_admin`, never lower them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

import attrs

from toolseam._levels import DataClass, Effect, Zone

if TYPE_CHECKING:
    from toolseam._binding import BoundTool
    from toolseam._context import Actor

Reason = Literal[
    "disabled",
    "no_actor",
    "requires_admin",
    "not_in_session",
    "data_class",
    "sends_to",
]


class Rules(Protocol):
    """What settings say of one tool; every member may only make it stricter."""

    @property
    def data_class(self) -> str | None:
        """A higher data class."""
        ...

    @property
    def effect(self) -> str | None:
        """A graver effect."""
        ...

    @property
    def requires_admin(self) -> bool:
        """True: admins only."""
        ...


@attrs.frozen
class PolicyDecision:
    """The gate's answer; `observed_only` means that enforcing would have refused it."""

    allowed: bool
    reason: Reason | None = None
    observed_only: bool = False


@attrs.frozen
class Receiver:
    """Who calls, and who will read the answers.

    `tools` is the session's allow-list: None is no narrowing, empty is no tool; `group:content`
    stands for a whole group. `mark` is the highest class that the session has read.
    """

    actor: Actor | None
    zone: Zone
    tools: frozenset[str] | None = None
    mark: DataClass = DataClass.PUBLIC_CONTENT


@attrs.frozen
class Policy:
    """The operator's word on tools that are loaded."""

    enabled: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()
    disabled_groups: frozenset[str] = frozenset()
    observe: bool = False

    def decide(self, tool: BoundTool, receiver: Receiver) -> PolicyDecision:
        """Return whether `receiver` may be offered `tool`, and may call it."""
        reason = self._closed(tool) or _who(tool, receiver)
        if reason is not None:
            return PolicyDecision(allowed=False, reason=reason)
        reason = _class(tool, receiver)
        if reason is None:
            return ALLOWED
        return PolicyDecision(allowed=self.observe, reason=reason, observed_only=self.observe)

    def may_approve(self, tool: BoundTool | None, actor: Actor) -> bool:
        """Tell whether `actor` may decide about calls of `tool`: a person who may make them."""
        if tool is None or actor.service:
            return False
        return self.decide(tool, Receiver(actor, Zone.LOCAL)).allowed

    def _closed(self, tool: BoundTool) -> Reason | None:
        # A setting for the tool never revives a group that is disabled.
        if tool.name in self.disabled or tool.spec.group in self.disabled_groups:
            return "disabled"
        # Whatever writes is off until the operator enables it, also what he raised to a write.
        on = tool.spec.enabled_by_default and tool.reads
        return None if on or tool.name in self.enabled else "disabled"


ALLOWED = PolicyDecision(allowed=True)


def _who(tool: BoundTool, receiver: Receiver) -> Reason | None:
    actor = receiver.actor
    if actor is None and tool.data_class is not DataClass.PUBLIC_CONTENT:
        return "no_actor"
    if tool.requires_admin and (actor is None or not actor.is_admin):
        return "requires_admin"
    offered = receiver.tools
    if offered is None or tool.name in offered or f"group:{tool.spec.group}" in offered:
        return None
    return "not_in_session"


def _class(tool: BoundTool, receiver: Receiver) -> Reason | None:
    if tool.data_class.rank > receiver.zone.ceiling.rank:
        return "data_class"
    exit_zone = tool.spec.sends_to
    if exit_zone is not None and is_too_far(exit_zone, receiver.mark):
        return "sends_to"
    return None


def is_too_far(zone: Zone, mark: DataClass) -> bool:
    """Tell whether a conversation with this mark has read more than a zone may get."""
    return mark.rank > zone.ceiling.rank


def raise_claims(tool: BoundTool, rules: Rules | None, floor: DataClass | None) -> None:
    """Make a freshly bound tool as strict as the settings want it; never laxer (§3).

    Args:
        tool: the tool; its claims are raised in place before anybody has seen it.
        rules: `[tools.<name>]`, if there is one.
        floor: the class that the plugin's own settings ask for, if they do.
    """
    classes = [tool.data_class, *([] if floor is None else [floor])]
    if rules is not None:
        classes += [] if rules.data_class is None else [DataClass(rules.data_class)]
        if rules.effect is not None:
            tool.effect = max(tool.effect, Effect(rules.effect), key=lambda e: e.rank)
            tool.reads = tool.effect is Effect.READ_ONLY
        tool.requires_admin = tool.requires_admin or rules.requires_admin
    tool.data_class = max(classes, key=lambda c: c.rank)
    tool.requires_approval = tool.requires_approval or not tool.reads
