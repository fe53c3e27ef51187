"""Which tools are not offered, why, and what would change that (policy-and-runs, One gate)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from toolseam.cli._hints import setting_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from toolseam import Host
    from toolseam._policy import Receiver

GROUP = "group:"
"""What stands before a group's name among tools."""

_NAMED = 3


def wanted(host: Host, words: str | None) -> tuple[str, ...] | None:
    """Read `--tools`; a name that none answers to is a mistake, not a narrower offer."""
    if words is None:
        return None
    from toolseam._selection import near_miss
    from toolseam.cli._words import UsageError

    names = tuple(word.strip() for word in words.split(",") if word.strip())
    tools = host.tools()
    known = {tool.name for tool in tools} | {GROUP + tool.spec.group for tool in tools}
    for name in names:
        if name not in known:
            message = f"--tools {name}: no tool or group is called that{near_miss(name, known)}"
            raise UsageError(message)
    return names


@attrs.frozen
class Withheld:
    """A loaded tool that a receiver is not offered, and why."""

    name: str
    reason: str
    setting: str


def withheld(
    host: Host, receiver: Receiver, zone: str = "zone", roles: str = "ask.roles"
) -> Iterator[Withheld]:
    """Give the tools that the gate does not let through, by name.

    Args:
        host: the host.
        receiver: whom they would be offered.
        zone: the key of the operator's file that says where he stands.
        roles: the key that says what the actor may do.
    """
    decide = host._state.policy.decide  # noqa: SLF001 - the gate, with an allow-list
    for tool in host.tools():
        decision = decide(tool, receiver)
        if not decision.allowed and decision.reason is not None:
            setting = setting_for(host, tool, decision.reason, zone, roles)
            yield Withheld(tool.name, decision.reason, setting)


def told(missing: Iterable[Withheld], total: int) -> Iterator[str]:
    """Say how many of all tools are not offered, and for each reason which and what helps."""
    by_reason: dict[str, list[Withheld]] = {}
    for each in missing:
        by_reason.setdefault(each.reason, []).append(each)
    count = sum(map(len, by_reason.values()))
    yield f"{count} of {total} tools are not offered" + (":" if count else "")
    for reason, those in by_reason.items():
        names = ", ".join(each.name for each in those[:_NAMED])
        more = f" and {len(those) - _NAMED} more" if len(those) > _NAMED else ""
        yield f"  {reason}: {names}{more}: {those[0].setting}"
