"""`toolseam show`: a tool exactly as a provider is told of it, its policy and its origin."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from toolseam.cli._hints import about_name, setting_for
from toolseam.cli._terminal import complain, note, paint, say, say_json

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from toolseam import Host
    from toolseam._binding import BoundTool


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    parser.add_argument("name", metavar="NAME", help="a tool of `toolseam list`")
    parser.add_argument("--load", action="store_true", help="connect to mounts: it is of one")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.epilog = "examples:\n  toolseam show read_records\n  toolseam show --load depot__find\n"


def main(options: Namespace) -> int:
    """Print the tool; a name that is none is a failure."""
    from toolseam import Host

    with Host.load(mounts=options.load) as host:
        tool = host.tool(options.name)
        if tool is None:
            complain(f"there is no tool {options.name!r} that could be loaded")
            for hint in about_name(host, options.name):
                note("hint: ", hint)
            if "__" in options.name and not options.load:
                note("hint: tools of mounts are shown with --load, which connects to them")
            return 1
        facts = as_json(host, tool)
    if options.json:
        say_json(facts)
    else:
        _for_people(facts)
    return 0


def as_json(host: Host, tool: BoundTool) -> dict[str, Any]:
    """Return a tool as `show --json` prints it."""
    import attrs

    spec = tool.spec
    record = next((r for r in host.records if r.name == tool.name and r.status == "ready"), None)
    wanted = spec.settings
    return {
        "name": spec.name,
        "description": spec.description,
        "schema": spec.schema,
        "policy": {
            "group": spec.group,
            "data_class": tool.data_class.value,
            "claimed_data_class": spec.data_class.value,
            "effect": tool.effect.value,
            "requires_admin": tool.requires_admin,
            "requires_approval": tool.requires_approval,
            "enabled_by_default": spec.enabled_by_default,
            "sends_to": None if spec.sends_to is None else spec.sends_to.value,
            "timeout_s": spec.timeout_s,
            "runs_in": tool.place,
            "zones": _zones(host, tool),
        },
        "origin": {
            "distribution": tool.distribution,
            "version": tool.version,
            "builtin": record is not None and record.builtin,
            "target": None if record is None else record.value,
            "location": None if record is None else record.location,
            "aliases": list(spec.aliases),
        },
        "settings": [] if wanted is None else [field.name for field in attrs.fields(wanted)],
    }


def _zones(host: Host, tool: BoundTool) -> dict[str, str | None]:
    """Map each zone to None where an administrator is offered the tool, else to what would help."""
    from toolseam import Zone
    from toolseam.cli._person import person

    answers: dict[str, str | None] = {}
    for zone in Zone:
        decision = host.decide(tool, actor=person(), zone=zone)
        reason = None if decision.allowed else decision.reason
        told = None if reason is None else f"{reason}: {setting_for(host, tool, reason)}"
        answers[zone.value] = told
    return answers


def _for_people(facts: dict[str, Any]) -> None:
    policy, origin = facts["policy"], facts["origin"]
    say(paint(facts["name"], "bold"), f"  {origin['distribution']} {origin['version']}")
    say("\n", paint("What a provider is told", "cyan"))
    say(f"  {facts['description']}")
    for line in json.dumps(facts["schema"], ensure_ascii=False, indent=2).splitlines():
        say("  ", line)
    say("\n", paint("Policy", "cyan"))
    claimed = policy["claimed_data_class"]
    raised = "" if claimed == policy["data_class"] else f" (it claims {claimed}; settings raise it)"
    _row("group", policy["group"])
    _row("data class", policy["data_class"] + raised)
    _row("effect", policy["effect"])
    _row("sends to", policy["sends_to"] or "nobody")
    _row("admins only", "yes" if policy["requires_admin"] else "no")
    _row("needs approval", "yes" if policy["requires_approval"] else "no")
    _row("runs in", policy["runs_in"])
    for zone, refusal in policy["zones"].items():
        _row(zone, "offered" if refusal is None else f"not offered, {refusal}")
    say("\n", paint("Origin", "cyan"))
    _row("from", "a builtin of toolseam" if origin["builtin"] else origin["distribution"])
    _row("target", origin["target"] or "handed over by code")
    _row("location", origin["location"] or "-")
    _row("settings", ", ".join(facts["settings"]) or "none")


def _row(word: str, text: str) -> None:
    say(f"  {word:<16}", text)
