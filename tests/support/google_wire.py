"""What Google's generateContent writes on the wire, as small as its SDK takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support.provider_recorder import as_events, as_json

if TYPE_CHECKING:
    from support.provider_recorder import Answer

    Part = dict[str, Any]

USAGE = {"promptTokenCount": 7, "candidatesTokenCount": 2, "thoughtsTokenCount": 1}


def text(said: str, **more: Any) -> Part:
    """Return a part with words."""
    return {"text": said, **more}


def called(name: str, arguments: Any, id_: str | None = None, **more: Any) -> Part:
    """Return a part that asks for a call."""
    named = {} if id_ is None else {"id": id_}
    return {"functionCall": {**named, "name": name, "args": arguments}, **more}


def content(*parts: Part, finish: str | None = "STOP", **more: Any) -> dict[str, Any]:
    """Return an answer of the API, or a piece of one, which has no `finish`."""
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": list(parts)}}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": "m", **more}


def answer(*parts: Part, **more: Any) -> Answer:
    """Answer in one piece."""
    return as_json(content(*parts, **more))


def chunks(*parts: Part, finish: str | None = "STOP", cut: bool = False) -> Answer:
    """Answer in a stream, a part in each piece; without `finish` the end is missing."""
    pieces = [content(part, finish=None) for part in parts]
    ends = [] if finish is None else [content(finish=finish)]
    return as_events([*pieces, *ends], cut=cut)
