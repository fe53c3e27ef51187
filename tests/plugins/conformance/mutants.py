"""For each check of a tool one tool that breaks exactly it; each is right in all other ways."""

from __future__ import annotations

import asyncio
import contextlib
import locale
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs

from toolseam import (
    ErrorCode,
    ToolArtifact,
    ToolError,
    ToolResult,
    ToolSpec,
    hookimpl,
)

TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "A text.", "maxLength": 80}},
}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
MANY = 60_000


class Plugin:
    """A tool plugin whose hooks are given; a fresh interpreter finds it by its name here."""

    toolseam_api = "1"

    def __init__(self, execute: Callable[..., Any], **more: Any) -> None:
        preview, tool_spec = more.pop("preview", None), more.pop("tool_spec", None)
        told = None if tool_spec is not None else spec(**more)
        self.tool_spec = hookimpl(tool_spec or (lambda: told))
        self.execute = hookimpl(execute)
        if preview is not None:
            self.preview = hookimpl(preview)


def spec(**more: Any) -> ToolSpec:
    """Return a specification with which nothing is wrong unless `more` says so."""
    given = {
        "name": "probe",
        "description": "A tool made to be checked.",
        "effect": "read_only",
        "data_class": "public_content",
        "parameters": NOTHING,
    }
    return ToolSpec(**{**given, **more})


def fine(arguments: Any) -> ToolResult:
    """Answer as a tool should."""
    return ToolResult.text("fine")


@attrs.frozen
class Mutant:
    """A tool that breaks the check `slug`, what it is checked with, and what breaks with it."""

    slug: str
    plugin: object
    also: tuple[str, ...] = ()
    options: Mapping[str, Any] = attrs.field(factory=dict)


# -- what it says of itself ------------------------------------------------------------------------


def tampered() -> ToolSpec:
    """Return a specification whose text was changed behind its back."""
    made = spec()
    object.__setattr__(made, "description", "Read\u202e the text backwards.")
    return made


def slow_spec() -> ToolSpec:
    """Take its time."""
    time.sleep(0.06)
    return spec()


def reading_spec() -> ToolSpec:
    """Look at a file."""
    with Path(sys.executable).open("rb") as file:
        file.read(1)
    return spec()


unnamed = Plugin(fine)
del_api = SimpleNamespace(tool_spec=unnamed.tool_spec, execute=unnamed.execute)
changing = Plugin(fine, tool_spec=lambda: spec(description=f"This was made at {time.time_ns()}."))


def printing_spec() -> ToolSpec:
    """Print."""
    print("asked")  # noqa: T201 - which is wrong
    return spec()


def moving_spec() -> ToolSpec:
    """Change what the process shares."""
    os.environ["MUTANT_WAS_ASKED"] = str(time.time_ns())
    return spec()


talking = Plugin(fine, tool_spec=printing_spec)
moving = Plugin(fine, tool_spec=moving_spec)
hashing = Plugin(fine, tool_spec=lambda: spec(description=f"This tool is {hash('tool')}."))
looking = Plugin(fine, tool_spec=reading_spec)

