"""S5, over what exists: whatever a tool says, nothing unbounded or dirty goes out."""

import json
import time
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.logs import logged
from support.recorder import Recorder, recorder
from support.tools import ADA, plugin, spec
from toolseam import DataClass, Host, ToolArtifact, ToolError, ToolResult, render_tool_result
from toolseam._errors import SpecError
from toolseam._result_json import encode_result
from toolseam._steps import step_json
from toolseam.testing import Canary, canary

__all__ = ["recorder"]

HOSTILE = "\x1b]52;c;AAAA\x07\u202e\U000e0041\ud800\x9b31m\x00\r"
NAME = "\x1b]52;c;AAAA\x07\u202e\U000e0041\r\n"


def is_dirty(text: str) -> bool:
    """Tell whether a text holds a C0 (but tab and newline), C1, bidi, tag or surrogate."""
    return any(
        (ord(c) < 32 and c not in "\t\n")
        or 0x7F <= ord(c) <= 0x9F
        or 0x202A <= ord(c) <= 0x202E
        or 0x2066 <= ord(c) <= 0x2069
        or 0xE0000 <= ord(c) <= 0xE007F
        or 0xD800 <= ord(c) <= 0xDFFF
        for c in text
    )


def held(give: Callable[[], Any], canary_: Canary | None = None) -> tuple[ToolResult, Any]:
    """Call a tool on the wire and hold everything that left to S5."""
    with logged() as records:
        host = Host(tools=[plugin(lambda arguments: give())])
        began = time.process_time()
        text, step = host.session(actor=ADA, zone="external_eu").call_wire("probe")
        took = time.process_time() - began

    result = step.result
    told = [text, result.content, render_tool_result(result), repr(step), repr(result), *records]
    if result.failure is not None:
        told.append(result.failure.message)
        assert len(result.failure.message.encode()) <= 2_000
        assert len(text.encode()) <= 50_000
    shown = [step.tool, step.reason or "", *step.notes, *(v.reason for v in host.violations)]
    for outward in (text, result.content):
        assert len(outward.encode()) <= 50_000
    for line in [*told, *shown]:
        assert not is_dirty(line)
    for line in (*records, *shown):
        assert len(line) <= 30_000
        assert "\n" not in line
    if canary_ is not None:
        assert not canary_.is_in(*told, *shown)
    assert took < 5
    return result, step


def test_a_failure_of_five_megabytes() -> None:
    """Message and output are cleaned and cut, however hostile."""
    made = ToolError(HOSTILE * 400_000, "not_found")

    result, _ = held(lambda: (_ for _ in ()).throw(made))
    assert len(f"Error (not_found): {result.failure.message}".encode()) <= 2_064  # type: ignore[union-attr]
    held(lambda: ToolResult.error(HOSTILE * 400_000, "conflict", output=HOSTILE * 400_000))


def test_content_of_five_megabytes() -> None:
    """The same for a success."""
    result, step = held(lambda: ToolResult.text(HOSTILE * 600_000))

    assert step.truncated
    assert result.success


def test_an_exception_class_with_a_name_of_a_megabyte() -> None:
    """Only 64 clean characters of it are told, its text to nobody."""
    found = canary()
    kind = type(NAME * 100_000, (Exception,), {})

    held(lambda: (_ for _ in ()).throw(kind(found.text)))


def test_the_text_of_an_exception_goes_to_the_log_alone() -> None:
    """Neither message nor provider nor step repeats it."""
    found = canary()
    host = Host(tools=[plugin(lambda arguments: {}[found.text])])

    text, step = host.session(actor=ADA).call_wire("probe")

    assert not found.is_in(text, step.result.content, repr(step), json.dumps(step_json(step)))


def test_data_of_a_hundred_megabytes() -> None:
    """It is left out, quickly, and the step says so."""
    block = ["x" * 1_000_000] * 100

    result, step = held(lambda: ToolResult.text("fine", data=block))

    assert (result.content, result.data) == ("fine", None)
    assert step.notes == ("data left out: too large",)


def test_metadata_of_five_megabytes() -> None:
    """The same for metadata, of a success and of a failure."""
    for give in (
        lambda: ToolResult.text("fine", metadata={"x": "y" * 5_000_000}),
        lambda: ToolResult.error("bad", "conflict", metadata={"x": "y" * 5_000_000}),
    ):
        result, step = held(give)
        assert result.metadata == {}
        assert step.notes == ("metadata left out: too large",)


def test_dirty_data_reaches_no_text() -> None:
    """Labels are cleaned, artifacts and data stay inside their channel."""
    found = canary()

    def give() -> ToolResult:
        table = ToolArtifact.table(HOSTILE * 100, [HOSTILE], [[HOSTILE + found.text]])
        return ToolResult.text("fine", table, data={"k": found.text}, metadata={"m": found.text})

    result, _ = held(give, found)
    assert not is_dirty(result.artifacts[0].label)
    assert not is_dirty(orjson.loads(encode_result(result))["artifacts"][0]["data"]["rows"][0][0])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda text: text,
        lambda text: {"content": text},
        lambda text: ToolResult.text("x", data={text: object()}),
        lambda text: ToolResult.text("x", data={"a": [text, float("nan")]}),
        lambda text: ToolResult.error(text, text),
        lambda text: ToolResult.text("x", metadata=[text]),
        lambda text: type(NAME * 1_000, (), {})(),
    ],
)
def test_a_breach_tells_path_and_kind_alone(wrong: Callable[[str], Any]) -> None:
    """Not a byte of the value that broke the contract."""
    found = canary("k" * 70)

    result, _ = held(lambda: wrong(found.text), found)

    assert result.failure.code == "contract_error"  # type: ignore[union-attr]


