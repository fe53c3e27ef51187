import contextlib
import sys
import traceback
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam_builtin._logs._traceback import Frame, Raised, read_traceback

HEAD = "2025-05-06 07:00:01,004 ERROR depot.sync run failed\n"

GROUP = HEAD + (
    "  + Exception Group Traceback (most recent call last):\n"
    '  |   File "/srv/depot/sync.py", line 41, in run\n'
    '  |     raise ExceptionGroup("stock sync failed", errs)\n'
    "  | ExceptionGroup: stock sync failed (2 sub-exceptions)\n"
    "  +-+---------------- 1 ----------------\n"
    "    | Traceback (most recent call last):\n"
    '    |   File "/srv/depot/parse.py", line 12, in to_qty\n'
    "    |     return int(raw)\n"
    "    | ValueError: invalid literal for int() with base 10: 'x9'\n"
    "    +---------------- 2 ----------------\n"
    "    | ExceptionGroup: bins (1 sub-exception)\n"
    "    +-+---------------- 1 ----------------\n"
    "      | Traceback (most recent call last):\n"
    '      |   File "/srv/depot/bins.py", line 7, in look_up\n'
    "      |     return BINS[code]\n"
    "      | KeyError: 'A7'\n"
    "      +------------------------------------\n"
)
CHAIN = HEAD + (
    "Traceback (most recent call last):\n"
    '  File "/srv/depot/load.py", line 13, in price\n'
    '    return row["sku"]\n'
    "           ~~~^^^^^^^\n"
    "KeyError: 'sku'\n\n"
    "The above exception was the direct cause of the following exception:\n\n"
    "Traceback (most recent call last):\n"
    '  File "/srv/depot/load.py", line 30, in main\n'
    "    price({})\n"
    '  File "/srv/depot/load.py", line 15, in price\n'
    "    raise RuntimeError(msg) from exc\n"
    "RuntimeError: import stopped at row 17\n"
    "  hint: open stock.csv\n"
    "Error: 1 row left\n"
    "batch=2025-05\n"
)


def parsed(text: str) -> Raised:
    """Read the traceback of a record that has one."""
    found = read_traceback(text)
    assert found is not None
    return found[1]


def test_groups_are_read_through_their_margins() -> None:
    """Header, frames, and members of members are found behind the margins (P19)."""
    raised = parsed(GROUP)

    assert raised.type == "ExceptionGroup"
    assert raised.message == ("stock sync failed (2 sub-exceptions)",)
    first, second = raised.members
    assert (first.type, first.frames[0].file) == ("ValueError", "/srv/depot/parse.py")
    assert second.message == ("bins (1 sub-exception)",)
    assert second.members[0].frames == (
        Frame("/srv/depot/bins.py", 7, "look_up", "return BINS[code]"),
    )


def test_messages_of_many_lines_are_one() -> None:
    """A line of a message that looks like an exception is none, notes included (P20)."""
    raised = parsed(CHAIN)

    assert raised.type == "RuntimeError"
    assert raised.message == (
        "import stopped at row 17",
        "  hint: open stock.csv",
        "Error: 1 row left",
        "batch=2025-05",
    )
    assert [(each.type, each.relation) for each in raised.chain] == [
        ("RuntimeError", "cause"),
        ("KeyError", None),
    ]
    assert raised.frames[-1] == Frame(
        "/srv/depot/load.py", 15, "price", "raise RuntimeError(msg) from exc"
    )


def test_lines_before_the_traceback_are_told_apart() -> None:
    """What the logger was told comes before the traceback, be it several lines."""
    found = read_traceback(CHAIN.replace("run failed\n", "run failed\n  in step 3\n"))

    assert found is not None
    assert found[0] == [HEAD.rstrip(), "  in step 3"]


def test_repeated_frames_are_counted() -> None:
    """`[Previous line repeated ...]` belongs to the frame before it."""

    def again() -> None:
        again()

    with pytest.raises(RecursionError) as caught:
        again()
    raised = parsed(HEAD + "".join(traceback.format_exception(caught.value)))

    assert raised.type == "RecursionError"
    assert max(frame.repeated for frame in raised.frames) > 100


