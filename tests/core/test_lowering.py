import copy
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.schemas import complaints, schemas
from toolseam import ToolSpec
from toolseam._arguments import ArgumentReader
from toolseam._closed import close
from toolseam._lowering import Dialect, Lowering
from toolseam._lowering._names import TOOL_NAMES, NameRule, exposed_name, exposed_names
from toolseam._lowering._strict import Unstrict, strict_form
from toolseam._validator import validator_for
from toolseam.testing import targets
from toolseam_plugins.conformance._generate import arguments

ASKED = ("stock.list", "stock/list", "2fa_status", "größe_lesen", "get_tree")


def spec_of(schema: Any = None, name: str = "probe", description: str = "Probes.") -> ToolSpec:
    """Return the specification of a tool that takes these arguments."""
    return ToolSpec(name=name, description=description, parameters=schema, effect="read_only")


def told(schema: Any, dialect: str, **more: Any) -> dict[str, Any]:
    """Return what a provider is told of one tool, without the envelope of chat completions."""
    (tool,) = Lowering(dialect)([spec_of(schema, **more)]).tools
    return tool.get("function", tool)


def parameters(tool: dict[str, Any]) -> dict[str, Any]:
    """Return the schema, under whatever key a dialect has it."""
    keys = ("parameters", "input_schema", "parameters_json_schema", "inputSchema")
    return next(tool[key] for key in keys if key in tool)


# -- P10: tools without arguments ------------------------------------------------------------------


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize(
    "schema", [None, {}, {"type": "object"}, {"type": "object", "additionalProperties": False}]
)
def test_no_arguments_are_an_object_without_properties(dialect: str, schema: Any) -> None:
    """Every payload has type object and properties, which some providers insist on (P10)."""
    found = parameters(told(schema, dialect))

    assert found["type"] == "object"
    assert found["properties"] == {}
    assert found["additionalProperties"] is False


# -- P11: OpenAI's strict mode ---------------------------------------------------------------------

PROPERTIES: dict[str, Any] = {
    "table": {"type": "string"},
    "limit": {"type": "integer", "default": 20},
    "since": {"type": "string", "format": "date"},
    "opts": {"type": "object", "properties": {"deep": {"type": "boolean"}}},
}
P11 = {"type": "object", "properties": PROPERTIES, "required": ["table"]}


def objects(node: Any) -> list[dict[str, Any]]:
    """Return every object schema inside a schema."""
    inner = [*node.values()] if isinstance(node, dict) else node if isinstance(node, list) else []
    below = [each for child in inner for each in objects(child)]
    return [node, *below] if isinstance(node, dict) and "properties" in node else below


def test_a_strict_schema_names_every_key_as_required() -> None:
    """At every depth objects are closed, all keys required, optional ones nullable (P11)."""
    tool = told(P11, "openai")

    assert tool["strict"] is True
    found = tool["parameters"]
    assert [each["required"] for each in objects(found)] == [
        ["table", "limit", "since", "opts"],
        ["deep"],
    ]
    assert all(each["additionalProperties"] is False for each in objects(found))
    assert found["properties"]["table"] == {"type": "string"}
    assert found["properties"]["limit"] == {
        "type": ["integer", "null"],
        "description": "Default: 20.",
    }
    assert found["properties"]["since"] == {"type": ["string", "null"], "format": "date"}
    opts, nothing = found["properties"]["opts"]["anyOf"]
    assert (opts["type"], nothing) == ("object", {"type": "null"})
    assert opts["properties"]["deep"] == {"type": ["boolean", "null"]}
    assert '"default"' not in json.dumps(found)


def test_the_nulls_of_a_strict_call_are_absent_again() -> None:
    """A model that fills every key with null calls as if it had left them out (P11)."""
    reader = ArgumentReader(close(P11))

    found = reader.read({"table": "stock", "limit": None, "since": None, "opts": None})

    assert found.value == {"table": "stock", "limit": 20}
    with pytest.raises(Exception, match="table"):
        reader.read({"table": None, "limit": 5, "since": None, "opts": None})


