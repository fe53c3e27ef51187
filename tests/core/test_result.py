"""ToolResult and ToolError: what a call gave, and why it failed (contract §1)."""

import contextlib
import copy
import math
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import attrs
import pytest

from toolseam import (
    CommandResult,
    ContractViolation,
    ErrorCode,
    RunOnly,
    ToolArtifact,
    ToolError,
    ToolResult,
)
from toolseam._result import copy_error, failed, omitted, refusal

CANARY = "canary-4711"
TOO_LARGE = ["x" * 100] * 600


def bad(value: Any) -> Any:
    """Hand over a value that the type checker would refuse."""
    return value


@pytest.fixture
def full() -> ToolResult:
    """A success with something in every channel."""
    table = ToolArtifact.table("stock", ["name"], [["bolt"]])
    return ToolResult.text("1 row", table, data={"rows": 1}, metadata={"took": 2})


@pytest.fixture
def failure() -> ToolResult:
    """A failure with everything a failure can have."""
    return ToolResult.error(
        "Busy.", ErrorCode.UNAVAILABLE, output="half", retriable=True, metadata={"reason": "busy"}
    )


# --- success


def test_a_text_is_a_success(full: ToolResult) -> None:
    """A success has its content, its channels and no failure."""
    assert full.content == "1 row"
    assert full.failure is None
    assert full.success is True
    assert full.is_error is False
    assert full.data == {"rows": 1}
    assert full.metadata == {"took": 2}
    assert full.artifacts[0].rows == [["bolt"]]
    assert full.partial_output == ""


def test_the_channels_are_empty_by_default() -> None:
    """No data is `None`; metadata and artifacts are empty containers."""
    result = ToolResult.text("ok")

    assert result.data is None
    assert result.metadata == {}
    assert result.artifacts == []
    assert type(result.metadata) is type(result.artifacts) is RunOnly


def test_success_is_no_matter_of_the_text() -> None:
    """A text that looks like a failure is a success all the same."""
    result = ToolResult.text("Error (timeout): no")

    assert result.success
    assert not result.is_error


@pytest.mark.parametrize("content", ["", "\n \n", "x" * 5_000_000, "caf\udce9", "\x00"])
def test_content_is_kept_as_it_was_given(content: str) -> None:
    """Cleaning and cutting is the seam's work; the value keeps the tool's own text."""
    assert ToolResult.text(content).content == content


@pytest.mark.parametrize("content", [None, 5, b"x", ["x"], {"a": 1}])
def test_content_that_is_no_text_is_a_violation(content: object) -> None:
    """P04: `None` never becomes the text `None`."""
    with pytest.raises(ContractViolation) as violation:
        ToolResult.text(bad(content))

    assert violation.value.path == "content"
    assert "expected str" in violation.value.reason


def test_a_subclass_of_str_becomes_a_plain_text() -> None:
    """Wire text or a library's string class leaves only its characters behind."""
    name = type("Name", (str,), {"__str__": lambda _: 1 / 0})("abc")

    for text in (
        ToolResult.text(name).content,
        ToolError(name).message,
        ToolResult.error("m", output=name).partial_output,
    ):
        assert type(text) is str
        assert text == "abc"


@pytest.mark.parametrize("artifact", ["text", None, {"type": "text"}, ToolResult.text("x")])
def test_an_artifact_of_another_type_is_a_violation(artifact: object) -> None:
    """Only artifacts are artifacts, and the violation counts them."""
    with pytest.raises(ContractViolation) as violation:
        ToolResult.text("ok", ToolArtifact.text("l", "x"), bad(artifact))

    assert violation.value.path == "artifacts[1]"


# --- data and metadata


@pytest.mark.parametrize("value", [{"a": [1, 2.5, None, True]}, [], "text", 0, False, (1, 2)])
def test_data_is_any_strict_json(value: object) -> None:
    """Every JSON value is held as it is."""
    result = ToolResult.text("ok", data=value)

    assert result.data is not None
    assert result.data == value
    assert omitted(result) == ()


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"rows": [{}, {}, {}, {"price": Decimal("19.90")}]}, "data.rows[3].price"),
        ({"ratio": math.nan}, "data.ratio"),
        ({"n": 2**63}, "data.n"),
        ({"raw": b"x"}, "data.raw"),
        ({1: "a"}, "data"),
        ({1, 2}, "data"),
        (ToolResult.text("x"), "data"),
    ],
)
def test_data_of_a_wrong_kind_is_a_violation_with_its_path(value: object, path: str) -> None:
    """What JSON cannot say raises when the result is built, and names its place."""
    with pytest.raises(ContractViolation) as violation:
        ToolResult.text("ok", data=value)

    assert violation.value.path == path


