"""What the framework says to its log while something runs."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def logged() -> Iterator[list[str]]:
    """Give a list that each message of the framework's log is added to."""
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("toolseam")
    logger.addHandler(handler)
    try:
        yield messages
    finally:
        logger.removeHandler(handler)
