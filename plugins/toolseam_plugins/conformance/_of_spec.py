"""Checks of what a tool says of itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

from jsonschema_rs import Draft202012Validator

from toolseam import ToolSpec
from toolseam_plugins.conformance._model import Check, Failed, Level, NotApplicable
from toolseam_plugins.conformance._of_results import hidden_in, texts_of
from toolseam_plugins.conformance._portability import lint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolseam_plugins.conformance._subject import Subject

CHEAP_S = 0.05
"""How long `tool_spec` may take: it is asked at every start of every host."""

_WORDS = 3
_PYTHON = (".py", ".pyc", ".so", ".pyd", ".zip")
_PROVIDERS = {
    "openai": ("OpenAI", ("openai", "openai-strict")),
    "anthropic": ("Anthropic", ("anthropic",)),
    "google": ("Google", ("google",)),
}


def _unloaded(subject: Subject) -> str | None:
    return None if subject.fault is None else "the tool does not load"


def _ask(subject: Subject) -> ToolSpec:
    ask: Callable[[], Any] | None = getattr(subject.plugin, "tool_spec", None)
    if ask is None:
        raise NotApplicable("its tool_spec has another name")
    told = ask()
    if type(told) is not ToolSpec:
        raise Failed(f"tool_spec returned {type(told).__name__} when it was asked again")
    return told


def _spec_stable(subject: Subject) -> None:
    digests = [_ask(subject).digest for _ in range(2)]
    if subject.why_not_called is None:
        _ = subject.outcomes
        digests.append(_ask(subject).digest)
    if any(digest != subject.spec.digest for digest in digests):
        raise Failed("tool_spec does not say the same when it is asked again")


def _spec_same_everywhere(subject: Subject) -> None:
    _ = subject.child.spec
    if subject.child.digest is not None and subject.child.digest != subject.spec.digest:
        raise Failed("tool_spec says something else in a fresh interpreter")


def _spec_pure(subject: Subject) -> None:
    seen = subject.child.spec
    reads = [f"reads {path}" for path in seen.did("read") if not path.endswith(_PYTHON)]
    for kind in ("write", "connection", "thread", "child"):
        reads += seen.did(kind)
    if reads:
        raise Failed(f"tool_spec {reads[0]}")
    if seen.printed:
        raise Failed(f"tool_spec printed {seen.printed[:120]!r}")
    if seen.changed:
        raise Failed(f"tool_spec changes {' and '.join(seen.changed)}")


def _spec_cheap(subject: Subject) -> None:
    taken: list[float] = []
    for _ in range(3):
        started = time.perf_counter()
        _ask(subject)
        taken.append(time.perf_counter() - started)
    if min(taken) > CHEAP_S:
        raise Failed(f"tool_spec takes {min(taken):.3f} s, at most {CHEAP_S:g} s are asked for")


def _spec_text_clean(subject: Subject) -> None:
    spec = subject.spec
    told = [spec.description, spec.group, spec.remote_name or "", texts_of(spec.schema)]
    found = hidden_in("\n".join(told))
    if found is not None:
        raise Failed(f"the specification holds the hidden character {found}")


def _description_tells(subject: Subject) -> None:
    words = subject.spec.description.split()
    if len(words) < _WORDS:
        raise Failed(f"the description {subject.spec.description!r} is no sentence")


def _parameters_described(subject: Subject) -> None:
    bare = [
        name
        for name, rules in subject.spec.schema.get("properties", {}).items()
        if isinstance(rules, dict) and not _described(cast("dict[str, Any]", rules))
    ]
    if bare:
        raise Failed(f"no description of {', '.join(bare)}")


def _described(rules: dict[str, Any]) -> bool:
    return "$ref" in rules or bool(str(rules.get("description", "")).strip())


def _effect_known(subject: Subject) -> None:
    if subject.spec.effect == "unknown":
        raise Failed("the effect is `unknown`, which counts as the gravest")


def _reading(subject: Subject) -> str | None:
    return "it is read_only" if subject.fault is None and subject.reads else _unloaded(subject)


def _writer_previews(subject: Subject) -> None:
    tool = subject.host.tool(subject.name)
    if tool is not None and tool.preview is None:
        raise Failed(f"a {subject.spec.effect.value} tool without the hook `preview`")


def _schema_examples_fit(subject: Subject) -> None:
    for path, rules in _rules_of(subject.spec.schema):
        for value in rules.get("examples", ()):
            whole = {**rules, "$defs": subject.spec.schema.get("$defs", {})}
            if not Draft202012Validator(whole, retriever=_nothing).is_valid(value):
                raise Failed(f"{path}: the example {value!r:.80} does not fit its own schema")


def _nothing(_: str) -> Any:  # noqa: ANN401
    raise LookupError


def _rules_of(node: object, path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """Give every property's schema with its path."""
    if not isinstance(node, dict):
        return
    rules = cast("dict[str, Any]", node)
    for name, inner in rules.get("properties", {}).items():
        if isinstance(inner, dict):
            yield f"{path}.{name}", cast("dict[str, Any]", inner)
            yield from _rules_of(cast("object", inner), f"{path}.{name}")
    for name, inner in rules.get("$defs", {}).items():
        yield from _rules_of(inner, f"{path}.$defs.{name}")
    yield from _rules_of(rules.get("items"), f"{path}[]")


