"""Throwaway virtual environments that hold the test distributions and see the running toolseam."""

import ensurepip
import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from support.wheels import build_wheel

PROJECTS = Path(__file__).parent.parent / "distributions" / "projects"
# Installers refuse metadata that is malformed; somebody's copy of it is on the path all the same.
UNPACKED = ("mangled-pack", "noise-pack")
_KEPT = ("PATH", "HOME", "LANG", "HYPOTHESIS_STORAGE_DIRECTORY")


@attrs.frozen
class Environment:
    """A virtual environment and the folder in which its imports leave marks."""

    folder: Path
    marks: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def site(self) -> Path:
        """Its site folder."""
        name = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.folder / "lib" / name / "site-packages"

    def run(
        self,
        *arguments: str | Path,
        cwd: Path,
        config: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run its interpreter in `cwd`, with nothing of the caller's settings."""
        kept = {key: os.environ[key] for key in _KEPT if key in os.environ}
        return subprocess.run(
            [self.python, *arguments],
            cwd=cwd,
            env=kept
            | {"IMPORT_MARKS": str(self.marks), "XDG_CONFIG_HOME": str(config or cwd / "none")}
            | dict(environ or {}),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def marked(self) -> set[str]:
        """Name what was imported since the last look, and forget it."""
        found = set[str]()
        for file in self.marks.iterdir():
            found.add(file.name)
            file.unlink()
        return found


def make_environment(folder: Path, projects: Iterable[str]) -> Environment:
    """Make an environment with the named test projects installed by pip, from wheels."""
    venv.create(folder / "venv", symlinks=True, with_pip=False)
    environment = Environment(folder / "venv", folder / "marks")
    wheels = folder / "wheels"
    for made in (environment.marks, wheels):
        made.mkdir()
    here = sysconfig.get_path("purelib")
    (environment.site / "running.pth").write_text(f"import site; site.addsitedir({here!r})\n")
    installed: list[Path] = []
    for name in projects:
        wheel = build_wheel(PROJECTS / name, wheels)
        if name in UNPACKED:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(environment.site)
        else:
            installed.append(wheel)
    if installed:
        install(environment, *installed)
    return environment


def install(environment: Environment, *wheels: Path) -> None:
    """Let pip install wheels there, from files alone."""
    pip = next((Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"))
    words = ("install", "--quiet", "--no-index", "--no-deps", "--no-compile")
    done = subprocess.run(
        [environment.python, pip / "pip", *words, "--disable-pip-version-check", *wheels],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def probe(
    environment: Environment,
    *arguments: str,
    cwd: Path,
    config: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run `probe.py` there and give what it saw."""
    script = Path(__file__).parent / "probe.py"
    done = environment.run(script, *arguments, cwd=cwd, config=config, environ=environ)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen
