"""A server with tools that misbehave, as a process of its own, and the bytes that go in and out.

Run as a script it serves over standard streams; it ends when its standard input does.
"""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from support.commands import Running

WAIT_S = 60.0
CANARY = "CANARY-" + "7d21f0"


def host() -> Any:  # noqa: C901 - a tool for each way to misbehave
    """Return a host with the tools; imported late, after the streams were moved."""
    import asyncio

    from toolseam import Host, ToolArtifact, ToolContext, ToolResult, ToolSpec, hookimpl, tool

    public = {"effect": "read_only", "data_class": "public_content"}

    @tool(**public)
    def echo(text: str = "", count: int = 1) -> ToolResult:
        """Give the text back."""
        return ToolResult.text(text * count)

    @tool(**public)
    def full() -> ToolResult:
        """Answer on every channel."""
        return ToolResult.text(
            "plain",
            ToolArtifact.text("label", CANARY),
            data={"secret": CANARY},
            metadata={"note": CANARY},
        )

    class Typed:
        """Answers with data that fits a promise, or fails."""

        @hookimpl
        def tool_spec(self) -> ToolSpec:
            word, number = {"type": "string", "default": "fine"}, {"type": "integer", "default": 7}
            promised = {"word": {"type": "string"}, "number": {"type": "integer"}}
            return ToolSpec(
                name="typed",
                description="Give data.",
                parameters={"type": "object", "properties": {"word": word, "number": number}},
                output_schema={"type": "object", "properties": promised, "required": ["word"]},
                **public,
            )

        @hookimpl
        def execute(self, arguments: dict[str, Any]) -> ToolResult:
            if arguments["number"] < 0:
                return ToolResult.error("No negative numbers.", metadata={"note": CANARY})
            told = f"{arguments['word']} {arguments['number']}"
            return ToolResult.text(told, data=dict(arguments), metadata={"note": CANARY})

    @tool(**public)
    def prints() -> ToolResult:
        """Write a forged answer to every place that could be the client's, and read its side."""
        forged = b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":false}}\n'
        print(forged.decode(), end="", flush=True)  # noqa: T201 - what is tested
        os.write(1, forged)
        subprocess.run([sys.executable, "-c", f"import os; os.write(1, {forged!r})"], check=True)
        return ToolResult.text(f"read {os.read(0, 10)!r}")

    @tool(**public)
    def raises(kind: str) -> ToolResult:
        """Raise."""
        kinds = {"exit": SystemExit, "interrupt": KeyboardInterrupt, "value": ValueError}
        raise kinds[kind](CANARY)

    @tool(**public)
    async def raises_async(kind: str) -> ToolResult:
        """Raise in the loop."""
        kinds = {"exit": SystemExit, "interrupt": KeyboardInterrupt, "value": ValueError}
        raise kinds[kind](CANARY)

    @tool(**public)
    def surrogate() -> ToolResult:
        """Answer with half a surrogate pair."""
        return ToolResult.text("a\ud800b")

    @tool(**public)
    def large() -> ToolResult:
        """Answer with 5 MB."""
        return ToolResult.text("é" * 2_500_000)

    @tool(**public)
    def blank() -> ToolResult:
        """Answer with nothing."""
        return ToolResult.text(" \n")

    @tool(**public)
    def steps(context: ToolContext, count: int = 3) -> ToolResult:
        """Tell of progress."""
        for done in range(1, count + 1):
            context.progress(done, count, f"at {done}")
        return ToolResult.text("done")

    @tool(**public)
    def backwards(context: ToolContext, text: str) -> ToolResult:
        """Tell of progress that goes back and forth."""
        for done in (2, 1, 2, 3):
            context.progress(done, None, text)
        return ToolResult.text("done")

    @tool(**public)
    async def waits(seconds: float = 0.0) -> ToolResult:
        """Answer after a while."""
        await asyncio.sleep(seconds)
        return ToolResult.text("awaited")

    @tool(**public)
    def sleeps(seconds: float = 0.0) -> ToolResult:
        """Answer after a while, in a thread."""
        time.sleep(seconds)
        return ToolResult.text("slept")

    @tool(**public)
    def leaks() -> ToolResult:
        """Break the contract."""
        return CANARY  # type: ignore[return-value]

    @tool(effect="non_idempotent_write", data_class="public_content")
    def writes() -> ToolResult:
        """Write, if a person approves."""
        return ToolResult.text("written")

    @tool(**public)
    def dirty(context: ToolContext) -> ToolResult:
        """Fail with everything that a terminal obeys, and say so while at it."""
        evil = "\x1b]52;c;eA==\x07\u202e\U000e0041\ud800"
        context.progress(1, None, evil)
        return ToolResult.error(evil * 200_000)

    return Host(
        tools=[
            *(echo, full, Typed(), prints, raises, raises_async, surrogate, large, blank, steps),
            *(waits, sleeps, leaks, writes, dirty, backwards),
        ]
    )


