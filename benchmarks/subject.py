"""The tool that everybody runs: two texts and a number in, a text of 100 bytes out.

The standard library only: peers' interpreters import this too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

CONTENT = "r" * 100
LARGE = ("src/main.py:10: what was found, in a line of its own\n" * 800)[:40_000]
ARGUMENTS: dict[str, Any] = {"query": "hello world", "path": "src/main", "limit": 10}
TOOLS = 46


def search(query: str, path: str, limit: int) -> str:  # noqa: ARG001 - frameworks read them
    """Search files."""
    return CONTENT


async def asearch(query: str, path: str, limit: int) -> str:  # noqa: ARG001
    """Search files."""
    return CONTENT


async def alarge(query: str, path: str, limit: int) -> str:  # noqa: ARG001
    """Search files, and find much."""
    return LARGE


def searches() -> list[Callable[[str, str, int], str]]:
    """Return as many functions as we have tools, each with a name of its own."""

    def named(number: int) -> Callable[[str, str, int], str]:
        def one(query: str, path: str, limit: int) -> str:  # noqa: ARG001
            """Search files."""
            return CONTENT

        one.__name__ = one.__qualname__ = f"search_{number}"
        return one

    return [named(number) for number in range(TOOLS)]


def show(names: list[str]) -> None:
    """Print the names of a listing, and stop if some are missing."""
    print("\n".join(names))
    if len(set(names)) != TOOLS:
        raise SystemExit(f"{len(set(names))} tools, not {TOOLS}")
