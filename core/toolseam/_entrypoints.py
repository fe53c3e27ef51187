"""The plain scan: which distributions on the path offer plugins, without importing any of them.

`toolseam list` waits for this module, so it imports `os`, `sys` and `site` only and opens one
small file a distribution. `importlib_metadata` is asked for zipped and other special entries.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as type checkers read it; importing `typing` doubles a bare start
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Final, Literal, TypeAlias

    Kind: TypeAlias = Literal["tool", "plugin"]
    Status: TypeAlias = Literal[
        "found",
        "disabled",
        "untrusted",
        "conflict",
        "bad_metadata",
        "ready",
        "incompatible",
        "missing_extra",
        "broken",
    ]

_MARK = b"[toolseam."
_LARGEST_FILE = 1 << 20
_USUAL_FILE = 1 << 15
_INFO = ("dist-info", "egg-info")
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_TOOL_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
_LONGEST_TOOL_NAME = 64


class Record:
    """One entry point: where it comes from, and what became of it.

    `kind` is ``tool`` (group `toolseam.tools`) or ``plugin`` (`toolseam.plugins`); `value` the
    target without extras (``module`` or ``module:object``), `extras` those it names; `location`
    the path entry, `folder` the metadata there (empty in an archive). `reason` is a slug,
    `detail` one sentence for people. Immutable: see `with_status`. A slotted class and no attrs
    one, since listing must not import attrs.
    """

    __slots__ = (
        "builtin",
        "detail",
        "distribution",
        "extras",
        "folder",
        "kind",
        "location",
        "name",
        "reason",
        "status",
        "value",
        "version",
    )

    def __init__(  # noqa: PLR0913 - a record is its fields
        self,
        *,
        kind: Kind,
        name: str,
        value: str,
        distribution: str,
        version: str,
        location: str,
        folder: str = "",
        status: Status = "found",
        reason: str = "",
        detail: str = "",
        builtin: bool = False,
        extras: tuple[str, ...] = (),
    ) -> None:
        self.kind: Final = kind
        self.name: Final = name
        self.value: Final = value
        self.distribution: Final = distribution
        self.version: Final = version
        self.location: Final = location
        self.folder: Final = folder
        self.status: Final = status
        self.reason: Final = reason
        self.detail: Final = detail
        self.builtin: Final = builtin
        self.extras: Final = extras

    def with_status(self, status: Status, reason: str = "", detail: str = "") -> Record:
        """Return the same entry point with another `status`, `reason` (slug) and `detail`."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        fields |= {"status": status, "reason": reason, "detail": detail}
        return Record(**fields)

    def __repr__(self) -> str:
        """Show what tells one record from another."""
        where = f"{self.distribution} {self.version}"
        return f"<Record {self.kind} {self.name!r} of {where}: {self.status}>"


class Shadowed:
    """A distribution with plugins that Python would not import: `kept` comes first on the path."""

    __slots__ = ("distribution", "kept", "location", "version")

    def __init__(self, distribution: str, version: str, location: str, kept: str) -> None:
        self.distribution: Final = distribution
        self.version: Final = version
        self.location: Final = location
        self.kept: Final = kept


class Scan:
    """All that one walk along the path found: `records` in path order, and the `shadowed`."""

    __slots__ = ("records", "shadowed")

    def __init__(self, records: tuple[Record, ...], shadowed: tuple[Shadowed, ...]) -> None:
        self.records: Final = records
        self.shadowed: Final = shadowed


class _Info:
    """One `*-info` folder, before anything in it is read (`text` is given for special entries)."""

    __slots__ = ("distribution", "folder", "location", "text", "version")

    def __init__(
        self, location: str, folder: str, distribution: str, version: str, text: bytes | None = None
    ) -> None:
        self.location: Final = location
        self.folder: Final = folder
        self.distribution: Final = distribution
        self.version: Final = version
        self.text: Final = text


def canonical(name: str) -> str:
    """Normalise the name of a distribution or entry point as PEP 503 does."""
    name = name.lower().replace("_", "-").replace(".", "-")
    while "--" in name:
        name = name.replace("--", "-")
    return name


