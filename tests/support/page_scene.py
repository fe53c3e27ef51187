"""What the inspector is shown of: the demo's museum, hostile tools, and runs of all kinds."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import attrs

from support.tools import ADA, plugin
from toolseam import (
    Arg,
    Decision,
    ErrorCode,
    Host,
    ToolArtifact,
    ToolError,
    ToolResult,
    Zone,
    hookimpl,
)
from toolseam._artifacts import stored
from toolseam._trust import trust_workspace
from toolseam.cli._demo._files import DATABASE
from toolseam.cli._demo._tools import RenamePage, TideTable
from toolseam.cli._demo._workspace import make_workspace
from toolseam.providers import Endpoint
from toolseam.testing import ScriptedProvider

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from toolseam import Run, ToolContext

MARKUP = (
    '<img src=x onerror="window.__hit=1">',
    "</script><script>window.__hit=1</script>",
    '"><svg onload=window.__hit=1>',
    "<iframe src=http://evil.test/></iframe><b>bold</b>",
    "javascript:window.__hit=1",
    "&lt;i&gt; <!-- <script>",
)
ALL = " ".join(MARKUP)
LONG = "W" * 3_000
TURNED = "pay \u202eeno ton\u202c \u200bnow"
EXACT = 9_007_199_254_740_993

_OPERATOR = """\
zone = "local"
enable = ["update_record_metadata"]

[tables]
allow = ["*"]
"""


@attrs.frozen
class Place:
    """Where something is."""

    street: Annotated[str, Arg("Street and number.")]
    floor: int = 0


@attrs.frozen
class Everything:
    """Arguments of every kind that a form has a field for."""

    title: Annotated[str, Arg("What it is called.", min_length=1)]
    copies: Annotated[int, Arg("How many.", ge=1, le=9_223_372_036_854_775_807)] = 1
    weight: float | None = None
    urgent: bool | None = None
    tags: list[str] | None = None
    place: Place | None = None
    extra: dict[str, int] | None = None


def injected() -> Any:
    """Return a tool that puts markup into every member of what it answers."""

    def execute(arguments: dict[str, Any]) -> ToolResult:
        tree = [(0, MARKUP[0]), (1, MARKUP[1]), (2, LONG), (1, TURNED)]
        return ToolResult.text(
            f"{ALL}\n{TURNED}\n{LONG}",
            ToolArtifact.table(
                ALL, [MARKUP[0], "<b>Qty</b>", "f"], [[*MARKUP[:2], "=HYPERLINK(1)"]]
            ),
            ToolArtifact.text(MARKUP[0], ALL),
            ToolArtifact.tree(MARKUP[1], tree),
            ToolArtifact.key_value(MARKUP[2], {MARKUP[0]: ALL, "link": MARKUP[4], "long": LONG}),
            ToolArtifact.code(MARKUP[3], [*MARKUP, LONG], language=MARKUP[0], marked=(2,)),
            data={
                MARKUP[0]: ALL,
                "note": "<!--<script>",
                "sep": "a\u2028b",
                "long": LONG,
                "id": EXACT,
            },
            metadata={MARKUP[0]: [ALL]},
        )

    description = f"Answers with markup. {ALL}"
    schema = {
        "properties": {
            "said": {"type": "string", "description": ALL, "default": MARKUP[0]},
            MARKUP[0]: {"type": "string", "enum": [MARKUP[1], MARKUP[2]]},
        }
    }
    return plugin(
        execute, name="injected", description=description, parameters=schema, group="hostile"
    )


def strange() -> Any:
    """Return a tool whose artifact is of a type that only a newer version knows."""

    def execute(arguments: dict[str, Any]) -> ToolResult:
        data = {"rays": [EXACT, MARKUP[0]], "href": MARKUP[4]}
        return ToolResult.text("a hologram", stored("hologram", MARKUP[0], data))

    return plugin(execute, name="strange", group="hostile")


def refusing() -> Any:
    """Return a tool that fails with markup in message, partial output and metadata."""

    def execute(arguments: dict[str, Any]) -> ToolResult:
        return ToolResult.error(
            f"No: {ALL}",
            ErrorCode.NOT_FOUND,
            output=ALL,
            metadata={MARKUP[0]: ALL, "reason": "gone"},
        )

    return plugin(execute, name="refusing", group="hostile")


def changing() -> Any:
    """Return a write whose preview and arguments hold markup."""

    def preview(arguments: dict[str, Any]) -> ToolResult:
        return ToolResult.text(f"{MARKUP[0]}: {MARKUP[1]} → {arguments['to']}\n{TURNED}")

    def execute(arguments: dict[str, Any]) -> ToolResult:
        return ToolResult.text(f"changed to {arguments['to']}")

    schema = {
        "properties": {"to": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["to"],
    }
    return plugin(
        execute, name="changing", preview=preview, effect="idempotent_write", parameters=schema,
        group="hostile",
    )  # fmt: skip


def breaking() -> Any:
    """Return a write that answers with what is no result."""

    def execute(arguments: dict[str, Any]) -> Any:
        return "done"

    return plugin(execute, name="breaking", effect="idempotent_write", group="hostile")


def filled() -> Any:
    """Return a tool that gives back what its form gave it."""

    def execute(arguments: Everything) -> ToolResult:
        return ToolResult.text("taken", data=attrs.asdict(arguments))

    return plugin(
        execute, name="filled", description="Takes all kinds.", parameters=Everything, group="forms"
    )


def counting() -> Any:
    """Return a tool that is quick, fails now and then, and says how far it is."""

    def execute(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        number = arguments["number"]
        context.progress(number, 100, "counting")
        time.sleep(arguments.get("wait", 0))
        if number % 17 == 5:
            raise ToolError("An unlucky number.", ErrorCode.NOT_FOUND)
        if number % 41 == 7:
            raise ToolError("Too many at once.", ErrorCode.UNAVAILABLE)
        rows = [[str(each), "x" * (each % 9)] for each in range(number % 60)]
        return ToolResult.text("n" * (number % 700), ToolArtifact.table("rows", ["n", "x"], rows))

    number = {"number": {"type": "integer"}, "wait": {"type": "number"}}
    schema = {"properties": number, "required": ["number"]}
    return plugin(execute, name="counting", parameters=schema, group="forms")


def strangers() -> tuple[Any, ...]:
    """Return the tools of this file."""
    return injected(), strange(), refusing(), changing(), breaking(), filled(), counting()


class Rehearsed:
    """A host plugin that makes a provider again, so that runs go on where they are decided."""

    @hookimpl
    def toolseam_provider(self, endpoint: Endpoint) -> Any:
        """Give one that has a last word left."""
        return at_hand("Done.") if endpoint.kind == "script" else None


def at_hand(*script: Any) -> ScriptedProvider:
    """Return a provider as `host.provider` makes it: with its endpoint."""
    model = ScriptedProvider(script, name="script:m", zone=Zone.LOCAL)
    model.endpoint = Endpoint("script:m", "script", "m")  # type: ignore[attr-defined]
    return model


@contextmanager
def museum(place: Path, *more: Any) -> Generator[Host]:
    """Open the demo's workspace with its builtins, its two tools and more."""
    folder = make_workspace(str(place / "museum"))
    config = place / "operator.toml"
    config.write_text(_OPERATOR, encoding="utf-8")
    trust_workspace(folder, config=config)
    tools = [RenamePage(folder / DATABASE), TideTable(), *more]
    with Host.load(folder, operator_file=config, tools=tools, plugins=[Rehearsed()]) as host:
        yield host


