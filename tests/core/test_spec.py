import copy
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.tools import spec
from toolseam import DataClass, Effect, ToolSpec, Zone
from toolseam._errors import SpecError
from toolseam._spec import is_tool_name


@attrs.frozen
class Arguments:
    """Arguments of a tool."""

    table: str
    limit: int = 20


@attrs.frozen
class Settings:
    """Settings of a plugin."""

    host: str = "localhost"


def refused(**given: Any) -> str:
    """Return the sentence with which a specification is refused."""
    with pytest.raises(SpecError) as error:
        spec(**given)
    return str(error.value)


def test_a_reading_tool_is_on_and_asks_nobody() -> None:
    """What only reads is enabled by default and needs no approval."""
    found = spec(effect="read_only")

    assert (found.enabled_by_default, found.requires_approval) == (True, False)
    assert found.effect is Effect.READ_ONLY


@pytest.mark.parametrize("effect", ["idempotent_write", "non_idempotent_write", "unknown"])
def test_a_writing_tool_is_off_and_needs_approval(effect: str) -> None:
    """Every other effect is off by default and needs a person's word."""
    found = spec(effect=effect)

    assert (found.enabled_by_default, found.requires_approval) == (False, True)


def test_what_is_left_unsaid_is_the_strictest() -> None:
    """Without a class a tool is secret_adjacent, and nothing leaves the process."""
    found = ToolSpec(name="probe", description="A probe.", effect="read_only")

    assert found.data_class is DataClass.SECRET_ADJACENT
    assert (found.sends_to, found.requires_admin, found.parallel_safe) == (None, False, False)
    assert (found.inline, found.timeout_s, found.aliases) == (False, None, ())


def test_effect_must_be_said() -> None:
    """There is no default for what a tool does to the world."""
    with pytest.raises(TypeError, match="effect"):
        ToolSpec(name="probe", description="A probe.")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", "Probe"),
        ("name", ""),
        ("name", "a" * 65),
        ("name", "1st"),
        ("name", "pröbe"),
        ("name", "a-b"),
        ("name", "probe\n"),
        ("name", 7),
        ("description", ""),
        ("description", " \n "),
        ("description", "é" * 1_025),
        ("description", "a" * 1_000_000),
        ("description", "red \x1b[31m"),
        ("description", "hidden \U000e0041"),
        ("description", "turned \u202e"),
        ("description", "half \ud800"),
        ("description", None),
        ("effect", "reads"),
        ("effect", None),
        ("data_class", "secret"),
        ("sends_to", "moon"),
        ("group", "Two words"),
        ("group", ""),
        ("timeout_s", 0),
        ("timeout_s", -1.0),
        ("timeout_s", float("nan")),
        ("timeout_s", float("inf")),
        ("timeout_s", True),
        ("timeout_s", "5"),
        ("aliases", "clear"),
        ("aliases", ("Clear",)),
        ("aliases", ("probe",)),
        ("aliases", ("clear", "clear")),
        ("aliases", ([],)),
        ("settings", dict),
        ("remote_name", "line\nbreak"),
        ("remote_name", "x" * 201),
        ("remote_name", 3),
        ("version", "1\x1b"),
        ("version", 1.0),
        ("requires_admin", 1),
        ("enabled_by_default", 1),
        ("requires_approval", 1),
        ("inline", "yes"),
        ("parallel_safe", 1),
        ("parameters", 5),
        ("parameters", [("type", "object")]),
        ("parameters", int),
        ("parameters", {"type": "array"}),
        ("parameters", {"properties": {"a": {"description": "bad \U000e0041"}}}),
        ("parameters", {"properties": {"a": {"description": "x" * 17_000}}}),
        ("parameters", b"not json"),
        ("parameters", b"[]"),
        ("output_schema", {"type": "string"}),
    ],
)
def test_a_bad_field_is_refused_by_name(key: str, value: Any) -> None:
    """Each rule of the specification is a sentence with the tool and the field."""
    said = refused(**{key: value})

    assert said.startswith("tool ")
    assert f": {key}: " in said
    assert len(said) < 1_000


