"""`toolseam mount`: what an MCP server of `[mounts]` offers, and the words that declare it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from toolseam._selection import near_miss
from toolseam._settings import load_settings
from toolseam.cli._terminal import complain, note, paint, say, say_json

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    parser.add_argument("name", metavar="NAME", help="a name of `[mounts]` in the operator's file")
    parser.add_argument("--json", action="store_true", help="print one object")
    parser.epilog = """\
examples:
  toolseam mount depot
  toolseam mount depot --json

What is printed is TOML for the operator's file, the server's own words in comments. Exit code 1
if the server cannot be reached.
"""


def main(options: Namespace) -> int:
    """Connect, list, and print what declares the tools."""
    settings = load_settings(Path.cwd())
    mounts = settings.operator.mounts
    said = mounts.get(options.name)
    if said is None:
        place = settings.operator_file
        known = f"{near_miss(options.name, mounts)}; there are: {', '.join(mounts) or 'none'}"
        complain(f"{place} has no [mounts.{options.name}]{known}")
        return 1
    from toolseam_plugins.mcp import _mount_look

    seen = _mount_look.look(options.name, said)
    if options.json:
        say_json(_mount_look.as_json(options.name, said, seen))
        return 0 if seen.fault is None else 1
    if seen.fault is not None:
        reason, text = seen.fault
        complain(f"the mount {options.name} is not available: {text} ({reason})")
        for line in seen.last_words:
            note("  | ", line)
        return 1
    for line in _mount_look.as_toml(options.name, said, seen).splitlines():
        say(paint(line, "dim") if line.startswith("#") else line)
    note(f"paste it into {settings.operator_file}, then `toolseam doctor` says how it stands")
    return 0
