"""What the kit says of a provider and what lowering does are the same thing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.schemas import schemas
from toolseam import ToolSpec
from toolseam._arguments import ArgumentReader
from toolseam._lowering._names import exposed_name
from toolseam.providers import Dialect, Lowering
from toolseam.testing import targets
from toolseam_plugins.conformance import Finding, lint
from toolseam_plugins.conformance._generate import arguments
from toolseam_plugins.conformance._portability import Severity

STRICTLESS = "without strict mode"


def lowered(schema: Any, dialect: str, description: str = "Probes.") -> dict[str, Any] | None:
    """Return what a provider is told of one tool, or None if it is left out."""
    spec = ToolSpec(name="probe", description=description, parameters=schema, effect="read_only")
    tools = Lowering(dialect)([spec]).tools
    return tools[0].get("function", tools[0]) if tools else None


def said_of(schema: Any, provider: str) -> list[Finding]:
    """Return what the kit says of a schema at one provider."""
    return [each for each in lint(schema, "probe", "Probes.") if each.provider == provider]


def forbids_strict(finding: Finding) -> bool:
    """Tell whether a finding says that the tool cannot be strict."""
    return STRICTLESS in finding.why or finding.severity is Severity.REFUSED


@given(schemas(bounded=True))
def test_a_tool_is_strict_unless_the_kit_says_why_not(schema: dict[str, Any]) -> None:
    """Each tool that goes out without strict mode is told so, and no other."""
    told = lowered(schema, "openai")

    assert told is not None
    said = any(forbids_strict(each) for each in said_of(schema, "openai-strict"))
    assert told.get("strict", False) is not said


@given(schemas(bounded=True))
def test_what_is_not_strict_goes_out_whole_unless_the_kit_says_otherwise(
    schema: dict[str, Any],
) -> None:
    """Without strict mode the schema is the tool's own, but for what is said of it."""
    told = lowered(schema, "openai")

    assert told is not None
    if "strict" not in told and not said_of(schema, "openai"):
        assert told["parameters"] == schema


@given(schemas(bounded=True), st.data())
def test_a_strict_form_loses_only_what_the_kit_says(schema: dict[str, Any], data: Any) -> None:
    """Where nothing is lost, every call that the strict form admits is one that the tool takes."""
    told = lowered(schema, "openai")
    assert told is not None
    lost = any(each.severity is Severity.LOSSY for each in said_of(schema, "openai-strict"))
    if "strict" not in told or lost:
        return

    call = data.draw(arguments(told["parameters"]))

    assert ArgumentReader(schema).read(json.dumps(call)).value is not None


@given(st.dictionaries(st.text(min_size=1, max_size=70), st.just({"type": "string"}), max_size=2))
def test_anthropic_is_told_what_the_kit_says_it_takes(properties: dict[str, Any]) -> None:
    """A tool is left out where the kit says that it is refused, else it goes out whole."""
    try:
        schema = ToolSpec(
            name="probe",
            description="Probes.",
            effect="read_only",
            parameters={"type": "object", "properties": properties},
        ).schema
    except Exception:
        return  # no schema of a tool

    told = lowered(schema, "anthropic")

    assert (told is None) is bool(said_of(schema, "anthropic"))
    assert told is None or told["input_schema"] == schema


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
def test_what_is_refused_at_the_top_is_not_sent_there(dialect: str, keyword: str) -> None:
    """The kit says that a provider refuses it; lowering puts it in other words."""
    choice = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    schema = {"type": "object", "additionalProperties": True, keyword: [choice]}

    (refused,) = [each for each in said_of(schema, dialect) if each.keyword == keyword]
    told = lowered(schema, dialect)

    assert refused.severity is Severity.REFUSED
    assert told is not None
    assert keyword not in told["parameters" if dialect == "openai" else "input_schema"]


def test_google_and_mcp_are_sent_the_whole_schema_whatever_is_said() -> None:
    """Of Google the kit tells the classic form; ours goes by the field for JSON Schema."""
    schema = {
        "type": "object",
        "properties": {"it": {"const": 1, "$ref": "#/$defs/one"}},
        "additionalProperties": False,
        "$defs": {"one": {"enum": [1, 2]}},
    }
    google, mcp = lowered(schema, "google"), lowered(schema, "mcp")

    assert google is not None
    assert google["parameters_json_schema"] == schema
    assert mcp is not None
    assert mcp["inputSchema"] == schema
    assert said_of(schema, "google")


@given(st.text(min_size=1, max_size=140), st.sampled_from(["openai", "anthropic", "google", "mcp"]))
def test_a_name_gets_an_alias_where_the_kit_says_so(name: str, provider: str) -> None:
    """A provider's own letters and length are known in one way (P13)."""
    found = [each for each in lint({"type": "object"}, name) if each.path == "name"]

    says = provider in {each.provider for each in found}
    assert (exposed_name(name, Dialect(provider).names) != name) is says


@pytest.mark.parametrize("length", [1_024, 1_025])
def test_a_description_is_cut_where_the_kit_says_so(length: int) -> None:
    """OpenAI refuses a longer one, so that it is sent the beginning."""
    description = "x" * length

    said = any(each.keyword == "description" for each in lint({"type": "object"}, "a", description))
    told = lowered({}, "openai", description)

    assert told is not None
    assert (told["description"] != description) is said


@pytest.mark.parametrize("target", targets("builtins"), ids=lambda target: target.name)
def test_the_kit_says_of_each_builtin_what_becomes_of_it(target: Any) -> None:
    """Strict or not, and the name as it is: each builtin as the kit says."""
    spec = target.plugin.tool_spec()
    findings = lint(spec.schema, spec.name, spec.description)

    told = lowered(spec.schema, "openai", spec.description)

    said = [each for each in findings if each.provider == "openai-strict"]
    assert told is not None
    assert told.get("strict", False) is not any(forbids_strict(each) for each in said)
