"""`get_python_info`: the interpreter that the host runs on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from toolseam import DataClass, ToolContext, ToolResult, ToolSpec, hookimpl
from toolseam_builtin._answer import Answer, admin_spec
from toolseam_builtin._asked import asked
from toolseam_builtin.system._pairs import Fact, told
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPTIONAL = ("bz2", "ctypes", "curses", "lzma", "readline", "sqlite3", "ssl", "tkinter", "zlib")


@asked
class Arguments:
    """What `get_python_info` is asked: nothing."""


@hookimpl
def tool_spec() -> ToolSpec:
    """Describe the tool."""
    return admin_spec(
        "get_python_info",
        group="system",
        data_class=DataClass.SYSTEM_DIAGNOSTICS,
        parameters=Arguments,
        description=(
            "Show the Python that the host runs on: version, implementation, platform, flags,"
            " encodings, limits, and the import path with folders named relatively."
        ),
        settings=Workspace,
    )


@hookimpl
def execute(arguments: Arguments, context: ToolContext) -> ToolResult:  # noqa: ARG001 - the hook's form
    """Look at the running interpreter."""
    workspace: Workspace = context.settings
    answer = compose([*version(), *build(), *flags(), *encodings(), *places(str(workspace.place))])
    return ToolResult.text(
        answer.text, *answer.artifacts, data=answer.data, metadata=answer.metadata
    )


def compose(facts: list[Fact]) -> Answer:
    """Say the facts, and warn of what often surprises."""
    import platform  # no matter of a listing, here and below

    values = {fact.name: fact.value for fact in facts}
    warnings: list[str] = []
    if values.get("optimisation"):
        warnings.append("assert statements are left out (-O).")
    if values.get("encoding of files") not in {None, "utf-8"}:
        warnings.append("text files are not read as UTF-8 unless the program says so.")
    missing = values.get("modules that are missing")
    if missing:
        warnings.append("this Python was built without some modules of the standard library.")
    heading = f"{platform.python_implementation()} {platform.python_version()}"
    more = "{shown} facts are shown; the rest did not fit."
    return told("Python", facts, heading=heading, warnings=warnings, more=more)


def version() -> Iterator[Fact]:
    """Say what the interpreter is."""
    import os
    import platform
    import sysconfig

    yield Fact("version", sys.version)
    yield Fact("implementation", f"{sys.implementation.name} ({sys.implementation.cache_tag})")
    yield Fact("release", sys.version_info.releaselevel)
    # platform.platform() starts a process.
    system = os.uname()
    library = " ".join(platform.libc_ver()).strip()
    names = [sysconfig.get_platform(), f"{system.sysname} {system.release}", library]
    yield Fact("platform", ", ".join(name for name in names if name))
    bits = sys.maxsize.bit_length() + 1
    yield Fact("pointer size", f"{bits} bits", bits)


def build() -> Iterator[Fact]:
    """Say how it was built, and what its libraries are."""
    import platform
    from importlib.util import find_spec

    yield Fact("compiler", platform.python_compiler())
    enabled = getattr(sys, "_is_gil_enabled", lambda: True)()
    yield Fact("global lock", "on" if enabled else "off (free-threaded)", enabled)
    missing = [name for name in _OPTIONAL if find_spec(name) is None]
    yield Fact("modules that are missing", ", ".join(missing) or "none", missing)
    if "sqlite3" not in missing:
        from sqlite3 import sqlite_version

        yield Fact("SQLite", sqlite_version)
    if "ssl" not in missing:
        from ssl import OPENSSL_VERSION

        yield Fact("TLS", OPENSSL_VERSION)


def flags() -> Iterator[Fact]:
    """Say which flags are on, and the limits that a program meets."""
    names = [name for name in dir(sys.flags) if not name.startswith(("_", "n_"))]
    found = {name: getattr(sys.flags, name) for name in names}
    on = {name: value for name, value in found.items() if isinstance(value, int) and value}
    yield Fact("flags", ", ".join(f"{name}={int(on[name])}" for name in sorted(on)), on)
    level = sys.flags.optimize
    yield Fact("optimisation", str(level), level)
    yield Fact("recursion limit", f"{sys.getrecursionlimit():,} calls", sys.getrecursionlimit())
    digits = sys.get_int_max_str_digits()
    yield Fact("digits of an integer as text", f"{digits:,} at most" if digits else "any", digits)
    traced = sys.gettrace() is not None
    yield Fact("debugger or tracer", "active" if traced else "none", traced)


def encodings() -> Iterator[Fact]:
    """Say how text becomes bytes."""
    import codecs
    import locale

    for name, encoding in (
        ("encoding of file names", sys.getfilesystemencoding()),
        ("encoding of files", locale.getpreferredencoding(do_setlocale=False)),
        ("encoding of standard output", getattr(sys.stdout, "encoding", None)),
    ):
        known = codecs.lookup(encoding).name if encoding else "none"
        yield Fact(name, known, known)
    yield Fact("locale", ".".join(part or "C" for part in locale.getlocale()))


def places(workspace: str) -> Iterator[Fact]:
    """Say where it is and where it imports from, each folder by the nearest known one."""
    import sysconfig

    from toolseam_builtin.system._places import short_place

    own = sys.prefix != sys.base_prefix
    yield Fact("environment", "a virtual one" if own else "the Python itself", own)
    for name, path in (
        ("executable", sys.executable),
        ("prefix", sys.prefix),
        ("base", sys.base_prefix),
        ("standard library", sysconfig.get_path("stdlib")),
        ("packages", sysconfig.get_path("purelib")),
    ):
        yield Fact(name, short_place(path, workspace) if path else "unknown")
    for number, path in enumerate(sys.path):
        yield Fact(f"import path {number}", short_place(path, workspace))
