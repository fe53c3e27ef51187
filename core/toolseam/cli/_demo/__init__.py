"""`toolseam demo`: a small workspace, and in it a read, refusals, a broken tool and a write."""

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
    parser.add_argument("--json", action="store_true", help="print the folder and what was shown")
    parser.epilog = """\
examples:
  toolseam demo
  toolseam demo --dir museum

It writes into a folder of its own and nowhere else, and needs no network.
"""


def main(options: Namespace) -> int:
    """Make the workspace and play the scenes in it."""
    from toolseam._steps import step_json
    from toolseam.cli._demo._scenes import play
    from toolseam.cli._demo._workspace import make_workspace
    from toolseam.cli._terminal import say_json

    folder = make_workspace(options.dir)
    if not options.json:
        play(folder)
        return 0
    with contextlib.redirect_stdout(io.StringIO()):
        steps = play(folder)
    say_json({"folder": str(folder), "steps": [step_json(step) for step in steps]})
    return 0