@pytest.mark.parametrize("build", [ToolResult.text, ToolResult.error, ToolError])
@pytest.mark.parametrize("value", [[1], "text", 5, {1: 2}, {"a": {1}}, (("a", 1),)])
def test_metadata_is_a_json_object(build: Callable[..., object], value: object) -> None:
    """Metadata of any other kind is a violation, for success, failure and error alike."""
    with pytest.raises(ContractViolation) as violation:
        build("ok", metadata=value)

    assert violation.value.path.startswith("metadata")


def test_too_large_is_no_violation() -> None:
    """What exceeds its 50,000 bytes is left out, and the result knows which channel was."""
    result = ToolResult.text("ok", data=TOO_LARGE, metadata={"rows": TOO_LARGE})

    assert result.success
    assert result.data is None
    assert result.metadata == {}
    assert omitted(result) == ("data", "metadata")


def test_the_bounds_of_data_and_metadata_are_independent() -> None:
    """Fifty thousand bytes each, to the byte."""
    fits, larger = "x" * 49_998, "x" * 49_999

    assert omitted(ToolResult.text("ok", data=fits, metadata={"a": 1})) == ()
    assert omitted(ToolResult.text("ok", data=larger, metadata={"a": 1})) == ("data",)
    assert omitted(ToolResult.text("ok", data=fits, metadata={"a": larger})) == ("metadata",)


def test_what_a_failure_left_out_is_known() -> None:
    """Also of an error that is raised, copied and caught on the way to the trace."""
    error = ToolError("no", metadata={"rows": TOO_LARGE})

    assert error.metadata == {}
    assert omitted(ToolResult.error("no", metadata={"rows": TOO_LARGE})) == ("metadata",)
    assert omitted(failed(copy_error(error))) == ("metadata",)


def test_lone_surrogates_in_data_are_replaced() -> None:
    """P02: half a pair becomes U+FFFD, a whole pair is untouched."""
    result = ToolResult.text("ok", data={"caf\udce9": "🚀\ud83d"})

    assert result.data == {"caf\ufffd": "🚀\ufffd"}


def test_values_are_deep_copies_of_what_was_given() -> None:
    """An author who goes on with his objects changes no result."""
    data, metadata = {"rows": [1]}, {"tags": ["a"]}
    result = ToolResult.text("ok", data=data, metadata=metadata)
    data["rows"].append(2)
    metadata["tags"].clear()

    assert result.data == {"rows": [1]}
    assert result.metadata == {"tags": ["a"]}


def test_a_held_value_may_be_handed_on(full: ToolResult) -> None:
    """Data of one result may be the data of the next; a list of artifacts may not."""
    assert ToolResult.text("ok", data=full.data).data == {"rows": 1}
    assert ToolResult.text("ok", metadata=bad(full.data)).metadata == {"rows": 1}

    with pytest.raises(ContractViolation):
        ToolResult.text("ok", data=full.artifacts)
    with pytest.raises(ContractViolation):
        ToolResult.text("ok", metadata=bad(ToolResult.text("x", data=[1]).data))


# --- failure


def test_an_error_is_a_failure(failure: ToolResult) -> None:
    """A failure has code, message and the rest in its record, and the rendering as content."""
    assert failure.is_error is True
    assert failure.success is False
    assert failure.failure == ToolError(
        "Busy.", "unavailable", retriable=True, metadata={"reason": "busy"}
    )
    assert failure.content == "Error (unavailable): Busy.\nhalf"
    assert failure.partial_output == "half"


def test_a_failure_carries_neither_data_nor_artifacts(failure: ToolResult) -> None:
    """The factory has no such parameter, so no half-built structure leaks."""
    assert failure.data is None
    assert failure.artifacts == []
    for name in ("data", "artifacts"):
        with pytest.raises(TypeError):
            bad(ToolResult.error)("no", **{name: [1]})


