from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.tools import ADA, Counted, fine, plugin
from toolseam import (
    ErrorCode,
    Host,
    Step,
    ToolArtifact,
    ToolResult,
    WireText,
    render_tool_result,
)
from toolseam import _seam as seam
from toolseam._bounds import bound_result
from toolseam._settings_keys import Limits
from toolseam._text import is_clean

LIMITS = Limits()
SECRET = "sk-proj-" + "a1B2" * 10


def passed(give: Any, zone: str = "local", **limits: int) -> tuple[ToolResult, Step, WireText]:
    """Return the result, the step and the wire text of a call under lowered limits."""
    host = Host(tools=[plugin(lambda arguments: give())], settings={"limits": limits})
    text, step = host.session(actor=ADA, zone=zone).call_wire("probe")
    return step.result, step, text


def size(text: str) -> int:
    """Return the bytes of a text."""
    return len(text.encode())


def test_content_at_the_cap_is_untouched() -> None:
    """50,000 bytes pass, 50,001 are cut with the mark inside the cap, and the step says so."""
    whole, step, _ = passed(lambda: ToolResult.text("x" * 50_000))
    cut, cut_step, _ = passed(lambda: ToolResult.text("x" * 50_001))

    assert (size(whole.content), step.truncated, step.original_size) == (50_000, False, None)
    assert (size(cut.content), cut_step.truncated) == (50_000, True)
    assert cut.content.endswith("\n[truncated: 50001 characters in all]")
    assert cut_step.original_size == 50_001


def test_content_is_cleaned_before_it_is_cut() -> None:
    """No control, bidi or tag character passes, and no code point is split."""
    dirty = "a\r\nb\rc\x00\x1b[31m\x85\u202e\u2066\U000e0041\ud800é\t👩‍👩‍👧"

    result, step, _ = passed(lambda: ToolResult.text(dirty))

    assert result.content == "a\nb\nc␀␛[31m" + "\ufffd" * 5 + "é\t👩‍👩‍👧"
    assert not step.truncated


def test_a_failure_has_two_thousand_bytes_of_message() -> None:
    """Message and partial output are bounded apart, the whole by 50,000 bytes."""
    result, step, text = passed(
        lambda: ToolResult.error("m" * 3_000, "not_found", output="o" * 60_000)
    )

    assert result.failure is not None
    assert size(result.failure.message) == 2_000
    assert size(result.content) <= 50_000
    assert result.content.startswith("Error (not_found): mmm")
    assert "\nooo" in result.content
    assert step.truncated
    assert text == result.content


@pytest.mark.parametrize("length", [0, 1, 99, 100, 199, 200, 201, 300, 5_000])
@pytest.mark.parametrize("output", [0, 1, 5_000])
def test_lowered_limits_hold_for_every_text(length: int, output: int) -> None:
    """Content, message, failure and wire text keep to what the settings say."""
    limits = {"content_bytes": 200, "message_bytes": 100}
    for give in (
        lambda: ToolResult.text("é" * length),
        lambda: ToolResult.error("é" * length, "not_found", output="ü" * output),
    ):
        result, _, text = passed(give, **limits)
        assert size(result.content) <= 200
        assert size(text) <= 200
        if result.failure is not None:
            assert size(result.failure.message) <= 100


def test_a_message_limit_above_the_content_limit_bounds_the_wire_too() -> None:
    """The smaller of two limits wins, on every way to the provider."""
    result, _, text = passed(lambda: ToolResult.error("m" * 5_000, "not_found"), content_bytes=200)

    assert size(result.content) <= 200
    assert size(text) <= 200
    assert render_tool_result(result) == result.content


def rows(n: int) -> ToolArtifact:
    """Return a table of about `n` times twenty bytes."""
    return ToolArtifact.table("t", ["a"], [["x" * 15] for _ in range(n)])


def test_artifacts_over_the_budget_become_one_marker() -> None:
    """The whole list goes, the content stays, and the label is the contract's."""
    result, step, _ = passed(lambda: ToolResult.text("fine", rows(2_000), rows(2_000)))

    (artifact,) = result.artifacts
    assert (artifact.type, artifact.label) == ("text", "Artifacts omitted")
    assert "50000" in artifact.text
    assert result.content == "fine"
    assert any("artifacts" in note for note in step.notes)


def test_artifacts_within_the_budget_pass_as_they_are() -> None:
    """Nothing is copied and nothing is cut."""
    given = rows(100)
    result, step, _ = passed(lambda: ToolResult.text("fine", given))

    assert list(result.artifacts) == [given]
    assert step.notes == ()


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("table", {"columns": ["a"], "rows": [[1]]}),
        ("table", {"columns": ["a"], "rows": [["1", "2"]]}),
        ("table", {"rows": []}),
        ("text", {"text": float("nan")}),
        ("text", {"text": "x", "more": 1}),
        ("text", None),
        ("tree", {}),
        ("table", {1: 2}),
    ],
)
def test_an_artifact_that_does_not_fit_its_shape_is_omitted(kind: str, data: Any) -> None:
    """It raises nowhere; the list is replaced and says why."""
    result, _, _ = passed(lambda: ToolResult.text("fine", rows(1), ToolArtifact(kind, "l", data)))

    assert [a.label for a in result.artifacts] == ["Artifacts omitted"]
    assert result.content == "fine"


