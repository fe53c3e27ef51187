"""Two tools that the demo brings: one that writes, and one that breaks the contract."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import attrs

from toolseam import Arg, ErrorCode, ToolError, ToolResult, ToolSpec, hookimpl

if TYPE_CHECKING:
    from pathlib import Path


@attrs.frozen
class Rename:
    """What `rename_page` is asked."""

    page: Annotated[int, Arg("The page's id.", ge=1)]
    title: Annotated[str, Arg("Its new title.", min_length=1, max_length=200)]


class RenamePage:
    """A write: off and refused unless a person approves exactly this call."""

    def __init__(self, database: Path) -> None:
        self._database = database

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Describe the tool."""
        return ToolSpec(
            name="rename_page",
            description="Give a page of the museum's web site another title.",
            parameters=Rename,
            effect="idempotent_write",
            data_class="editor_content",
            group="demo",
        )

    @hookimpl
    def preview(self, arguments: Rename) -> ToolResult:
        """Say what would change, and change nothing."""
        with closing(sqlite3.connect(self._database)) as connection:
            old = self._title(connection, arguments.page)
        return ToolResult.text(f"pages.title of page {arguments.page}: {old} -> {arguments.title}")

    @hookimpl
    def execute(self, arguments: Rename) -> ToolResult:
        """Change the title in one transaction."""
        with closing(sqlite3.connect(self._database)) as connection, connection:
            self._title(connection, arguments.page)
            connection.execute(
                "UPDATE pages SET title = ? WHERE id = ?", (arguments.title, arguments.page)
            )
        return ToolResult.text(f"Page {arguments.page} is now called {arguments.title}.")

    @staticmethod
    def _title(connection: sqlite3.Connection, page: int) -> str:
        found = connection.execute("SELECT title FROM pages WHERE id = ?", (page,)).fetchone()
        if found is None:
            raise ToolError(f"There is no page {page}.", ErrorCode.NOT_FOUND)
        title: str = found[0]
        return title


class TideTable:
    """A tool that breaks the contract: it returns text alone. `runs` counts how often it ran."""

    def __init__(self) -> None:
        self.runs = 0

    @hookimpl
    def tool_spec(self) -> ToolSpec:
        """Describe the tool."""
        return ToolSpec(
            name="tide_table",
            description="When the next high water is.",
            parameters={"type": "object", "properties": {}},
            effect="read_only",
            data_class="public_content",
            group="demo",
        )

    @hookimpl
    def execute(self, arguments: dict[str, Any]) -> Any:  # noqa: ANN401, ARG002 - that is the fault
        """Return what no tool may return."""
        self.runs += 1
        return "High water at 14:12, and a table that would have gone to the provider."