def test_an_open_map_goes_out_unstrict_and_whole() -> None:
    """A tool with a map keeps it, and is not strict: strict mode cannot say it (P11)."""
    where = {"type": "object", "additionalProperties": {"type": "string"}}
    schema = {**P11, "properties": {**PROPERTIES, "where": where}}

    chat, responses = told(schema, "openai"), told(schema, "openai_responses")

    assert "strict" not in chat
    assert responses["strict"] is False
    for tool in (chat, responses):
        assert tool["parameters"] == close(schema)


UNSTRICT = {
    "anything": {},
    "any items": {"type": "array"},
    "a tuple": {"type": "array", "prefixItems": [{"type": "string"}], "items": False},
    "all of": {"allOf": [{"type": "string"}]},
    "not": {"type": "string", "not": {"const": "x"}},
    "a choice with rules beside it": {"type": "string", "anyOf": [{"pattern": "a"}]},
    "an optional key inside a choice": {
        "anyOf": [
            {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "additionalProperties": False,
            },
            {"type": "null"},
        ]
    },
    "objects as choices": {"enum": [{"a": 1}]},
    "too many choices": {"enum": [f"{n}" for n in range(1_001)]},
    "a key that is required and not described": {
        "type": "object",
        "properties": {},
        "required": ["a"],
        "additionalProperties": False,
    },
}


@pytest.mark.parametrize("rules", UNSTRICT.values(), ids=UNSTRICT)
def test_what_has_no_strict_form(rules: dict[str, Any]) -> None:
    """What strict mode cannot be told without another meaning goes out without it."""
    schema = {"type": "object", "properties": {"it": rules}, "required": ["it"]}

    assert "strict" not in told(schema, "openai")


def test_null_that_is_not_the_default_is_no_absence() -> None:
    """Where null means something and absence another thing, the model must be able to leave out."""
    nullable = {"type": ["integer", "null"]}

    def schema(default: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {"limit": {**nullable, "default": default}}}

    assert "strict" not in told(schema(20), "openai")
    assert told(schema(None), "openai")["strict"] is True


def test_a_reference_with_words_beside_it_stands_alone() -> None:
    """The description of a reference survives, and the reference has no sibling but it."""
    schema = {
        "type": "object",
        "properties": {"unit": {"$ref": "#/$defs/unit", "description": "How it is counted."}},
        "required": ["unit"],
        "$defs": {"unit": {"enum": ["kg", "l"]}},
    }

    found = told(schema, "openai")["parameters"]

    assert found["properties"]["unit"] == {
        "description": "How it is counted.",
        "anyOf": [{"$ref": "#/$defs/unit"}],
    }
    assert found["$defs"]["unit"] == {"enum": ["kg", "l"], "type": "string"}


@pytest.mark.parametrize(
    ("rules", "nullable"),
    [
        ({"enum": ["kg", "l"]}, {"enum": ["kg", "l", None], "type": ["string", "null"]}),
        ({"const": 1}, {"anyOf": [{"const": 1, "type": "integer"}, {"type": "null"}]}),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        ),
        (
            {"type": "array", "items": {"type": "string"}, "description": "Which."},
            {
                "description": "Which.",
                "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
            },
        ),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
    ],
)
def test_an_optional_key_of_any_kind_may_be_null(rules: Any, nullable: Any) -> None:
    """Choices, constants, lists: null joins where it was not admitted, and words stay outside."""
    found = told({"type": "object", "properties": {"it": rules}}, "openai")

    assert found["parameters"]["properties"]["it"] == nullable
    assert found["parameters"]["required"] == ["it"]


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [
        ("^[a-z_]+(?:-[0-9]{2})?$", True),
        (r"^\d+\.\w*$", True),
        (r"^\p{Lu}", False),
        ("(?i)^a$", False),
        ("^[[:alpha:]]+$", False),
        ("[a-z&&[^b]]", False),
    ],
)
def test_a_pattern_of_one_engine_is_left_out_in_strict_mode(pattern: str, kept: bool) -> None:
    """One pattern that OpenAI does not read would fail the request of all tools."""
    rules = {"type": "string", "pattern": pattern}
    schema = {"type": "object", "properties": {"it": rules}, "required": ["it"]}

    found = told(schema, "openai")["parameters"]["properties"]["it"]

    assert ("pattern" in found) is kept
    assert told(schema, "anthropic")["input_schema"]["properties"]["it"]["pattern"] == pattern


