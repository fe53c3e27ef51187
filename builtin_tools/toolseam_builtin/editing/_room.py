"""What the tools that edit have in common: a preview, and a write that is exactly that preview."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, cast

from toolseam import DataClass, Effect, ToolArtifact, ToolSpec
from toolseam_builtin import _database as db
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolseam import Actor, ToolContext
    from toolseam_builtin._database._writing._model import Equalities, Plan

    Make = Callable[[db.Database, Workspace], Plan]

_KEPT = 256
_COLUMNS = ("field", "old", "new")


def writing_spec(name: str, effect: Effect, parameters: type, description: str) -> ToolSpec:
    """Return the specification of a tool that edits the workspace's database.

    The host raises the class to `system_diagnostics` until the operator lists readable tables.
    """
    return ToolSpec(
        name=name,
        description=description,
        parameters=parameters,
        effect=effect,
        data_class=DataClass.EDITOR_CONTENT,
        group="editing",
        settings=Workspace,
    )


class Previews:
    """The texts of previews until their calls run, the newest 256; thread-safe."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._texts: dict[str, str] = {}

    def keep(self, call: str, text: str) -> None:
        """Remember what was shown for a call."""
        with self._turn:
            self._texts.pop(call, None)
            self._texts[call] = text
            while len(self._texts) > _KEPT:
                del self._texts[next(iter(self._texts))]

    def take(self, call: str) -> str | None:
        """Return what was shown for a call, once."""
        with self._turn:
            return self._texts.pop(call, None)


def previewed(context: ToolContext, make: Make) -> str:
    """Plan a write on a reading connection and return what an approver has to see."""
    from toolseam_builtin._database._writing._open import writable

    workspace: Workspace = context.settings
    writable(workspace)
    with db.open_database(workspace, context.deadline) as database:
        text = _shown(make(database, workspace), _who(context))
    context.resource("editing.previews", Previews).keep(context.call_id, text)
    return text


def written(context: ToolContext, make: Make) -> db.Answer:
    """Plan a write again in its own transaction, and carry it out if it is what was approved.

    Raises `ToolError` `conflict` where a record has changed since.
    """
    from toolseam_builtin._database._writing._faults import changed_meanwhile
    from toolseam_builtin._database._writing._open import carry_out, open_writer

    workspace: Workspace = context.settings
    who = _who(context)
    approved = context.resource("editing.previews", Previews).take(context.call_id)
    with open_writer(workspace, context.deadline) as writer:
        plan = make(writer, workspace)
        if approved != _shown(plan, who):
            raise changed_meanwhile(plan.subject)
        if not plan.changes:
            return _answer(plan, (), 0, who)
        record, rows = carry_out(writer, plan, who, lambda: not context.cancelled())
    return _answer(plan, record, rows, who)


def _who(context: ToolContext) -> str:
    # The seam lets no call through that nobody makes.
    return cast("Actor", context.actor).name


def _shown(plan: Plan, who: str) -> str:
    lines = [db.one_line(f"{plan.verbs[0]} {plan.subject}{plan.label}:"), *plan.lines]
    if plan.changes:
        lines.append(db.one_line(f"{plan.history.table.title} will name {who}."))
    else:
        lines.append("Nothing is left to change.")
    return "\n".join(lines)


def _answer(plan: Plan, record: Equalities, rows: int, who: str) -> db.Answer:
    title, history = plan.table.title, plan.history.table.title
    key = plan.key or ",".join(str(value) for _, value in record)
    if plan.changes:
        lines = [db.one_line(f"{plan.verbs[1]} {title}:{key}{plan.label}:"), *plan.lines]
        plural = "" if rows == 1 else "s"
        lines.append(db.one_line(f"{history}: {rows:,} row{plural} in the name of {who}."))
    else:
        lines = [db.one_line(f"{title}:{key}{plan.label}:"), *plan.lines]
        lines.append("Nothing was left to change.")
    data: dict[str, object] = {
        "table": title,
        "key": key,
        "changed": [field.name for field in plan.fields if field.changed],
        "records": len(plan.changes),
        "history": history,
        "history_rows": rows,
    }
    cells = [(field.name, field.old, field.new) for field in plan.fields]
    shown = ToolArtifact.table(f"{title}:{key} changes", _COLUMNS, cells, fit=True)
    return db.Answer("\n".join(lines), (shown,), data)