@pytest.mark.parametrize("source", ["x = (\n", "if True:\nx", "def f():\n\treturn 1 +\n"])
def test_syntax_errors_show_their_own_line(source: str) -> None:
    """The place of a syntax error is its last frame, the message stays whole."""
    with pytest.raises(SyntaxError) as caught:
        compile(source, "bad.py", "exec")
    raised = parsed(HEAD + "".join(traceback.format_exception(caught.value)))

    assert raised.type == type(caught.value).__name__
    assert raised.message == (caught.value.msg,)
    assert (raised.frames[-1].file, raised.frames[-1].line) == ("bad.py", caught.value.lineno)


@pytest.mark.parametrize(
    "text",
    [
        "Traceback (most recent call last):",
        'Traceback (most recent call last):\n  File "x.py", line 1, in f\n    f()',
        CHAIN[: CHAIN.index("RuntimeError: ")].rstrip(),
    ],
)
def test_a_traceback_that_is_cut_off_has_no_type(text: str) -> None:
    """Frames without their exception are kept, and no type is made up."""
    assert parsed(HEAD + text).type == ""


def test_large_groups_say_what_they_leave_out() -> None:
    """The traceback's own word on members that it does not print is kept."""
    group = ExceptionGroup("many", [ValueError(str(number)) for number in range(20)])
    raised = parsed(HEAD + shown(RuntimeError("x"), group))

    members = raised.chain[1].members
    assert [member.message for member in members] == [(str(number),) for number in range(15)]
    assert raised.chain[1].left_out == "and 5 more exceptions"


def test_deep_groups_end_where_cpython_ends_them() -> None:
    """Below the depth that CPython prints there is its note, and nothing fails."""
    error: Exception = ValueError("deep")
    for number in range(30):
        error = ExceptionGroup(str(number), [error])
    raised = parsed(HEAD + shown(RuntimeError("x"), error))

    depth = 0
    inner = raised.chain[1]
    while inner.members:
        depth, inner = depth + 1, inner.members[0]
    assert depth == 10
    assert inner.message == ("... (max_group_depth is 10)",)


def test_a_formatter_with_values_between_is_read() -> None:
    """Blank lines, arrows and values among the frames, as loguru writes them, hide nothing."""
    raised = parsed(
        HEAD + "Traceback (most recent call last):\n\n"
        '  File "a.py", line 12, in <module>\n    main()\n    └ <function main at 0x1>\n\n'
        '> File "a.py", line 9, in main\n    1 / zero\n        └ 0\n\n'
        "ZeroDivisionError: division by zero\n"
    )

    assert raised.type == "ZeroDivisionError"
    assert [frame.line for frame in raised.frames] == [12, 9]


def test_a_message_that_quotes_a_traceback_stays_a_message() -> None:
    """An exception that carries the output of a child process is the one that was raised."""
    child = "".join(traceback.format_exception(ValueError("inner")))
    raised = parsed(HEAD + shown(RuntimeError(f"child failed:\n{CHAIN[:200]}\n{child}"), None))

    assert raised.type == "RuntimeError"
    assert raised.message[0] == "child failed:"


@pytest.mark.parametrize("text", ["", "x", "no Traceback here", "x\n" * 100])
def test_other_text_has_no_traceback(text: str) -> None:
    """A record without a traceback gives none."""
    assert read_traceback(text) is None


class Outer:
    """Gives the class in it a longer name."""

    class InnerError(Exception):
        """A class whose name has a dot."""


def local_class() -> type[Exception]:
    """Return a class whose name has `<locals>` in it."""

    class LocalError(Exception):
        pass

    return LocalError


def shown(error: BaseException, cause: BaseException | None) -> str:
    """Raise an exception from another, and print it as the interpreter does."""
    error.__cause__ = cause
    with contextlib.suppress(BaseException):
        _raise_through(1, error)
    return "".join(traceback.format_exception(error))


