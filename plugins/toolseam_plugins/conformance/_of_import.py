"""Checks of the entry point and of the import, in an interpreter where nothing else happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolseam_plugins.conformance._child import home_of, start
from toolseam_plugins.conformance._model import Check, Failed, Level, NotApplicable

if TYPE_CHECKING:
    from toolseam_plugins.conformance._child import Watched
    from toolseam_plugins.conformance._subject import Subject

BUDGET_S = 1.0
"""How long an import may take before it is tried a second time; the faster one counts."""


def _without_entry_point(subject: Subject) -> str | None:
    return None if subject.target.distribution and subject.target.value else "no entry point"


def _entry_point_resolves(subject: Subject) -> None:
    target = subject.target
    if target.plugin is None:
        raise Failed(
            f"the entry point {target.name} = {target.value} gives no plugin: {target.fault}"
        )


def _name_equals_entry_point(subject: Subject) -> None:
    if subject.target.plugin is None:
        raise NotApplicable("the entry point gives no plugin")
    if subject.fault is None and subject.name != subject.target.name:
        raise Failed(f"the entry point is named {subject.target.name!r}, its tool {subject.name!r}")


def _plugin_loads(subject: Subject) -> None:
    if subject.target.plugin is None:
        raise NotApplicable("the entry point gives no plugin")
    if subject.fault is not None:
        raise Failed(f"a host refuses the plugin: {subject.fault}")


def _imported(subject: Subject) -> Watched:
    seen = subject.child.imported
    if seen.error is not None and subject.target.value is None:
        raise NotApplicable(f"a fresh interpreter does not import its module: {seen.error}")
    return seen


def _imports_alone(subject: Subject) -> None:
    seen = _imported(subject)
    if seen.error is not None:
        raise Failed(f"the import alone, in a fresh interpreter, raised {seen.error}")


def _import_prints_nothing(subject: Subject) -> None:
    printed = _imported(subject).printed
    if printed:
        raise Failed(f"the import printed {printed[:120]!r}")


def _import_starts_no_thread(subject: Subject) -> None:
    seen = _imported(subject)
    found = seen.did("thread") or [f"the thread {name!r} runs on" for name in seen.threads]
    if found:
        raise Failed(f"the import {found[0]}")


def _import_opens_no_connection(subject: Subject) -> None:
    found = _imported(subject).did("connection")
    if found:
        raise Failed(f"the import connects: {found[0]}")


def _import_writes_no_file(subject: Subject) -> None:
    found = _imported(subject).did("write")
    if found:
        raise Failed(f"the import {found[0]}")


def _import_starts_no_process(subject: Subject) -> None:
    found = _imported(subject).did("child")
    if found:
        raise Failed(f"the import {found[0]}")


def _import_within_budget(subject: Subject) -> None:
    seconds = _imported(subject).seconds
    if seconds > BUDGET_S:
        again = start(subject.target, subject.before)  # the machine may have been busy
        if again is not None:
            seconds = min(seconds, again.imported.seconds)
            again.close()
    if seconds > BUDGET_S:
        raise Failed(f"the import takes {seconds:.2f} s, at most {BUDGET_S:g} s are asked for")


def _import_leaves_process_alone(subject: Subject) -> None:
    changed = _imported(subject).changed
    if changed:
        raise Failed(f"the import changes {' and '.join(changed)}")


def _states_contract_version(subject: Subject) -> None:
    plugin: Any = subject.plugin
    home: object = None
    if not hasattr(plugin, "toolseam_api"):
        home = home_of(plugin)
    if not hasattr(plugin, "toolseam_api") and not hasattr(home, "toolseam_api"):
        raise Failed('neither the plugin nor its module says `toolseam_api = "1"`')


def _unloadable(subject: Subject) -> str | None:
    if subject.builtin:
        return "it comes with toolseam, whose version is its version"
    return "the tool does not load" if subject.fault is not None else None


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        slug="entry-point-resolves",
        level=Level.MUST,
        clause="§2",
        title="The entry point names a module or an object that can be imported.",
        why="A host lists the tool as broken and nobody can call it.",
        mend="Correct the target in pyproject.toml, install again, and try `python -c 'import …'`.",
        applies=_without_entry_point,
        run=_entry_point_resolves,
    ),
    Check(
        slug="entry-point-named-like-tool",
        level=Level.MUST,
        clause="§2",
        title="The entry point's name equals the tool's name.",
        why="A host decides by the entry point's name what to import, before it knows the tool's.",
        mend="Give the entry point in pyproject.toml the `name` of the ToolSpec.",
        applies=_without_entry_point,
        run=_name_equals_entry_point,
    ),
    Check(
        slug="plugin-loads",
        level=Level.MUST,
        clause="§2",
        title="A host accepts the plugin: its hooks, their parameters and its specification.",
        why="pluggy would skip a hook in silence or pass nothing to it, so a host refuses first.",
        mend="The message says what is refused; `tool_spec` and `execute` need `@hookimpl`.",
        run=_plugin_loads,
    ),
    Check(
        slug="imports-alone",
        level=Level.MUST,
        clause="§2",
        title="The plugin can be imported first in a fresh interpreter.",
        why="Hosts import a tool when it is first wanted, in an order that nobody knows.",
        mend="Import what the module uses, and rely on nothing that another module set up.",
        run=_imports_alone,
    ),
    Check(
        slug="import-prints-nothing",
        level=Level.MUST,
        clause="§2",
        title="Importing the plugin prints nothing.",
        why="Standard output may be a protocol or a pipe, and a stray line breaks it.",
        mend="Use `logging.getLogger(__name__)`, or say it in the result.",
        run=_import_prints_nothing,
    ),
    Check(
        slug="import-starts-no-thread",
        level=Level.MUST,
        clause="§2",
        title="Importing the plugin starts no thread.",
        why="The tool may never be called, and a thread survives neither fork nor shutdown well.",
        mend="Start it in `context.resource(key, opener)`, which the host closes.",
        run=_import_starts_no_thread,
    ),
    Check(
        slug="import-opens-no-connection",
        level=Level.MUST,
        clause="§2",
        title="Importing the plugin opens no connection and resolves no name.",
        why="A host that only lists its tools would call out, and hang where there is no network.",
        mend="Connect in `execute`, through `context.resource(key, opener)`.",
        run=_import_opens_no_connection,
    ),
    Check(
        slug="import-writes-no-file",
        level=Level.MUST,
        clause="§2",
        title="Importing the plugin writes, makes and removes no file.",
        why="Being installed is no permission to change a disk, which may be read-only.",
        mend="Write in `execute`, and declare an effect that says so.",
        run=_import_writes_no_file,
    ),
    Check(
        slug="import-starts-no-process",
        level=Level.MUST,
        clause="§2",
        title="Importing the plugin starts no other process.",
        why="Looking at a list of tools would run programs.",
        mend="Run it in `execute`; `ToolResult.from_command` makes its outcome a result.",
        run=_import_starts_no_process,
    ),
    Check(
        slug="import-within-budget",
        level=Level.SHOULD,
        clause="§2",
        title=f"Importing the plugin takes at most {BUDGET_S:g} s.",
        why="The first call of a tool waits for its import, and so does every `toolseam list`.",
        mend="Import heavy libraries inside `execute`.",
        run=_import_within_budget,
    ),
    Check(
        slug="import-leaves-process-alone",
        level=Level.MUST,
        clause="§2",
        title="Importing the plugin changes nothing that the process's code shares.",
        why="Environment, folder, locale, signals and the root logger belong to the application.",
        mend="Keep settings in the plugin's settings class, and pass folders and encodings on.",
        run=_import_leaves_process_alone,
    ),
    Check(
        slug="states-contract-version",
        level=Level.SHOULD,
        clause="§2",
        title="The module or the object says for which contract version it was written.",
        why="A host of a later contract can then tell an old plugin from a broken one.",
        mend='Write `toolseam_api = "1"` beside the tool.',
        applies=_unloadable,
        run=_states_contract_version,
    ),
)