def test_metadata_is_one_slot(failure: ToolResult) -> None:
    """The metadata of the failure and of the result are the same object."""
    assert failure.failure is not None
    assert failure.failure.metadata is failure.metadata
    assert failure.metadata["reason"] == "busy"


def test_an_error_has_a_default_code() -> None:
    """Without a code it is an execution error that nobody should retry."""
    result = ToolResult.error("no")

    assert result.failure is not None
    assert result.failure.code is ErrorCode.EXECUTION_ERROR
    assert result.failure.retriable is False


@pytest.mark.parametrize("code", list(ErrorCode))
def test_a_code_may_be_given_by_its_text(code: ErrorCode) -> None:
    """The slug and the member are the same code."""
    assert ToolError("no", code.value).code is code
    assert ToolError("no", code).code is code


@pytest.mark.parametrize("code", ["rate_limited", "", "NOT_FOUND", None, 404, []])
@pytest.mark.parametrize("build", [ToolResult.error, ToolError])
def test_the_set_of_codes_is_closed(build: Callable[..., object], code: object) -> None:
    """An unknown code is a violation that lists the known ones."""
    with pytest.raises(ContractViolation, match="not_found, permission_denied") as violation:
        build("no", code)

    assert violation.value.path == "code"


@pytest.mark.parametrize("build", [ToolResult.error, ToolError])
def test_a_message_must_be_text(build: Callable[..., object]) -> None:
    """An exception handed over as the message would carry a driver's text."""
    for message in (None, ValueError("secret"), b"x"):
        with pytest.raises(ContractViolation, match="expected str") as violation:
            build(message)

        assert violation.value.path == "message"
        assert "secret" not in str(violation.value)


@pytest.mark.parametrize("build", [ToolResult.error, ToolError])
def test_retriable_must_be_a_bool(build: Callable[..., object]) -> None:
    """A text like `"no"` is not taken for true."""
    with pytest.raises(ContractViolation) as violation:
        build("no", retriable="no")

    assert violation.value.path == "retriable"


def test_partial_output_must_be_text() -> None:
    """Bytes are decoded by whoever knows their encoding."""
    with pytest.raises(ContractViolation) as violation:
        ToolResult.error("no", output=bad(b"x"))

    assert violation.value.path == "output"


def test_the_framework_refuses_with_metadata() -> None:
    """The core's own refusals state their reason in metadata."""
    result = refusal(ErrorCode.CONTRACT_ERROR, "no", reason="withdrawn")

    assert result.failure is not None
    assert result.failure.code is ErrorCode.CONTRACT_ERROR
    assert result.metadata == {"reason": "withdrawn"}
    assert refusal(ErrorCode.NOT_FOUND, "no").metadata == {}


# --- unwrap


def test_unwrap_gives_the_content_of_a_success(full: ToolResult) -> None:
    """Host code that wants a text or an exception asks for it."""
    assert full.unwrap() == "1 row"


def test_unwrap_raises_a_fresh_copy_of_the_failure(failure: ToolResult) -> None:
    """The record itself is never raised, so it never gathers a traceback."""
    raised: list[ToolError] = []
    for _ in range(2):
        try:
            failure.unwrap()
        except ToolError as error:
            raised.append(error)

    assert raised[0] == raised[1] == failure.failure
    assert raised[0] is not raised[1]
    assert failure.failure is not None
    assert all(error is not failure.failure for error in raised)
    assert failure.failure.__traceback__ is None


# --- the values


def test_a_result_is_made_by_its_factories_alone() -> None:
    """Calling the class raises and says what to call."""
    with pytest.raises(TypeError, match=r"ToolResult\.text"):
        ToolResult()
    with pytest.raises(TypeError, match=r"ToolResult\.error"):
        bad(ToolResult)("content", None)


def test_an_instance_has_no_factories(full: ToolResult, failure: ToolResult) -> None:
    """`if result.error:` raises instead of being always true."""
    for result in (full, failure):
        for name in ("text", "error", "from_command"):
            with pytest.raises(AttributeError, match="content"):
                getattr(result, name)
            assert not hasattr(result, name)


