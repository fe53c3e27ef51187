"""Importing one plugin under guard: whatever its module does, the host goes on without it."""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import io
import os
import re
import sys
import threading
from typing import TYPE_CHECKING, Final

from toolseam._entrypoints import canonical, read_small
from toolseam._text import NAME_CHARACTERS, clean

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import TextIO

    from typing_extensions import Buffer

    from toolseam._entrypoints import Record

CONTRACT_WINDOW: Final = frozenset({"1"})
"""The contract versions that this host speaks; a plugin states its own as `toolseam_api`."""

_REQUIREMENT: Final = r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)"
_EXTRA: Final = r"""extra\s*==\s*["']([^"']+)["']"""


def load(record: Record) -> tuple[Record, object | None]:
    """Import the target of a record whose status is ``found``.

    The record that comes back is ``ready`` and stands with its plugin, a module or an object; or
    it is ``incompatible``, ``missing_extra`` or ``broken`` and there is no plugin. Hooks are not
    called and not looked at: the registry does that. What the import prints is dropped and
    counted. Of what it raises only the type's name is told, or a missing module's.

    Raises:
        KeyboardInterrupt: the person at the keyboard stopped it; nothing else gets out.
    """
    if record.status != "found":
        return record, None
    module, _, attribute = record.value.partition(":")
    with _quiet() as dropped:
        try:
            if elsewhere := _elsewhere(record, module):
                return record.with_status("broken", "module_elsewhere", elsewhere), None
            plugin: object = importlib.import_module(module)
            fault = _incompatible(record, plugin)
            for name in attribute.split(".") if attribute and fault is None else ():
                plugin = getattr(plugin, name)
            fault = fault or _incompatible(record, plugin)
        except KeyboardInterrupt:
            raise
        except ModuleNotFoundError as error:
            return _missing(record, module, error), None
        except BaseException as error:  # noqa: BLE001 - SystemExit at import is a broken plugin
            detail = f"{_short(type(error).__name__)} while importing {module}"
            return record.with_status("broken", "import_failed", detail), None
    if fault is not None:
        return fault, None
    printed = f"printed {dropped.count} bytes while being imported" if dropped.count else ""
    return record.with_status("ready", "", printed), plugin


class _Drop(io.BufferedIOBase):
    """Takes bytes, counts them and keeps none."""

    name = "<dropped>"

    def __init__(self) -> None:
        self.count = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer, /) -> int:
        size = memoryview(data).nbytes
        self.count += size
        return size


class _Muffled(io.TextIOWrapper):
    """Stands for stdout while a plugin is imported: a protocol or a pipe may live there.

    What the importing thread writes is dropped. Other threads keep stdout, and so does a plugin
    that held on to this object, once the import is over.
    """

    def __init__(self, before: TextIO) -> None:
        self.dropped = _Drop()
        super().__init__(self.dropped, "utf-8", "backslashreplace", write_through=True)
        self._before = before
        self._importer: int | None = threading.get_ident()

    def write(self, text: str, /) -> int:
        if threading.get_ident() == self._importer:
            return super().write(text)
        return self._before.write(text)

    def flush(self) -> None:
        if threading.get_ident() != self._importer:
            self._before.flush()

    def close(self) -> None:
        """Do nothing: stdout is not the plugin's to close, and closing would flush it."""

    def release(self) -> None:
        self._importer = None


@contextlib.contextmanager
def _quiet() -> Generator[_Drop]:
    muffled = _Muffled(sys.stdout)
    try:
        with contextlib.redirect_stdout(muffled):
            yield muffled.dropped
    finally:
        muffled.release()


def _incompatible(record: Record, plugin: object) -> Record | None:
    detail = contract_fault(plugin)
    if detail is None:
        return None
    return record.with_status("incompatible", "contract_version", detail)


def contract_fault(plugin: object) -> str | None:
    """Tell why a plugin's contract is not spoken here, from what it states; None: it is."""
    stated = getattr(plugin, "toolseam_api", "1")
    if isinstance(stated, str) and stated in CONTRACT_WINDOW:
        return None
    shown = _short(stated) if isinstance(stated, str) else type(stated).__name__
    known = ", ".join(sorted(CONTRACT_WINDOW))
    return f"speaks contract version {shown}; this host speaks {known}"


def _missing(record: Record, module: str, error: ModuleNotFoundError) -> Record:
    """Tell a missing extra, which can be installed, from a plugin that is broken."""
    name = error.name or ""
    if name and not (module + ".").startswith(name + "."):
        extra = _extra_of(record, name.partition(".")[0])
        if extra is not None:
            detail = f"needs {_short(name)}: pip install '{record.distribution}[{extra}]'"
            return record.with_status("missing_extra", extra, detail)
    detail = f"{type(error).__name__}: {_short(name)}"
    return record.with_status("broken", "import_failed", detail)


def _extra_of(record: Record, missing: str) -> str | None:
    """Find the extra of the record's distribution that brings a module.

    An extra named by the entry point itself is taken at its word. Else a requirement fits whose
    name is the module's, or holds it (PyYAML brings `yaml`, google-re2 brings `re2`).
    """
    if record.extras:
        return record.extras[0]
    wanted = canonical(missing)
    similar: list[str] = []
    for requirement in _requirements(record):
        name, extra = re.match(_REQUIREMENT, requirement), re.search(_EXTRA, requirement)
        if name and extra and canonical(name[1]) == wanted:
            return _short(extra[1])
        if name and extra and wanted in canonical(name[1]):
            similar.append(_short(extra[1]))
    return similar[0] if similar else None


def _requirements(record: Record) -> list[str]:
    import importlib_metadata  # five times the cost of a bare start

    if not record.folder:
        return []
    return list(importlib_metadata.Distribution.at(record.folder).requires or ())


def _elsewhere(record: Record, module: str) -> str | None:
    """Refuse a module that does not come from the distribution which was trusted.

    A distribution that records no file of the module's top package (an editable install) says
    nothing about it. Nothing is imported to find out. Builtins stand beside this very module.
    """
    if record.builtin or not record.folder:
        return None
    top = module.partition(".")[0]
    files = b"\n" + (read_small(os.path.join(record.folder, "RECORD")) or b"")
    if f"\n{top}/".encode() not in files and f"\n{top}.".encode() not in files:
        return None
    loaded = sys.modules.get(top)
    spec = importlib.machinery.PathFinder.find_spec(top) if loaded is None else loaded.__spec__
    if spec is None:
        return None
    places = list(spec.submodule_search_locations or ()) or [spec.origin or ""]
    if any(_stands_in(record.location, place) for place in places):
        return None
    return f"{top} would be imported from elsewhere than {record.distribution}"


def _stands_in(location: str, place: str) -> bool:
    # The first line spares a step to the disk for each folder on the way, twice a tool.
    return (os.path.dirname(place) == location and not os.path.islink(place)) or (
        os.path.dirname(os.path.realpath(place)) == os.path.realpath(location)
    )


def _short(name: str) -> str:
    return clean(name)[:NAME_CHARACTERS]
