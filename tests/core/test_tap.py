import asyncio

import pytest

from support.tools import Counted, CountedAsync, fine, plugin
from toolseam import Actor, Host, ToolResult
from toolseam.testing import breach, tap


def test_the_raw_return_is_heard() -> None:
    """What a hook gives is heard as it is, though the seam makes something else of it."""
    with Host(tools=[plugin(lambda arguments: "text")]) as host, tap(host, "probe") as heard:
        result = host.call("probe", actor=Actor.system)

    assert [each.value for each in heard] == ["text"]
    assert result.failure is not None


def test_what_is_raised_is_heard() -> None:
    """An exception is heard as itself."""
    error = ValueError("no")

    def fail(arguments: object) -> ToolResult:
        raise error

    with Host(tools=[plugin(fail)]) as host, tap(host, "probe") as heard:
        host.call("probe", actor=Actor.system)

    assert [each.error for each in heard] == [error]


@pytest.mark.parametrize("awaited", [False, True])
def test_an_async_tool_is_heard_awaited(awaited: bool) -> None:
    """What is heard of an async tool is its value, not its coroutine."""
    with Host(tools=[CountedAsync(fine)]) as host, tap(host, "probe") as heard:
        if awaited:
            asyncio.run(host.acall("probe", actor=Actor.system))
        else:
            host.call("probe", actor=Actor.system)

    assert [each.value.content for each in heard] == ["fine"]


def test_an_async_tool_that_raises_is_heard() -> None:
    """An exception of an async tool is heard as itself."""

    async def fail(arguments: object) -> ToolResult:
        raise LookupError

    with Host(tools=[plugin(fail)]) as host, tap(host, "probe") as heard:
        host.call("probe", actor=Actor.system)

    assert [type(each.error) for each in heard] == [LookupError]


def test_listening_ends_with_the_block() -> None:
    """After the block nothing is heard, and the tool is called as before."""
    counted = Counted(fine)
    with Host(tools=[counted]) as host:
        with tap(host, "probe") as heard:
            host.call("probe", actor=Actor.system)
        host.call("probe", actor=Actor.system)

    assert (len(heard), counted.count) == (1, 2)


def test_a_breach_is_named() -> None:
    """A value that is no sound result is told by path and reason, a sound one by nothing."""
    with Host(tools=[Counted(fine)]) as host:
        assert breach(host, "probe", fine()) is None
        assert breach(host, "probe", "text") == ("$", "str, expected ToolResult")


def test_an_unknown_name_is_refused() -> None:
    """Only a tool of the host can be listened to or judged by."""
    with Host() as host:
        with pytest.raises(LookupError), tap(host, "missing"):
            pass
        with pytest.raises(LookupError):
            breach(host, "missing", None)