def test_nested_too_deeply_is_unstrict() -> None:
    """Ten levels are strict, eleven are not."""

    def flat(levels: int) -> dict[str, Any]:
        rules: dict[str, Any] = {"type": "string"}
        for _ in range(levels):
            rules = {"type": "array", "items": rules}
        root = {"type": "object", "properties": {"it": rules}, "required": ["it"]}
        return {**root, "additionalProperties": False}

    assert strict_form(flat(9))
    with pytest.raises(Unstrict, match="levels"):
        strict_form(flat(10))


def test_strict_mode_can_be_left_alone() -> None:
    """For servers that speak the dialect and not strict mode, every schema goes out whole."""
    (tool,) = Lowering("openai", strict=False)([spec_of(P11)]).tools

    assert tool["function"] == {
        "name": "probe",
        "description": "Probes.",
        "parameters": close(P11),
    }


# -- strict mode, for any schema -------------------------------------------------------------------


@given(schemas(bounded=True))
@settings(max_examples=60, deadline=None)
def test_a_strict_form_obeys_the_rules_and_changes_nothing(schema: dict[str, Any]) -> None:
    """Whatever goes out as strict is strict by OpenAI's rules; the tool's schema stays as it is."""
    before = copy.deepcopy(schema)

    try:
        form = strict_form(schema)
    except Unstrict:
        form = None

    assert schema == before
    assert form is None or complaints(form) == []


@given(schemas(bounded=False), st.data())
@settings(max_examples=80, deadline=None)
def test_what_a_strict_form_admits_the_tool_takes(schema: dict[str, Any], data: Any) -> None:
    """A call made by the strict form is a call of the tool once its nulls are dropped (P11)."""
    try:
        form = strict_form(schema)
    except Unstrict:
        return
    call = data.draw(arguments(form))

    assert ArgumentReader(schema).read(json.dumps(call)).value is not None


def filled(schema: Any, value: Any, defs: dict[str, Any]) -> Any:
    """Return a value of the tool's own schema with null for each key that it leaves out."""
    while "$ref" in schema:
        schema = defs[schema["$ref"].rpartition("/")[2]]
    if isinstance(value, dict) and "properties" in schema:
        return {
            name: filled(child, value[name], defs) if name in value else None
            for name, child in schema["properties"].items()
        }
    if isinstance(value, list) and "items" in schema:
        return [filled(schema["items"], each, defs) for each in value]
    return value


@given(schemas(bounded=True), st.data())
@settings(max_examples=80, deadline=None)
def test_every_call_of_a_tool_can_be_made_by_its_strict_form(
    schema: dict[str, Any], data: Any
) -> None:
    """Nothing that the tool takes is lost: with nulls for what is left out, the form admits it."""
    try:
        form = strict_form(schema)
    except Unstrict:
        return
    call = data.draw(arguments(schema))

    assert validator_for(form).is_valid(filled(schema, call, schema["$defs"]))


# -- P12 and the others: whole ---------------------------------------------------------------------