def scan(
    path: Iterable[str] | None = None,
    *,
    folder: str | None = None,
    places: Collection[str] = (),
) -> Scan:
    """Walk `path` (default: `sys.path`) and return every entry point of our two groups.

    Args:
        path: path entries in import order.
        folder: the workspace; entries inside it, and relative ones, count only if they are site
            folders of this interpreter. What stands in others is ``untrusted_location``.
        places: absolute entries that the operator trusts although they are inside `folder`.
    """
    trusted: list[_Info] = []
    planted: list[_Info] = []
    walked: set[str] = set()
    allowed = {os.path.realpath(place) for place in (*places, *_site_folders())}
    inside = None if folder is None else (os.path.abspath(folder), os.path.realpath(folder))
    for entry in _texts(sys.path if path is None else path):
        real = os.path.realpath(entry)
        if real in walked:
            continue
        walked.add(real)
        counts = os.path.isabs(entry) and (
            real in allowed
            or inside is None
            or not (_within(os.path.abspath(entry), inside[0]) or _within(real, inside[1]))
        )
        (trusted if counts else planted).extend(_infos(entry or os.curdir))
    records: list[Record] = []
    shadowed: list[Shadowed] = []
    own = next(
        (info for info in trusted if info.distribution == "toolseam" and _is_own(info)), None
    )
    kept: dict[str, _Info] = {} if own is None else {"toolseam": own}
    for info in trusted:
        first = kept.setdefault(info.distribution, info)
        if first is info:
            records += _records(info, builtin=info is own)
        elif found := _records(info, builtin=False):
            version, there = found[0].version, first.location
            shadowed.append(Shadowed(info.distribution, version, info.location, there))
    for info in planted:
        records += [
            record.with_status("untrusted", "untrusted_location", f"found in {info.location}")
            for record in _records(info, builtin=False)
        ]
    return Scan(tuple(records), tuple(shadowed))


def safe_path(path: list[str], folder: str) -> list[str]:
    """Leave out the entries through which a workspace could put its modules before ours.

    Those are the relative ones and the ones inside `folder` that stand before the standard
    library (the current folder under `python -m`, `PYTHONPATH`); what a `.pth` file of a site
    folder added stands after it. Site folders and the root of the running toolseam stay.
    """
    library = os.path.dirname(getattr(os, "__file__", ""))
    first = path.index(library) if library in path else len(path)
    kept = {_own_root(), *map(os.path.realpath, _site_folders())}
    inside = os.path.realpath(folder)
    return [
        entry
        for index, entry in enumerate(path)
        if index >= first
        or (os.path.isabs(entry) and not _within(os.path.realpath(entry), inside))
        or os.path.realpath(entry) in kept
    ]


def _texts(path: Iterable[object]) -> Iterator[str]:
    """Leave out what the import system skips too: anybody may put anything on `sys.path`."""
    for entry in path:
        if isinstance(entry, str) and "\0" not in entry:
            yield entry


def _own_root() -> str:
    return os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def _site_folders() -> list[str]:
    """Name the interpreter's own site folders: a virtual environment may stand in the workspace."""
    site = sys.modules.get("site")
    ask = getattr(site, "getsitepackages", None)
    folders: list[str] = [] if ask is None else ask()
    user: str | None = getattr(site, "USER_SITE", None)
    return [*folders, user] if user and getattr(site, "ENABLE_USER_SITE", False) else folders


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _infos(entry: str) -> list[_Info]:
    """List the metadata folders of one path entry, in a stable order."""
    if entry.lower().endswith(".egg"):
        return _special(entry)
    found: list[_Info] = []
    try:
        with os.scandir(entry) as children:
            for child in children:
                stem, _, kind = child.name.rpartition(".")
                kind = kind.lower()
                if kind in _INFO:
                    distribution, _, version = stem.partition("-")
                    if kind == "egg-info":
                        version = version.partition("-")[0]
                    label = _shown(canonical(distribution))
                    found.append(_Info(entry, child.path, label, _shown(version)))
    except NotADirectoryError:
        return _special(entry)
    except OSError:
        return []
    found.sort(key=_folder_of)
    return found


def _folder_of(info: _Info) -> str:
    return info.folder


def _special(entry: str) -> list[_Info]:
    """Read a zip file or an egg through `importlib_metadata`, distribution by distribution."""
    # Five times the cost of a bare start.
    from importlib_metadata import distributions  # pyright: ignore[reportUnknownVariableType]

    found: list[_Info] = []
    for distribution in distributions(path=[entry]):
        try:
            name, version = distribution.metadata["Name"], distribution.version
            text = (distribution.read_text("entry_points.txt") or "").encode()
            found.append(_Info(entry, "", _shown(canonical(name)), _shown(version), text))
        except Exception:  # noqa: BLE001, S112 - metadata is anybody's: the others must be seen
            continue
    return found


