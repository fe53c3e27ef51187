"""What a tool says of itself (contract §3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar, cast, final

import attrs
import orjson

from toolseam._closed import close
from toolseam._errors import SpecError, publish
from toolseam._levels import DataClass, Effect, Zone
from toolseam._schema import schema_of
from toolseam._text import is_clean, short

E = TypeVar("E", Effect, DataClass, Zone)

DESCRIPTION_BYTES = 2_048
_NAME_CHARACTERS = 64
_LINE = 200
_WORD = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
_LETTER = frozenset("abcdefghijklmnopqrstuvwxyz")


def is_tool_name(name: object) -> bool:
    """Tell whether `name` is `[a-z][a-z0-9_]{0,63}`."""
    return (
        type(name) is str
        and 0 < len(name) <= _NAME_CHARACTERS
        and name[0] in _LETTER
        and _WORD.issuperset(name)
    )


@final
@attrs.frozen(kw_only=True, eq=False, init=False)
class ToolSpec:
    """What a tool says of itself; immutable, and refused with `SpecError` when a rule fails (§3).

    Args:
        name: `[a-z][a-z0-9_]{0,63}`, equal to the entry point's name.
        description: what the model is told, at most 2,048 bytes, free of control characters.
        parameters: an attrs class, or a JSON Schema object (at most 16,384 bytes, 12 levels),
            closed by `additionalProperties: false` where it does not say otherwise.
        effect: `read_only`, `idempotent_write`, `non_idempotent_write` or `unknown`.
        data_class: how delicate the answers are; `secret_adjacent` if unsaid.
        output_schema: an attrs class or JSON Schema; a success must then carry fitting `data`.
        group: one word for the listing and the policy.
        sends_to: the zone that sees the arguments, if they leave the process.
        requires_admin: offered only to an actor with the role `admin`.
        enabled_by_default: by default what is `read_only` is, and nothing else.
        requires_approval: every write effect has it; `True` asks it of a reading tool too.
        parallel_safe: calls may overlap; only for `read_only`.
        inline: short and never waiting, so that an event loop may run it in place.
        timeout_s: an explicit deadline in seconds; it costs a thread for a sync tool.
        aliases: other names, which become the canonical one before anything is decided.
        settings: the attrs class of the plugin's own settings.
        remote_name: what a remote server calls the tool.
        version: the tool's own version, for the trace.
    """

    name: str
    description: str
    parameters: type | bytes = attrs.field(repr=False)
    effect: Effect
    data_class: DataClass = DataClass.SECRET_ADJACENT
    output_schema: type | bytes | None = attrs.field(default=None, repr=False)
    group: str = "general"
    sends_to: Zone | None = None
    requires_admin: bool = False
    enabled_by_default: bool = attrs.field(default=None)
    requires_approval: bool = attrs.field(default=None)
    parallel_safe: bool = False
    inline: bool = False
    timeout_s: float | None = None
    aliases: tuple[str, ...] = ()
    settings: type | None = None
    remote_name: str | None = None
    version: str | None = None
    _schema: bytes = attrs.field(init=False, repr=False)
    _output: bytes | None = attrs.field(init=False, repr=False)

    def __init__(  # noqa: PLR0913 - the fields of contract §3
        self,
        *,
        name: str,
        description: str,
        effect: Effect | str,
        parameters: type | Mapping[str, Any] | bytes | None = None,
        data_class: DataClass | str = DataClass.SECRET_ADJACENT,
        output_schema: type | Mapping[str, Any] | bytes | None = None,
        group: str = "general",
        sends_to: Zone | str | None = None,
        requires_admin: bool = False,
        enabled_by_default: bool | None = None,
        requires_approval: bool | None = None,
        parallel_safe: bool = False,
        inline: bool = False,
        timeout_s: float | None = None,
        aliases: tuple[str, ...] = (),
        settings: type | None = None,
        remote_name: str | None = None,
        version: str | None = None,
    ) -> None:
        effect = _member(Effect, effect, name, "effect")
        reads = effect is Effect.READ_ONLY
        if requires_approval is False and not reads:
            raise _refused(name, "requires_approval", "a tool that writes always needs approval")
        if enabled_by_default and not reads:
            raise _refused(name, "enabled_by_default", "a write is off until the operator says so")
        if parallel_safe and not reads:
            raise _refused(name, "parallel_safe", "only a read_only tool may be parallel_safe")
        declared, schema = _schema(name, "parameters", {} if parameters is None else parameters)
        promised, output = (
            (None, None) if output_schema is None else _schema(name, "output_schema", output_schema)
        )
        self.__attrs_init__(  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            name=name,
            description=description,
            parameters=declared,
            effect=effect,
            data_class=_member(DataClass, data_class, name, "data_class"),
            output_schema=promised,
            group=group,
            sends_to=None if sends_to is None else _member(Zone, sends_to, name, "sends_to"),
            requires_admin=requires_admin,
            enabled_by_default=reads if enabled_by_default is None else enabled_by_default,
            requires_approval=(not reads) if requires_approval is None else requires_approval,
            parallel_safe=parallel_safe,
            inline=inline,
            timeout_s=timeout_s,
            aliases=_aliases(name, aliases),
            settings=settings,
            remote_name=remote_name,
            version=version,
        )
        object.__setattr__(self, "_schema", schema)
        object.__setattr__(self, "_output", output)
        self._check()

    def __init_subclass__(cls) -> NoReturn:
        message = "ToolSpec is final"
        raise TypeError(message)

    @property
    def schema(self) -> dict[str, Any]:
        """A fresh copy of the closed JSON Schema of the arguments."""
        return cast("dict[str, Any]", orjson.loads(self._schema))

    @property
    def promised_schema(self) -> dict[str, Any] | None:
        """A fresh copy of the closed JSON Schema of `data`, if one was promised."""
        return None if self._output is None else cast("dict[str, Any]", orjson.loads(self._output))

    @property
    def digest(self) -> str:
        """SHA-256 over everything that an approver is told of the tool."""
        import hashlib  # with OpenSSL, and only approvals ask for it

        facts = attrs.asdict(self, recurse=False, filter=lambda a, _: a.name not in _CODE)
        facts |= {"schema": self._schema.decode(), "output": (self._output or b"").decode()}
        return hashlib.sha256(orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def __copy__(self) -> ToolSpec:
        return self

    def __deepcopy__(self, memo: object) -> ToolSpec:
        return self

    def _check(self) -> None:  # noqa: C901 - one rule after the other
        name = self.name
        if not is_tool_name(name):
            raise _refused(name, "name", f"{name!r:.80} is not [a-z][a-z0-9_]{{0,63}}")
        if not is_tool_name(self.group):
            raise _refused(name, "group", "one word, [a-z][a-z0-9_]{0,63}")
        if type(self.description) is not str or not self.description.strip():
            raise _refused(name, "description", "a sentence for the model is needed")
        if len(self.description.encode("utf-8", "surrogatepass")) > DESCRIPTION_BYTES:
            raise _refused(name, "description", f"at most {DESCRIPTION_BYTES} bytes")
        if not is_clean(self.description):
            raise _refused(name, "description", "no control, bidi or tag characters")
        timeout = self.timeout_s
        if timeout is not None and not (type(timeout) in (int, float) and 0 < timeout < DAY_S):
            raise _refused(name, "timeout_s", "seconds, above 0 and below 86,400")
        if self.settings is not None and not attrs.has(self.settings):
            raise _refused(name, "settings", "an attrs class")
        for key in ("remote_name", "version"):
            text = getattr(self, key)
            if text is not None and (type(text) is not str or text != short(text, _LINE)):
                raise _refused(name, key, f"one line of at most {_LINE} characters")
        for key in _FLAGS:
            if type(getattr(self, key)) is not bool:
                raise _refused(name, key, "True or False")


DAY_S = 86_400
_FLAGS = (
    "requires_admin",
    "enabled_by_default",
    "requires_approval",
    "parallel_safe",
    "inline",
)
_CODE = frozenset({"parameters", "output_schema", "settings", "_schema", "_output"})

publish(globals(), "ToolSpec")


def schema_text(spec: ToolSpec) -> bytes:
    """Return the closed JSON Schema of a tool's arguments as the JSON text that is kept."""
    return spec._schema  # noqa: SLF001 - a copy of it would be parsed and written again


