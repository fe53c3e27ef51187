"""What the builtins take: required arguments, limits, and arguments that are text (P14)."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.demo import open_demo, opened_demo
from toolseam import Step
from toolseam.cli._demo._everything import Everything

__all__ = ["open_demo", "opened_demo"]

REQUIRED = {
    "get_record_content": "table key",
    "get_record_history": "table key",
    "read_records": "table",
    "count_records": "table",
    "search_records": "query",
    "update_record_metadata": "table key values",
    "set_file_alternative_text": "file text",
    "move_record": "table key parent",
    "create_record_draft": "table values",
    "create_translation_draft": "table key language",
    "get_table_schema": "table",
    "get_json_column_schema": "table column",
    "get_record_tree": "table",
    "resolve_url": "url",
    "read_file_meta": "file",
    "get_config": "file",
    "resolve_template": "name",
    "read_source": "path",
    "search_code": "pattern",
    "search_files": "query",
    "get_file_references": "file",
    "probe_url": "url",
    "rag_query": "question",
    "rag_fetch_source": "source_id",
}
LIMITS = {
    ("get_record_history", "limit"): (10, 20),
    ("read_records", "limit"): (20, 50),
    ("read_records", "offset"): (0, 10_000),
    ("search_records", "limit"): (20, 50),
    ("get_json_column_schema", "sample"): (200, 1_000),
    ("get_record_tree", "depth"): (3, 5),
    ("read_source", "lines"): (60, 200),
    ("search_code", "max_results"): (30, 100),
    ("search_files", "limit"): (20, 50),
    ("fetch_logs", "limit"): (20, 50),
    ("list_deprecations", "limit"): (15, 40),
    ("rag_query", "limit"): (8, 20),
}


def test_what_is_needed_is_what_the_table_says(open_demo: tuple[Path, Everything]) -> None:
    """The same arguments are required, and a tool without a row there requires none."""
    _, asked = open_demo
    required = {
        tool.name: " ".join(tool.spec.schema.get("required", ())) for tool in asked.host.tools()
    }

    assert {name: words for name, words in required.items() if words} == REQUIRED


@pytest.mark.parametrize(("tool", "argument"), LIMITS)
def test_a_limit_has_a_default_and_a_maximum(
    open_demo: tuple[Path, Everything], tool: str, argument: str
) -> None:
    """What is in range is taken, what is not is refused and never clamped."""
    _, asked = open_demo
    default, most = LIMITS[tool, argument]
    found = asked.host.tools()
    (schema,) = (each.spec.schema["properties"][argument] for each in found if each.name == tool)
    group = next(each.spec.group for each in found if each.name == tool)
    rest = asked.arguments(group, tool)

    assert (schema["default"], schema["maximum"]) == (default, most)
    assert call(asked, tool, {**rest, argument: most}).status == "ok"
    for wrong in (most + 1, schema["minimum"] - 1):
        refused = call(asked, tool, {**rest, argument: wrong})
        assert refused.status == "invalid_arguments"
        assert argument in str(refused.wire)


@pytest.mark.parametrize("raw", ["", "   ", None, "null", "{}"])
def test_nothing_runs_a_tool_that_needs_nothing(
    open_demo: tuple[Path, Everything], raw: str | None
) -> None:
    """Empty, blank, absent and null arguments run `get_python_info` (P14)."""
    _, asked = open_demo

    assert call(asked, "get_python_info", raw).status == "ok"


def test_nothing_is_too_little_for_a_tool_that_needs_a_table(
    open_demo: tuple[Path, Everything],
) -> None:
    """The refusal names the table, and no parser (P14)."""
    _, asked = open_demo

    refused = call(asked, "read_records", "")

    assert refused.status == "invalid_arguments"
    assert "$.table" in str(refused.wire)
    assert "JSON" not in str(refused.wire)


def test_an_object_in_a_text_is_unpacked_and_the_step_has_it(
    open_demo: tuple[Path, Everything],
) -> None:
    """What the tool saw is what the record says, and that it was unpacked is noted (P14)."""
    _, asked = open_demo

    step = call(asked, "read_records", json.dumps(json.dumps({"table": "pages"})))

    assert step.status == "ok"
    assert step.arguments is not None
    assert step.arguments["table"] == "pages"
    assert len(step.repairs) == 1


def test_an_array_in_a_text_is_refused_where_an_array_is_declared(
    open_demo: tuple[Path, Everything],
) -> None:
    """`fields` as text is `invalid_arguments`, and says what was given (P14)."""
    _, asked = open_demo

    refused = call(asked, "read_records", {"table": "pages", "fields": '["id"]'})

    assert refused.status == "invalid_arguments"
    assert "$.fields: text where" in str(refused.wire)


def test_an_array_in_a_text_is_searched_for_as_it_stands(
    open_demo: tuple[Path, Everything],
) -> None:
    """`search_records` looks for these six characters (P14)."""
    _, asked = open_demo

    step = call(asked, "search_records", {"table": "pages", "query": '["id"]'})

    assert step.status == "ok"
    assert str(step.wire).startswith("'[\"id\"]' in pages: no record.")


@pytest.mark.parametrize("raw", ["[]", "42", '"x"', "```json\n{}\n```"])
def test_what_is_no_object_is_refused_by_every_tool(
    open_demo: tuple[Path, Everything], raw: str
) -> None:
    """Arrays, numbers, texts and fenced blocks are `invalid_arguments` (P14)."""
    _, asked = open_demo

    found = {call(asked, tool.name, raw).status for tool in asked.host.tools()}

    assert found == {"invalid_arguments"}


def test_a_key_may_be_a_number_or_a_text(open_demo: tuple[Path, Everything]) -> None:
    """Wherever a record is named, its key is taken as a number and as text."""
    _, asked = open_demo
    keys = {"key", "root", "parent", "after"}

    kinds = {
        (tool.name, name): {"integer", "string"} <= set(schema["type"])
        for tool in asked.host.tools()
        for name, schema in tool.spec.schema.get("properties", {}).items()
        if name in keys
    }

    assert len(kinds) == 9
    assert all(kinds.values()), kinds


def call(asked: Everything, tool: str, raw: Any) -> Step:
    """Call a tool as the operator, and return the step."""
    return asked.session.call_wire(tool, raw)[1]