P12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "unit": {"$ref": "#/$defs/unit", "description": "How it is counted."},
        "name": {"type": ["string", "null"]},
        "other": {"anyOf": [{"$ref": "#/$defs/unit"}, {"type": "null"}]},
        "things": {"type": "array"},
        "kind": {"const": "kg"},
        "level": {"enum": [1, 2, 3]},
        "least": {"type": "number", "exclusiveMinimum": 0},
    },
    "required": ["unit"],
    "additionalProperties": False,
    "$defs": {"unit": {"type": "string", "enum": ["kg", "l"]}},
}


@pytest.mark.parametrize("dialect", ["google", "mcp"])
def test_the_full_schema_field_gets_the_schema_whole(dialect: str) -> None:
    """Google's field for JSON Schema and MCP's are sent the tool's own schema (P12)."""
    schema = {key: value for key, value in P12.items() if key != "$schema"}

    assert parameters(told(schema, dialect)) == close(schema)


@pytest.mark.parametrize("dialect", Dialect)
def test_the_draft_that_an_author_names_is_told_to_mcp_alone(dialect: str) -> None:
    """MCP's clients may check with more than one draft; a provider has but one."""
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}

    assert ("$schema" in parameters(told({**draft, **P11}, dialect))) is (dialect == "mcp")


def test_an_array_without_items_gets_items_that_say_nothing() -> None:
    """OpenAI refuses an array that does not speak of its items; these admit the same."""
    schema = {"type": "object", "properties": {"it": {"type": "array"}}}

    found = told(schema, "openai")["parameters"]

    assert found["properties"]["it"] == {"type": "array", "items": {}}


@pytest.mark.parametrize("dialect", ["openai", "openai_responses", "anthropic"])
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
def test_a_choice_at_the_top_is_told_beside_each_other(dialect: str, keyword: str) -> None:
    """Where a provider refuses a choice at the top, all its keys are named, and nothing is lost."""
    by_id = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "at": {"type": "string"}},
        "required": ["id"],
        "additionalProperties": True,
    }
    schema = {
        "type": "object",
        "properties": {"at": {"type": "string"}},
        "additionalProperties": True,
        keyword: [by_id, {"$ref": "#/$defs/named"}],
        "$defs": {
            "named": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "name": {"type": "string"}},
                "additionalProperties": True,
            }
        },
    }

    found = parameters(told(schema, dialect))

    assert keyword not in found
    assert found["type"] == "object"
    assert found["properties"] == {
        "at": {"type": "string"},
        "id": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "name": {"type": "string"},
    }


def test_what_a_provider_refuses_however_it_is_put_is_left_out() -> None:
    """One tool that Anthropic would refuse does not take the others with it, and says why."""
    inner = {"type": "object", "properties": {"größe": {"type": "string"}}}
    items = {"type": "array", "items": inner}
    odd = spec_of({"type": "object", "properties": {"sizes": items}}, "odd")

    lowered = Lowering("anthropic")([spec_of(name="fine"), odd])

    assert [tool["name"] for tool in lowered.tools] == ["fine"]
    assert "gr\\xf6\\xdfe" in lowered.left_out["odd"]


def test_a_long_description_is_cut_for_openai() -> None:
    """OpenAI refuses more than 1,024 characters; the others are told all."""
    long = "x" * 2_000

    assert len(told({}, "openai", description=long)["description"]) == 1_024
    assert told({}, "anthropic", description=long)["description"] == long


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("target", targets("builtins"), ids=lambda target: target.name)
def test_every_builtin_is_told_to_everybody_and_stays_as_it_is(target: Any, dialect: str) -> None:
    """Each builtin goes out in each dialect; its own schema is the same afterwards."""
    spec = target.plugin.tool_spec()
    before = spec.schema, spec.digest

    lowered = Lowering(dialect)([spec])

    assert (spec.schema, spec.digest) == before
    assert len(lowered.tools) == 1
    assert lowered.left_out == {}
    form = lowered.tools[0].get("function", lowered.tools[0])
    assert not form.get("strict") or complaints(form["parameters"]) == []


