"""From tool specifications to what a provider takes; the tool's own schema stays as it is.

Arguments are always checked against the tool's own schema, so lowering is about what the model is
told, never about what is let through.
"""

from __future__ import annotations

import weakref
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast, final

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

    _Known = weakref.WeakKeyDictionary[ToolSpec, tuple[str, bytes | str]]

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


@final
class Lowered:
    """The tools of one request in one dialect, and their names both ways; immutable.

    `left_out` says of each tool that the provider would refuse, and all others with it, why.
    """

    __slots__ = ("_exposed", "_names", "_rule", "_text", "left_out")

    def __init__(
        self, names: Mapping[str, str], text: bytes, left_out: Mapping[str, str], rule: NameRule
    ) -> None:
        self._exposed = dict(names)
        self._names = {exposed: name for name, exposed in names.items()}
        self._text = text
        self._rule = rule
        self.left_out = dict(left_out)

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
        self._known: _Known = weakref.WeakKeyDictionary()
        self._last: tuple[tuple[ToolSpec, ...], Lowered] | None = None

    def __call__(self, specs: Iterable[ToolSpec]) -> Lowered:
        """Return the tools in this dialect, in the order given."""
        given = tuple(specs)
        last = self._last
        if last is not None and last[0] == given:
            return last[1]
        names = exposed_names((spec.name for spec in given), self.dialect.names)
        told: list[bytes] = []
        left_out: dict[str, str] = {}
        for spec in given:
            found = self._lowered(spec, names[spec.name])
            if isinstance(found, str):
                left_out[spec.name] = found
            else:
                told.append(found)
        lowered = Lowered(names, b"[" + b",".join(told) + b"]", left_out, self.dialect.names)
        self._last = given, lowered
        return lowered

    def _lowered(self, spec: ToolSpec, name: str) -> bytes | str:
        """Return one tool as JSON, or why it is left out."""
        known = self._known.get(spec)
        if known is None or known[0] != name:
            known = name, self._lower(spec, name)
            self._known[spec] = known
            if isinstance(known[1], str):
                LOGGER.warning("%s is not told to %s: %s", spec.name, self.dialect, known[1])
        return known[1]

    def _lower(self, spec: ToolSpec, name: str) -> bytes | str:
        dialect, schema = self.dialect, spec.schema
        refused = refusal_of(schema, dialect.value)
        if refused is not None:
            return refused
        if dialect is Dialect.OPENAI or dialect is Dialect.OPENAI_RESPONSES:
            return orjson.dumps(self._openai(spec, name, schema))
        told: dict[str, Any] = {"name": name, "description": spec.description}
        if dialect is Dialect.ANTHROPIC:
            told["input_schema"] = whole_form(schema, WIDENED[dialect.value])
        else:
            told["inputSchema" if dialect is Dialect.MCP else "parameters_json_schema"] = schema
        return orjson.dumps(told)

    def _openai(self, spec: ToolSpec, name: str, schema: dict[str, Any]) -> dict[str, Any]:
        form = None
        if self._strict:
            try:
                form = strict_form(schema)
            except Unstrict:
                form = None
        strict = form is not None
        text = spec.description
        told: dict[str, Any] = {
            "name": name,
            "description": text if len(text) <= DESCRIPTION else text[: DESCRIPTION - 1] + "…",
            "parameters": whole_form(schema, WIDENED["openai"]) if form is None else form,
        }
        if self.dialect is Dialect.OPENAI_RESPONSES:
            # Said outright: unsaid, the API makes every schema strict in its own way.
            return {"type": "function", **told, "strict": strict}
        if strict:
            told["strict"] = True
        return {"type": "function", "function": told}


publish(globals(), "Dialect", "Lowered", "Lowering")