def request(id_: object, method: str, **params: object) -> dict[str, object]:
    """Return a request."""
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def call(id_: object, tool: str, /, *, meta: object = None, **arguments: object) -> dict[str, Any]:
    """Return a request that calls a tool."""
    beside = {} if meta is None else {"_meta": meta}
    return request(id_, "tools/call", name=tool, arguments=arguments, **beside)


def given_up(id_: object) -> dict[str, Any]:
    """Return the word that a request is given up."""
    params = {"requestId": id_}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


HELLO = request(
    0,
    "initialize",
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "test", "version": "1"},
)
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Served:
    """A client of raw bytes and the server that it started.

    By default the server is this script, and `words` are the tools whose data it tells. One that
    runs already is given as `child`.
    """

    def __init__(
        self,
        *words: str,
        program: Sequence[str | Path] = (sys.executable, Path(__file__)),
        cwd: Path | None = None,
        environ: Mapping[str, str] | None = None,
        child: "subprocess.Popen[bytes] | Running | None" = None,
    ) -> None:
        self._child = child or subprocess.Popen(
            [*program, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=os.environ | dict(environ or {}),
        )
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._child.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.communicate()

    def greet(self) -> Self:
        """Begin a session."""
        self.send(HELLO)
        assert self.answer()["id"] == 0
        self.send(READY)
        return self

    def send(self, *messages: object) -> None:
        """Send messages, or raw bytes, one a line."""
        lines = [m if isinstance(m, bytes) else json.dumps(m).encode() for m in messages]
        assert self._child.stdin is not None
        self._child.stdin.write(b"".join(line + b"\n" for line in lines))
        self._child.stdin.flush()

    def line(self) -> bytes:
        """Return the next line that the server writes."""
        assert self._child.stdout is not None
        until = time.monotonic() + WAIT_S
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._child.stdout], [], [], until - time.monotonic())
            assert ready, "the server did not answer"
            read = os.read(self._child.stdout.fileno(), 1 << 20)
            assert read, "the server has ended"
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def said(self, words: bytes) -> bytes:
        """Return what stands on standard error once `words` do."""
        assert self._child.stderr is not None
        until, seen = time.monotonic() + WAIT_S, b""
        while words not in seen or not seen.endswith(b"\n"):
            ready, _, _ = select.select([self._child.stderr], [], [], until - time.monotonic())
            assert ready, seen
            read = os.read(self._child.stderr.fileno(), 1 << 16)
            assert read, seen
            seen += read
        return seen

    def answer(self) -> dict[str, Any]:
        """Return the next message."""
        message: dict[str, Any] = json.loads(self.line())
        return message

    def ask(self, message: object) -> dict[str, Any]:
        """Send a message and return what comes next."""
        self.send(message)
        return self.answer()

    def answers(self, count: int) -> Iterator[dict[str, Any]]:
        """Give the next messages."""
        for _ in range(count):
            yield self.answer()

    def end(self) -> tuple[int, bytes, bytes]:
        """Close the client's side; return the exit code and what came then on both streams."""
        out, err = self._child.communicate(timeout=WAIT_S)
        return self._child.wait(WAIT_S), self._rest + out, err

    def signal(self, number: int) -> None:
        """Send the server a signal."""
        self._child.send_signal(number)


def text_of(answer: dict[str, Any]) -> str:
    """Return the one text of a call's answer."""
    [block] = answer["result"]["content"]
    assert block["type"] == "text"
    assert block.keys() == {"type", "text"}
    text: str = block["text"]
    return text


def main() -> None:
    """Serve over standard streams."""
    from toolseam_plugins.mcp import claim_stdio, serve_stdio

    wires = claim_stdio()
    from toolseam import Actor

    with host() as served:
        serve_stdio(served, actor=Actor("client"), wires=wires, structured=sys.argv[1:])


if __name__ == "__main__":
    main()