def converse(
    host: Host, *script: Any, ask: str = "Give the page a clearer title."
) -> tuple[Run, Any]:
    """Run a script up to its end, or to where it waits; with whom goes on."""
    model = ScriptedProvider(script, name="scripted:model", zone=Zone.LOCAL)
    return host.session(actor=ADA, zone=Zone.LOCAL).run(model, ask), model


def play(host: Host) -> Run:
    """Leave runs of every kind behind, and return one that waits for two decisions."""
    read = ("read_records", {"table": "pages", "fields": ["title", "slug"], "limit": 5})
    rename = ("rename_page", {"page": 3, "title": "How to find us"})
    begun, model = converse(host, read, rename, "The page is now called How to find us.")
    session = host.session(actor=ADA, zone=Zone.LOCAL)
    denial = [Decision.deny(begun.pending[0], actor=ADA, reason="not on a Friday")]
    session.resume(begun.id, denial, model)
    converse(host, read, [("counting", {"number": n}) for n in (5, 7, 30)], "Done.", ask="Count.")
    converse(host, ("tide_table", {}), "The tide table is broken.", ask="When is high water?")
    converse(host, ask="Nobody answers.")
    waiting, _ = converse(
        host,
        read,
        [
            ("rename_page", {"page": 3, "title": "How to find us"}),
            ("counting", {"number": 3}),
            ("changing", {"to": ALL, "n": EXACT}),
        ],
        "Both are renamed.",
    )
    return waiting