def test_lowered_artifact_and_data_limits_hold() -> None:
    """What is larger is left out whole, and the step names the channel."""
    result, step, _ = passed(
        lambda: ToolResult.text("fine", rows(50), data={"x": "y" * 300}, metadata={"z": "y" * 300}),
        artifact_bytes=300,
        data_bytes=200,
    )

    assert [a.label for a in result.artifacts] == ["Artifacts omitted"]
    assert result.data is None
    assert result.metadata == {}
    assert len(step.notes) == 3


def test_too_large_data_is_left_out_and_said() -> None:
    """No violation: the content stands, the step says what is missing."""
    result, step, _ = passed(lambda: ToolResult.text("fine", data=["x" * 60_000]))

    assert (result.content, result.data) == ("fine", None)
    assert step.notes == ("data left out: too large",)


def test_the_two_channels_do_not_share_a_budget() -> None:
    """Full content and full artifacts pass side by side."""
    table = ToolArtifact.table("t", ["a"], [["x" * 40_000]])
    result, step, _ = passed(lambda: ToolResult.text("x" * 50_000, table))

    assert list(result.artifacts) == [table]
    assert not step.truncated


def test_wire_text_is_issued_by_call_wire_alone() -> None:
    """A plain call has none, and nobody can make one."""
    host = Host(tools=[Counted(fine)])
    session = host.session(actor=ADA)
    session.call("probe")
    text, step = session.call_wire("probe")

    assert type(text) is WireText
    assert step.wire is text
    assert session.steps[0].wire is None
    with pytest.raises(TypeError):
        WireText("x")
    with pytest.raises(TypeError):
        type("Mine", (WireText,), {})


def test_blank_content_is_told_as_no_output() -> None:
    """The true content stays in the trace, the provider gets a text that is not blank (P04)."""
    for blank in ("", "\n \n"):
        result, step, text = passed(lambda blank=blank: ToolResult.text(blank))
        assert (result.content, text, step.status) == (blank, "(no output)", "ok")


@pytest.mark.parametrize(
    ("zone", "masked"),
    [("local", 0), ("private_hosted", 2), ("external_eu", 2), ("external_global", 2)],
)
def test_secret_shapes_are_masked_for_every_zone_but_local(zone: str, masked: int) -> None:
    """Counted in the step, only in the wire text, and never in call."""
    given = f"one {SECRET} two {SECRET}"

    result, step, text = passed(lambda: ToolResult.text(given), zone)

    assert step.masked == masked
    assert text.count(SECRET) == 2 - masked
    assert result.content == given


def test_a_masked_failure_is_masked_in_message_and_output() -> None:
    """The whole rendered text passes the mask."""
    _, step, text = passed(
        lambda: ToolResult.error(SECRET, "not_found", output=SECRET), "external_eu"
    )

    assert SECRET not in text
    assert step.masked == 2


def test_masking_does_not_grow_past_a_lowered_limit() -> None:
    """A mask may be longer than what it hides; the cap holds all the same."""
    _, _, text = passed(
        lambda: ToolResult.text(" ".join([SECRET] * 20)), "external_eu", content_bytes=200
    )

    assert size(text) <= 200


CASES = [
    fine,
    lambda: ToolResult.text(""),
    lambda: ToolResult.error("x", "not_found"),
    lambda: ToolResult.error("x", "timeout", output="y"),
    lambda: None,
    lambda: {}["x"],
    lambda: ToolResult.text("x", rows(10_000)),
]


def seen() -> list[tuple[Any, ...]]:
    """Return every status of every case, on both ways."""
    host = Host(tools=[Counted(give, name=f"t{i}") for i, give in enumerate(CASES)])
    session = host.session(actor=ADA)
    statuses: list[tuple[Any, ...]] = []
    for i in range(7):
        session.call_wire(f"t{i}")
        step = session.steps[-1]
        result = step.result
        failure = result.failure
        statuses.append(
            (step.status, step.effect, result.success, failure and failure.code, step.truncated)
        )
    return statuses


def test_no_status_hangs_on_the_renderer(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a renderer that returns a constant every decision is the same (§6)."""
    before = seen()
    monkeypatch.setattr(seam, "render_bounded", lambda result: "Error (timeout): constant")

    assert seen() == before


@given(
    st.text(max_size=400) | st.text(alphabet="é\x1b\u202e\ud800x\r\n", max_size=400),
    st.sampled_from(ErrorCode).filter(lambda code: code != "contract_error") | st.none(),
    st.text(max_size=400),
    st.integers(200, 500),
    st.integers(100, 300),
)
def test_bounding_is_total_and_stable(
    text: str, code: ErrorCode | None, output: str, content: int, message: int
) -> None:
    """Whatever a tool says, what leaves is clean and capped, and bounding it again keeps it."""
    limits = Limits(content_bytes=content, message_bytes=message)
    given = ToolResult.text(text) if code is None else ToolResult.error(text, code, output=output)

    once = bound_result(given, limits).result
    twice = bound_result(once, limits).result

    assert size(once.content) <= content
    assert is_clean(once.content)
    assert size(render_tool_result(once)) <= max(content, 11)
    assert (once.success, once.failure and once.failure.code) == (
        given.success,
        given.failure and given.failure.code,
    )
    assert twice.content == once.content
