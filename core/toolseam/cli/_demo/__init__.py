"""`toolseam demo`: a small workspace, and in it a read, refusals, a broken tool and a write.

Or, with `--tools`, one call of each builtin.
"""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    parser.add_argument(
        "--dir", metavar="DIR", help="where to make the workspace; must be empty or not there"
    )
    parser.add_argument(
        "--tools", action="store_true", help="call each of the builtin tools once, writers included"
    )
    parser.add_argument("--json", action="store_true", help="print the folder and what was shown")
    parser.epilog = """\
examples:
  toolseam demo
  toolseam demo --dir museum
  toolseam demo --tools

It writes into a folder of its own and nowhere else, and needs no network.
"""


def main(options: Namespace) -> int:
    """Make the workspace and play the scenes in it."""
    from toolseam._steps import step_json
    from toolseam.cli._demo._scenes import play
    from toolseam.cli._demo._transcript import transcript
    from toolseam.cli._demo._workspace import make_workspace
    from toolseam.cli._terminal import say_json

    folder = make_workspace(options.dir)
    shown = transcript if options.tools else play
    if not options.json:
        shown(folder)
        return 0
    with contextlib.redirect_stdout(io.StringIO()):
        steps = shown(folder)
    say_json({"folder": str(folder), "steps": [step_json(step) for step in steps]})
    return 0
