"""S3 over MCP: an MCP client has no second chance either, by any name, over either transport."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from support import mcp_http, mcp_twice
from support.mcp_server import Served, call, text_of
from toolseam_plugins.mcp import asgi

FIXED = "broke the result contract; it has run once and will not run again"


class Ask(Protocol):
    """Calls tools, all at once or one after the other."""

    def __call__(self, tools: list[str], *, at_once: bool = False) -> list[dict[str, Any]]:
        """Return the answers."""
        ...


def names(tool: str) -> list[str]:
    """Return six names of a tool, mixed."""
    first, second = mcp_twice.ALIASES[tool]
    return [tool, first, tool, second, first, tool]


@contextmanager
def over_stdio(counter: Path, *, broken: bool) -> Iterator[Ask]:
    """Serve in a process of its own."""
    program = (sys.executable, mcp_twice.__file__, counter)
    with Served(*(["broken"] if broken else []), program=program) as client:
        client.greet()

        def ask(tools: list[str], *, at_once: bool = False) -> list[dict[str, Any]]:
            asked = [call(number, tool) for number, tool in enumerate(tools, 1)]
            if not at_once:
                return [client.ask(each) for each in asked]
            client.send(*asked)
            return list(client.answers(len(asked)))

        yield ask


@contextmanager
def over_http(counter: Path, *, broken: bool) -> Iterator[Ask]:
    """Serve on loopback, in a thread."""
    with mcp_twice.host(counter) as host:
        if broken:
            mcp_twice.break_once(host)
        with mcp_http.serving(asgi(host, token=mcp_http.TOKEN, path="/mcp")) as place:
            session = mcp_http.opened(place)

            def one(number: int, tool: str) -> dict[str, Any]:
                answer = mcp_http.post(place, call(number, tool), mcp_session_id=session)
                assert answer.status == 200
                return answer.message

            def ask(tools: list[str], *, at_once: bool = False) -> list[dict[str, Any]]:
                with ThreadPoolExecutor(len(tools) if at_once else 1) as pool:
                    return list(pool.map(one, range(1, len(tools) + 1), tools))

            yield ask


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    """The file that the tools append to."""
    file = tmp_path / "counter"
    file.touch()
    return file


def code_of(answer: dict[str, Any]) -> str:
    """Return the code of a failure."""
    assert answer["result"]["isError"] is True
    code: str = answer["result"]["_meta"]["toolseam/code"]
    return code


@pytest.mark.parametrize("way", [over_stdio, over_http])
def test_what_writes_is_not_run_and_what_reads_runs_once(way: Any, counter: Path) -> None:
    """Six calls under three names: a client cannot approve a write, and has a read tried once."""
    with way(counter, broken=False) as ask:
        writes = ask(names("wipe"), at_once=True)
        assert counter.stat().st_size == 0
        reads = ask(names("peek"))

    assert counter.stat().st_size == 1
    assert [code_of(each) for each in writes] == ["approval_denied"] * 6
    assert [code_of(each) for each in reads] == ["contract_error"] * 6
    assert {text_of(each) for each in reads} == {f"Error (contract_error): peek {FIXED}"}


@pytest.mark.parametrize(("way", "at_once"), [(over_stdio, False), (over_http, True)])
def test_what_broke_elsewhere_stays_withdrawn(way: Any, at_once: bool, counter: Path) -> None:
    """A write that a person approved and that broke the contract is withdrawn for clients too."""
    with way(counter, broken=True) as ask:
        answers = ask(names("wipe"), at_once=at_once)

    assert counter.stat().st_size == 1
    assert [code_of(each) for each in answers] == ["contract_error"] * 6
    assert {text_of(each) for each in answers} == {f"Error (contract_error): wipe {FIXED}"}