def _is_own(info: _Info) -> bool:
    """Tell whether this is the distribution of the running toolseam: by location, never by name.

    An editable install keeps its metadata in a site folder and names the source root in a
    `.pth` file, which its RECORD lists.
    """
    root = _own_root()
    if os.path.realpath(info.location) == root:
        return True
    record = read_small(os.path.join(info.folder, "RECORD")) or b""
    for line in record.decode("utf-8", "replace").splitlines():
        name = line.partition(",")[0]
        if name.endswith(".pth") and os.sep not in name:
            text = (read_small(os.path.join(info.location, name)) or b"").decode("utf-8", "replace")
            if any(os.path.realpath(row) == root for row in text.splitlines() if row):
                return True
    return False


def read_small(file: str) -> bytes | None:
    """Read a small file; a pipe put in its place must not block the scan."""
    try:
        number = os.open(file, _FLAGS)
    except (OSError, ValueError):
        return None
    try:
        # Asked for at once, the room for the largest takes 20 times as long as a usual file.
        start = os.read(number, _USUAL_FILE)
        if len(start) < _USUAL_FILE:
            return start
        return start + os.read(number, _LARGEST_FILE + 1 - _USUAL_FILE)
    except OSError:
        return None
    finally:
        os.close(number)


def _records(info: _Info, *, builtin: bool) -> list[Record]:
    """Read the entry points of one distribution; what is wrong with it stays with it."""
    data = info.text if info.text is not None else read_small(info.folder + "/entry_points.txt")
    if data is None or _MARK not in data:
        return []
    version = info.version or _egg_version(info)
    try:
        return [
            _record(info, kind, name, value, version, builtin=builtin)
            for kind, name, value in _pairs(data)
        ]
    except ValueError as fault:
        return [_bad(info, "tool", "", version, str(fault))]


def _pairs(data: bytes) -> Iterator[tuple[Kind, str, str]]:
    if len(data) > _LARGEST_FILE:
        msg = "entry_points.txt is larger than 1 MiB"
        raise ValueError(msg)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        msg = "entry_points.txt is not UTF-8"
        raise ValueError(msg) from None
    kind: Kind | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if line.startswith("[") and line.endswith("]"):
            group = line.strip("[]")
            kind = _kind(group)
        elif kind is not None and line and not line.startswith("#"):
            name, equals, value = line.partition("=")
            if not equals or not name.strip() or not value.strip():
                msg = f"line {number} of entry_points.txt is not `name = module:object`"
                raise ValueError(msg)
            yield kind, name.strip(), value.strip()


def _kind(group: str) -> Kind | None:
    if group == "toolseam.tools":
        return "tool"
    return "plugin" if group == "toolseam.plugins" else None


def _record(
    info: _Info, kind: Kind, name: str, value: str, version: str, *, builtin: bool
) -> Record:
    if not _is_name(kind, name):
        return _bad(info, kind, name, version, "the entry point's name is no valid name")
    target, _, rest = value.partition("[")
    module, colon, attribute = (part.strip() for part in target.strip().partition(":"))
    if not _dotted(module) or (colon and not _dotted(attribute)) or (rest and rest[-1] != "]"):
        return _bad(info, kind, name, version, "the target is not `module` or `module:object`")
    extras = tuple(extra.strip() for extra in rest.rstrip("]").split(",") if extra.strip())
    return Record(
        kind=kind,
        name=name,
        value=module + colon + attribute,
        distribution=info.distribution,
        version=version,
        location=info.location,
        folder=info.folder,
        builtin=builtin,
        extras=extras,
    )


def _is_name(kind: Kind, name: str) -> bool:
    """Hold a tool to the pattern of contract §3, since both names must be equal."""
    if len(name) > _LONGEST_TOOL_NAME:
        return False
    if kind == "plugin":
        return name.isprintable()
    return "a" <= name[0] <= "z" and _TOOL_LETTERS.issuperset(name)


def _dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _bad(info: _Info, kind: Kind, name: str, version: str, detail: str) -> Record:
    return Record(
        kind=kind,
        name=_shown(name),
        value="",
        distribution=info.distribution,
        version=version,
        location=info.location,
        folder=info.folder,
        status="bad_metadata",
        reason="entry_points",
        detail=detail,
    )


def _shown(name: str) -> str:
    """Make a name that somebody else chose fit to be printed."""
    return (name if name.isprintable() else ascii(name)[1:-1])[:_LONGEST_TOOL_NAME]


def _egg_version(info: _Info) -> str:
    """Read the version that the name of an `.egg-info` folder leaves out."""
    text = (read_small(os.path.join(info.folder, "PKG-INFO")) or b"").decode("utf-8", "replace")
    for line in text.splitlines():
        if line.startswith("Version:"):
            return _shown(line[8:].strip())
    return ""
