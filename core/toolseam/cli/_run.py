"""`toolseam run`: one call, made by the person at the keyboard as a local administrator."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from toolseam.cli._hints import after
from toolseam.cli._terminal import columns, complain, note, on_terminal, paint, safe, say, say_json
from toolseam.cli._watching import log, progress
from toolseam.cli._words import UsageError, arguments_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from toolseam import Actor, Host, Session, Step, ToolArtifact, ToolResult

    Arguments = str | bytes | dict[str, Any] | None

_MOST = 1_000_001  # one more than the seam takes, so that it refuses what is too long


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    parser.add_argument("name", metavar="NAME", help="a tool of `toolseam list`")
    parser.add_argument(
        "--arg",
        action="append",
        metavar="KEY=VALUE",
        help="one argument; JSON where the schema declares no text; repeat it for a list",
    )
    parser.add_argument("--json-args", metavar="JSON", help="all arguments as one JSON object")
    parser.add_argument("source", nargs="?", choices=["-"], help="- reads that JSON from stdin")
    parser.add_argument("--artifacts", action="store_true", help="show artifacts in a pipe too")
    parser.add_argument("--log", action="store_true", help="show the log: what a tool raised")
    parser.add_argument("--json", action="store_true", help="print one object, run-only parts too")
    parser.epilog = """\
examples:
  toolseam run list_tables
  toolseam run read_records --arg table=album --arg limit=3 --artifacts
  toolseam run read_records --json-args '{"table": "album", "where": {"artist_id": 90}}' --json
  echo '{"pattern": "def main"}' | toolseam run search_code -

exit codes: 0 success, 1 the tool failed, 2 usage or settings, 3 the tool broke the contract
"""


def main(options: Namespace) -> int:
    """Call the tool and print what came of it."""
    from toolseam import Host, Zone
    from toolseam.cli._person import person

    given = [options.arg is not None, options.json_args is not None, options.source is not None]
    if sum(given) > 1:
        complain("give arguments in one way: --arg, --json-args or -")
        return 2
    # Whoever calls another tool does not wait for servers.
    with Host.load(mounts="__" in options.name) as host:
        actor = person()
        session = host.session(actor=actor, zone=Zone.LOCAL)
        try:
            arguments = _arguments(host, options)
        except UsageError as error:
            complain(str(error))
            return 2
        # What a tool prints must not get into the answer that a program reads.
        with redirect_stdout(sys.stderr), progress(host), log(wanted=options.log):
            result = _call(host, session, actor, options.name, arguments)
        step = session.steps[-1]
        if options.json:
            say_json(as_json(result, step))
        else:
            _show(result, artifacts=options.artifacts)
        for hint in after(host, options.name, result):
            note(paint("hint: ", "yellow") if sys.stderr.isatty() else "hint: ", hint)
    return exit_code(result)


def exit_code(result: ToolResult) -> int:
    """Return 0 for success, 3 where the tool broke the contract, 1 for every other failure."""
    from toolseam import ErrorCode

    if result.failure is None:
        return 0
    return 3 if result.failure.code is ErrorCode.CONTRACT_ERROR else 1


def as_json(result: ToolResult, step: Step) -> dict[str, Any]:
    """Return a call as `run --json` prints it."""
    from toolseam._steps import step_json

    failure = result.failure
    return {
        "success": result.success,
        "content": result.content,
        "failure": None
        if failure is None
        else {
            "code": failure.code.value,
            "message": failure.message,
            "retriable": failure.retriable,
            "metadata": failure.metadata.value,
        },
        "data": None if result.data is None else result.data.value,
        "metadata": result.metadata.value,
        "artifacts": [artifact_json(artifact) for artifact in result.artifacts],
        "step": step_json(step),
    }


def artifact_json(artifact: ToolArtifact) -> dict[str, Any]:
    """Return one artifact as plain JSON."""
    return {"type": str(artifact.type), "label": artifact.label, "data": artifact.data.value}


def _arguments(host: Host, options: Namespace) -> Arguments:
    if options.source is not None:
        return sys.stdin.buffer.read(_MOST)
    if options.arg is None:
        text: str | None = options.json_args
        return text
    tool = host.tool(options.name)
    return arguments_of(options.arg, {} if tool is None else tool.spec.schema)


def _call(
    host: Host, session: Session, actor: Actor, name: str, arguments: Arguments
) -> ToolResult:
    tool = host.tool(name)
    if tool is None or not tool.requires_approval:
        return session.call(name, arguments)
    from toolseam.cli._consent import ask

    return session.call(name, arguments, approval=ask(host, session, actor, name, arguments))


def _show(result: ToolResult, *, artifacts: bool) -> None:
    if result.failure is not None:
        note(paint(result.content, "red") if sys.stderr.isatty() else safe(result.content))
        return
    say(result.content.removesuffix("\n"))
    if artifacts or on_terminal():
        for artifact in result.artifacts:
            show_artifact(artifact, columns() if on_terminal() else None)


def show_artifact(artifact: ToolArtifact, width: int | None) -> None:
    """Draw one artifact below the content."""
    from toolseam.cli._drawing import drawn

    say("\n", paint(artifact.label, "bold", "cyan"))
    say(drawn(artifact, width))
