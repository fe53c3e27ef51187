"""Arguments that fit a tool's schema: ordinary ones, and hostile ones; reproducible by a seed."""

from __future__ import annotations

import json
import shlex
import time
from copy import deepcopy
from typing import TYPE_CHECKING, Any, cast

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hypothesis.strategies import SearchStrategy

    Arguments = dict[str, Any]
    Judge = Callable[[object], bool]

_PATTERN_BYTES = 1_000_000
_SHRINKING_S = 5.0
_COUNT = 25
_LONGEST = 20_000


class NoArguments(Exception):
    """No value could be made that fits the schema; examples have to be given."""


class _Falsified(Exception):
    """Stops hypothesis at a failing example; it shrinks what raises one and the same class."""


@attrs.frozen
class Falsified:
    """The smallest arguments that were found to fail, and what failing with them raised."""

    arguments: dict[str, Any]
    error: Exception


def arguments(schema: Mapping[str, Any]) -> SearchStrategy[Arguments]:
    """Return a strategy for arguments that fit a JSON Schema (draft 2020-12, contract §3, §4).

    Every keyword is at least judged: a value that does not fit is never given. Integers stay
    within signed 64 bits and texts are free of surrogates, as arguments have to be.

    Args:
        schema: of an object, its `$ref` local; `examples` and defaults in it are tried first.
    """
    return _strategy(schema, nasty=False)


def hostile(schema: Mapping[str, Any]) -> SearchStrategy[Arguments]:
    """Return a strategy for arguments that fit a JSON Schema and are as hostile as it allows.

    Control characters, bidirectional and invisible ones, look-alikes, markup, SQL, paths, shell
    words, the longest texts and the outermost numbers.
    """
    return _strategy(schema, nasty=True)


def samples(
    schema: Mapping[str, Any], *, seed: int = 0, count: int = _COUNT, nasty: bool = False
) -> list[Arguments]:
    """Return up to `count` different arguments; the same ones for the same seed.

    Raises `NoArguments` where none could be made.
    """
    found: dict[str, Arguments] = {}

    def keep(value: Arguments) -> None:
        if len(found) < count:
            found.setdefault(json.dumps(value, sort_keys=True), value)

    falsify(schema, keep, seed=seed, count=count, nasty=nasty)
    return list(found.values())


def falsify(
    schema: Mapping[str, Any],
    judge: Callable[[Arguments], object],
    *,
    seed: int = 0,
    count: int = _COUNT,
    nasty: bool = False,
) -> Falsified | None:
    """Return the smallest arguments with which `judge` raises, or None if it never did.

    Args:
        schema: what the arguments fit.
        judge: gets a copy of its own each time; an exception is a failure.
        seed: the same seed makes the same arguments.
        count: how many are tried; shrinking a failure takes five more seconds at most.
        nasty: try hostile ones.

    Raises `NoArguments` where none could be made.
    """
    import hypothesis
    from hypothesis.errors import HypothesisException

    found: list[Falsified] = []
    until = [0.0]
    made = False

    def attempt(value: Arguments) -> None:
        nonlocal made
        made = True
        if found and time.monotonic() > until[0]:
            return
        try:
            judge(deepcopy(value))
        except Exception as error:  # noqa: BLE001 - whatever a judge raises is its verdict
            if not found:
                until[0] = time.monotonic() + _SHRINKING_S
            if not found or len(_text(value)) <= len(_text(found[-1].arguments)):
                found[:] = [Falsified(value, error)]
            raise _Falsified from None

    settings = hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        print_blob=False,
        report_multiple_bugs=False,
        verbosity=hypothesis.Verbosity.quiet,
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
        suppress_health_check=cast("list[hypothesis.HealthCheck]", list(hypothesis.HealthCheck)),
    )
    run = hypothesis.seed(seed)(settings(hypothesis.given(_strategy(schema, nasty=nasty))(attempt)))
    try:
        for value in _given(schema):
            attempt(value)
        run()
    except _Falsified:
        pass
    except HypothesisException:
        # A failure that does not come back is one all the same; no value at all is told.
        if not made:
            raise NoArguments(
                f"no arguments were found that fit the schema; give examples ({count} tries)"
            ) from None
    return found[0] if found else None


def reproduce(tool: str, given: Mapping[str, Any]) -> str:
    """Return the command that calls a tool with these arguments, safe to paste and to print."""
    text = _text(given)
    if len(text) > _LONGEST:
        return f"toolseam run {tool} -   # with the {len(text):,} characters of JSON that were made"
    return f"toolseam run {tool} --json-args {shlex.quote(text)}"


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value)


def _strategy(schema: Mapping[str, Any], *, nasty: bool) -> SearchStrategy[Arguments]:
    from hypothesis import strategies as st

    from toolseam_plugins.conformance._values import Drawing

    root = _copied(schema)
    judged = _Judges(root)

    @st.composite
    def build(draw: Callable[[SearchStrategy[Any]], Any]) -> Arguments:
        drawn = Drawing(draw, root, judged.of, nasty=nasty)
        return cast("Arguments", drawn.value(root))

    return build().filter(judged.whole)


def _given(schema: Mapping[str, Any]) -> list[Arguments]:
    """Return the examples that a schema itself brings for the whole of its arguments."""
    root = _copied(schema)
    return [each for each in root.get("examples", []) if _judge_of(root)(each)]


def _copied(schema: Mapping[str, Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(json.dumps(dict(schema))))


class _Judges:
    """Validators of the parts of one schema, each compiled when it is first asked for."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._defs = root.get("$defs", {})
        self._parts = {id(part): part for part in _dicts(root)}
        self._known: dict[int, Judge] = {}
        self.whole = _judge_of(root)

    def of(self, part: dict[str, Any]) -> Judge | None:
        """Return what judges a part; None for a schema that was put together while drawing."""
        if self._parts.get(id(part)) is not part:
            return None
        if id(part) not in self._known:
            self._known[id(part)] = _judge_of({**part, "$defs": self._defs})
        return self._known[id(part)]


def _judge_of(schema: dict[str, Any]) -> Judge:
    import jsonschema_rs

    compiled = jsonschema_rs.Draft202012Validator(
        schema,
        retriever=_no_retrieval,
        pattern_options=jsonschema_rs.RegexOptions(size_limit=_PATTERN_BYTES),
    )
    return compiled.is_valid


def _no_retrieval(_: str) -> Any:  # noqa: ANN401 - it never returns
    raise LookupError


def _dicts(node: object) -> list[dict[str, Any]]:
    if isinstance(node, list):
        return [inner for each in cast("list[object]", node) for inner in _dicts(each)]
    if not isinstance(node, dict):
        return []
    rules = cast("dict[str, Any]", node)
    return [rules, *(inner for each in rules.values() for inner in _dicts(each))]