@pytest.mark.parametrize("name", ["content", "failure", "data", "metadata", "artifacts", "other"])
def test_a_result_is_immutable(full: ToolResult, name: str) -> None:
    """No member can be set, deleted or added."""
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(full, name, None)
    with pytest.raises((attrs.exceptions.FrozenInstanceError, AttributeError)):
        delattr(full, name)


def test_evolve_is_refused(full: ToolResult) -> None:
    """No generic tool of attrs makes a variant past the factories."""
    with pytest.raises(TypeError):
        bad(attrs.evolve)(full, content="other")


@pytest.mark.parametrize("kind", [ToolResult, ToolError, ToolArtifact])
def test_the_values_are_final(kind: type) -> None:
    """Subclassing raises, so a look-alike cannot pass for one."""
    with pytest.raises(TypeError, match="final"):
        type("Mine", (kind,), {})


def test_copies_are_the_object_itself(full: ToolResult, failure: ToolResult) -> None:
    """`copy` and `deepcopy` of an immutable value return it."""
    for value in (full, failure, failure.failure, full.artifacts[0]):
        assert copy.copy(value) is value
        assert copy.deepcopy([value])[0] is value


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_the_values_are_not_pickled(full: ToolResult, failure: ToolResult, protocol: int) -> None:
    """Executors and stores have `encode_result`."""
    for value in (full, failure, failure.failure, full.artifacts[0]):
        with pytest.raises(TypeError, match="encode_result"):
            pickle.dumps(value, protocol)


@pytest.mark.parametrize("ask", [str, format, bytes, "{}".format, "{:>5}".format, "%s".__mod__])
def test_a_result_is_no_text(full: ToolResult, failure: ToolResult, ask: Any) -> None:
    """A result in an f-string is a bug that must be loud, and the message says what to read."""
    for result in (full, failure):
        with pytest.raises(TypeError, match=r"\.content"):
            ask(result)


def test_repr_shows_the_shape_only() -> None:
    """Status, code, lengths and artifact types; no byte of content, data or artifact."""
    table = ToolArtifact.table(CANARY, [CANARY], [[CANARY]])
    result = ToolResult.text(CANARY, table, data={CANARY: CANARY}, metadata={CANARY: 1})
    failed_one = ToolResult.error(CANARY, "timeout", output=CANARY, metadata={CANARY: 1})

    assert repr(result) == (
        "<ToolResult ok content=11 characters data=29 bytes artifacts=['table']>"
    )
    assert repr(failed_one).startswith("<ToolResult timeout content=")
    assert repr(failed_one.failure) == "<ToolError timeout: 11 characters>"
    for value in (result, failed_one, failed_one.failure, [result], {"k": failed_one}):
        assert CANARY not in repr(value)


def test_results_compare_by_value(full: ToolResult) -> None:
    """Equal members make equal results; a result is unhashable like what it holds."""
    table = ToolArtifact.table("stock", ["name"], [["bolt"]])
    twin = ToolResult.text("1 row", table, data={"rows": 1}, metadata={"took": 2})

    assert full == twin
    assert full != ToolResult.text("1 row")
    assert full != bad("1 row")
    with pytest.raises(TypeError):
        hash(full)


# --- ToolError, the exception


def missing_table() -> None:
    """Fail as a tool does: its own error, from the one it met."""
    tables: dict[str, int] = {}
    try:
        tables["x"]
    except KeyError as error:
        raise ToolError("No table 'x'.", ErrorCode.NOT_FOUND, metadata={"a": 1}) from error


def test_a_tool_error_is_raised_and_caught_like_any_other() -> None:
    """`raise ToolError(...)` works with `except`, `from`, notes and tracebacks."""
    with pytest.raises(ToolError, match="No table 'x'") as caught:
        missing_table()

    error = caught.value
    error.add_note("while reading")
    assert isinstance(error, Exception)
    assert isinstance(error.__cause__, KeyError)
    assert error.__notes__ == ["while reading"]
    assert error.with_traceback(None) is error
    assert error.__traceback__ is None


def test_args_and_str_are_the_message_alone() -> None:
    """Loggers and other frameworks see the message and nothing else."""
    error = ToolError(CANARY, "timeout", retriable=True, metadata={"secret": 1})

    assert error.args == (CANARY,)
    assert str(error) == CANARY
    assert f"{error}" == CANARY