CLASSES = [ValueError, KeyError, RuntimeError, KeyboardInterrupt, Outer.InnerError, local_class()]
LINES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=20)
MESSAGES = st.lists(LINES, max_size=4).map("\n".join)


def _nodes(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {
            "cls": st.sampled_from(CLASSES),
            "message": MESSAGES,
            "notes": st.lists(MESSAGES, max_size=2),
            "depth": st.integers(0, 3),
            "relation": st.sampled_from([None, "cause", "context"]),
            "earlier": children,
            "members": st.lists(children, max_size=3),
        }
    )


LEAF = _nodes(st.none()).map(lambda node: {**node, "relation": None, "members": []})
TREE = st.recursive(LEAF, _nodes, max_leaves=8)


def _raise_through(depth: int, error: BaseException) -> None:
    if depth > 1:
        _raise_through(depth - 1, error)
    raise error


def _made(node: dict[str, Any]) -> BaseException:
    """Make the exception that a node describes; with no depth it was never raised."""
    earlier = _made(node["earlier"]) if node["relation"] else None
    members = [_made(member) for member in node["members"]]
    error: BaseException
    if members:
        error = BaseExceptionGroup(node["message"].replace("\n", " "), members)
    else:
        error = node["cls"](node["message"])
    for note in node["notes"]:
        error.add_note(note)
    if node["relation"] == "cause":
        error.__cause__ = earlier
    elif node["relation"] == "context":
        error.__context__ = earlier
    if node["depth"]:
        with contextlib.suppress(BaseException):
            _raise_through(node["depth"], error)
    return error


def _expected(error: BaseException) -> Raised:
    """Say what a traceback tells, from the exception itself."""
    kind = type(error)
    name = kind.__qualname__
    if kind.__module__ not in {"builtins", "__main__"}:
        name = f"{kind.__module__}.{name}"
    said = str(error)
    lines = [*said.split("\n")] if said else []
    for note in getattr(error, "__notes__", []):
        lines += note.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    frames = tuple(
        Frame(each.filename, each.lineno or 0, each.name, (each.line or "").strip())
        for each in traceback.extract_tb(error.__traceback__)
    )
    earlier, relation = error.__cause__, "cause"
    if earlier is None and not error.__suppress_context__:
        earlier, relation = error.__context__, "context"
    members = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return Raised(
        name,
        tuple(lines),
        frames,
        None if earlier is None else _expected(earlier),
        None if earlier is None else relation,
        tuple(map(_expected, members)),
    )


@given(TREE)
def test_what_cpython_prints_is_read_back(node: dict[str, Any]) -> None:
    """Chains, groups, notes and messages of any lines come back as they were raised."""
    error = _made({**node, "depth": node["depth"] or 1})

    raised = parsed(HEAD + "".join(traceback.format_exception(error)))

    assert raised == _expected(error)


@given(st.lists(st.sampled_from((GROUP + CHAIN).split("\n")), max_size=30).map("\n".join))
def test_shuffled_lines_never_fail(text: str) -> None:
    """Whatever the order of the lines, something is read or nothing, and it ends."""
    read_traceback(text)


@given(st.integers(0, len(GROUP)), st.sampled_from([GROUP, CHAIN]))
def test_any_beginning_of_a_traceback_is_read(length: int, text: str) -> None:
    """A traceback that is cut off anywhere is read as far as it goes."""
    found = read_traceback(text[:length])

    assert found is None or found[1].type in text


def test_long_chains_are_read() -> None:
    """A chain of hundreds of links ends at its root cause."""
    error: BaseException = ValueError("0")
    for number in range(1, 400):
        following = RuntimeError(str(number))
        following.__cause__ = error
        error = following
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        text = shown(RuntimeError("last"), error)
    finally:
        sys.setrecursionlimit(limit)

    chain = parsed(HEAD + text).chain
    assert len(chain) == 401
    assert chain[-1].message == ("0",)
