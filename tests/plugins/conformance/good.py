"""Ten tools that keep the contract, each written in another style."""

from __future__ import annotations

import asyncio
import functools
import types
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import attrs

from toolseam import (
    Arg,
    ErrorCode,
    ToolArtifact,
    ToolContext,
    ToolError,
    ToolResult,
    ToolSpec,
    hookimpl,
    tool,
)

toolseam_api = "1"

# -- 1: a module, as an entry point names it; its text is in `MODULE` ------------------------------

MODULE = '''\
"""A module that is a tool."""

from typing import Annotated

import attrs

from toolseam import Arg, ErrorCode, ToolError, ToolResult, ToolSpec, hookimpl

toolseam_api = "1"


@attrs.frozen
class Arguments:
    """What it is asked."""

    name: Annotated[str, Arg("Who is greeted.", max_length=40)]
    times: Annotated[int, Arg("How often.", ge=1, le=5)] = 1


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return ToolSpec(
        name="greet",
        description="Greet somebody by name.",
        parameters=Arguments,
        effect="read_only",
        data_class="public_content",
    )


@hookimpl
def execute(arguments: Arguments) -> ToolResult:
    """Greet."""
    if not arguments.name.strip():
        raise ToolError("A name is needed.", ErrorCode.INVALID_ARGUMENTS)
    return ToolResult.text("\\n".join([f"Hello, {arguments.name}."] * arguments.times))
'''

# -- 2: an object ----------------------------------------------------------------------------------


@attrs.frozen
class Sum:
    """Two numbers."""

    left: Annotated[int, Arg("The first number.", ge=-1_000_000, le=1_000_000)]
    right: Annotated[int, Arg("The second number.", ge=-1_000_000, le=1_000_000)] = 0


class Adder:
    """A tool that is an instance."""

    toolseam_api = "1"

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Describe the tool."""
        return ToolSpec(
            name="add",
            description="Add two whole numbers.",
            parameters=Sum,
            effect="read_only",
            data_class="public_content",
            inline=True,
            parallel_safe=True,
        )

    @hookimpl
    def execute(self, arguments: Sum) -> ToolResult:
        """Add."""
        return ToolResult.text(f"{arguments.left + arguments.right}")


adder = Adder()

# -- 3: a function under @tool ---------------------------------------------------------------------


@tool(effect="read_only", data_class="public_content")
def repeat(
    text: Annotated[str, Arg("What is said again.", max_length=40)],
    loud: Annotated[bool, Arg("Whether in capitals.")] = False,
) -> ToolResult:
    """Say a text twice."""
    said = text.upper() if loud else text
    return ToolResult.text(f"{said!r}, {said!r}.")


# -- 4: a class with a base ------------------------------------------------------------------------


class Base:
    """What several tools of one author share."""

    toolseam_api = "1"
    name = "base"
    answer = "nothing"

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Describe the tool."""
        return ToolSpec(
            name=self.name,
            description=f"Answer with {self.answer}.",
            effect="read_only",
            data_class="public_content",
        )

    @hookimpl
    def execute(self, arguments: Any) -> ToolResult:
        """Answer."""
        return ToolResult.text(f"It is {self.answer}.")


class Colour(Base):
    """One of them."""

    name = "colour"
    answer = "blue"


colour = Colour()

# -- 5: async --------------------------------------------------------------------------------------


@tool(effect="read_only", data_class="public_content")
async def ponder(
    rounds: Annotated[int, Arg("How often the loop has a turn.", ge=0, le=20)] = 3,
) -> ToolResult:
    """Let the event loop have a few turns."""
    for _ in range(rounds):
        await asyncio.sleep(0)
    return ToolResult.text(f"{rounds} turns.")


# -- 6: wrapped by a decorator ---------------------------------------------------------------------


def polite(function: Callable[..., ToolResult]) -> Callable[..., ToolResult]:
    """Turn what a library raises into a failure that says what is wrong."""

    @functools.wraps(function)
    def call(arguments: Any) -> ToolResult:
        try:
            return function(arguments)
        except ZeroDivisionError:
            raise ToolError("The divisor is 0.", ErrorCode.INVALID_ARGUMENTS) from None

    return call


@hookimpl
@polite
def _divide(arguments: Any) -> ToolResult:
    return ToolResult.text(f"{arguments['left'] // arguments['right']}")


divider = types.SimpleNamespace(
    toolseam_api="1",
    execute=_divide,
    tool_spec=hookimpl(
        lambda: ToolSpec(
            name="divide",
            description="Divide two whole numbers, rounding down.",
            effect="read_only",
            data_class="public_content",
            parameters={
                "type": "object",
                "properties": {
                    "left": {"type": "integer", "description": "The dividend."},
                    "right": {"type": "integer", "description": "The divisor."},
                },
                "required": ["left", "right"],
            },
        )
    ),
)

