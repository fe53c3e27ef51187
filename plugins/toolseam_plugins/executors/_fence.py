"""What a scheduler is told, so that no body is ever run a second time.

Dask computes a result again when the worker that held it dies before it was fetched, and when a
worker is retired in the middle of a task, whatever `allowed-failures` says. A body may have
changed the world by then. So where a task of ours was given to a worker and is taken back, what
is sent out in its place says that the body was lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dask._task_spec import Task
from distributed import SchedulerPlugin

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Scheduler

PREFIX = "toolseam-"
"""How the keys of our tasks begin."""


class BodyLostError(Exception):
    """A body was given to a worker, and nobody knows what became of it."""


class Fence(SchedulerPlugin):
    """Sees to it that what a worker was given goes to no other; one is enough a scheduler."""

    name = "toolseam-fence"
    idempotent = True
    _scheduler: Scheduler

    async def start(self, scheduler: Scheduler) -> None:
        """Remember whose tasks it looks at."""
        self._scheduler = scheduler

    def transition(self, key: Any, start: str, finish: str, *_: Any, **__: Any) -> None:  # noqa: ANN401
        """Put the news of its loss in the place of a body that was taken back."""
        if finish != "released" or start not in {"processing", "memory"}:
            return
        if isinstance(key, str) and key.startswith(PREFIX):
            self._scheduler.tasks[key].run_spec = Task(key, _say_so)


def run(call: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]) -> Any:  # noqa: ANN401
    """Make one call, on a worker."""
    function, arguments, words = call
    return function(*arguments, **words)


def _say_so() -> None:
    raise BodyLostError


def allowed_failures(dask_scheduler: Scheduler) -> int | None:
    """Return how often a task of this scheduler is begun again after its worker died."""
    return dask_scheduler.allowed_failures
