"""The project's checks: `nox -t quick` before each commit, `nox -t full` as CI runs them."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

import nox

nox.needs_version = ">=2025.10"
nox.options.default_venv_backend = "uv"
nox.options.tags = ["quick"]
nox.options.stop_on_first_error = False

ROOT = Path(__file__).parent
PROJECT = nox.project.load_toml(ROOT / "pyproject.toml")
PYTHONS = ["3.11", "3.12", "3.13"]
SOURCES = ("core", "plugins", "builtin_tools", "tests", "benchmarks", "docs", "noxfile.py")
PACKAGES = ("toolseam", "toolseam_builtin", "toolseam_plugins")
WHEELS = ROOT / "dist"
AIMOCK = "@copilotkit/aimock@1.43.0"
MCP_PROGRAMS = (
    # The current release, and the one that holds what the revision 2026-07-28 requires.
    "@modelcontextprotocol/conformance@0.1.16",
    "conformance-next@npm:@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
)


# Where Python may keep no bytecode, each process that a test starts would compile all it imports.
COMPILED = ("--compile-bytecode",) if os.environ.get("PYTHONDONTWRITEBYTECODE") else ()

OUR_WORDS = tuple(
    f"tests/test_{name}.py" for name in ("benchmarks", "docs", "readme", "tree", "typing")
)

# What takes long and asks our own code, not the interpreter or a library: once, on the oldest.
LONG = (
    "tests/builtin_tools/test_conformance.py",
    "tests/plugins/conformance/test_matrix.py",
    "tests/plugins/durable",
    "tests/test_how_to_run.py",
)
# The command line says the same over an older library: on the oldest and the newest interpreter.
COMMANDS = ("tests/core/cli", "tests/distributions")
# By files in three processes: a part of the time is waiting, and what a file shares is made once.
SPREAD = ("-n", "3", "--dist", "loadfile")
# Property tests have had their many examples on the oldest interpreter.
AGAIN = "--hypothesis-profile=again"


def without(*paths: str) -> tuple[str, ...]:
    """Return what tells pytest to leave these files and folders out."""
    return tuple(f"--ignore={path}" for path in paths)


def groups(*names: str) -> tuple[str, ...]:
    """List the requirements of these dependency groups."""
    return nox.project.dependency_groups(PROJECT, *names)


def install_wheel(session: nox.Session, *more: str) -> None:
    """Install the wheel of the session `wheel` with every extra, and what else is named."""
    (wheel,) = WHEELS.glob("*.whl")
    session.install(f"toolseam[all] @ {wheel.as_uri()}", *more)


def run_tests(session: nox.Session, *more: str) -> None:
    """Run the test suite, or the part named after `--`, outside every source root."""
    session.run("python", "-m", "pytest", *SPREAD, *more, *session.posargs)


@nox.session(tags=["quick", "full"])
def wheel(session: nox.Session) -> None:
    """Build the wheel that all other sessions install, and look into it."""
    session.install("build", "hatchling", *groups("wheel"))
    for old in WHEELS.glob("toolseam-*"):
        old.unlink()
    session.run("python", "-m", "build", "--no-isolation", "--outdir", str(WHEELS))
    (built,) = WHEELS.glob("*.whl")
    session.run("check-wheel-contents", str(built))
    names = zipfile.ZipFile(built).namelist()
    roots = {name.split("/", 1)[0] for name in names if ".dist-info/" not in name}
    if roots != set(PACKAGES):
        session.error(f"the wheel should hold {PACKAGES}, it holds {sorted(roots)}")
    unmarked = [package for package in PACKAGES if f"{package}/py.typed" not in names]
    if unmarked:
        session.error(f"without py.typed: {unmarked}")
    strangers = [name for name in names if "test_" in name or "conftest" in name]
    if strangers:
        session.error(f"tests inside the wheel: {strangers}")


@nox.session(tags=["quick", "full"])
def lint(session: nox.Session) -> None:
    """Check style and format; ruff also asks every test for its docstring."""
    session.install(*groups("lint"))
    present = [path for path in SOURCES if (ROOT / path).exists()]
    session.run("ruff", "check", *present)
    session.run("ruff", "format", "--check", *present)


@nox.session(tags=["quick", "full"])
def typing(session: nox.Session) -> None:
    """Check the types, strictly, with both checkers."""
    session.install("--editable", ".[all]", *groups("typing"))
    present = [path for path in SOURCES if (ROOT / path).exists()]
    session.run("mypy", *present)
    session.run("pyright")
    session.run("pyright", "--project", "tests/typing")


@nox.session(tags=["quick"], requires=["wheel"])
def smoke(session: nox.Session) -> None:
    """Run the tests on the interpreter at hand, against the built wheel."""
    install_wheel(session, *COMPILED, *groups("test"))
    run_tests(session)


@nox.session(python=PYTHONS, tags=["full"], requires=["wheel"])
def tests(session: nox.Session) -> None:
    """Run the tests on every supported interpreter, against the built wheel.

    The oldest runs all. On the others what they say of our own texts and types would be the same;
    the mutants of the kit and the kills of durable runs are left to it too.
    """
    install_wheel(session, *COMPILED, *groups("test"))
    first = session.python == PYTHONS[0]
    run_tests(session, *(() if first else (AGAIN, *without(*LONG, *OUR_WORDS))))


@nox.session(python=PYTHONS[:2], tags=["full"], requires=["wheel"])
def lowest(session: nox.Session) -> None:
    """Run the tests with the oldest dependencies that we claim to work with.

    All but those that no other library's age can change. In CI it is the one run of the interpreter
    in the middle; the oldest and the newest have the newest dependencies.
    """
    # Named one by one, or they would count as the wheel's and not as direct.
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    ours = [
        *project["dependencies"],
        *(each for name in extras if name != "all" for each in extras[name]),
    ]
    install_wheel(session, *COMPILED, "--resolution", "lowest-direct", *ours, *groups("test"))
    run_tests(session, AGAIN, *without(*LONG, *OUR_WORDS, *COMMANDS))


@nox.session(tags=["full"], requires=["wheel"])
def second_opinion(session: nox.Session) -> None:
    """Ask programs that others wrote, which npm fetches.

    A mock of the providers' APIs, and for MCP its conformance suites, a client and three servers;
    what they ask of ours they ask of it on both majors of the SDK.
    """
    install_wheel(session, *groups("test", "mock"))
    place = Path(session.create_tmp()).resolve()
    quietly = ("--no-audit", "--no-fund", "--ignore-scripts")
    session.run("npm", "install", "--prefix", str(place), *quietly, AIMOCK, *MCP_PROGRAMS)
    (wheel,) = WHEELS.glob("*.whl")
    python, older = str(Path(session.bin) / "python"), str(place / "sdk1" / "bin" / "python")
    session.run("uv", "venv", "-q", "--clear", "-p", python, str(place / "sdk1"), external=True)
    ours = (f"toolseam[mcp] @ {wheel.as_uri()}", "mcp<2", "uvicorn")
    session.run("uv", "pip", "install", "-q", "-p", older, *ours, external=True)
    modules = place / "node_modules"
    programs = {
        "TOOLSEAM_AIMOCK": str(modules / ".bin" / "llmock"),
        "TOOLSEAM_NODE_MODULES": str(modules),
        "TOOLSEAM_MCP1_PYTHON": older,
        "TOOLSEAM_MCP2_PYTHON": python,
    }
    tests = ("python", "-m", "pytest", "tests/second_opinion", *SPREAD)
    session.run(*tests, *session.posargs, env=programs)


@nox.session(tags=["full"], requires=["wheel"])
def frameworks(session: nox.Session) -> None:
    """Run other frameworks' agents over our tools, each at its newest version."""
    install_wheel(session, *groups("test", "frameworks"))
    session.run("python", "-m", "pytest", "tests/frameworks", *SPREAD, *session.posargs)


