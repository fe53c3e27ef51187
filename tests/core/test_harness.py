import asyncio
from typing import Any

import attrs
import pytest

from support.tools import BOB, Counted, CountedAsync, fine, plugin
from toolseam import ToolResult, hookimpl
from toolseam._errors import LoadError
from toolseam.testing import harness


@attrs.frozen
class Settings:
    """Settings of the plugin under test."""

    word: str


def test_a_tool_is_called_through_the_whole_seam() -> None:
    """Arguments are judged, the result is bounded, a step is kept."""
    with harness(Counted(fine)) as made:
        assert made.call().content == "fine"
        assert made.call({"nope": 1}).failure.code == "invalid_arguments"  # type: ignore[union-attr]
        assert [step.status for step in made.steps] == ["ok", "invalid_arguments"]
        assert made.spec.name == "probe"


def test_the_caller_is_the_system_unless_told_otherwise() -> None:
    """The actor is the author's choice, nobody included."""
    tool = Counted(fine, requires_admin=True)

    assert harness(tool).call().success
    assert harness(tool, actor=BOB).call().metadata["reason"] == "requires_admin"
    assert harness(tool, actor=None).call().metadata["reason"] == "requires_admin"


@pytest.mark.parametrize("kind", [Counted, CountedAsync])
def test_approve_approves_each_write(kind: type[Counted]) -> None:
    """Without it a write is denied, with it each call is approved for itself."""
    tool = kind(fine, effect="unknown")

    assert harness(tool).call().failure.code == "approval_denied"  # type: ignore[union-attr]
    made = harness(tool, approve=True)
    assert made.call().success
    assert made.call().success
    assert asyncio.run(made.acall()).success
    assert tool.count == 3


def test_a_refused_write_is_a_result_like_any_other() -> None:
    """Bad arguments are the call's own refusal, not an exception of the preview."""
    made = harness(Counted(fine, effect="unknown"), approve=True)

    assert made.call({"nope": 1}).failure.code == "invalid_arguments"  # type: ignore[union-attr]
    assert asyncio.run(made.acall("[]")).failure.code == "invalid_arguments"  # type: ignore[union-attr]


def test_settings_and_plugins_are_handed_over() -> None:
    """The tool finds its settings, and wrappers stand around it."""

    def execute(arguments: object, context: Any) -> ToolResult:
        return ToolResult.text(context.settings.word)

    class Loud:
        @hookimpl(wrapper=True)
        def execute(self) -> Any:
            result = yield
            return ToolResult.text(result.content.upper())

    made = harness(plugin(execute, settings=Settings), settings=Settings("hi"), plugins=[Loud()])

    assert made.call().content == "HI"


def test_a_deadline_can_be_given() -> None:
    """timeout is an explicit deadline, as with a host."""

    async def execute(arguments: object) -> ToolResult:
        await asyncio.sleep(10)
        return fine()

    made = harness(plugin(execute))

    assert made.call(timeout=0.05).failure.code == "timeout"  # type: ignore[union-attr]
    assert asyncio.run(made.acall(timeout=0.05)).failure.code == "timeout"  # type: ignore[union-attr]


def test_what_a_host_would_refuse_the_harness_refuses() -> None:
    """Loading is not made easier for tests."""
    with pytest.raises(LoadError):
        harness(Counted)
