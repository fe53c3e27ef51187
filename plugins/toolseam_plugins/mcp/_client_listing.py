"""What a server offers: its list of tools, page by page, and what each definition comes to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import attrs

from toolseam.guards import one_line
from toolseam_plugins.mcp._client_talk import Lost, RemoteFault

if TYPE_CHECKING:
    from toolseam_plugins.mcp._client_talk import Talk

PAGES = 50
TOOLS = 500
_NAME = 200
_PINNED = ("name", "description", "inputSchema", "annotations", "outputSchema")


@attrs.frozen
class Definition:
    """A tool as its server defines it; `sha256` is over all that is pinned.

    `schema` is what the server said, of any shape; None where it said nothing.
    """

    name: str
    description: str
    schema: object
    annotations: object
    sha256: str


@attrs.frozen
class Listing:
    """The tools of a server by name, and what is wrong with the list itself."""

    tools: Mapping[str, Definition]
    notes: tuple[str, ...]


async def listed(talk: Talk) -> Listing:
    """Ask for all pages.

    A cursor that comes again, and too many pages or tools, end the list with a note. A page that
    fails fails the list.

    Raises `Lost`.
    """
    found: list[object] = []
    cursor: str | None = None
    seen: set[str] = set()
    note: str | None = None
    for _ in range(PAGES):
        result = await _page(talk, {} if cursor is None else {"cursor": cursor})
        found += result["tools"]
        cursor = result.get("nextCursor")
        if cursor is None:
            break
        if not isinstance(cursor, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise Lost("protocol", "a cursor of the list is no text")
        if cursor in seen:
            note = "the list goes in a circle: a cursor came again, and the rest was not asked for"
            break
        if len(found) > TOOLS:
            break
        seen.add(cursor)
    else:
        note = f"the list has more than {PAGES} pages; the rest was not asked for"
    tools, notes = _defined(found)
    return Listing(tools, (*([note] if note else ()), *notes))


async def _page(talk: Talk, params: dict[str, Any]) -> dict[str, Any]:
    try:
        result = await talk.ask("tools/list", params)
    except RemoteFault as fault:
        raise Lost("protocol", f"the list of tools was refused (error {fault.code})") from None
    if not isinstance(result.get("tools"), list):
        raise Lost("protocol", "the list of tools has another shape than it should")
    return result


def _defined(found: list[object]) -> tuple[dict[str, Definition], list[str]]:
    tools: dict[str, Definition] = {}
    notes: list[str] = []
    for raw in found:
        definition = define(raw)
        if isinstance(definition, str):
            notes.append(definition)
        elif definition.name not in tools:
            if len(tools) == TOOLS:
                notes.append(f"there are more than {TOOLS} tools; the rest is left out")
                break
            tools[definition.name] = definition
        elif definition != tools[definition.name]:
            notes.append(f"{definition.name} is listed twice; the first one counts")
    return tools, notes


def define(raw: object) -> Definition | str:
    """Read one tool of a list; a text says why it is none."""
    said = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
    name, description = said.get("name"), said.get("description")
    if not isinstance(name, str) or not name:
        return "a tool without a name is left out"
    if one_line(name, _NAME) != name:
        return f"{one_line(name, 60)} is left out: its name is too long, or not clean"
    try:
        text = json.dumps(
            {key: said.get(key) for key in _PINNED},
            ensure_ascii=False,
            sort_keys=True,
            separators=(",", ":"),
        )
    except RecursionError:
        return f"{name} is left out: its definition is nested too deeply"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    told = description if isinstance(description, str) else ""
    return Definition(name, told, said.get("inputSchema"), said.get("annotations"), digest)