@nox.session(python=PYTHONS[1], tags=["full"], requires=["wheel"])
def browser(session: nox.Session) -> None:
    """Look at the inspector's page in Chromium, which has to be on the machine."""
    install_wheel(session, *groups("test", "browser"))
    session.run("python", "-m", "pytest", "tests/browser", *session.posargs)


@nox.session(tags=["coverage"], requires=["wheel"])
def coverage(session: nox.Session) -> None:
    """Measure which lines and branches the tests reach."""
    install_wheel(session, *groups("test"))
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", *session.posargs)
    session.run("coverage", "combine", "-q")
    session.run("coverage", "report")


@nox.session(tags=["full"], requires=["wheel"])
def docs(session: nox.Session) -> None:
    """Build the documentation; a warning is an error. What real calls print is printed anew."""
    install_wheel(session, *groups("docs"))
    session.run("python", "-m", "docs.kills", "--check")
    session.run("sphinx-build", "-W", "--keep-going", "-q", "docs", "docs/_build/html")


@nox.session(tags=["benchmarks"], requires=["wheel"])
def benchmarks(session: nox.Session) -> None:
    """Measure the seam, cold start and discovery beside peers; prints a table and writes JSON."""
    install_wheel(session)
    session.run("python", "-m", "benchmarks", *session.posargs)


if __name__ == "__main__":
    sys.exit("run `nox -t quick` or `nox -t full`")