# -- P13: names ------------------------------------------------------------------------------------

OPENAI_NAMES = Dialect.OPENAI.names
RULES = {
    "openai": (OPENAI_NAMES, r"[A-Za-z0-9_-]{1,64}"),
    "anthropic": (Dialect.ANTHROPIC.names, r"[A-Za-z0-9_-]{1,128}"),
    "google": (Dialect.GOOGLE.names, r"[A-Za-z_][A-Za-z0-9_-]{0,63}"),
    "mcp": (Dialect.MCP.names, r"[A-Za-z0-9_.-]{1,128}"),
    "toolseam": (TOOL_NAMES, r"[a-z][a-z0-9_]{0,63}"),
}


@pytest.mark.parametrize(("rule", "pattern"), RULES.values(), ids=RULES)
def test_five_names_stay_five_names(rule: NameRule, pattern: str) -> None:
    """Dot, slash, leading digit and letters outside ASCII: five different names each (P13)."""
    found = exposed_names(ASKED, rule)

    assert len(set(found.values())) == 5
    assert all(re.fullmatch(pattern, exposed) for exposed in found.values())
    assert found["get_tree"] == "get_tree"


@given(st.lists(st.text(max_size=200), max_size=8), st.sampled_from(list(RULES)))
@settings(max_examples=200)
def test_any_names_are_taken_and_stay_apart(names: list[str], provider: str) -> None:
    """Whatever the names are, each provider takes all of them, and no two become one."""
    rule, pattern = RULES[provider]

    found = exposed_names(names, rule)

    assert len(set(found.values())) == len(set(names))
    assert all(re.fullmatch(pattern, exposed) for exposed in found.values())


def test_a_name_depends_on_itself_alone() -> None:
    """A tool keeps its exposed name whatever else is offered: earlier messages speak of it."""
    alone = exposed_names(["stock.list"], OPENAI_NAMES)["stock.list"]

    assert exposed_names(ASKED, OPENAI_NAMES)["stock.list"] == alone
    assert exposed_name("stock.list", OPENAI_NAMES) == alone
    assert alone.startswith("stock_list_")


def test_a_name_of_ours_keeps_what_it_can() -> None:
    """Capitals become small letters, all else an underscore; eight digits part it from others."""
    found = exposed_name("depot__getUser-Name", TOOL_NAMES)

    assert re.fullmatch(r"depot__getuser_name_[0-9a-f]{8}", found)


def test_a_name_made_to_meet_another_does_not() -> None:
    """Who names a tool as another one's exposed name gets that name, and the other a longer one."""
    trap = exposed_name("stock.list", OPENAI_NAMES)

    found = exposed_names(["stock.list", trap], OPENAI_NAMES)

    assert found[trap] == trap
    assert found["stock.list"] != trap


def test_a_call_is_routed_back_to_the_tools_own_name() -> None:
    """What the model calls is the tool; a name that nobody was told stays as it was written."""
    lowered = Lowering("openai")([spec_of()])

    assert lowered.called("probe", "{}", "call_1").name == "probe"
    assert lowered.called("probe", "{}").alias is None
    assert lowered.called("invented!", "{}").name == "invented!"
    assert lowered.exposed("invented!").startswith("invented__")


# -- the second round ------------------------------------------------------------------------------


def test_the_second_round_lowers_nothing_again() -> None:
    """The same tools give the same lowered tools; what is handed out is a copy each time."""
    specs = [spec_of(name=f"probe_{n}") for n in range(3)]
    lowering = Lowering("openai")

    first = lowering(specs)
    first.tools[0]["function"]["name"] = "changed"

    assert lowering(specs) is first
    assert first.tools[0]["function"]["name"] == "probe_0"
    assert [each["function"]["name"] for each in lowering(specs[1:]).tools] == [
        "probe_1",
        "probe_2",
    ]