def test_tool_errors_compare_by_value() -> None:
    """Every member counts, the way it travelled does not."""
    error = ToolError("no", "conflict", metadata={"a": 1})
    with contextlib.suppress(ToolError):
        raise error

    assert error == ToolError("no", ErrorCode.CONFLICT, metadata={"a": 1})
    assert hash(error) == hash(ToolError("no", ErrorCode.CONFLICT, metadata={"a": 1}))
    assert error != ToolError("other", "conflict", metadata={"a": 1})
    assert error != ToolError("no", "timeout", metadata={"a": 1})
    assert error != ToolError("no", "conflict", retriable=True, metadata={"a": 1})
    assert error != ToolError("no", "conflict")
    assert error != "no"


@pytest.mark.parametrize("name", ["message", "code", "retriable", "metadata", "args", "other"])
def test_a_tool_error_is_immutable(name: str) -> None:
    """A caught error can be read, and nothing in it changed."""
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(ToolError("no"), name, "other")


@contextlib.contextmanager
def session() -> Iterator[None]:
    """Stand for the context manager of some library."""
    yield


def test_a_context_manager_may_pass_it_on() -> None:
    """`contextlib` sets traceback and context on what passes through it."""

    def fail_inside() -> None:
        with contextlib.ExitStack() as stack, session():
            stack.enter_context(session())
            missing_table()

    with pytest.raises(ToolError, match="No table"):
        fail_inside()


def test_a_copied_error_has_no_history() -> None:
    """The copy that the seam keeps holds no frame of the tool alive."""
    with pytest.raises(ToolError) as caught:
        missing_table()
    fresh = copy_error(caught.value)

    assert fresh == caught.value
    assert fresh is not caught.value
    assert fresh.args == ("No table 'x'.",)
    assert (fresh.__traceback__, fresh.__cause__, fresh.__context__) == (None, None, None)


@pytest.mark.parametrize("kind", [ToolResult, ToolError, CommandResult, ToolArtifact, RunOnly])
def test_public_values_show_the_public_module(kind: type) -> None:
    """Messages say `toolseam.X`."""
    assert kind.__module__ == "toolseam"


# --- commands


def run(code: str, *, timeout: float | None = None) -> CommandResult:
    """Run Python code in a child process and tell how it ended."""
    start = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired as expired:
        took = time.monotonic() - start
        return CommandResult(expired.stdout, expired.stderr, None, timed_out=True, duration_s=took)
    return CommandResult(done.stdout, done.stderr, done.returncode, duration_s=0.25)


def test_exit_zero_is_success_whatever_the_text_says() -> None:
    """A command that prints errors and exits with 0 has worked."""
    result = ToolResult.from_command(run("print('Error: failed, exit code 1')"))

    assert result.success
    assert result.content == "Error: failed, exit code 1\n"
    assert result.metadata == {"exit_code": 0, "signal": None, "duration_s": 0.25}


@pytest.mark.parametrize("code", [1, 2, 127, 255])
def test_any_other_exit_is_a_failure(code: int) -> None:
    """The code stands in the message and in the metadata; the output is kept."""
    result = ToolResult.from_command(run(f"print('done'); raise SystemExit({code})"))

    assert result.failure is not None
    assert result.failure.code is ErrorCode.COMMAND_FAILED
    assert result.failure.message == f"exit code {code}"
    assert result.content == f"Error (command_failed): exit code {code}\ndone\n"
    assert result.metadata["exit_code"] == code
    assert result.metadata["signal"] is None


@pytest.mark.parametrize("number", [9, 15])
def test_a_signal_is_a_failure(number: int) -> None:
    """A killed process names its signal."""
    result = ToolResult.from_command(run(f"import os; os.kill(os.getpid(), {number})"))

    assert result.failure is not None
    assert result.failure.code is ErrorCode.COMMAND_FAILED
    assert result.failure.message == f"signal {number}"
    assert result.metadata["signal"] == number