def _schema(
    name: object, key: str, given: type | Mapping[str, Any] | bytes
) -> tuple[type | bytes, bytes]:
    """Return what was declared in an immutable form, and the closed schema's JSON text."""
    try:
        if isinstance(given, bytes):
            given = cast("Mapping[str, Any]", _parsed(given))
        if isinstance(given, type):
            return given, orjson.dumps(close(schema_of(given)))
        if isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            closed = orjson.dumps(close(given))
            return closed, closed
    except SpecError as error:
        raise _refused(name, key, str(error)) from None
    raise _refused(name, key, "an attrs class, or a JSON Schema object as a dict")


def _parsed(given: bytes) -> object:
    try:
        return orjson.loads(given)
    except orjson.JSONDecodeError:
        raise SpecError("$: no JSON") from None


def _aliases(name: object, given: object) -> tuple[str, ...]:
    if not isinstance(given, tuple | list):
        raise _refused(name, "aliases", "a tuple of names")
    aliases = tuple(cast("list[str]", given))
    if not all(map(is_tool_name, aliases)):
        raise _refused(name, "aliases", "each [a-z][a-z0-9_]{0,63}")
    if len({name, *aliases}) <= len(aliases):
        raise _refused(name, "aliases", "each a name of its own")
    return aliases


def _member(kind: type[E], value: object, name: object, key: str) -> E:
    try:
        return kind(cast("str", value))
    except ValueError:
        words = ", ".join(kind)
        raise _refused(name, key, f"{value!r:.80} is none of {words}") from None


def _refused(name: object, key: str, expected: str) -> SpecError:
    return SpecError(f"tool {name!r:.80}: {key}: {expected}")