SPECS = (
    Mutant("states-contract-version", del_api),
    Mutant("plugin-loads", SimpleNamespace(execute=hookimpl(fine), toolseam_api="1")),
    Mutant("plugin-loads", Plugin(lambda argument: ToolResult.text("fine"))),
    Mutant("spec-stable", changing, also=("spec-same-everywhere",)),
    Mutant("spec-same-everywhere", hashing),
    Mutant("spec-pure", looking),
    Mutant("spec-pure", talking),
    Mutant("spec-pure", moving),
    Mutant("spec-cheap", Plugin(fine, tool_spec=slow_spec)),
    Mutant("spec-text-clean", Plugin(fine, tool_spec=tampered)),
    Mutant("description-tells", Plugin(fine, description="Probes.")),
    Mutant(
        "parameters-described",
        Plugin(fine, parameters={"type": "object", "properties": {"a": {"type": "integer"}}}),
    ),
    Mutant(
        "schema-examples-fit",
        Plugin(
            fine,
            parameters={
                "type": "object",
                "properties": {
                    "a": {"type": "integer", "description": "A number.", "examples": ["one"]}
                },
            },
        ),
    ),
    Mutant("effect-known", Plugin(fine, effect="unknown", preview=fine)),
    Mutant("writer-previews", Plugin(fine, effect="idempotent_write")),
    Mutant(
        "portable-to-openai",
        Plugin(
            fine,
            parameters={
                "type": "object",
                "properties": {"a": {"type": "array", "description": "Anything."}},
            },
        ),
    ),
    Mutant(
        "portable-to-anthropic",
        Plugin(
            fine,
            parameters={
                "type": "object",
                "properties": {"a b": {"type": "integer", "description": "A number."}},
            },
        ),
    ),
    Mutant(
        "portable-to-google",
        Plugin(
            fine,
            parameters={
                "type": "object",
                "properties": {
                    "a": {"type": "object", "properties": {}, "description": "Nothing."}
                },
            },
        ),
    ),
)

# -- what it gives ---------------------------------------------------------------------------------


def answers(value: Any) -> Callable[..., Any]:
    """Return a hook that gives one value."""
    return lambda arguments: value


def raises(error: BaseException) -> Callable[..., Any]:
    """Return a hook that raises."""

    def execute(arguments: Any) -> ToolResult:
        raise error

    return execute


def meddled() -> ToolResult:
    """Return a result that was changed behind its back."""
    result = ToolResult.text("fine")
    object.__setattr__(result, "content", None)
    return result


def promised(arguments: Any) -> ToolResult:
    """Break a promise."""
    return ToolResult.text("fine", data={"count": "many"})


def unbuildable(arguments: Any) -> ToolResult:
    """Put into the data what JSON cannot say."""
    return ToolResult.text("fine", data={"when": object()})


