"""People or groups of one source, a page of them, and the one way to say them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from toolseam import ErrorCode, ToolArtifact, ToolError
from toolseam.guards import MASK
from toolseam_builtin._answer import Answer
from toolseam_builtin._page import Page, next_page, one_line, shown_range
from toolseam_builtin.accounts._wanted import FARTHEST, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam import ToolContext
    from toolseam_builtin.workspace import Workspace

    Row = list[tuple[str, object]]
    """The cells of one account: each as text, and as a value."""

SECONDS = 1.2
"""How long a filter may take."""


@attrs.define
class Finder:
    """Keeps the page that is wanted of the accounts that it is given, and counts those that match.

    The filter sees only what an answer shows, outside of its masks.
    """

    wanted: Wanted
    rows: list[Row] = attrs.field(factory=list["Row"])
    matching: int = 0

    def take(self, row: Row) -> bool:
        """Judge one account, and ask for the next."""
        folded = (self.wanted.filter or "").casefold()
        if any(folded in text.replace(MASK, "\0").casefold() for text, _ in row):
            if 0 <= self.matching - self.wanted.offset < self.wanted.limit:
                self.rows.append(row)
            self.matching += 1
        return True


@attrs.frozen
class Accounts:
    """A page of accounts.

    Args:
        source: where they are from, for the heading.
        title: what stands before the key of an account: the table, or a word.
        key: how many of the columns, the first ones, are the key.
        columns: the headings.
        rows: the accounts that are shown.
        total: how many there are, or match the filter; `None` where that is not known.
        whole: whether the filter looked through all of them within its time budget.
        notes: what else is to be said.
    """

    source: str
    title: str
    key: int
    columns: tuple[str, ...]
    rows: list[Row]
    total: int | None
    whole: bool = True
    notes: tuple[str, ...] = ()


def tell(
    what: str,
    wanted: Wanted,
    context: ToolContext,
    known: str | None,
    system: Callable[[Wanted], Accounts],
) -> Answer:
    """Look where the workspace says that the accounts are, and say what is there.

    Args:
        what: `users` or `groups`, as `[workspace.accounts]` calls them.
        wanted: the page and the filter.
        context: of the call.
        known: the harmless columns of a table; `None` are all that are not sensitive.
        system: asks the operating system, where the workspace names no table.

    Raises `ToolError` for a filter that is blank, and for a source that cannot be read.
    """
    if wanted.filter is not None and not wanted.filter.strip():
        raise ToolError("The filter is blank.", ErrorCode.INVALID_ARGUMENTS)
    workspace: Workspace = context.settings
    if getattr(workspace.accounts, what):
        from toolseam_builtin.accounts._tables import from_table

        found = from_table(workspace, what, wanted, known, context.deadline)
    else:
        found = system(wanted)
    return compose(found, wanted, what)


def compose(accounts: Accounts, wanted: Wanted, what: str) -> Answer:
    """Say the accounts as text, table and data, in one pass over the same cells.

    Args:
        accounts: what was found.
        wanted: what was asked for.
        what: a word for several of them.
    """
    page = Page()
    for number, row in enumerate(accounts.rows, wanted.offset + 1):
        key = ",".join(text for text, _ in row[: accounts.key])
        fields = zip(accounts.columns[accounts.key :], row[accounts.key :], strict=True)
        lines = [f"- {one_line(accounts.title)}{f':{key}' if key else f' #{number}'}"]
        lines += [f"  {one_line(name)}: {text}" for name, (text, _) in fields]
        if not page.take(lines, [text for text, _ in row], [value for _, value in row]):
            break
    count = len(page.cells)
    following = wanted.offset + count
    more = count < len(accounts.rows) or following < (accounts.total or 0)
    more = more or (accounts.total is None and count == wanted.limit)
    lines = [_heading(accounts, wanted, what, count), *page.lines]
    if not accounts.whole:
        lines.append(
            f"The filter was stopped at the time limit, so there may be more {what}; a"
            " longer text, or `offset` without a filter, reaches them."
        )
    further = None
    if more:
        further, said = next_page(following, FARTHEST, "a `filter`")
        lines.append(said)
    data: dict[str, object] = {
        "source": accounts.source,
        "total": accounts.total,
        "complete": accounts.whole,
        "offset": wanted.offset,
        "next_offset": further,
        "columns": list(accounts.columns),
        "rows": page.rows,
    }
    table = ToolArtifact.table(what, accounts.columns, page.cells, fit=True)
    return Answer("\n".join([*lines, *accounts.notes]), (table,), data)


def _heading(accounts: Accounts, wanted: Wanted, what: str, count: int) -> str:
    number = "an uncounted number of" if accounts.total is None else f"{accounts.total:,}"
    number = number if accounts.whole else f"at least {number}"
    holding = "" if wanted.filter is None else f" with {wanted.filter!r}"
    shown = shown_range(wanted.offset, count)
    word = what.removesuffix("s") if accounts.total == 1 else what
    return one_line(f"{accounts.source}: {number} {word}{holding}, {shown}.")