SCHEMA = {
    "properties": {
        "n": {"type": "integer", "maximum": 5},
        "kind": {"enum": ["a", "b"]},
        "word": {"type": "string", "maxLength": 5, "pattern": "^[a-z]+$"},
        "deep": {"type": "array", "items": {"type": "object", "properties": {"x": {"const": 1}}}},
    }
}


def complaint(raw: Any) -> str:
    """Return what a call with bad arguments is told, held to S5."""
    host = Host(tools=[plugin(lambda arguments: ToolResult.text("ran"), parameters=SCHEMA)])
    text, step = host.session(actor=ADA).call_wire("probe", raw)
    assert step.status == "invalid_arguments"
    assert len(text.encode()) <= 2_064
    assert not is_dirty(text)
    return str.__str__(text)


def test_an_unknown_key_of_a_megabyte_is_cut() -> None:
    """No more than 64 characters of it are told, as mapping and as text."""
    key = HOSTILE + "k" * 900_000
    plain = "k" * 900_000

    assert "k" * 65 not in complaint({key: 1})
    told = complaint(json.dumps({plain: 1}))
    assert "k" * 60 in told
    assert "k" * 65 not in told


@pytest.mark.parametrize(
    "make",
    [
        lambda text: {"n": text},
        lambda text: {"kind": text},
        lambda text: {"word": text},
        lambda text: {"deep": [{"x": text}]},
        lambda text: {"deep": text},
        lambda text: f'{{"n": "{text}"',
        lambda text: f'{{"n": {text}}}',
        lambda text: text,
        lambda text: [text],
    ],
)
def test_a_wrong_value_is_never_told(make: Callable[[str], Any]) -> None:
    """Complaints name path, rule and what was expected."""
    found = canary()

    assert not found.is_in(complaint(make(found.text)))


def test_arguments_above_a_megabyte_are_refused() -> None:
    """As text, as bytes and as a mapping, before anything is looked at."""
    for raw in (
        '{"word": "' + "x" * 1_000_000 + '"}',
        b'{"word": "' + b"x" * 1_000_000 + b'"}',
        {"word": "x" * 1_000_001},
        "[" * 2_000_000,
    ):
        assert "1000000" in complaint(raw)


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_name_and_no_key_comes_back_dirty(name: str, key: str) -> None:
    """What a model invents is told in 64 clean characters at the most."""
    host = Host(tools=[plugin(lambda arguments: ToolResult.text("ran"))])
    session = host.session(actor=ADA)

    text, step = session.call_wire(name, {key: 1})

    assert step.status in ("not_found", "invalid_arguments")
    assert not is_dirty(text)
    assert not is_dirty(step.tool)
    assert len(step.tool) <= 64


@pytest.mark.parametrize(
    "bad",
    [
        {"description": "x" * 1_000_000},
        {"description": "hidden \U000e0041\U000e0042"},
        {"description": "\x1b]0;owned\x07"},
        {"parameters": {"properties": {"a": {"title": "\u202e"}}}},
        {"parameters": {"properties": {"a\x1b": {}}}},
        {"parameters": {"properties": {f"p{i}": {"type": "string"} for i in range(2_000)}}},
    ],
)
def test_a_dirty_or_endless_specification_is_refused(bad: dict[str, Any]) -> None:
    """It would go to every provider."""
    with pytest.raises(SpecError) as error:
        spec(**bad)
    assert len(str(error.value)) < 1_000
    assert not is_dirty(str(error.value))


def test_no_reference_is_ever_fetched(recorder: Recorder) -> None:
    """Neither over HTTP nor from a file, in parameters nor in an output schema."""
    url = f"http://127.0.0.1:{recorder.port}/schema.json"

    for target in (url, "file:///etc/hostname", "//127.0.0.1/x", "#/$defs/../x", "other.json"):
        for schema in (
            {"$ref": target},
            {"properties": {"a": {"$ref": target}}},
            {"properties": {"a": {"$dynamicRef": target}}},
            {"$id": target, "properties": {"a": {"$ref": "#/$defs/x"}}},
        ):
            for key in ("parameters", "output_schema"):
                with pytest.raises(SpecError):
                    spec(**{key: schema})
    time.sleep(0.1)
    assert not recorder.heard


def test_progress_and_listeners_get_clean_text() -> None:
    """What is shown live is one clean line."""
    told: list[Any] = []

    def execute(arguments: object, context: Any) -> ToolResult:
        context.progress(1, 2, HOSTILE * 10_000)
        return ToolResult.text("fine")

    host = Host(tools=[plugin(execute)])
    host.listen(told.append)
    host.call("probe")

    assert len(told[0].text) <= 200
    assert not is_dirty(told[0].text)
    assert "\n" not in told[0].text


def test_nothing_of_a_refused_call_is_marked() -> None:
    """A refusal reads nothing, so it marks nothing."""
    host = Host(
        tools=[plugin(lambda arguments: ToolResult.text("x"), data_class="secret_adjacent")]
    )
    session = host.session(actor=ADA, zone="external_eu")

    session.call("probe")

    assert session.mark is DataClass.PUBLIC_CONTENT


def test_a_secret_that_is_a_key_is_masked_in_the_path_of_a_breach() -> None:
    """The path of a wrong value names its keys; one of a secret's shape is told nowhere."""
    secret = "AKIA" + "Q7XZ" * 4
    host = Host(tools=[plugin(lambda arguments: ToolResult.text("ok", data={secret: object()}))])

    with logged() as messages:
        result = host.call("probe", actor=ADA)

    assert result.failure is not None
    assert result.failure.code == "contract_error"
    assert "[masked]" in host.violations[0].path
    told = [*messages, repr(host.violations), str(host.steps[0].reason), encode_result(result)]
    assert all(secret not in text for text in told)