def _portable_to(providers: tuple[str, ...]) -> Callable[[Subject], str]:
    def run(subject: Subject) -> str:
        spec = subject.spec
        promised = spec.promised_schema
        found = [
            finding
            for finding in lint(spec.schema, spec.name, spec.description, output_schema=promised)
            if finding.provider in providers
        ]
        for finding in found:
            if finding.severity == "refused":
                raise Failed(str(finding))
        return "; ".join(str(finding) for finding in found if finding.severity == "lossy")

    return run


def _portability() -> tuple[Check[Subject], ...]:
    return tuple(
        Check(
            slug=f"portable-to-{slug}",
            level=Level.SHOULD,
            clause="§3",
            title=f"Description and schema are such as {shown} takes; what is lost there is noted.",
            why=f"{shown} refuses the whole request, with all the other tools in it.",
            mend="The message says which keyword, where, and what to write instead.",
            applies=_unloaded,
            run=_portable_to(providers),
        )
        for slug, (shown, providers) in _PROVIDERS.items()
    )


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        slug="spec-stable",
        level=Level.MUST,
        clause="§2",
        title="`tool_spec` says the same whenever it is asked.",
        why="What was approved and what is offered would be two things.",
        mend="Build the ToolSpec of constants.",
        applies=_unloaded,
        run=_spec_stable,
    ),
    Check(
        slug="spec-same-everywhere",
        level=Level.MUST,
        clause="§2",
        title="`tool_spec` says the same in another process.",
        why="Approvals and recorded runs name the specification by its digest.",
        mend="Sort what comes from sets, and leave dates, paths and hashes out.",
        applies=_unloaded,
        run=_spec_same_everywhere,
    ),
    Check(
        slug="spec-pure",
        level=Level.MUST,
        clause="§2",
        title="`tool_spec` reads and writes nothing, connects nowhere and prints nothing.",
        why="It is called whenever a host starts, also where nobody will ever call the tool.",
        mend="Leave that to `execute`; for tools known at run time there is `toolseam_tools`.",
        applies=_unloaded,
        run=_spec_pure,
    ),
    Check(
        slug="spec-cheap",
        level=Level.SHOULD,
        clause="§2",
        title=f"`tool_spec` takes at most {CHEAP_S * 1000:g} ms.",
        why="Forty tools of that kind make a start that people notice.",
        mend="Build the ToolSpec of constants, and import heavy libraries in `execute`.",
        applies=_unloaded,
        run=_spec_cheap,
    ),
    Check(
        slug="spec-text-clean",
        level=Level.MUST,
        clause="§3",
        title="The specification is free of control, bidi and tag characters.",
        why="Text that a person does not see tells the model what to do.",
        mend="Write the description and the schema's texts in plain characters.",
        applies=_unloaded,
        run=_spec_text_clean,
    ),
    Check(
        slug="description-tells",
        level=Level.SHOULD,
        clause="§3",
        title=f"The description has at least {_WORDS} words.",
        why="The model chooses by it, among many tools.",
        mend="Say what the tool answers, and when not to use it.",
        applies=_unloaded,
        run=_description_tells,
    ),
    Check(
        slug="parameters-described",
        level=Level.SHOULD,
        clause="§3",
        title="Every parameter has a description.",
        why="A model guesses what it is not told.",
        mend='Annotate it: `Annotated[int, Arg("How many.")]`.',
        applies=_unloaded,
        run=_parameters_described,
    ),
    Check(
        slug="schema-examples-fit",
        level=Level.SHOULD,
        clause="§4",
        title="Every example in the schema fits its own schema.",
        why="A model copies examples.",
        mend="Correct the example.",
        applies=_unloaded,
        run=_schema_examples_fit,
    ),
    Check(
        slug="effect-known",
        level=Level.SHOULD,
        clause="§3",
        title="The effect is one of `read_only`, `idempotent_write`, `non_idempotent_write`.",
        why="`unknown` is treated as the gravest: off by default, and approved call by call.",
        mend="Say what the tool does to the world.",
        applies=_unloaded,
        run=_effect_known,
    ),
    Check(
        slug="writer-previews",
        level=Level.SHOULD,
        clause="§2",
        title="A tool that writes has the hook `preview`.",
        why="Without it a person approves arguments, not what they would do.",
        mend="Implement `preview(arguments, context)`: what would change, and nothing changed.",
        applies=_reading,
        run=_writer_previews,
        builtin_level=Level.MUST,
    ),
    *_portability(),
)
