"""`toolseam doctor`: what is wrong, what is merely left out, and what changes it."""

from __future__ import annotations

import platform
import re
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from toolseam import Host, Zone
from toolseam._discovery import Discovery
from toolseam._errors import SettingsError, ToolseamError
from toolseam._policy import Receiver
from toolseam._selection import Selection, near_miss
from toolseam._settings_files import operator_file, trust_file, workspace_file
from toolseam.cli._offers import Withheld, withheld
from toolseam.cli._person import person
from toolseam.cli._records import Listing, as_json, in_order, look, paint_status, why
from toolseam.cli._terminal import Shown, joined, paint, say, say_json

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterator

    from toolseam._settings_files import SettingsFile

_MARKS = {"ok": ("✓", "green"), "note": ("·", "yellow"), "fault": ("✗", "red")}
_LOADED = {"ready", "found"}
_CHOSEN = {"untrusted", "disabled"}
_REQUIRES = re.compile(r"""(?P<name>[\w.-]+).*;.*\bextra == ['"](?P<extra>[\w-]+)['"]""")


@attrs.frozen
class Check:
    """One thing that was looked at: `mark` is `ok`, `note` or `fault`; only a fault fails."""

    area: str
    mark: str
    name: str
    text: str


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.epilog = """\
examples:
  toolseam doctor
  toolseam doctor --json

✓ is well, · is a choice or something that is not there, ✗ is a fault; exit code 1 if there is one.
"""


def main(options: Namespace) -> int:
    """Look at everything that a host needs, and import every plugin that may be."""
    checks = [*_interpreter(), *_files()]
    workspace: list[Check] = []
    missing: list[Withheld] = []
    listing, zone, total = Listing(Discovery(()), Selection(), {}), None, 0
    try:
        listing = look(load=True, left=options.left)
        with Host.load() as host:
            undeclared = _undeclared(host)
            zone = host.settings.operator.zone.value
            total = len(host.tools()) - len(undeclared)
            listing = _as_hosted(listing, host)
            workspace = [*_mounts(host), *_unanswered(host), *_places(host), *_workspace(host)]
            receiver = Receiver(person(), host.settings.operator.zone)
            missing += [w for w in withheld(host, receiver) if w.name not in undeclared]
    except ToolseamError as error:
        checks.append(Check("settings", "fault", "start", str(error)))
    checks += [*_plugins(listing), *workspace]
    healthy = all(check.mark != "fault" for check in checks)
    if options.json:
        say_json(
            {
                "ok": healthy,
                "checks": [attrs.asdict(check) for check in checks],
                "records": as_json(listing),
                "zone": zone,
                "not_offered": [attrs.asdict(each) for each in missing],
            }
        )
    else:
        _for_people(checks, missing, total, zone)
    return 0 if healthy else 1


def _as_hosted(listing: Listing, host: Host) -> Listing:
    """Take the host's word for its records: it has read each plugin's settings as well."""
    found = listing.discovery
    seen = {record.location for record in host.records}
    planted = [
        record
        for record in found.records
        if record.reason == "untrusted_location" and record.location not in seen
    ]
    records = in_order([*host.records, *planted])
    groups = {tool.name: tool.spec.group for tool in host.tools()}
    return Listing(Discovery(records, found.shadowed, found.notes), listing.selection, groups)


def _interpreter() -> Iterator[Check]:
    from sqlite3 import sqlite_version

    from importlib_metadata import PackageNotFoundError, version

    from toolseam import CONTRACT_VERSION

    own = f"{version('toolseam')}, contract {CONTRACT_VERSION}"
    yield Check("installation", "ok", "toolseam", own)
    python = f"{platform.python_implementation()} {platform.python_version()}"
    yield Check("installation", "ok", "Python", python)
    yield Check("installation", "ok", "SQLite", sqlite_version)
    for name, extra in _extras().items():
        try:
            yield Check("installation", "ok", name, version(name))
        except PackageNotFoundError:
            text = f"not installed: pip install 'toolseam[{extra}]'"
            yield Check("installation", "note", name, text)


def _extras() -> dict[str, str]:
    """Give each distribution that an extra brings, with the first such extra."""
    from importlib_metadata import requires

    found: dict[str, str] = {}
    for line in requires("toolseam") or ():
        match = _REQUIRES.match(line)
        if match and match["name"] != "toolseam":
            found.setdefault(match["name"], match["extra"])
    return found


def _files() -> Iterator[Check]:
    """Say which settings files there are; one that cannot be read is a fault by itself."""
    finders: dict[str, Callable[[], SettingsFile]] = {
        "operator": operator_file,
        "trust": lambda: trust_file(operator_file()),
        "workspace": lambda: workspace_file(str(Path.cwd())),
    }
    for name, find in finders.items():
        try:
            file = find()
        except SettingsError as error:
            yield Check("settings", "fault", name, str(error))
            continue
        mark, state = ("ok", "read") if file.exists else ("note", "not there")
        yield Check("settings", mark, name, f"{file.path}: {state}")


