"""Every kind of provider of our own, with what its maker's API writes on the wire."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs

from support import anthropic_wire, google_wire, openai_wire
from support.asking import provider_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.provider_recorder import Answer, Recorder

    Calls = tuple[tuple[str, str, str | None], ...]


@attrs.frozen
class Maker:
    """One kind.

    Args:
        kind: its name in settings.
        path: of the base URL.
        variable: which holds the key.
        header: which a key is sent in, and how.
        say: answers with words.
        call: answers with calls: name, JSON text of the arguments, and id of each.
        say_in_pieces: likewise, in a stream.
        call_in_pieces: likewise, in a stream.
        half: begins a stream that has no end, and may break the connection.
    """

    kind: str
    path: str
    variable: str
    header: tuple[str, str]
    say: Callable[[str], Answer]
    call: Callable[[Calls], Answer]
    say_in_pieces: Callable[[str], Answer]
    call_in_pieces: Callable[[Calls], Answer]
    half: Callable[[bool], Answer]

    def at(self, recorder: Recorder, **more: Any) -> Any:
        """Return a provider that asks the recorder."""
        return provider_at(recorder, self.kind, self.path, **more)


def _chat_pieces(calls: Calls) -> Answer:
    deltas = [
        {"index": place, "id": id_, "type": "function", "function": {"name": n, "arguments": text}}
        for place, (n, text, id_) in enumerate(calls)
    ]
    return openai_wire.chat_chunks({"tool_calls": deltas}, finish="tool_calls")


def _response_half(cut: bool) -> Answer:
    delta = {"type": "response.output_text.delta", "delta": "It ", "item_id": "m1"}
    more = {"output_index": 0, "content_index": 0, "logprobs": []}
    made: Answer = openai_wire.response_events({**delta, **more}, end=None, cut=cut)
    return made


def _blocks(calls: Calls, *, parsed: bool) -> list[dict[str, Any]]:
    return [
        anthropic_wire.called(name, json.loads(text) if parsed else text, id_)
        for name, text, id_ in calls
    ]


def _parts(calls: Calls) -> list[dict[str, Any]]:
    return [google_wire.called(name, json.loads(text), id_) for name, text, id_ in calls]


MAKERS = {
    maker.kind: maker
    for maker in (
        Maker(
            "openai",
            "/v1",
            "OPENAI_API_KEY",
            ("authorization", "Bearer {}"),
            openai_wire.chat,
            lambda calls: openai_wire.chat(calls=list(calls)),
            lambda said: openai_wire.chat_chunks({"content": said}),
            _chat_pieces,
            lambda cut: openai_wire.chat_chunks({"content": "It "}, finish=None, cut=cut),
        ),
        Maker(
            "openai_responses",
            "/v1",
            "OPENAI_API_KEY",
            ("authorization", "Bearer {}"),
            lambda said: openai_wire.responses(openai_wire.said(said)),
            lambda calls: openai_wire.responses(*(openai_wire.called(*each) for each in calls)),
            lambda said: openai_wire.response_events(
                end=openai_wire.response(openai_wire.said(said))
            ),
            lambda calls: openai_wire.response_events(
                end=openai_wire.response(*(openai_wire.called(*each) for each in calls))
            ),
            _response_half,
        ),
        Maker(
            "anthropic",
            "",
            "ANTHROPIC_API_KEY",
            ("authorization", "Bearer {}"),
            lambda said: anthropic_wire.answer(anthropic_wire.text(said)),
            lambda calls: anthropic_wire.answer(*_blocks(calls, parsed=True)),
            lambda said: anthropic_wire.events(anthropic_wire.text(said)),
            lambda calls: anthropic_wire.events(*_blocks(calls, parsed=False)),
            lambda cut: anthropic_wire.events(anthropic_wire.text("It "), ended=False, cut=cut),
        ),
        Maker(
            "google",
            "",
            "GEMINI_API_KEY",
            ("x-goog-api-key", "{}"),
            lambda said: google_wire.answer(google_wire.text(said)),
            lambda calls: google_wire.answer(*_parts(calls)),
            lambda said: google_wire.chunks(google_wire.text(said)),
            lambda calls: google_wire.chunks(*_parts(calls)),
            lambda cut: google_wire.chunks(google_wire.text("It "), finish=None, cut=cut),
        ),
    )
}
"""By kind."""
