"""The words of one connection to a server: requests and answers by number, bounded.

Not the SDK's session: there one tool with a null schema sinks the whole listing, nothing bounds an
answer, `isError: "no"` is read as true, redirects are followed with the credential, and its two
living majors have two APIs. A client without capabilities needs six messages.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import re
from typing import TYPE_CHECKING, Any, Protocol, cast

import attrs
import orjson

from toolseam.guards import one_line
from toolseam_plugins.otel import inject

if TYPE_CHECKING:
    from collections.abc import Callable

    Progress = Callable[[float, float | None, str], None]

MESSAGE_BYTES = 2_000_000
LIST_CHANGED = "notifications/tools/list_changed"
_CALL = "tools/call"
_MESSAGE = re.compile(rb"\s*(?:\{|\[\s*[\[{])")
_METHOD_NOT_FOUND = -32601
_ANSWERS = 200
_TEXT = 200
_MESSAGES = 100
_LEAVING_S = 0.5


class Lost(Exception):
    """No answer came, or none that can be read.

    Args:
        reason: the slug of the failure.
        text: for people; nothing of the server's.
        sent: the request may have reached the server.
    """

    def __init__(self, reason: str, text: str, *, sent: bool = True) -> None:
        super().__init__(text)
        self.reason = reason
        self.text = text
        self.sent = sent


class RemoteFault(Exception):
    """The server answered with an error of the protocol."""

    def __init__(self, code: int, message: str, data: object) -> None:
        super().__init__(code)
        self.code = code
        self.message = message
        self.data = data


class Transport(Protocol):
    """Carries messages to a server; what comes back goes to `Talk.receive`."""

    async def send(self, message: bytes, answered: Callable[[], bool] | None = None) -> None:
        """Send one message; `answered` is given with a request. Raises `Lost`."""

    async def close(self) -> None:
        """End the connection, and what was started for it."""


@attrs.define(eq=False)
class _Waiting:
    future: asyncio.Future[dict[str, Any]]
    progress: Progress | None
    task: asyncio.Task[Any]


class Talk:
    """One connection; its transport is given after it is made, and it lives in one event loop."""

    transport: Transport

    def __init__(self) -> None:
        self.changed = False
        self.lost: Lost | None = None
        self.refused: dict[str, int] = {}
        self._pending: dict[int, _Waiting] = {}
        self._numbers = itertools.count(1)
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(
        self, method: str, params: dict[str, Any], progress: Progress | None = None
    ) -> dict[str, Any]:
        """Send a request and return its result.

        A caller who goes away is said to the server as `notifications/cancelled`.

        Raises `Lost` or `RemoteFault`.
        """
        if self.lost is not None:
            raise Lost(self.lost.reason, self.lost.text, sent=False)
        number = next(self._numbers)
        meta: dict[str, Any] = dict(inject()) if method == _CALL else {}
        if progress is not None:
            meta["progressToken"] = number
        if meta:
            params = {**params, "_meta": meta}
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine of a loop
        waiting = _Waiting(asyncio.get_running_loop().create_future(), progress, task)
        self._pending[number] = waiting
        try:
            message = _message(method, params, number)
            await self.transport.send(message, waiting.future.done)
            return await waiting.future
        except asyncio.CancelledError:
            if method == _CALL:
                gone = {"requestId": number, "reason": "nobody waits for it"}
                self._begin(_message("notifications/cancelled", gone))
            raise
        finally:
            del self._pending[number]
            if waiting.future.done() and not waiting.future.cancelled():
                waiting.future.exception()  # it may have failed beside the transport

    async def tell(self, method: str) -> None:
        """Send a notification; raises `Lost`."""
        await self.transport.send(_message(method, {}))

    async def close(self) -> None:
        """End the connection; whoever waits is told."""
        self.end(Lost("connection_lost", "the connection was closed"))
        # Who is just being given up has yet to say so to the server.
        leaving = {each.task for each in self._pending.values()}
        if leaving:
            await asyncio.wait(leaving, timeout=_LEAVING_S)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1)
        for task in self._tasks:
            task.cancel()
        await self.transport.close()

    def end(self, lost: Lost) -> None:
        """Take note that nothing comes any more."""
        if self.lost is None:
            self.lost = lost
        self.fail(lost)

    def fail(self, lost: Lost) -> None:
        """Tell everybody who waits that an answer cannot be read: nobody knows whose it was."""
        for waiting in self._pending.values():
            if not waiting.future.done():
                waiting.future.set_exception(Lost(lost.reason, lost.text))

    def receive(self, raw: bytes) -> bool:
        """Take a message of the server; returns whether it was one that can be read."""
        if not _MESSAGE.match(raw):  # servers print logs to where they answer
            return False
        try:
            message = _read(raw)
        except (ValueError, RecursionError):
            self.fail(Lost("protocol", "an answer is no JSON that can be read"))
            return False
        several = cast("list[object]", message) if isinstance(message, list) else [message]
        for each in several[:_MESSAGES]:
            if isinstance(each, dict):
                self._take(cast("dict[str, Any]", each))
        return True

    def _take(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if not isinstance(method, str):
            self._answered(message)
        elif "id" in message:
            self._refuse(method, message["id"])
        elif method == LIST_CHANGED:
            self.changed = True
        elif method == "notifications/progress":
            self._progress(message.get("params"))

    def _answered(self, message: dict[str, Any]) -> None:
        number = message.get("id")
        waiting = self._pending.get(number) if type(number) is int else None
        if waiting is None or waiting.future.done():
            return
        result, error = message.get("result"), message.get("error")
        if isinstance(error, dict):
            waiting.future.set_exception(_fault(cast("dict[str, Any]", error)))
        elif error is None and isinstance(result, dict):
            waiting.future.set_result(cast("dict[str, Any]", result))
        else:
            waiting.future.set_exception(Lost("protocol", "an answer has neither result nor error"))

    def _refuse(self, method: str, number: object) -> None:
        """Answer a request of the server: it offers nothing but to be alive."""
        name = one_line(method, 40)
        if sum(self.refused.values()) >= _ANSWERS or type(number) not in {int, str}:
            return
        self.refused[name] = self.refused.get(name, 0) + 1
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": number}
        if method == "ping":
            answer["result"] = {}
        else:
            answer["error"] = {"code": _METHOD_NOT_FOUND, "message": "Method not found"}
        self._begin(orjson.dumps(answer))

    def _begin(self, message: bytes) -> None:
        """Send something that nobody waits for."""

        async def send() -> None:
            try:
                async with asyncio.timeout(1):
                    await self.transport.send(message)
            except (Lost, TimeoutError):
                pass

        task = asyncio.ensure_future(send())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _progress(self, params: object) -> None:
        said = cast("dict[str, Any]", params) if isinstance(params, dict) else {}
        token = said.get("progressToken")
        waiting = self._pending.get(token) if type(token) is int else None
        if waiting is None or waiting.progress is None:
            return
        done, total, text = _number(said.get("progress")), said.get("total"), said.get("message")
        if done is not None:
            total = _number(total)
            waiting.progress(done, total, one_line(text, _TEXT) if isinstance(text, str) else "")


def _message(method: str, params: dict[str, Any], number: int | None = None) -> bytes:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if number is not None:
        message["id"] = number
    if params:
        message["params"] = params
    return orjson.dumps(message)


def _read(raw: bytes) -> object:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        # Half a surrogate pair and bytes that are no UTF-8 are the server's to send, and the
        # seam's to mend.
        return json.loads(raw.decode("utf-8", "replace"), parse_constant=_no_constant)


def _no_constant(word: str) -> object:
    raise ValueError(word)


def _fault(error: dict[str, Any]) -> Exception:
    code, message = error.get("code"), error.get("message")
    if type(code) is not int or not isinstance(message, str):
        return Lost("protocol", "an error of the protocol has another shape than it should")
    return RemoteFault(code, message, error.get("data"))


def _number(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:  # more digits than a float has room for
        return None