def _plugins(listing: Listing) -> Iterator[Check]:
    for record in listing.discovery.records:
        origin = f"{record.distribution} {record.version}"
        text = f"{record.status}, {origin}" + (f": {why(record)}" if why(record) else "")
        chosen = "note" if record.status in _CHOSEN else "fault"
        mark = "ok" if record.status in _LOADED else chosen
        yield Check("plugins", mark, record.name or record.distribution, text)
    for remark in listing.remarks():
        yield Check("plugins", "note", "remark", remark)


def _undeclared(host: Host) -> set[str]:
    """Name the tools of mounts that nobody declared: the line of their mount counts them."""
    mounts = host.settings.operator.mounts
    found: set[str] = set()
    for tool in host.tools():
        mount = mounts.get(tool.name.partition("__")[0]) if "__" in tool.name else None
        if mount is not None and tool.spec.remote_name not in mount.tools:
            found.add(tool.name)
    return found


def _mounts(host: Host) -> Iterator[Check]:
    """Say how each mounted server stands; what one says of itself is one line."""
    for name, mark, text in host.health():
        yield Check("mounts", mark if mark in _MARKS else "note", name, text)


def _unanswered(host: Host) -> Iterator[Check]:
    """Say which rules nothing answers to: one for a misspelt name makes nothing stricter."""
    settings, loaded = host.settings, host.tools()
    records = host.records
    names = {tool.name for tool in loaded} | {r.name for r in records if r.kind == "tool"}
    places = {"toolseam"} | {record.distribution for record in records}
    groups = {tool.spec.group for tool in loaded}
    ruled = names | {f"group:{group}" for group in groups}
    runs_in = {key for key in settings.operator.runs_in if key != "*" and key[:6] != "class:"}
    for setting, named, known in (
        ("enable", settings.operator.enable, names),
        ("tools", settings.tools, names),
        ("plugins", settings.operator.plugins, places),
        ("groups.disable", settings.disabled_groups, groups),
        ("runs_in", runs_in, ruled),
        ("sandbox", settings.operator.sandbox, ruled),
    ):
        for name in sorted({*named} - known):
            text = f"`{setting}` names '{name}', to which nothing answers{near_miss(name, known)}"
            yield Check("plugins", "note", "remark", text)


def _places(host: Host) -> Iterator[Check]:
    """Say which places for bodies this machine has; one that is wanted and missing is a fault."""
    from toolseam.isolation._sandbox import level, processes

    wanted = set(host.settings.operator.runs_in.values())
    for name, found in (("process", processes()), ("sandbox", level())):
        missing = "fault" if name in wanted else "note"
        yield Check("isolation", "ok" if found.reached else missing, name, found.text)
    for tool in host.tools():
        obstacle = host._runners.obstacle(tool)  # noqa: SLF001 - the core's own
        if obstacle:
            yield Check("isolation", "fault", tool.name, obstacle)


def _workspace(host: Host) -> Iterator[Check]:
    settings = host.settings
    trusted = "trusted" if settings.workspace_trusted else "not trusted (`toolseam trust .`)"
    mark = "ok" if settings.workspace_trusted else "note"
    yield Check("workspace", mark, "folder", f"{settings.folder}: {trusted}")
    session = host.session(actor=person(), zone=Zone.LOCAL)
    result = session.call("list_tables")
    if result.failure is None:
        yield Check("workspace", "ok", "database", result.content.partition("\n")[0])
    else:
        yield Check("workspace", "note", "database", result.failure.message)


def _for_people(checks: list[Check], missing: list[Withheld], total: int, zone: str | None) -> None:
    width = max(len(check.name) for check in checks)
    area = ""
    for check in checks:
        if check.area != area:
            area = check.area
            say("" if check is checks[0] else "\n", paint(area.capitalize(), "bold"))
        sign, colour = _MARKS[check.mark]
        say("  ", paint(sign, colour), f" {check.name:<{width}}  ", _text(check))
    if zone is not None:
        say("\n", paint("Offers", "bold"))
        say(f"  {len(missing)} of {total} not offered to a model in {zone} (`zone`)")
        for each in missing:
            say(f"  · {each.name:<{width}}  {each.reason}: {each.setting}")
    faults = sum(check.mark == "fault" for check in checks)
    say("\n", paint(_verdict(faults), "red" if faults else "green"))


def _verdict(faults: int) -> str:
    if not faults:
        return "All is well."
    return f"{faults} fault{'' if faults == 1 else 's'}."


def _text(check: Check) -> Shown:
    """Colour the status of a plugin as `list` does."""
    status, comma, rest = check.text.partition(",")
    if check.area != "plugins" or not comma:
        return joined(check.text)
    return joined(paint_status(status), comma, rest)