def choosy(arguments: Any) -> ToolResult:
    """Raise for a number that the schema lets in."""
    return ToolResult.text(str(10 // arguments["number"]))


def gullible(arguments: Any) -> ToolResult:
    """Take no text apart from plain ones."""
    if not arguments.get("text", "").isprintable():
        raise KeyError("character")
    return ToolResult.text("fine")


def shows(*artifacts: ToolArtifact) -> Callable[..., Any]:
    """Return a hook whose answer has artifacts."""
    return lambda arguments: ToolResult.text("fine", *artifacts)


RESULTS = (
    Mutant("examples-fit-schema", Plugin(fine), ("examples-succeed",), {"examples": [{"no": 1}]}),
    Mutant(
        "examples-succeed",
        Plugin(answers(ToolResult.error("There is none.", ErrorCode.NOT_FOUND))),
        options={"examples": [{}]},
    ),
    Mutant("returns-tool-result", Plugin(answers("text")), ("survives-hostile-values",)),
    Mutant("result-untampered", Plugin(lambda arguments: meddled())),
    Mutant(
        "never-raises",
        Plugin(
            choosy,
            parameters={
                "type": "object",
                "properties": {"number": {"type": "integer", "description": "A divisor."}},
                "required": ["number"],
            },
        ),
        ("survives-hostile-values",),
    ),
    Mutant("survives-hostile-values", Plugin(gullible, parameters=TEXT), ("never-raises",)),
    Mutant("never-exits", Plugin(raises(SystemExit(1)))),
    Mutant("never-exits", Plugin(raises(KeyboardInterrupt()))),
    Mutant("builds-valid-values", Plugin(unbuildable)),
    Mutant("no-contract-error", Plugin(raises(ToolError("No.", ErrorCode.CONTRACT_ERROR)))),
    Mutant(
        "output-schema-kept",
        Plugin(
            promised,
            output_schema={"type": "object", "properties": {"count": {"type": "integer"}}},
        ),
    ),
    Mutant(
        "data-within-budget", Plugin(lambda arguments: ToolResult.text("fine", data="x" * MANY))
    ),
    Mutant(
        "metadata-within-budget",
        Plugin(lambda arguments: ToolResult.text("fine", metadata={"x": "x" * MANY})),
    ),
    Mutant("artifacts-fit-shape", Plugin(shows(ToolArtifact("table", "Odd", {"columns": ["a"]})))),
    Mutant(
        "artifacts-within-budget",
        Plugin(shows(*[ToolArtifact.text("part", "x" * (MANY // 2))] * 2)),
    ),
    Mutant("content-within-budget", Plugin(lambda arguments: ToolResult.text("x" * MANY))),
    Mutant("content-clean", Plugin(lambda arguments: ToolResult.text("\x1b[31mred"))),
    Mutant("content-not-blank", Plugin(lambda arguments: ToolResult.text("  "))),
    Mutant("failure-says-why", Plugin(answers(ToolResult.error("x" * 2_100)))),
    Mutant("failure-says-why", Plugin(answers(ToolResult.error("")))),
    Mutant(
        "failure-without-foreign-text",
        Plugin(answers(ToolResult.error("[Errno 13] Permission denied: 'file'"))),
    ),
    Mutant("cells-in-content", Plugin(shows(ToolArtifact.table("Pay", ["sum"], [["4711"]])))),
    Mutant("cells-in-content", Plugin(shows(ToolArtifact.tree("Pay", [(0, "4711")])))),
    Mutant("cells-in-content", Plugin(shows(ToolArtifact.key_value("Pay", {"sum": 4711})))),
    Mutant("cells-in-content", Plugin(shows(ToolArtifact.code("pay.py", ["pay = 4711"])))),
)

# -- what it does ----------------------------------------------------------------------------------

STATE: list[int] = []


def observe() -> object:
    """Show what the mutants change."""
    return list(STATE)


def _asked(*options: str) -> ToolResult:
    words = [sys.executable, *options, "-c", "print(6 * 7)"]
    return ToolResult.text(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def asks_a_process(arguments: Any) -> ToolResult:
    """Ask an interpreter that sees this folder and this environment."""
    return _asked()


def asks_an_isolated_process(arguments: Any) -> ToolResult:
    """Ask an interpreter that sees neither."""
    return _asked("-I", "-B")


def names_a_process_as_another(arguments: Any) -> ToolResult:
    """Start another program under the name of an isolated interpreter."""
    words = [sys.executable, "-I", "-c", "print(6 * 7)"]
    done = subprocess.run(words, executable=shutil.which("true"), capture_output=True, check=True)
    return ToolResult.text(f"{done.returncode}")


isolated = Plugin(asks_an_isolated_process)


def writes_a_file(arguments: Any) -> ToolResult:
    """Leave something on the disk."""
    Path(os.environ["MUTANTS"], "written").write_text("x", "utf-8")
    return ToolResult.text("fine")


def counts(arguments: Any) -> ToolResult:
    """Change what is observed, each time."""
    STATE.append(1)
    return ToolResult.text("fine")


def prints(arguments: Any) -> ToolResult:
    """Print."""
    print("done")  # noqa: T201 - which is wrong
    return ToolResult.text("fine")


def moves(arguments: Any) -> ToolResult:
    """Change a variable of the process."""
    os.environ["MUTANT_WAS_HERE"] = "1"
    return ToolResult.text("fine")


def forks(arguments: Any) -> ToolResult:
    """Leave a thread behind, for longer than is allowed."""
    threading.Thread(target=time.sleep, args=(4,), daemon=True).start()
    return ToolResult.text("fine")


def raises_in_preview(arguments: Any) -> ToolResult:
    """Fail where an approver looks."""
    raise ValueError("no preview")


EFFECTS = (
    Mutant("read-only-writes-nothing", Plugin(writes_a_file)),
    Mutant("read-only-writes-nothing", Plugin(asks_a_process)),
    Mutant("read-only-writes-nothing", Plugin(names_a_process_as_another)),
    Mutant("read-only-changes-nothing", Plugin(counts), options={"observe": observe}),
    Mutant(
        "idempotent-twice-is-once",
        Plugin(counts, effect="idempotent_write", preview=fine),
        options={"observe": observe},
    ),
    Mutant(
        "preview-changes-nothing",
        Plugin(fine, effect="idempotent_write", preview=counts),
        ("idempotent-twice-is-once",),
        {"observe": observe},
    ),
    Mutant(
        "preview-answers",
        Plugin(fine, effect="idempotent_write", preview=raises_in_preview),
        options={"examples": [{}]},
    ),
    Mutant(
        "preview-answers",
        Plugin(fine, effect="idempotent_write", preview=answers("text")),
        options={"examples": [{}]},
    ),
    Mutant("prints-nothing", Plugin(prints)),
    Mutant("leaves-process-alone", Plugin(moves)),
    Mutant("leaves-no-thread", Plugin(forks)),
)

# -- how it waits, and what it depends on ----------------------------------------------------------


def deaf(arguments: Any) -> ToolResult:
    """Go on after the deadline, when it was called with one."""
    if threading.current_thread() is not threading.main_thread():
        time.sleep(4)
    return ToolResult.text("fine")


async def stubborn(arguments: Any) -> ToolResult:
    """Swallow the cancellation."""
    try:
        await asyncio.sleep(0.03)
    except asyncio.CancelledError:
        for _ in range(20):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.05)
    return ToolResult.text("fine")


async def blocking(arguments: Any) -> ToolResult:
    """Hold the loop."""
    time.sleep(0.2)  # noqa: ASYNC251 - which is wrong
    return ToolResult.text("fine")


def waiting(arguments: Any) -> ToolResult:
    """Wait, though it says that it does not."""
    time.sleep(0.06)
    return ToolResult.text("fine")


INSIDE: list[int] = []


def crowded(arguments: Any) -> ToolResult:
    """Answer by how many are inside."""
    INSIDE.append(1)
    time.sleep(0.005)
    answer = ToolResult.text(f"{len(INSIDE)} inside")
    INSIDE.pop()
    return answer


def here(arguments: Any) -> ToolResult:
    """Tell the local time of an instant."""
    return ToolResult.text(time.strftime("%H:%M", time.localtime(86_400)))


def worded(arguments: Any) -> ToolResult:
    """Tell the locale."""
    return ToolResult.text(f"in {locale.setlocale(locale.LC_ALL)}")


def threaded(arguments: Any) -> ToolResult:
    """Tell the thread."""
    inside = threading.current_thread() is threading.main_thread()
    return ToolResult.text(f"in the main thread: {inside}")


def counting_threads(arguments: Any) -> ToolResult:
    """Tell whether the main thread answers, as a number."""
    inside = threading.current_thread() is threading.main_thread()
    return ToolResult.text(f"{int(inside)} of 1")


measuring = Plugin(counting_threads, data_class="system_diagnostics", requires_admin=True)


def of_this_process(arguments: Any) -> ToolResult:
    """Tell the process."""
    return ToolResult.text(f"process {os.getpid()}")


class Connection:
    """Something that can be closed."""

    closed = False

    def close(self) -> None:
        """End it."""
        self.closed = True


KEPT: list[Connection] = []


def keeping(arguments: Any, context: Any) -> ToolResult:
    """Keep what belongs to one host in a global."""
    if not KEPT:
        KEPT.append(context.resource("connection", Connection))
    if KEPT[0].closed:
        raise ToolError("The connection is closed.", ErrorCode.UNAVAILABLE)
    return ToolResult.text("fine")


processed = Plugin(of_this_process)

TIMES = (
    Mutant("stops-at-deadline", Plugin(deaf)),
    Mutant("stops-when-cancelled", Plugin(stubborn)),
    Mutant("never-blocks-the-loop", Plugin(blocking)),
    Mutant("inline-never-waits", Plugin(waiting, inline=True)),
    Mutant("parallel-safe-holds", Plugin(crowded, parallel_safe=True)),
    Mutant("same-in-another-time-zone", Plugin(here)),
    Mutant("same-in-another-locale", Plugin(worded)),
    Mutant("sync-and-async-agree", Plugin(threaded)),
    Mutant(
        "sync-and-async-agree",
        Plugin(threaded, data_class="system_diagnostics", requires_admin=True),
    ),
    Mutant("sync-and-async-agree", Plugin(counting_threads)),
    Mutant("fresh-process-agrees", processed),
    Mutant("second-host-works", Plugin(keeping)),
)

# -- what it keeps to itself -----------------------------------------------------------------------


@attrs.frozen
class Settings:
    """Settings with a secret."""

    password: str = "unset"


def tells_environment(arguments: Any) -> ToolResult:
    """Tell a variable, in a channel that nobody looks at."""
    return ToolResult.text("fine", metadata={"key": os.environ.get("ACME_API_KEY", "")})


def tells_settings(arguments: Any, context: Any) -> ToolResult:
    """Tell a setting, in a failure."""
    return ToolResult.error(f"No login with {context.settings.password}.", "unavailable")


def raises_settings(arguments: Any, context: Any) -> ToolResult:
    """Raise with a setting in the text, and say nothing of it."""
    raise ToolError("No login.") from ValueError(f"login with {context.settings.password}")


raw = Plugin(
    tells_environment,
    data_class="secret_adjacent",
    requires_admin=True,
    enabled_by_default=False,
)

SECRETS = (
    Mutant("environment-secrets-stay", Plugin(tells_environment)),
    Mutant(
        "environment-secrets-stay",
        Plugin(tells_environment, data_class="secret_adjacent", requires_admin=True),
    ),
    Mutant(
        "environment-secrets-stay",
        Plugin(tells_environment, requires_admin=True, enabled_by_default=False),
    ),
    Mutant("settings-secrets-stay", Plugin(tells_settings, settings=Settings)),
    Mutant("exceptions-carry-no-secret", Plugin(raises_settings, settings=Settings)),
)

MUTANTS: tuple[Mutant, ...] = (*SPECS, *RESULTS, *EFFECTS, *TIMES, *SECRETS)

# -- modules: each breaks one check of entry point and import --------------------------------------

SOUND = '''\
"""A module that is a tool."""

from toolseam import ToolResult, ToolSpec, hookimpl

toolseam_api = "1"


@hookimpl
def tool_spec() -> ToolSpec:
    return ToolSpec(
        name="{name}",
        description="A tool made to be checked.",
        effect="read_only",
        data_class="public_content",
    )


@hookimpl
def execute(arguments: object) -> ToolResult:
    return ToolResult.text("fine")
'''

MODULES = {
    "entry-point-resolves": "import no_such_module\n" + SOUND,
    "entry-point-named-like-tool": SOUND.replace("{name}", "other"),
    "imports-alone": "import sys\nassert 'pytest' in sys.modules\n" + SOUND,
    "import-prints-nothing": "print('hello')\n" + SOUND,
    "import-starts-no-thread": (
        "import threading\nthreading.Thread(target=len, args=((),)).start()\n" + SOUND
    ),
    "import-opens-no-connection": (
        "import socket\nwith socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:\n"
        "    wire.connect(('127.0.0.1', 9))\n" + SOUND
    ),
    "import-writes-no-file": (
        "import os, pathlib\npathlib.Path(os.environ['MUTANTS'], 'made').write_text('x')\n" + SOUND
    ),
    "import-starts-no-process": "import subprocess\nsubprocess.run(['true'])\n" + SOUND,
    "import-within-budget": "import time\ntime.sleep(1.2)\n" + SOUND,
    "import-leaves-process-alone": "import os\nos.environ['MUTANT_WAS_HERE'] = '1'\n" + SOUND,
}
"""Source text by the slug that it breaks; an entry point names the module."""