# -- 7: specifications known at run time -----------------------------------------------------------


class Mounted:
    """A tool whose specification came from elsewhere."""

    toolseam_api = "1"

    def __init__(self, name: str) -> None:
        self._spec = ToolSpec(
            name=name,
            description=f"Count the letters of the word {name}.",
            effect="read_only",
            data_class="public_content",
        )
        self._name = name

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Describe the tool."""
        return self._spec

    @hookimpl
    def execute(self, arguments: Any) -> ToolResult:
        """Count."""
        return ToolResult.text(f"{self._name} has {len(self._name)} letters.")


class Mount:
    """A host plugin that gives tools when it runs."""

    @hookimpl
    def toolseam_tools(self, settings: Any) -> Iterable[object]:
        """Give two tools."""
        return [Mounted("ladder"), Mounted("lamp")]


mount = Mount()

# -- 8: with settings ------------------------------------------------------------------------------


@attrs.frozen
class Connect:
    """How the service is reached."""

    address: str = "localhost"
    password: str = ""


class Service:
    """A tool with settings that hold a secret."""

    toolseam_api = "1"

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Describe the tool."""
        return ToolSpec(
            name="service_state",
            description="Tell whether the service is set up.",
            effect="read_only",
            data_class="internal_configuration",
            settings=Connect,
        )

    @hookimpl
    def execute(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Tell."""
        settings: Connect = context.settings
        if not settings.password:
            return ToolResult.error("No password is set.", ErrorCode.UNAVAILABLE)
        return ToolResult.text(f"{settings.address} is set up.")


service = Service()

# -- 9: with resources, and a write ----------------------------------------------------------------


class Shelf:
    """What one host opens once."""

    def __init__(self, store: dict[str, str]) -> None:
        self.store = store
        self.open = True

    def close(self) -> None:
        """End it."""
        self.open = False


class Keeper:
    """A tool that writes, idempotently, to a shelf that a host opens."""

    toolseam_api = "1"

    def __init__(self) -> None:
        self.store: dict[str, str] = {}

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Describe the tool."""
        return ToolSpec(
            name="keep",
            description="Keep a value under a key.",
            effect="idempotent_write",
            data_class="editor_content",
            parameters={
                "type": "object",
                "properties": {
                    "key": {"type": "string", "description": "Under what.", "maxLength": 20},
                    "value": {"type": "string", "description": "What.", "maxLength": 40},
                },
                "required": ["key", "value"],
            },
        )

    @hookimpl
    def preview(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Say what would change."""
        before = self.store.get(arguments["key"])
        return ToolResult.text(f"{arguments['key']}: {before!r} becomes {arguments['value']!r}")

    @hookimpl
    def execute(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Keep it."""
        shelf = context.resource("shelf", lambda: Shelf(self.store))
        shelf.store[arguments["key"]] = arguments["value"]
        return ToolResult.text(f"Kept {arguments['key']!r}.")

    def observe(self) -> object:
        """Show what is kept."""
        return dict(self.store)


keeper = Keeper()

# -- 10: with an output schema, data and artifacts -------------------------------------------------


@attrs.frozen
class Counted:
    """What `count_words` promises."""

    words: int
    longest: str | None


@tool(effect="read_only", data_class="public_content", output_schema=Counted)
def count_words(text: Annotated[str, Arg("A text.", max_length=200)] = "") -> ToolResult:
    """Count the words of a text."""
    words = text.split()
    longest = max(words, key=len, default=None)
    content = f"{len(words)} words, the longest is {longest!r}.\n" + "\n".join(words)
    table = ToolArtifact.table("Words", ["word"], [[word] for word in words])
    return ToolResult.text(content, table, data={"words": len(words), "longest": longest})


OBJECTS: dict[str, tuple[object, dict[str, Any]]] = {
    "object": (adder, {"examples": [{"left": 1, "right": 2}]}),
    "tool": (repeat, {"examples": [{"text": "Ada"}]}),
    "class": (colour, {"examples": [{}]}),
    "async": (ponder, {"examples": [{"rounds": 2}]}),
    "wrapped": (divider, {"examples": [{"left": 7, "right": 2}]}),
    "settings": (service, {"settings": Connect(password="unset"), "examples": [{}]}),
    "resources": (
        keeper,
        {"examples": [{"key": "a", "value": "b"}], "observe": keeper.observe},
    ),
    "output schema": (count_words, {"examples": [{"text": "one word or two"}]}),
}
"""Plugins by style, and what each is checked with; module and mount are named by a target."""
