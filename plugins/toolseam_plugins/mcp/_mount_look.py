"""One look at a server, before its tools are declared: what it offers, and the words to paste."""

from __future__ import annotations

import json
import re
import textwrap
from typing import TYPE_CHECKING, Any, Literal

import attrs

from toolseam.guards import clean, one_line
from toolseam.providers import TOOL_NAMES, exposed_names
from toolseam_plugins.mcp._client_listing import Definition
from toolseam_plugins.mcp._mount import Mount
from toolseam_plugins.mcp._mount_loop import Loop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolseam._settings_keys import Mount as MountSettings
    from toolseam._settings_keys import MountedTool

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LINES = 200
_MOST = 20_000
_LINE = 96
_NOTE = 400


@attrs.frozen
class Offered:
    """A tool of a server beside what the operator says of it."""

    definition: Definition
    exposed: str
    status: Literal["new", "accepted", "changed", "unpinned"]


@attrs.frozen
class Look:
    """What one look found.

    `fault` is why there was nothing to see, as reason and text; `last_words` are lines of a
    child's standard error, `gone` the tools that are declared and not offered.
    """

    tools: tuple[Offered, ...] = ()
    gone: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fault: tuple[str, str] | None = None
    last_words: tuple[str, ...] = ()


def look(name: str, said: MountSettings) -> Look:
    """Connect to the server of a mount, list its tools, and end the connection."""
    mount, loop = Mount(name, said), Loop()
    try:
        loop.begin(mount.open()).result()
    finally:
        loop.close(mount.close())
    if mount.listing is None:
        fault = mount.fault
        told = ("protocol", "nothing was listed") if fault is None else (fault.reason, fault.text)
        return Look(fault=told, last_words=mount.last_words)
    offered = mount.listing.tools
    prefix = f"{name}__"
    names = exposed_names((prefix + each for each in {*offered, *said.tools}), TOOL_NAMES)
    tools = tuple(
        Offered(offered[each], names[prefix + each], _status(offered[each], said.tools.get(each)))
        for each in sorted(offered)
    )
    return Look(tools, tuple(sorted(set(said.tools) - set(offered))), mount.listing.notes)


def _status(
    tool: Definition, said: MountedTool | None
) -> Literal["new", "accepted", "changed", "unpinned"]:
    if said is None:
        return "new"
    if said.sha256 is None:
        return "unpinned"
    return "accepted" if said.sha256 == tool.sha256 else "changed"


def as_toml(name: str, said: MountSettings, seen: Look) -> str:
    """Return the tables to paste; whatever the server says stands in comments."""
    return "\n".join(_toml(name, said, seen)) + "\n"


_HEAD = """\
# {name} offers {number}. What they say of themselves is shown, and never believed.
# Read it; then say what is so: `enabled`, `effect` (read_only, idempotent_write,
# non_idempotent_write, unknown), `data_class` (public_content … secret_adjacent) and
# `requires_admin`."""


def _toml(name: str, said: MountSettings, seen: Look) -> Iterator[str]:
    number = "1 tool" if len(seen.tools) == 1 else f"{len(seen.tools)} tools"
    yield _HEAD.format(name=name, number=number)
    for note in (*seen.notes, *(f"{one_line(each, _NOTE)} is not offered" for each in seen.gone)):
        yield f"# note: {one_line(note, _NOTE)}"
    for tool in seen.tools:
        yield ""
        yield from (f"# {line}".rstrip() for line in _comment(tool))
        yield f"[mounts.{name}.tools.{_key(tool.definition.name)}]"
        yield from _words(tool.definition, said.tools.get(tool.definition.name))


def _comment(tool: Offered) -> Iterator[str]:
    shown = {
        "new": "not declared yet",
        "accepted": "as declared",
        "changed": "CHANGED since it was declared",
        "unpinned": "declared without `sha256`",
    }
    yield f"{tool.exposed}: {shown[tool.status]}"
    yield from _wrapped(tool.definition.description.strip())
    schema = tool.definition.schema
    yield from _wrapped(f"arguments: {'none' if schema is None else _fact(schema)}")
    if tool.definition.annotations is not None:
        yield from _wrapped(f"says of itself: {_fact(tool.definition.annotations)}")


def _wrapped(text: str) -> Iterator[str]:
    """Give all of a text, in lines: what is accepted unread may be what matters."""
    shown = clean(text[:_MOST]).split("\n")
    lines = [part for line in shown for part in (textwrap.wrap(line, _LINE) or [""])]
    yield from (f"  {one_line(line, _LINE)}" for line in lines[:_LINES])
    if len(lines) > _LINES or len(text) > _MOST:
        yield f"  … AND MORE of {len(text):,} characters, which --json shows"


def _fact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _words(tool: Definition, said: MountedTool | None) -> Iterator[str]:
    """Give the operator's own words again, the worst where he said none, and the pin as it is."""
    yield f'sha256 = "{tool.sha256}"'
    yield f"enabled = {_word(said is not None and said.enabled)}"
    yield f"effect = {_word('unknown' if said is None else said.effect.value)}"
    yield f"data_class = {_word('secret_adjacent' if said is None else said.data_class.value)}"
    yield f"requires_admin = {_word(said is None or said.requires_admin)}"
    if said is not None and said.requires_approval:
        yield "requires_approval = true"


def _word(value: bool | str) -> str:  # noqa: FBT001 - a value of TOML
    return json.dumps(value)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def as_json(name: str, said: MountSettings, seen: Look) -> dict[str, Any]:
    """Return what `toolseam mount --json` prints."""
    return {
        "mount": name,
        "fault": None
        if seen.fault is None
        else {"reason": seen.fault[0], "message": seen.fault[1]},
        "tools": [
            {
                "name": tool.definition.name,
                "exposed": tool.exposed,
                "status": tool.status,
                "sha256": tool.definition.sha256,
                "description": tool.definition.description,
                "schema": tool.definition.schema,
                "annotations": tool.definition.annotations,
            }
            for tool in seen.tools
        ],
        "gone": list(seen.gone),
        "notes": list(seen.notes),
        "toml": None if seen.fault is not None else as_toml(name, said, seen),
    }
