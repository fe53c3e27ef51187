"""Builds wheels out of small projects with the standard library alone, in milliseconds."""

import base64
import hashlib
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

WHEEL = "Wheel-Version: 1.0\nGenerator: toolseam-tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel(project: Path, into: Path) -> Path:
    """Pack a pure-Python project as its pyproject.toml says.

    An `entry_points.txt` beside it stands in for what the project says, to make metadata that no
    build tool would write.
    """
    table = tomllib.loads((project / "pyproject.toml").read_text())
    about = table["project"]
    stem = f"{about['name'].replace('-', '_')}-{about['version']}"
    info = f"{stem}.dist-info"
    files = dict(sources(project, table["tool"]["hatch"]["build"]["targets"]["wheel"]))
    files[f"{info}/METADATA"] = metadata(about).encode()
    files[f"{info}/WHEEL"] = WHEEL.encode()
    own = project / "entry_points.txt"
    points = own.read_bytes() if own.exists() else entry_points(about).encode()
    if points:
        files[f"{info}/entry_points.txt"] = points
    files[f"{info}/RECORD"] = record(files, info)
    wheel = into / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return wheel


def sources(project: Path, target: Mapping[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Give the files that the project says belong into its wheel."""
    for name in target["only-include"]:
        yield name, (project / name).read_bytes()


def metadata(about: Mapping[str, Any]) -> str:
    """Write the core metadata of a project table."""
    lines = ["Metadata-Version: 2.4", f"Name: {about['name']}", f"Version: {about['version']}"]
    lines += [f"Requires-Dist: {name}" for name in about["dependencies"]]
    for extra, names in about.get("optional-dependencies", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {name}; extra == '{extra}'" for name in names]
    return "\n".join(lines) + "\n"


def entry_points(about: Mapping[str, Any]) -> str:
    """Write `entry_points.txt` of a project table."""
    return "\n".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in about.get("entry-points", {}).items()
    )


def record(files: Mapping[str, bytes], info: str) -> bytes:
    """List the files of a wheel with their digests."""
    rows = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}")
    return "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
