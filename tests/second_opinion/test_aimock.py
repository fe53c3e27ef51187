"""A whole run against a mock of the four APIs that others wrote: `nox -s second_opinion`."""

import asyncio
import json
import os
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from support.asking import TEXT, say
from support.tools import ADA, plugin
from toolseam import Host, ToolResult
from toolseam.providers import Delta, Endpoint, ProviderError, ProviderFault, Request, UserMessage
from toolseam.runs import Decision, Run
from toolseam_plugins.providers import KINDS, make

MOCK = "TOOLSEAM_AIMOCK"
"""The variable with the path of its command."""
LISTENING = "listening on "
CALLS = [{"name": name, "arguments": {"text": name}} for name in ("echo", "write")]
FIXTURES = [
    {"match": {"userMessage": "shelf", "turnIndex": 0}, "response": {"toolCalls": CALLS}},
    {"match": {"userMessage": "shelf", "turnIndex": 1}, "response": {"content": "Both are done."}},
    {
        "match": {"userMessage": "too often"},
        "response": {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429},
    },
]
PATHS = {
    "openai": ("/v1", "/v1/chat/completions"),
    "openai_responses": ("/v1", "/v1/responses"),
    "anthropic": ("", "/v1/messages"),
    "google": ("", "/v1beta/models/gemini-m:"),
}

# Gemini's own word is STOP; the SDK warns of words that it does not know.
pytestmark = pytest.mark.filterwarnings("ignore:FUNCTION_CALL is not a valid:UserWarning")


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of the mock, which ends with the module."""
    fixtures = tmp_path_factory.mktemp("aimock") / "fixtures.json"
    fixtures.write_text(json.dumps({"fixtures": FIXTURES}))
    command = (os.environ[MOCK], "--port", "0", "--strict", "-f", str(fixtures))
    # `node` may be a program that starts the real one; a session of their own ends them together.
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            assert process.stdout is not None
            lines = (line for line in process.stdout if LISTENING in line)
            yield next(lines).rpartition(LISTENING)[2].strip()
        finally:
            os.killpg(process.pid, signal.SIGTERM)


def provider_at(mock: str, kind: str) -> Any:
    """Return a provider that asks the mock, which knows Gemini's beta alone."""
    model, options = f"{kind}-m", {}
    if kind == "google":
        model, options = "gemini-m", {"api_version": "v1beta"}
    return make(Endpoint(kind, kind, model, base_url=mock + PATHS[kind][0], options=options))


def journal(mock: str) -> list[Any]:
    """Return all requests that the mock has heard."""
    with urllib.request.urlopen(f"{mock}/__aimock/journal") as answer:  # noqa: S310 - loopback
        heard: list[Any] = json.load(answer)
    return heard


async def run_of(host: Host, provider: Any, *, streaming: bool) -> Run:
    """Return a run up to its approval."""
    session = host.session(actor=ADA)
    if not streaming:
        return await session.arun(provider, "Tidy the shelf.")
    *_, run = [each async for each in session.astream(provider, "Tidy the shelf.")]
    assert isinstance(run, Run)
    return run


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_with_an_approval_in_the_middle(mock: str, kind: str, streaming: bool) -> None:
    """Two calls, of which one waits for a person; both are answered, and the mock goes on."""
    wrote: list[str] = []

    def write(arguments: Any) -> ToolResult:
        wrote.append(arguments["text"])
        return ToolResult.text("written")

    tools = [
        plugin(say, name="echo", parameters=TEXT),
        plugin(write, name="write", parameters=TEXT, effect="idempotent_write"),
    ]
    before = len(journal(mock))
    with Host(tools=tools, settings={"enable": ["write"]}) as host:
        run = asyncio.run(run_of(host, provider_at(mock, kind), streaming=streaming))
        assert (run.status, run.fault) == ("waiting_for_approval", None)
        waiting = [each for each in run.pending if each.needs_approval]
        decisions = [Decision.approve(each, actor=ADA) for each in waiting]
        ended = host.session(actor=ADA).resume(run.id, decisions, provider_at(mock, kind))

    assert len(waiting) == 1
    assert (ended.status, ended.answer, wrote) == ("completed", "Both are done.", ["write"])
    heard = journal(mock)[before:]
    assert [each["path"].startswith(PATHS[kind][1]) for each in heard] == [True, True]
    assert all(said in json.dumps(heard[1]["body"]) for said in ("said echo", "written"))


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_rate_limit_is_one(mock: str, kind: str, streaming: bool) -> None:
    """The mock's 429 is a `rate_limit` failure at every API, and is asked once."""
    provider = provider_at(mock, kind)
    request = Request((UserMessage("You are asked too often."),))
    before = len(journal(mock))

    async def ask() -> list[Delta | Any]:
        if streaming:
            return [piece async for piece in provider.stream(request)]
        return [await provider.complete(request)]

    with pytest.raises(ProviderError) as caught:
        asyncio.run(ask())

    assert caught.value.fault is ProviderFault.RATE_LIMIT
    assert len(journal(mock)) == before + 1
