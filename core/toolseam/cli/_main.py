"""From the words of the command line to one command, and from its outcome to an exit code."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from importlib import import_module

from toolseam.cli._terminal import PROGRAM, columns, complain, forgiving, safe, say

TYPE_CHECKING = False  # as type checkers read it; importing `typing` doubles a bare start
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

USAGE = 2
_STOPPED = 130  # as a shell reports a command that Ctrl-C ended
_UNREAD = 141  # as a shell reports a command whose reader went away
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

COMMANDS = {
    "list": "every tool that is installed, with its status and the reason",
    "show": "one tool: what a provider is told of it, its policy and its origin",
    "run": "call a tool as a local administrator",
    "ask": "put a question to a model that may call the tools",
    "serve": "offer the tools to MCP clients, over standard streams or HTTP",
    "approve": "look at calls that wait for a person, and decide",
    "held": "look at runs whose writes nobody knows the effect of, and say what happened",
    "doctor": "check settings, plugins and workspace, and say what to do",
    "trust": "let a distribution load, or a workspace name connections",
    "mount": "what an MCP server of `[mounts]` offers, and the words that declare it",
    "new": "write a package with a tool and its tests",
    "check": "whether a tool keeps the contract, by named checks",
    "inspect": "a local page with tools, runs, calls and approvals",
    "audit": "what was stored of runs and calls: list, show, export, purge",
    "index": "build the full-text index of the workspace, or tell of it",
    "demo": "make a small workspace and show what the rest is about",
}
"""Each command stands in the module of its name: `options(parser)` and `main(options)`."""


class Layout(argparse.RawDescriptionHelpFormatter):
    """Lays help out as wide as everything else; left alone, argparse imports `shutil` to ask."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=columns() - 2)


class Parser(argparse.ArgumentParser):
    """Says what is wrong without an escape sequence of what it was given."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and what is wrong, and exit with 2."""
        self.print_usage(sys.stderr)
        self.exit(USAGE, safe(f"{self.prog}: {message}\n"))


def make_parser(words: Sequence[str]) -> Parser:
    """Build the parser; where the first of `words` is a command, for that one alone."""
    parser = Parser(
        prog=PROGRAM,
        description="Tools for language models: typed results, one seam, one way out.",
        epilog="`%(prog)s demo` shows what this is about in a folder of its own.",
        formatter_class=Layout,
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", prog=PROGRAM, parser_class=Parser
    )
    for name in words[:1] if words and words[0] in COMMANDS else COMMANDS:
        line = COMMANDS[name]
        own = commands.add_parser(
            name,
            help=line,
            description=f"{line[0].upper()}{line[1:]}.",
            formatter_class=Layout,
        )
        if name in words:
            import_module(f"toolseam.cli._{name}").options(own)
    return parser


def run(words: Sequence[str], left: Sequence[str] = ()) -> int:
    """Run the command that `words` name and return its exit code.

    Args:
        words: those of the command line.
        left: path entries that were dropped; `list` and `doctor` tell what lies there.
    """
    forgiving(sys.stdout, sys.stderr)
    try:
        code = _run(words, left)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _STOPPED
    except BrokenPipeError:
        _drop_output()
        return _UNREAD
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _drop_output()
        complain("the answer could not be written: no space is left there")
        return USAGE
    return code


def _drop_output() -> None:
    # What is left in the buffer would raise once more when the interpreter ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(words: Sequence[str], left: Sequence[str]) -> int:
    parser = make_parser(words)
    options = parser.parse_args(words)
    if options.version:
        return _version()
    if options.command is None:
        parser.print_help()
        return 0
    command = import_module(f"toolseam.cli._{options.command}")
    try:
        os.getcwd()  # noqa: PTH109 - `pathlib` costs a bare start
    except OSError:
        complain("the current folder cannot be read; it may have been deleted")
        return USAGE
    options.left = _trusted_again(left)
    try:
        code: int = command.main(options)
    except Exception as error:
        from toolseam._errors import ToolseamError  # imports enum: only when something is wrong

        if not isinstance(error, ToolseamError):
            raise
        complain(str(error))
        return USAGE
    return code


def _trusted_again(left: Sequence[str]) -> Sequence[str]:
    """Put the entries that the operator trusts back, behind all others; return the rest."""
    if not left:
        return left
    from toolseam._errors import ToolseamError
    from toolseam._selection import read_selection

    try:
        places = {os.path.realpath(place) for place in read_selection().places}
    except ToolseamError:  # which the command says itself
        return left
    named = [
        entry
        for entry in left
        if os.path.isabs(entry) and os.path.realpath(entry) in places  # noqa: PTH117 - `pathlib` costs a start
    ]
    sys.path.extend(named)
    return [entry for entry in left if entry not in named]


def _version() -> int:
    from importlib_metadata import version

    say(f"toolseam {version('toolseam')}")
    return 0