def test_only_a_reading_tool_may_overlap() -> None:
    """parallel_safe is refused for everything that writes."""
    assert "parallel_safe" in refused(effect="idempotent_write", parallel_safe=True)
    assert spec(parallel_safe=True).parallel_safe


def test_no_author_switches_a_write_on() -> None:
    """A tool that writes is off until the operator says so."""
    assert "enabled_by_default" in refused(effect="unknown", enabled_by_default=True)
    assert not spec(effect="unknown", enabled_by_default=False).enabled_by_default


def test_authors_may_only_tighten_approval() -> None:
    """A write cannot be excused, a reading tool can ask."""
    assert "requires_approval" in refused(effect="unknown", requires_approval=False)
    assert spec(requires_approval=True).requires_approval


def test_a_schema_is_closed_and_handed_out_as_a_copy() -> None:
    """What is done to a schema that was given or handed out changes nothing."""
    given = {"properties": {"a": {"type": "object", "properties": {}}}}
    found = spec(parameters=given)

    given["properties"]["b"] = {}
    found.schema["properties"].clear()

    assert found.schema["additionalProperties"] is False
    assert found.schema["properties"]["a"]["additionalProperties"] is False
    assert list(found.schema["properties"]) == ["a"]


@pytest.mark.parametrize("given", [None, {}, {"type": "object"}, b"{}"])
def test_a_tool_without_arguments_has_an_object_schema(given: Any) -> None:
    """Whatever stands for no arguments becomes an object with no properties (P10)."""
    found = spec(parameters=given).schema

    assert (found["type"], found["properties"]) == ("object", {})


def test_nothing_handed_out_can_change_a_specification() -> None:
    """Fields are frozen, containers are tuples and bytes, and a copy is the object itself."""
    found = spec(parameters=Arguments, output_schema={"properties": {}}, aliases=("clear",))

    for field in attrs.fields(ToolSpec):
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(found, field.name, None)
        assert not isinstance(getattr(found, field.name), list | dict | set)
    assert copy.copy(found) is found
    assert copy.deepcopy(found) is found
    with pytest.raises(TypeError):
        type("Mine", (ToolSpec,), {})


def test_repr_shows_no_schema() -> None:
    """The text of a specification is short, however large the schema."""
    large = {"properties": {f"p{i}": {"type": "string"} for i in range(200)}}

    assert "p150" not in repr(spec(parameters=large))


CHANGES: dict[str, Any] = {
    "name": "other",
    "description": "Another probe.",
    "effect": "unknown",
    "parameters": {"properties": {"a": {}}},
    "data_class": "source_code",
    "output_schema": {"properties": {}},
    "group": "other",
    "sends_to": "local",
    "requires_admin": True,
    "enabled_by_default": False,
    "requires_approval": True,
    "parallel_safe": True,
    "inline": True,
    "timeout_s": 5,
    "aliases": ("clear",),
    "remote_name": "x",
    "version": "2",
}


@pytest.mark.parametrize("key", CHANGES)
def test_the_digest_covers_what_an_approver_is_told(key: str) -> None:
    """Changing any fact of a tool changes the digest, and nothing else does."""
    assert spec(**{key: CHANGES[key]}).digest != spec().digest
    assert spec(**{key: CHANGES[key]}).digest == spec(**{key: CHANGES[key]}).digest


def test_the_table_of_changes_is_complete() -> None:
    """Every public field but the settings class, which is code, counts for the digest."""
    public = {f.name for f in attrs.fields(ToolSpec) if not f.name.startswith("_")}

    assert public - set(CHANGES) == {"settings"}


def test_words_become_members() -> None:
    """Effect, class and zone may be written as plain words."""
    found = spec(data_class="source_code", sends_to="external_eu", settings=Settings)

    assert (found.data_class, found.sends_to) == (DataClass.SOURCE_CODE, Zone.EXTERNAL_EU)


@given(st.text(max_size=70))
def test_a_tool_name_is_what_the_pattern_says(name: str) -> None:
    """The check agrees with the contract's regular expression for every text."""
    import re

    assert is_tool_name(name) == bool(re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name))
