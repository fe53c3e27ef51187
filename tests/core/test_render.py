"""One renderer for every outcome (contract §6)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam import ErrorCode, ToolArtifact, ToolResult, WireText, render_tool_result
from toolseam._render import failure_text, issue
from toolseam._text import CONTENT_BYTES, MESSAGE_BYTES, clean

any_text = st.text(st.one_of(st.characters(exclude_categories=()), st.sampled_from("\r\n\x00ж€😀")))


def test_a_success_is_its_content() -> None:
    """The provider reads the tool's own text."""
    assert render_tool_result(ToolResult.text("12 rows")) == "12 rows"


@pytest.mark.parametrize("content", ["", " ", "\n \n", "\t", "\u2028", "\u00a0"])
def test_blank_content_becomes_a_placeholder(content: str) -> None:
    """P04: a provider never gets a blank block; the result keeps its true content."""
    result = ToolResult.text(content)

    assert render_tool_result(result) == "(no output)"
    assert result.content == content
    assert result.success


@pytest.mark.parametrize("code", list(ErrorCode))
def test_a_failure_names_code_and_message(code: ErrorCode) -> None:
    """Every code is rendered in the one form."""
    result = ToolResult.error("No table 'x'.", code)

    assert render_tool_result(result) == f"Error ({code}): No table 'x'."
    assert result.content == render_tool_result(result)


def test_partial_output_follows_on_a_new_line() -> None:
    """What a failing tool had said comes after its message."""
    result = ToolResult.error("exit code 1", ErrorCode.COMMAND_FAILED, output="a\nb\n")

    assert render_tool_result(result) == "Error (command_failed): exit code 1\na\nb\n"


@pytest.mark.parametrize("output", ["", "  ", "\n\n"])
def test_blank_output_adds_nothing(output: str) -> None:
    """No empty line follows a message."""
    result = ToolResult.error("no", output=output)

    assert render_tool_result(result) == "Error (execution_error): no"


def test_a_failure_is_cleaned_and_bounded_part_by_part() -> None:
    """The message gets 2,000 bytes, the output what is left of 50,000."""
    result = ToolResult.error("m\x00" * 5_000, output="\x1bo€" * 30_000)
    head, _, rest = result.content.partition("]\n")

    assert head.startswith("Error (execution_error): m␀m␀")
    assert head.endswith("[truncated: 10000 characters in all")
    assert len(head.encode()) < MESSAGE_BYTES + len("Error (execution_error): ")
    assert rest.startswith("␛o€")
    assert rest.endswith("\n[truncated: 90000 characters in all]")
    assert CONTENT_BYTES - 8 < len(result.content.encode()) <= CONTENT_BYTES


@given(any_text, any_text, st.integers(0, 200), st.integers(0, 100))
def test_a_failure_fits_any_limit(message: str, output: str, limit: int, most: int) -> None:
    """Whatever the texts and the limits, the rendering fits and is clean."""
    text, _ = failure_text(ErrorCode.TIMEOUT, message, output, limit=limit, message_limit=most)

    assert len(text.encode()) <= limit
    assert clean(text) == text


def test_a_cut_of_any_part_is_told() -> None:
    """The flag rises for the message, for the output and for nothing else."""
    code = ErrorCode.TIMEOUT

    assert failure_text(code, "m", "o")[1] is False
    assert failure_text(code, "m" * 2_001)[1] is True
    assert failure_text(code, "m", "o" * 50_000)[1] is True


def test_it_is_deterministic_and_reads_no_run_only_member() -> None:
    """The same outcome renders alike whatever travels beside it."""
    artifact = ToolArtifact.text("log", "line")
    plain = ToolResult.text("ok")
    full = ToolResult.text("ok", artifact, data=[1], metadata={"a": 1})

    assert render_tool_result(plain) == render_tool_result(full) == "ok"


@given(any_text)
def test_content_leaves_clean_and_bounded(content: str) -> None:
    """The rendering of a success is total: surrogates and controls leave as §7 says."""
    rendered = render_tool_result(ToolResult.text(content))

    assert rendered == (clean(content) if content and not content.isspace() else "(no output)")


def test_long_content_is_bounded() -> None:
    """A success of five million characters renders to 50,000 bytes."""
    assert len(render_tool_result(ToolResult.text("€" * 5_000_000)).encode()) <= CONTENT_BYTES


def test_nobody_makes_wire_text() -> None:
    """The type that a provider message takes is issued by the seam alone, and final."""
    with pytest.raises(TypeError, match="seam alone"):
        WireText("text")
    with pytest.raises(TypeError, match="final"):
        type("Mine", (WireText,), {})


def test_issued_wire_text_is_a_plain_str_to_read() -> None:
    """Adapters write it wherever a text goes."""
    wire = issue("12 rows")

    assert type(wire) is WireText
    assert wire == "12 rows"
    assert type(wire + "") is str