def test_a_timeout_keeps_the_partial_output() -> None:
    """What was written before the deadline is kept, and the timeout wins over any exit code."""
    code = "import time; print('half', flush=True); time.sleep(60)"
    result = ToolResult.from_command(run(code, timeout=2))

    assert result.failure is not None
    assert result.failure.code is ErrorCode.TIMEOUT
    assert result.failure.message.startswith("timed out after 2")
    assert result.partial_output == "half\n"
    assert result.metadata["exit_code"] is None


@pytest.mark.parametrize("code", [0, 1, -9, None])
def test_a_timeout_wins(code: int | None) -> None:
    """However the process ended in the end."""
    command = CommandResult("out", None, code, timed_out=True, duration_s=30)
    result = ToolResult.from_command(command)

    assert result.failure is not None
    assert result.failure.code is ErrorCode.TIMEOUT
    assert result.content == "Error (timeout): timed out after 30 s\nout"


def test_output_is_stdout_then_stderr() -> None:
    """The two streams are joined, on lines of their own."""
    code = "import sys; sys.stderr.write('warning'); sys.stdout.write('answer')"

    assert ToolResult.from_command(run(code)).content == "answer\nwarning"
    assert ToolResult.from_command(CommandResult("a\n", "b", 0)).content == "a\nb"
    assert ToolResult.from_command(CommandResult("", "b", 0)).content == "b"
    assert ToolResult.from_command(CommandResult(None, None, 0)).content == ""


def test_undecodable_output_is_replaced() -> None:
    """Bytes that are no UTF-8 become U+FFFD."""
    code = r"import sys; sys.stdout.buffer.write(b'caf\xe9 \xff ok \xe2\x82\xac')"

    assert ToolResult.from_command(run(code)).content == "caf\ufffd \ufffd ok €"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[2K\x1b[1Gdone", "done"),
        ("\x1b]8;;https://x.test\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1bP1;2|data\x1b\\text", "text"),
        ("\x1b(Btext\x1b7\x1b8\x1bc", "text"),
        ("\x1b]0;never ended\ntext", "0;never ended\ntext"),
        ("\x1b]never ended", "never ended"),
        ("a\x1b[", "a\x1b["),
        ("plain", "plain"),
    ],
)
def test_terminal_sequences_are_dropped(raw: str, text: str) -> None:
    """Colours, cursor moves, titles and links go; what follows an unfinished one stays."""
    assert ToolResult.from_command(CommandResult(raw, b"", 0)).content == text
    assert ToolResult.from_command(CommandResult(b"", raw.encode(), 0)).content == text


def test_five_megabytes_of_output_are_taken() -> None:
    """A flood of output ends in a result whose rendering is bounded."""
    result = ToolResult.from_command(run("print('x' * 5_000_000); raise SystemExit(3)"))

    assert len(result.partial_output) == 5_000_001
    assert len(result.content.encode()) <= 50_000
    assert result.content.startswith("Error (command_failed): exit code 3\nxxx")


@pytest.mark.parametrize(
    "raw", ["\x1b[" + "0" * 5_000_000, "\x1b[" * 2_000_000, "\x1b]" * 2_000_000, "\x1b" * 5_000_000]
)
def test_hostile_sequences_are_read_in_one_pass(raw: str) -> None:
    """Megabytes of unfinished sequences cost no more than megabytes."""
    start = time.process_time()

    assert ToolResult.from_command(CommandResult(raw, "", 0)).success
    assert time.process_time() - start < 20


def test_a_command_result_is_immutable_and_hides_its_output() -> None:
    """Its repr shows no byte of what the command wrote."""
    command = CommandResult(CANARY, CANARY.encode(), 1)

    assert CANARY not in repr(command)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        command.exit_code = 0  # type: ignore[misc]


@pytest.mark.parametrize("took", [math.nan, math.inf])
def test_from_command_is_total(took: float) -> None:
    """A clock that failed makes no command fail."""
    result = ToolResult.from_command(CommandResult("ok", "", 0, duration_s=took))

    assert result.success
    assert "duration_s" not in result.metadata


def test_what_pickles_every_exception_does_not_pickle_a_failure() -> None:
    """A library that teaches pickle all exceptions there are asks `__reduce__`, and is refused."""
    failure = ToolResult.error("boom", metadata={"a": 1}).failure

    with pytest.raises(TypeError, match="encode_result"):
        failure.__reduce__()  # type: ignore[union-attr]
