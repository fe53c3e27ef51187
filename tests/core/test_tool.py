import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any

import pytest

from toolseam import Arg, Host, ToolContext, ToolResult, tool
from toolseam._errors import SpecError

public = functools.partial(tool, effect="read_only", data_class="public_content")


@public()
def greet(name: str, times: Annotated[int, Arg("How often.", ge=1, le=3)] = 1) -> ToolResult:
    """Say hello."""
    return ToolResult.text("\n".join([f"Hello, {name}"] * times))


@public()
async def wait(name: str) -> ToolResult:
    """Say hello later."""
    return ToolResult.text(f"Hello, {name}")


@public()
def ask(name: str, context: ToolContext) -> ToolResult:
    """Say who was asked."""
    return ToolResult.text(f"{context.tool.name} {name}")


@public()
async def ask_later(name: str, ctx: ToolContext) -> ToolResult:
    """Say who was asked, later."""
    return ToolResult.text(f"{ctx.tool.name} {name}")


@public()
def only_named(*, name: str) -> ToolResult:
    """Take a keyword."""
    return ToolResult.text(name)


def refused(function: Callable[..., Any]) -> str:
    """Return the sentence with which a function is refused at decoration."""
    with pytest.raises(SpecError) as error:
        public()(function)
    return str(error.value)


def test_name_docstring_and_parameters_make_the_specification() -> None:
    """The function says everything that a model is told."""
    spec = greet.tool_spec()

    assert (spec.name, spec.description) == ("greet", "Say hello.")
    assert spec.schema["properties"]["times"] == {
        "type": "integer",
        "description": "How often.",
        "minimum": 1,
        "maximum": 3,
        "default": 1,
    }
    assert spec.schema["required"] == ["name"]


def test_a_decorated_function_can_still_be_called() -> None:
    """Calling the plugin object calls the function."""
    assert greet("Ada", times=2).content == "Hello, Ada\nHello, Ada"


@pytest.mark.parametrize(
    ("made", "content"),
    [
        (greet, "Hello, Ada"),
        (wait, "Hello, Ada"),
        (ask, "ask Ada"),
        (ask_later, "ask_later Ada"),
        (only_named, "Ada"),
    ],
)
def test_each_kind_of_function_runs_through_the_seam(made: Any, content: str) -> None:
    """Sync and async, with and without context, positional and by keyword."""
    host = Host(tools=[made])

    assert host.call(made.tool_spec().name, {"name": "Ada"}).content == content


def test_further_members_of_the_specification_can_be_said() -> None:
    """What stands in the decorator wins over what the function says."""
    made = tool(effect="unknown", name="wipe", description="Wipes.", timeout_s=3)(greet.function)
    spec = made.tool_spec()

    assert (spec.name, spec.description, spec.timeout_s) == ("wipe", "Wipes.", 3)
    assert spec.data_class == "secret_adjacent"


def test_a_plain_return_is_refused_with_the_fix() -> None:
    """A function that returns text is told what to write instead."""

    def lazy(name: str) -> str:
        """Say hello."""
        return name

    assert "-> ToolResult" in refused(lazy)
    assert "ToolResult.text(" in refused(lazy)


def test_what_cannot_be_described_is_refused_at_decoration() -> None:
    """Missing docstring, annotations and names are sentences, not surprises at the call."""

    def no_doc(name: str) -> ToolResult:
        return ToolResult.text(name)

    def no_return(name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
        """Say hello."""

    def no_hint(name) -> ToolResult:  # type: ignore[no-untyped-def]  # noqa: ANN001
        """Say hello."""
        return ToolResult.text(name)

    def stars(*names: str) -> ToolResult:
        """Say hello."""
        return ToolResult.text(str(names))

    def double_stars(**names: str) -> ToolResult:
        """Say hello."""
        return ToolResult.text(str(names))

    def positional(name: str, /) -> ToolResult:
        """Say hello."""
        return ToolResult.text(name)

    def two(one: ToolContext, other: ToolContext) -> ToolResult:
        """Say hello."""
        return ToolResult.text("")

    def own(self: str) -> ToolResult:
        """Say hello."""
        return ToolResult.text(self)

    assert "'self'" in refused(own)
    assert "docstring" in refused(no_doc)
    assert "-> ToolResult" in refused(no_return)
    assert "'name' needs an annotation" in refused(no_hint)
    assert "*names" in refused(stars)
    assert "**names" in refused(double_stars)
    assert "positional" in refused(positional)
    assert "context" in refused(two)


def test_generators_and_hidden_coroutines_are_refused_at_decoration() -> None:
    """What would hand the seam something else than a result never becomes a tool."""

    def generator() -> ToolResult:  # type: ignore[misc]
        """Yield."""
        yield ToolResult.text("")

    async def stream() -> ToolResult:  # type: ignore[misc]
        """Yield."""
        yield ToolResult.text("")

    async def inner() -> ToolResult:
        """Wait."""
        return ToolResult.text("")

    @functools.wraps(inner)
    def hidden(*args: Any) -> Any:
        return inner(*args)

    assert "generator" in refused(generator)
    assert "generator" in refused(stream)
    assert "async" in refused(hidden)


def test_an_annotation_that_is_not_known_is_named() -> None:
    """A type imported for type checkers alone is a sentence with its name."""

    def unknown(name: "Missing") -> ToolResult:  # type: ignore[name-defined]  # noqa: F821
        """Say hello."""
        return ToolResult.text(name)

    assert "'Missing'" in refused(unknown)


def test_generator_types_are_refused_as_return() -> None:
    """An iterator annotation is no ToolResult either."""

    def stream() -> Iterator[ToolResult]:
        """Yield."""
        yield ToolResult.text("")

    async def astream() -> AsyncIterator[ToolResult]:
        """Yield."""
        yield ToolResult.text("")

    assert "generator" in refused(stream)
    assert "generator" in refused(astream)
