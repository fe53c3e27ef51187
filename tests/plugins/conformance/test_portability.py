from typing import Any

import pytest

from toolseam import ToolSpec
from toolseam.testing import targets
from toolseam_plugins.conformance._portability import PROVIDERS, Severity, lint

TREE = {
    "type": "object",
    "properties": {"inside": {"$ref": "#/$defs/tree"}},
    "additionalProperties": False,
}


def schema_of(rules: Any, **root: Any) -> dict[str, Any]:
    """Put one property into the schema of arguments."""
    return {
        "type": "object",
        "properties": {"it": rules},
        "required": ["it"],
        "additionalProperties": False,
        **root,
    }


def found(schema: dict[str, Any], provider: str, name: str = "greet") -> dict[str, tuple[str, str]]:
    """Return keyword to path and severity of what one provider does not take."""
    return {
        each.keyword: (each.path, each.severity.value)
        for each in lint(schema, name, "Greet.")
        if each.provider == provider
    }


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_plain_schema_is_portable(provider: str) -> None:
    """A closed object of typed, required properties is taken by everybody as it is."""
    schema = schema_of({"type": "string", "description": "Who.", "enum": ["a", "b"]})

    assert found(schema, provider) == {}


def test_a_tool_without_arguments_is_portable() -> None:
    """No arguments at all are an object schema everywhere (P10)."""
    spec = ToolSpec(name="ping", description="Ping.", effect="read_only")

    assert lint(spec.schema, spec.name, spec.description) == ()


def test_openai_strict_is_told_keyword_by_keyword() -> None:
    """Optional, default, format, open map: what strict mode does with each, and where (P11)."""
    schema = {
        "type": "object",
        "properties": {
            "table": {"type": "string"},
            "limit": {"type": "integer", "default": 20},
            "since": {"type": "string", "format": "date"},
            "colour": {"type": "string", "format": "color"},
            "where": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "required": ["table"],
        "additionalProperties": False,
    }

    strict = found(schema, "openai-strict")

    assert strict == {
        "required": ("$", "lowered"),
        "default": ("$.properties.limit", "lowered"),
        "format": ("$.properties.colour", "lossy"),
        "additionalProperties": ("$.properties.where", "lossy"),
    }
    assert found(schema, "openai") == {}


@pytest.mark.parametrize(
    ("rules", "keyword", "severity"),
    [
        ({"$ref": "#/$defs/unit", "description": "beside it"}, "$ref", "lowered"),
        ({"$ref": "#/$defs/tree"}, "$ref", "lossy"),
        ({"type": ["string", "null"]}, "type", "lowered"),
        ({"type": ["string", "integer"]}, "type", "lowered"),
        ({}, "type", "lossy"),
        ({"anyOf": [{"$ref": "#/$defs/unit"}, {"type": "null"}]}, "$ref", "lowered"),
        ({"type": "array"}, "items", "lossy"),
        ({"const": "kg"}, "const", "lowered"),
        ({"const": 1}, "const", "lossy"),
        ({"enum": [1, 2, 3]}, "enum", "lossy"),
        ({"type": "integer", "exclusiveMinimum": 0}, "exclusiveMinimum", "lowered"),
        ({"type": "number", "exclusiveMinimum": 0}, "exclusiveMinimum", "lossy"),
        ({"type": "integer", "multipleOf": 5}, "multipleOf", "lossy"),
        ({"type": "string", "format": "uri"}, "format", "lossy"),
        ({"type": "object", "additionalProperties": True}, "additionalProperties", "lossy"),
        ({"type": "object", "additionalProperties": False}, "properties", "refused"),
        ({"not": {"type": "null"}}, "not", "lossy"),
        ({"oneOf": [{"type": "null"}, {"type": "string"}]}, "oneOf", "lowered"),
    ],
)
def test_googles_subset(rules: dict[str, Any], keyword: str, severity: str) -> None:
    """What the classic form does not know is told with its keyword and its place (P12)."""
    defs = {"unit": {"type": "string"}, "tree": TREE}
    used = {name: each for name, each in defs.items() if name in str(rules)}

    place, how = found(schema_of(rules, **{"$defs": used}), "google")[keyword]

    assert place.startswith(("$.properties.it", "$.$defs.tree"))
    assert how == severity


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_choice_at_the_top_is_refused(provider: str, keyword: str) -> None:
    """One such tool makes OpenAI and Anthropic refuse all that are sent with it."""
    schema = schema_of({"type": "string"}, **{keyword: [{"required": ["it"]}]})

    assert found(schema, provider)[keyword] == ("$", "refused")


def test_an_array_says_what_its_items_are() -> None:
    """OpenAI refuses an array without items, at any depth, in either mode."""
    schema = schema_of({"type": "array", "items": {"type": "array"}})

    assert found(schema, "openai")["items"] == ("$.properties.it.items", "refused")
    assert found(schema, "openai-strict")["items"] == ("$.properties.it.items", "refused")


def test_anthropic_is_particular_about_property_names() -> None:
    """A property with another sign than letters, digits, _ . - is refused."""
    schema = schema_of({"type": "string"}, properties={"größe": {"type": "string"}})

    assert found(schema, "anthropic") == {"properties": ("$", "refused")}


@pytest.mark.parametrize(
    ("name", "refusing"),
    [
        ("get_tree", set()),
        ("stock.list", {"openai", "anthropic", "google"}),
        ("stock/list", {"openai", "anthropic", "google", "mcp"}),
        ("2fa_status", {"google"}),
        ("größe_lesen", {"openai", "anthropic", "google", "mcp"}),
        ("x" * 65, {"openai", "google"}),
        ("x" * 129, {"openai", "anthropic", "google", "mcp"}),
    ],
)
def test_names_that_a_provider_refuses(name: str, refusing: set[str]) -> None:
    """Each provider's own letters and length; such a tool goes out under an alias (P13)."""
    findings = [each for each in lint(schema_of({"type": "string"}), name) if each.path == "name"]

    assert {each.provider for each in findings} == refusing
    assert all(each.severity is Severity.LOWERED for each in findings)


def test_a_long_description_is_refused_by_openai() -> None:
    """OpenAI takes 1,024 characters of description, the contract more."""
    schema = schema_of({"type": "string"})

    assert lint(schema, "greet", "x" * 1_024) == ()
    (finding,) = lint(schema, "greet", "x" * 1_025)

    assert (finding.provider, finding.severity) == ("openai", Severity.REFUSED)


def test_promised_data_that_is_no_object_is_told() -> None:
    """MCP's structured content is an object."""
    (finding,) = lint(schema_of({"type": "string"}), "greet", output_schema={"type": "array"})

    assert (finding.provider, finding.path) == ("mcp", "output_schema")


def test_a_finding_is_one_line_that_says_what_to_write() -> None:
    """Provider, place, keyword, how bad, why, and what to write instead."""
    schema = schema_of({"type": "object", "additionalProperties": True})
    (finding,) = [each for each in lint(schema, "greet") if each.provider == "google"]

    assert str(finding).startswith(
        "google: $.properties.it: additionalProperties: lossy: only named keys"
    )
    assert str(finding).endswith(finding.instead)


@pytest.mark.parametrize("target", targets("builtins"), ids=lambda target: target.name)
def test_no_builtin_is_refused_anywhere(target: Any) -> None:
    """Every builtin tool can be sent to every provider."""
    spec = target.plugin.tool_spec()

    refused = [
        str(each)
        for each in lint(spec.schema, spec.name, spec.description)
        if each.severity is Severity.REFUSED
    ]

    assert refused == []
