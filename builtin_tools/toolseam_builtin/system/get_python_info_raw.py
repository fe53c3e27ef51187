"""`get_python_info_raw`: everything that the interpreter tells of itself, paths included."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from toolseam import Arg, DataClass, ErrorCode, ToolError, ToolResult, ToolSpec, hookimpl
from toolseam_builtin._answer import Answer, admin_spec
from toolseam_builtin._asked import asked
from toolseam_builtin._page import more_with, shown_range
from toolseam_builtin.system._pairs import Fact, answer_of, page_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 5_000


@asked
class Arguments:
    """What `get_python_info_raw` is asked."""

    filter: Annotated[
        str | None,
        Arg("Only facts whose name holds this, whatever the case.", min_length=1, max_length=200),
    ] = None
    offset: Annotated[int, Arg("How many facts to pass over.", ge=0, le=_MOST)] = 0


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "get_python_info_raw",
        group="system",
        data_class=DataClass.SECRET_ADJACENT,
        parameters=Arguments,
        description=(
            "Show all that the host's Python tells of itself: every flag, the import path, the"
            " installation paths and the build variables of sysconfig, unshortened."
        ),
        enabled_by_default=False,
    )


@hookimpl
def execute(arguments: Arguments) -> ToolResult:
    """Look at the running interpreter."""
    if arguments.filter is not None and not arguments.filter.strip():
        raise ToolError("The filter is blank.", ErrorCode.INVALID_ARGUMENTS)
    answer = compose(list(everything()), arguments.filter, arguments.offset)
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(facts: list[Fact], wanted: str | None, offset: int) -> Answer:
    """Say the facts whose name holds the filter, from an offset on."""
    folded = (wanted or "").casefold()
    chosen = [fact for fact in facts if folded in fact.name.casefold()]
    page = page_of(chosen[offset:])
    count = len(page.lines)
    following = offset + count if 0 < count < len(chosen) - offset else None
    notes = [] if following is None else [more_with(f"offset={following}", "a narrower filter")]
    matching = f" of {len(facts):,} with {wanted!r} in their name" if wanted is not None else ""
    heading = f"{len(chosen):,} facts{matching}, {shown_range(offset, count)}."
    known = {"total": len(chosen), "offset": offset, "next_offset": following}
    return answer_of("Python, unshortened", page, heading, notes, known=known)


def everything() -> Iterator[Fact]:
    """Give flags, paths and build variables, each group by name."""
    import sysconfig  # no matter of a listing

    yield Fact("sys.version", sys.version)
    for name in ("executable", "prefix", "exec_prefix", "base_prefix", "base_exec_prefix"):
        yield Fact(f"sys.{name}", str(getattr(sys, name)))
    for name in sorted(name for name in dir(sys.flags) if not name.startswith(("_", "n_"))):
        if not callable(getattr(sys.flags, name)):
            yield Fact(f"sys.flags.{name}", str(getattr(sys.flags, name)))
    for number, path in enumerate(sys.path):
        yield Fact(f"sys.path[{number}]", path)
    for name, path in sorted(sysconfig.get_paths().items()):
        yield Fact(f"sysconfig path {name}", path)
    for name, value in sorted(sysconfig.get_config_vars().items()):
        yield Fact(f"sysconfig {name}", str(value))
