"""Metadata folders as installers leave them, without the code that belongs to them."""

from pathlib import Path


def write_dist(
    folder: Path, name: str, version: str = "1.0", points: str | bytes = "", *, egg: bool = False
) -> Path:
    """Write a `.dist-info` folder, or an `.egg-info` one as a source folder has it."""
    info = folder / (f"{name}.egg-info" if egg else f"{name}-{version}.dist-info")
    info.mkdir(parents=True)
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / ("PKG-INFO" if egg else "METADATA")).write_text(about)
    data = points if isinstance(points, bytes) else points.encode()
    (info / "entry_points.txt").write_bytes(data)
    return info


def tools(**targets: str) -> str:
    """Write an `entry_points.txt` that offers tools."""
    return "[toolseam.tools]\n" + "".join(f"{name} = {value}\n" for name, value in targets.items())
