"""A link that changes its target all the while."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path


@contextmanager
def flipping(link: Path, *targets: str) -> Iterator[None]:
    """Let a link stand for one target after the other, as fast as it goes."""
    done = threading.Event()
    fresh = link.with_name("next")

    def flip() -> None:
        for target in cycle(targets):
            if done.is_set():
                return
            fresh.symlink_to(target)
            fresh.replace(link)

    flipper = threading.Thread(target=flip)
    flipper.start()
    try:
        yield
    finally:
        done.set()
        flipper.join()
