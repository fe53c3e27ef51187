"""What the page sends, read; and what it is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from toolseam_plugins.inspector._gate import BODY_BYTES, Refused, too_large
from toolseam_plugins.inspector._json import dumps

if TYPE_CHECKING:
    from starlette.requests import Request

_DIGITS = 16
_NOT_ALLOWED = 405


async def body_of(request: Request) -> dict[str, Any]:
    """Return the JSON object that a request carries; raises `Refused`."""
    read, size = bytearray(), 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > 2 * BODY_BYTES:
                break  # a little more is passed over: who is cut off while sending reads no answer
            if size <= BODY_BYTES:
                read += part
    except ClientDisconnect:
        raise Refused(400, "invalid_arguments", "The body broke off.") from None
    if size > BODY_BYTES:
        raise too_large()
    try:
        found: Any = orjson.loads(read)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Refused(400, "invalid_arguments", "The body is not one JSON object.")
    return cast("dict[str, Any]", found)


def text_in(said: dict[str, Any], key: str, absent: str | None = None) -> str:
    """Return a member that is text; raises `Refused`."""
    found = said.get(key, absent)
    if not isinstance(found, str):
        raise Refused(400, "invalid_arguments", f"{key}: expected text.")
    return found


def number(word: str, least: int, most: int) -> int:
    """Read a whole number within bounds; raises `Refused`."""
    is_whole = word.isascii() and word.isdigit() and len(word) <= _DIGITS
    if not (is_whole and least <= int(word) <= most):
        raise Refused(400, "invalid_arguments", f"Expected a whole number from {least} to {most}.")
    return int(word)


def answer(found: object) -> Response:
    """Return it as JSON."""
    return Response(dumps(found), media_type="application/json")


async def _refusal(_: Request, refused: Exception) -> Response:
    found = cast("Refused", refused)
    return Response(found.body, found.status, media_type="application/json")


async def _http_failure(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    code = "method_not_allowed" if status == _NOT_ALLOWED else "not_found"
    return await _refusal(request, Refused(status, code, "There is nothing here for this."))


async def _failure(request: Request, _: Exception) -> Response:
    refused = Refused(500, "execution_error", "The inspector failed; its log says how.")
    return await _refusal(request, refused)


FAILURES: dict[Any, Any] = {Refused: _refusal, HTTPException: _http_failure, Exception: _failure}
"""How Starlette answers what is raised."""
