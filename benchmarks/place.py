"""A throwaway environment as an operator has it: toolseam installed, 46 tools, 100 other packages.

Copied from the running interpreter, so nothing is fetched, and compiled, as installers leave it.
"""

from __future__ import annotations

import compileall
import os
import re
import shutil
import sys
import venv
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

import attrs

from benchmarks.subject import TOOLS

OTHERS = 100
_PACKAGES = ("toolseam", "toolseam_builtin", "toolseam_plugins")
_TOOL = '''"""One of many tools."""

import attrs

from toolseam import ToolResult, ToolSpec, hookimpl


@attrs.frozen
class Arguments:
    """What it takes."""

    query: str
    path: str
    limit: int = 10


@hookimpl
def tool_spec() -> ToolSpec:
    """Say what the tool is."""
    return ToolSpec(
        name="{name}",
        description="Search files.",
        parameters=Arguments,
        effect="read_only",
        data_class="public_content",
    )


@hookimpl
def execute(arguments: Arguments) -> ToolResult:
    """Answer."""
    return ToolResult.text(arguments.query)
'''
_SCRIPT = "import sys\nfrom toolseam.cli import main\nsys.exit(main())\n"
_METADATA = """Metadata-Version: 2.1
Name: {name}
Version: {version}
Requires-Dist: other (>=1)

{text}
"""


@attrs.frozen
class Place:
    """The environment: its interpreter, the console script, an empty workspace, the settings."""

    folder: Path

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self.folder / "venv" / "bin" / "python"

    @property
    def script(self) -> Path:
        """The console script."""
        return self.folder / "venv" / "bin" / "toolseam"

    @property
    def workspace(self) -> Path:
        """An empty folder to stand in."""
        return self.folder / "workspace"

    @property
    def environ(self) -> dict[str, str]:
        """The variables of its processes, where byte code may be read and kept."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        return kept | {"XDG_CONFIG_HOME": str(self.folder / "config")}


def make_place(folder: Path) -> Place:
    """Build the environment in an empty folder."""
    place = Place(folder)
    venv.create(folder / "venv", symlinks=True, with_pip=False)
    site = folder / "venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    builtin = _copy_toolseam(site)
    for needed in _needed("toolseam"):
        _copy_distribution(needed, site)
    names = [f"bench_{number}" for number in range(TOOLS - builtin)]
    for name in names:
        module = site / "toolset" / f"{name}.py"
        module.parent.mkdir(exist_ok=True)
        module.write_text(_TOOL.format(name=name))
    settings = folder / "config" / "toolseam" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"trust = {['toolset'] if names else []}\n")
    if names:
        targets = "".join(f"{name} = toolset.{name}\n" for name in names)
        write_distribution(site, "toolset", f"[toolseam.tools]\n{targets}")
    write_others(site, OTHERS)
    place.script.write_text(_SCRIPT)
    place.workspace.mkdir()
    compileall.compile_dir(site, quiet=2)
    return place


def write_others(site: Path, count: int) -> None:
    """Write the metadata of packages that have nothing to do with us."""
    groups = ("console_scripts", "pytest11", "distutils.commands", "flask.commands")
    for number in range(count):
        name = f"other-{number}"
        points = "".join(
            f"[{group}]\ncommand_{number} = other_{number}.module:function\n\n"
            for group in groups[: 1 + number % len(groups)]
        )
        write_distribution(site, name, points, lines=30 + number * 7 % 60)


def write_distribution(site: Path, name: str, points: str, lines: int = 30) -> None:
    """Write one package's metadata as an installer leaves it."""
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    text = "A line as long as such lines usually are, of what the package is good for.\n" * lines
    (info / "METADATA").write_text(_METADATA.format(name=name, version="1.0", text=text))
    (info / "RECORD").write_text(f"{name}/module.py,sha256={'0' * 43},1234\n" * 20)
    (info / "WHEEL").write_text("Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
    (info / "INSTALLER").write_text("pip\n")
    (info / "entry_points.txt").write_text(points)


def _copy_toolseam(site: Path) -> int:
    """Copy our packages, wherever they come from, and return how many tools they hold."""
    for package in _PACKAGES:
        spec = find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            (found,) = spec.submodule_search_locations
            unwanted = shutil.ignore_patterns("__pycache__")
            shutil.copytree(found, site / package, ignore=unwanted)
    points = distribution("toolseam").read_text("entry_points.txt") or ""
    write_distribution(site, "toolseam", points)
    return points.partition("[toolseam.tools]")[2].partition("[")[0].count("=")


def _needed(name: str) -> dict[str, Distribution]:
    """Return what a distribution needs without its extras, and what those need."""
    found: dict[str, Distribution] = {}
    waiting = [name]
    while waiting:
        for line in distribution(waiting.pop()).requires or ():
            match = re.match(r"[\w.-]+", line)
            if match is None or "extra ==" in line or match[0] in found:
                continue
            try:
                found[match[0]] = distribution(match[0])
            except PackageNotFoundError:  # for another version of Python
                continue
            waiting.append(match[0])
    return found


def _copy_distribution(needed: str, site: Path) -> None:
    for file in distribution(needed).files or ():
        source = Path(str(file.locate()))
        if ".." not in file.parts and "__pycache__" not in file.parts and source.exists():
            target = site / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
