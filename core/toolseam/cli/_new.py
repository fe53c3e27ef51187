"""`toolseam new`: a third party's package with one tool, and tests that pass as written."""

from __future__ import annotations

import keyword
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from toolseam._entrypoints import canonical
from toolseam._errors import ToolseamError
from toolseam._spec import is_tool_name
from toolseam.cli._package import FILES
from toolseam.cli._records import look
from toolseam.cli._terminal import say, say_json

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_LONGEST = 64


class NameRefused(ToolseamError):
    """The package cannot have this name; the text says why, and nothing was written."""


@attrs.frozen
class Names:
    """What a package is called by installers, by Python, and by a model."""

    distribution: str
    module: str
    tool: str


def options(parser: ArgumentParser) -> None:
    """Describe the words of the command."""
    parser.add_argument("name", metavar="NAME", help="the distribution's name, such as acme-greet")
    parser.add_argument("--tool", metavar="NAME", help="the tool's name; by default NAME's end")
    parser.add_argument("--json", action="store_true", help="print the folder and its files")
    parser.epilog = """\
example:
  toolseam new acme-greet
  toolseam new acme-weather --tool forecast

It makes a folder of that name here, and never writes into one that is there.
"""


def main(options: Namespace) -> int:
    """Check the names, then write the package."""
    names = names_for(options.name, options.tool)
    folder = Path.cwd() / names.distribution
    written = write(names, folder)
    if options.json:
        say_json({"folder": str(folder), "files": written, **attrs.asdict(names)})
    else:
        _what_next(names, written)
    return 0


def names_for(name: str, tool: str | None = None) -> Names:
    """Return the names of a package that is to be called `name`.

    Raises `NameRefused` for what is no distribution's name, for a module or a tool that would
    stand in for one that is there.
    """
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise NameRefused(
            f"{ascii(name)[:_LONGEST]} is not the name of a distribution: letters, digits, and"
            " - _ . between them, at most 64"
        )
    distribution = canonical(name)
    module = distribution.replace("-", "_")
    if not module.isidentifier() or keyword.iskeyword(module):
        raise NameRefused(f"{distribution}: {module} cannot be the name of a Python module")
    if module in sys.stdlib_module_names or find_spec(module) is not None:
        raise NameRefused(
            f"{distribution}: there is a module {module} already; choose another name"
        )
    wanted = module.partition("_")[2] or module if tool is None else tool
    if not is_tool_name(wanted):
        raise NameRefused(
            f"{ascii(wanted)[:_LONGEST]} cannot be a tool's name, which is [a-z][a-z0-9_]{{0,63}};"
            " give one with --tool"
        )
    taken = [r for r in look(load=False).discovery.records if r.name == wanted]
    if taken:
        raise NameRefused(
            f"{taken[0].distribution} has a tool {wanted} already; give another name with --tool"
        )
    return Names(distribution, module, wanted)


def write(names: Names, folder: Path) -> list[str]:
    """Write the package into a new folder and return its files' names.

    Raises `NameRefused` if the folder is there, or cannot be made.
    """
    try:
        folder.mkdir()
    except FileExistsError:
        raise NameRefused(f"{folder} is there already, and is left as it is") from None
    except OSError as error:
        raise NameRefused(f"{folder} cannot be made: {type(error).__name__}") from None
    written: list[str] = []
    for name, text in FILES.items():
        file = folder / _filled(name, names)
        file.parent.mkdir(exist_ok=True)
        file.write_text(_filled(text, names), encoding="utf-8")
        written.append(str(file.relative_to(folder)))
    return written


def _filled(text: str, names: Names) -> str:
    for word, value in attrs.asdict(names).items():
        text = text.replace(f"<{word}>", value)
    return text


def _what_next(names: Names, written: list[str]) -> None:
    say(f"Wrote {names.distribution}/:")
    for name in written:
        say(f"  {name}")
    say(
        f"""
Next:
  cd {names.distribution}
  pip install -e '.[test]'
  pytest                                  its tests, through the whole seam, and the conformance kit
  toolseam check {names.distribution:<24} the kit alone: whether it keeps the contract
  toolseam trust {names.distribution:<24} your word: until then it is listed, never imported
  toolseam run {names.tool} --arg name=Ada"""
    )
