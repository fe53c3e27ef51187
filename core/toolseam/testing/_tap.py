"""What a tool's hook gave, read before the seam judges, mends or bounds anything."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import attrs

from toolseam import Host, ToolResult
from toolseam._judgement import Broken, dispose

if TYPE_CHECKING:
    from collections.abc import Generator


@attrs.frozen(eq=False)
class Heard:
    """The outcome of one `execute`: the value it returned, or the exception it raised."""

    value: Any = None
    error: BaseException | None = None


@contextlib.contextmanager
def tap(host: Host, name: str) -> Generator[list[Heard]]:
    """Hear every outcome of one tool's `execute` hook, oldest first, while the block runs.

    Args:
        host: where the tool is registered; its other rules stay as they are.
        name: the tool's name.

    Raises `LookupError` for a name that is no tool's.
    """
    tool = host.tool(name)
    if tool is None:
        raise LookupError(f"there is no tool {name!r}")
    heard: list[Heard] = []
    execute = tool._registered().execute  # noqa: SLF001 - the door to what is behind the seam

    def call(**given: object) -> Any:  # noqa: ANN401
        try:
            value = execute(**given)
        except BaseException as error:
            heard.append(Heard(error=error))
            raise
        heard.append(Heard(value))
        return value

    async def acall(**given: object) -> Any:  # noqa: ANN401
        try:
            value = await execute(**given)
        except BaseException as error:
            heard.append(Heard(error=error))
            raise
        heard.append(Heard(value))
        return value

    before = tool.execute
    tool.execute = acall if tool.is_async else call
    try:
        yield heard
    finally:
        tool.execute = before


def breach(host: Host, name: str, value: object) -> tuple[str, str] | None:
    """Return path and reason why a value is no sound result of a tool, or None if it is (§5).

    Raises `LookupError` for a name that is no tool's.
    """
    tool = host.tool(name)
    if tool is None:
        raise LookupError(f"there is no tool {name!r}")
    if type(value) is not ToolResult:
        dispose(value)
    try:
        tool.judge(value)
    except Broken as broken:
        return broken.path, broken.reason
    return None
