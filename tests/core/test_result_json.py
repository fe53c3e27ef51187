"""Results as JSON text, for executors and stores (contract §1)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam import (
    ContractViolation,
    ErrorCode,
    ToolArtifact,
    ToolError,
    ToolResult,
    decode_result,
    encode_result,
)
from toolseam._jsontext import DEPTH
from toolseam._result import omitted

texts = st.text(st.characters(codec="utf-8"), max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=10,
)
tables = st.builds(
    lambda label, rows: ToolArtifact.table(label, ["a", "b"], rows),
    texts,
    st.lists(st.tuples(texts, st.integers()), max_size=4),
)
artifacts = st.lists(tables | st.builds(ToolArtifact.text, texts, texts), max_size=3)
objects = st.dictionaries(texts, values, max_size=3)


def deep(levels: int) -> Any:
    """Nest an empty list that many times."""
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


def changed(**members: object) -> str:
    """Encode a success with some members of the record replaced."""
    record = json.loads(encode_result(ToolResult.text("ok", ToolArtifact.text("l", "x"))))
    return json.dumps({**record, **members})


@given(texts, artifacts, values, objects)
def test_a_success_comes_back_equal(
    content: str, shown: list[ToolArtifact], data: Any, metadata: dict[str, Any]
) -> None:
    """Every channel of a success survives the way there and back."""
    result = ToolResult.text(content, *shown, data=data, metadata=metadata)

    assert decode_result(encode_result(result)) == result


@given(texts, st.sampled_from(ErrorCode), texts, st.booleans(), objects)
def test_a_failure_comes_back_equal(
    message: str, code: ErrorCode, output: str, retriable: bool, metadata: dict[str, Any]
) -> None:
    """Code, message, partial output and metadata survive, and the content is rendered anew."""
    result = ToolResult.error(message, code, output=output, retriable=retriable, metadata=metadata)
    back = decode_result(encode_result(result))

    assert back == result
    assert back.failure is not None
    assert back.failure.metadata is back.metadata


def test_what_was_left_out_is_still_known() -> None:
    """The notes for the step travel along."""
    large = {"rows": ["x" * 100] * 600}
    success = ToolResult.text("ok", data=large, metadata=large)
    failure = ToolResult.error("no", metadata=large)

    assert omitted(decode_result(encode_result(success))) == ("data", "metadata")
    assert omitted(decode_result(encode_result(failure))) == ("metadata",)


def test_the_largest_legal_result_comes_back() -> None:
    """Depth 64, fifty thousand bytes in every channel and a long text are no obstacle."""
    result = ToolResult.text(
        "\x00€" * 1_000_000,
        ToolArtifact.text("l", "x" * 49_900),
        data=deep(DEPTH),
        metadata={"a": "x" * 49_990},
    )

    assert decode_result(encode_result(result)) == result


def test_lone_surrogates_are_replaced_on_the_way() -> None:
    """The text is UTF-8 whatever a tool put into its content."""
    success = ToolResult.text("caf\udce9 \ud83d\ude80")
    failure = ToolResult.error("caf\udce9", output="\ud83d")

    assert encode_result(success).encode()
    assert decode_result(encode_result(success)).content == "caf\ufffd \ufffd\ufffd"
    back = decode_result(encode_result(failure))
    assert back.failure == ToolError("caf\ufffd")
    assert back.partial_output == "\ufffd"


def test_a_list_that_cannot_be_shown_travels_as_its_marker() -> None:
    """A faulty or too large list is replaced by the one text that says so."""
    faulty = ToolResult.text("ok", ToolArtifact.table("t", ["a"], [[1, 2]]))
    large = ToolResult.text("ok", *[ToolArtifact.text("l", "x" * 20_000)] * 3)

    for result in (faulty, large):
        back = decode_result(encode_result(result))
        assert [a.label for a in back.artifacts] == ["Artifacts omitted"]
        assert back.content == "ok"


def test_an_artifact_of_a_newer_version_comes_back() -> None:
    """A type that this version does not know keeps its data."""
    later = {"type": "diff", "label": "t", "data": {"nodes": [1]}}
    back = decode_result(changed(artifacts=[later]))

    assert back.artifacts[0].type == "diff"
    assert back.artifacts[0].data == {"nodes": [1]}
    assert decode_result(encode_result(back)) == back


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '"ok"',
        '{"content": "ok"}',
        encode_result(ToolResult.text("ok"))[:-1],
        encode_result(ToolResult.text("ok")).replace('"content"', '"text"'),
        changed(more=1),
        changed(content=None),
        changed(content=["ok"]),
        changed(metadata=[["a", 1]]),
        changed(metadata=None),
        changed(data={"n": 2**63}),
        changed(data=deep(DEPTH + 1)),
        changed(data="x" * 50_000),
        changed(artifacts=None),
        changed(artifacts=[1]),
        changed(artifacts=[{"type": "text"}]),
        changed(artifacts=[{"type": "diff", "label": "t", "data": "x" * 60_000}]),
        changed(omitted=5),
        changed(output=5),
        changed(failure="timeout"),
        changed(failure={"code": "unheard_of", "message": "m", "retriable": False}),
        changed(failure={"code": "timeout", "message": 5, "retriable": False}),
        changed(failure={"code": "timeout", "message": "m"}),
        changed(failure={"code": "timeout", "message": "m", "retriable": "no"}),
        changed(content="\ud83d"),
        b"\xff",
        5,
        None,
    ],
)
def test_any_other_text_is_a_violation(text: Any) -> None:
    """Whatever is no encoded result, down to one wrong member, is refused and not guessed at."""
    with pytest.raises(ContractViolation):
        decode_result(text)
