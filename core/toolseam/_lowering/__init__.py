"""From tool specifications to what a provider takes; the tool's own schema stays as it is.

Arguments are always checked against the tool's own schema, so lowering is about what the model is
told, never about what is let through.
"""

from __future__ import annotations

import weakref
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast, final

import attrs
import orjson

from toolseam._errors import publish
from toolseam._lowering._names import (
    ANTHROPIC_NAMES,
    GOOGLE_NAMES,
    MCP_NAMES,
    OPENAI_NAMES,
    NameRule,
    exposed_name,
    exposed_names,
)
from toolseam._lowering._strict import Unstrict, strict_form
from toolseam._lowering._whole import WIDENED, refusal_of, whole_form
from toolseam._messages import ToolCall
from toolseam._trace import LOGGER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from toolseam._spec import ToolSpec

DESCRIPTION = 1_024
"""Characters of a description at OpenAI."""


class Dialect(StrEnum):
    """Whose words a tool is put in."""

    OPENAI = "openai"
    OPENAI_RESPONSES = "openai_responses"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    MCP = "mcp"

    @property
    def names(self) -> NameRule:
        """Which names it takes."""
        return _NAMES[self]


_NAMES = {
    Dialect.OPENAI: OPENAI_NAMES,
    Dialect.OPENAI_RESPONSES: OPENAI_NAMES,
    Dialect.ANTHROPIC: ANTHROPIC_NAMES,
    Dialect.GOOGLE: GOOGLE_NAMES,
    Dialect.MCP: MCP_NAMES,
}


@attrs.frozen
class _Told:
    """One tool as it is told: JSON, or why it is left out; and why it is not strict."""

    name: str
    text: bytes = b""
    left_out: str = ""
    unstrict: str = ""


@final
class Lowered:
    """The tools of one request in one dialect, and their names both ways; immutable.

    `left_out` says why of each tool that the provider would refuse, and all others with it;
    `unstrict` of each that goes out without OpenAI's strict mode.
    """

    __slots__ = ("_exposed", "_names", "_rule", "_text", "left_out", "unstrict")

    def __init__(self, names: Mapping[str, str], told: Mapping[str, _Told], rule: NameRule) -> None:
        self._exposed = dict(names)
        self._names = {exposed: name for name, exposed in names.items()}
        self._text = b"[" + b",".join(each.text for each in told.values() if each.text) + b"]"
        self._rule = rule
        self.left_out = {name: each.left_out for name, each in told.items() if each.left_out}
        self.unstrict = {name: each.unstrict for name, each in told.items() if each.unstrict}

    @property
    def tools(self) -> list[dict[str, Any]]:
        """A fresh copy of what the provider is told, a dict for each tool."""
        return cast("list[dict[str, Any]]", orjson.loads(self._text))

    @property
    def aliases(self) -> dict[str, str]:
        """The exposed names that are not the tools' own, and the tool that each stands for."""
        return {exposed: name for exposed, name in self._names.items() if exposed != name}

    def exposed(self, name: str) -> str:
        """Return the name under which the provider knows a tool, offered here or not."""
        found = self._exposed.get(name)
        return exposed_name(name, self._rule) if found is None else found

    def called(
        self,
        exposed: str,
        arguments: str | Mapping[str, Any] | None,
        id: str | None = None,  # noqa: A002
    ) -> ToolCall:
        """Return the call that a model asks for, under the tool's own name where it is known."""
        name = self._names.get(exposed, exposed)
        return ToolCall(name, arguments, id, None if name == exposed else exposed)


@final
class Lowering:
    """Lowers tools to one dialect, and remembers what it lowered; to be shared by threads.

    Args:
        dialect: `openai`, `openai_responses`, `anthropic`, `google` or `mcp`.
        strict: whether OpenAI's strict mode is used for the tools that it can be told of.
    """

    __slots__ = ("_known", "_last", "_strict", "dialect")

    def __init__(self, dialect: Dialect | str, *, strict: bool = True) -> None:
        self.dialect = Dialect(dialect)
        self._strict = strict
        # A specification is immutable and compared by identity, so it stands for its digest.
        self._known: weakref.WeakKeyDictionary[ToolSpec, _Told] = weakref.WeakKeyDictionary()
        self._last: tuple[tuple[ToolSpec, ...], Lowered] | None = None

    def __call__(self, specs: Iterable[ToolSpec]) -> Lowered:
        """Return the tools in this dialect, in the order given."""
        given = tuple(specs)
        last = self._last
        if last is not None and last[0] == given:
            return last[1]
        names = exposed_names((spec.name for spec in given), self.dialect.names)
        told = {spec.name: self._told(spec, names[spec.name]) for spec in given}
        lowered = Lowered(names, told, self.dialect.names)
        self._last = given, lowered
        return lowered

    def _told(self, spec: ToolSpec, name: str) -> _Told:
        known = self._known.get(spec)
        if known is None or known.name != name:
            known = self._known[spec] = self._lower(spec, name)
            if known.left_out:
                LOGGER.warning("%s is not told to %s: %s", spec.name, self.dialect, known.left_out)
        return known

    def _lower(self, spec: ToolSpec, name: str) -> _Told:
        dialect, schema = self.dialect, spec.schema
        refused = refusal_of(schema, dialect.value)
        if refused is not None:
            return _Told(name, left_out=refused)
        if dialect is not Dialect.MCP:
            # Which draft it is needs telling only where clients check with more than one.
            schema.pop("$schema", None)
        if dialect is Dialect.OPENAI or dialect is Dialect.OPENAI_RESPONSES:
            return self._openai(spec, name, schema)
        told: dict[str, Any] = {"name": name, "description": spec.description}
        if dialect is Dialect.ANTHROPIC:
            told["input_schema"] = whole_form(schema, WIDENED[dialect.value])
        else:
            told["inputSchema" if dialect is Dialect.MCP else "parameters_json_schema"] = schema
        return _Told(name, orjson.dumps(told))

    def _openai(self, spec: ToolSpec, name: str, schema: dict[str, Any]) -> _Told:
        form, unstrict = self._strict_form(schema)
        text = spec.description
        told: dict[str, Any] = {
            "name": name,
            "description": text if len(text) <= DESCRIPTION else text[: DESCRIPTION - 1] + "…",
            "parameters": whole_form(schema, WIDENED["openai"]) if form is None else form,
        }
        if self.dialect is Dialect.OPENAI_RESPONSES:
            # Said outright: unsaid, the API makes every schema strict in its own way.
            whole = {"type": "function", **told, "strict": form is not None}
        else:
            strict = {} if form is None else {"strict": True}
            whole = {"type": "function", "function": {**told, **strict}}
        return _Told(name, orjson.dumps(whole), unstrict=unstrict)

    def _strict_form(self, schema: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
        if not self._strict:
            return None, "strict mode is off"
        try:
            return strict_form(schema), ""
        except Unstrict as reason:
            return None, str(reason)


publish(globals(), "Dialect", "Lowered", "Lowering")
