"""What the machine and this process are doing now, each reading a fact."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from toolseam_builtin._amounts import size_text, span_text
from toolseam_builtin.system._pairs import Fact

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEAST = 0.05
_BUSY = 2.0
_MOST_FILES = 0.9
_CGROUP = Path("/sys/fs/cgroup")
_UNLIMITED = 1 << 60


@attrs.define
class Readings:
    """Reads facts one after the other, and gathers what is alarming in them."""

    warnings: list[str] = attrs.field(factory=list[str])

    def load(self) -> Iterator[Fact]:
        """Say how busy the processors are."""
        count = _processors()
        yield Fact("processors", str(count), count)
        loads = [round(load, 2) for load in os.getloadavg()]
        yield Fact("load", ", ".join(f"{load:.2f}" for load in loads) + " (1, 5, 15 min)", loads)
        if loads[0] > _BUSY * count:
            self.warnings.append(f"{loads[0]:.1f} tasks want {count} processors.")

    def disk(self, name: str, place: Path) -> Iterator[Fact]:
        """Say what is left of the disk that a folder is on, in bytes and in files."""
        try:
            usage = shutil.disk_usage(place)
            counts = os.statvfs(place)
        except OSError:
            yield Fact(name, "cannot be read")
            return
        text = f"{size_text(usage.free)} of {size_text(usage.total)} free"
        value: dict[str, int] = {"free": usage.free, "total": usage.total}
        if usage.total and usage.free / usage.total < _LEAST:
            self.warnings.append(f"{name}: less than 5 % is free.")
        if counts.f_files:  # some file systems do not count
            text += f", room for {counts.f_favail:,} more files"
            value["files_free"] = counts.f_favail
            if counts.f_favail / counts.f_files < _LEAST:
                self.warnings.append(f"{name}: hardly a new file has room (inodes).")
        if counts.f_flag & os.ST_RDONLY:
            text += ", read-only"
        yield Fact(name, text, value)

    def memory(self, psutil: Any) -> Iterator[Fact]:  # noqa: ANN401 - a module
        """Say what is left of the memory, of the swap space and of the container's share."""
        memory = psutil.virtual_memory()
        text = f"{size_text(memory.available)} of {size_text(memory.total)} available"
        yield Fact("memory", text, {"available": memory.available, "total": memory.total})
        if memory.available / memory.total < _LEAST:
            self.warnings.append("memory: less than 5 % is available.")
        swap = psutil.swap_memory()
        used = f"{size_text(swap.used)} of {size_text(swap.total)} used" if swap.total else "none"
        yield Fact("swap", used, {"used": swap.used, "total": swap.total})
        limit, now = _number("memory.max"), _number("memory.current")
        if limit is not None and now is not None and limit < _UNLIMITED:
            text = f"{size_text(now)} of {size_text(limit)} used"
            yield Fact("memory of the container", text, {"used": now, "limit": limit})
            if now > (1 - _LEAST) * limit:
                self.warnings.append("memory of the container: nearly at its limit.")

    def process(self, psutil: Any) -> Iterator[Fact]:  # noqa: ANN401 - a module
        """Say what this process takes."""
        import resource

        me = psutil.Process()
        with me.oneshot():
            age = time.time() - me.create_time()
            taken, threads, files = me.memory_info().rss, me.num_threads(), me.num_fds()
            times = me.cpu_times()
        yield Fact("process", f"number {me.pid}, running for {span_text(age)}", me.pid)
        yield Fact("memory of the process", size_text(taken), taken)
        used = times.user + times.system
        yield Fact("processor time of the process", span_text(used), round(used, 1))
        yield Fact("threads of the process", str(threads), threads)
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        limited = most not in {resource.RLIM_INFINITY, 0}
        of = f" of at most {most:,}" if limited else ""
        yield Fact("open files of the process", f"{files:,}{of}", files)
        if limited and files > _MOST_FILES * most:
            self.warnings.append("the process may hardly open another file.")


def uptime(psutil: Any) -> Iterator[Fact]:  # noqa: ANN401 - a module
    """Say for how long the machine has been up."""
    seconds = max(0.0, time.time() - psutil.boot_time())
    yield Fact("up for", span_text(seconds), round(seconds))


def _processors() -> int:
    """Count the processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _number(name: str) -> int | None:
    """Read a number of the container's own control group; "max" is none."""
    try:
        return int((_CGROUP / name).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
