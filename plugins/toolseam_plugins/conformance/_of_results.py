"""Checks of what the hook gives, read before the seam judges or mends it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, cast

from toolseam import ContractViolation, ErrorCode, ToolError, ToolResult
from toolseam_plugins.conformance._model import Check, Failed, Level

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolseam import ToolArtifact
    from toolseam_plugins.conformance._subject import Outcome, Subject

MESSAGE_BYTES = 2_000
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f"
    "\ud800-\udfff]"
)
_FOREIGN = (
    (re.compile(r"Traceback \(most recent call last\)"), "a traceback"),
    (re.compile(r"\[Errno -?\d+\]"), "an error of the operating system"),
    (re.compile(r"<[\w.]+ object at 0x[0-9a-f]+>"), "the address of an object"),
    (re.compile(r'File "[^"]+", line \d+'), "a line of a traceback"),
    (re.compile(r"\b(?:sqlalche\.me/e/|\(sqlite3\.|\(psycopg\.)"), "the text of a driver"),
)


def uncalled(subject: Subject) -> str | None:
    """Say why a tool cannot be called here."""
    return subject.why_not_called


def _without_examples(subject: Subject) -> str | None:
    if subject.fault is None and not subject.examples:
        return "no examples were given: examples={...}"
    return subject.why_not_called


def _ungenerated(subject: Subject) -> str | None:
    return subject.why_not_generated


def _without_output_schema(subject: Subject) -> str | None:
    if subject.fault is None and subject.spec.output_schema is None:
        return "it promises no output schema"
    return subject.why_not_called


def over(judge: Callable[[Outcome], str | None]) -> Callable[[Subject], None]:
    """Return a check that judges every call with examples, generated and hostile arguments."""

    def run(subject: Subject) -> None:
        subject.judge_each(subject.all_outcomes, judge)

    return run


def _examples_fit_schema(subject: Subject) -> None:
    for outcome in subject.exemplary:
        failure = None if outcome.result is None else outcome.result.failure
        refused = failure is not None and failure.code is ErrorCode.INVALID_ARGUMENTS
        # What the tool itself refuses has been recorded by then.
        if failure is not None and refused and outcome.step and outcome.step.arguments is None:
            told = f"the example {outcome.arguments!r} does not fit the schema: {failure.message}"
            raise Failed(told)


def _examples_succeed(subject: Subject) -> None:
    def judge(outcome: Outcome) -> str | None:
        result = outcome.result
        if result is None:
            return f"the example let {type(outcome.escaped).__name__} escape from the host"
        return None if result.failure is None else f"the example failed: {result.content[:300]}"

    subject.judge_each(subject.exemplary, judge)


def _every_return(subject: Subject) -> str:
    """Judge every return, and say how much there was to judge."""
    outcomes = subject.all_outcomes
    subject.judge_each(outcomes, _returns_tool_result)
    succeeded = sum(o.result is not None and o.result.success for o in outcomes)
    return f"of {len(outcomes)} calls {succeeded} succeeded"


def _returns_tool_result(outcome: Outcome) -> str | None:
    if not outcome.returned or type(outcome.value) is ToolResult:
        return None
    return f"execute returned {type(outcome.value).__name__}, expected ToolResult"


def _result_untampered(outcome: Outcome) -> str | None:
    if type(outcome.value) is not ToolResult or outcome.sound is not None:
        return None
    return None if outcome.fault is None else "{}: {}".format(*outcome.fault)


def _never_raises(subject: Subject) -> None:
    _ = subject.generated
    if subject.ungenerated is not None:
        raise Failed(f"no arguments could be made of the schema: {subject.ungenerated}")
    subject.judge_each(subject.outcomes, _raises)


def _survives_hostile_values(subject: Subject) -> None:
    subject.judge_each(subject.hostile, lambda o: _raises(o) or _returns_tool_result(o))


def _raises(outcome: Outcome) -> str | None:
    raised = outcome.raised
    if raised is None or isinstance(raised, ToolError | ContractViolation):
        return None
    if not isinstance(raised, Exception):
        return None
    return f"execute raised {type(raised).__name__}: {str(raised)[:200]}"


def _never_exits(outcome: Outcome) -> str | None:
    for error in (outcome.raised, outcome.escaped):
        if error is not None and not isinstance(error, Exception):
            return f"execute raised {type(error).__name__}, which ends more than the call"
    return None


def _builds_valid_values(outcome: Outcome) -> str | None:
    raised = outcome.raised
    if not isinstance(raised, ContractViolation):
        return None
    return f"building the result raised ContractViolation: {raised}"


def _no_contract_error(outcome: Outcome) -> str | None:
    failure = outcome.raised if isinstance(outcome.raised, ToolError) else None
    if outcome.sound is not None:
        failure = outcome.sound.failure
    if failure is None or failure.code is not ErrorCode.CONTRACT_ERROR:
        return None
    return "the tool itself says contract_error"


def _output_schema_kept(outcome: Outcome) -> str | None:
    if outcome.sound is None or outcome.fault is None or not outcome.fault[0].startswith("data"):
        return None
    return "{}: {}".format(*outcome.fault)


def _noted(word: str, *, too_large: bool) -> Callable[[Outcome], str | None]:
    """Return what looks for a channel that the step says was left out."""

    def judge(outcome: Outcome) -> str | None:
        for note in outcome.step.notes if outcome.step is not None else ():
            if not note.startswith(f"{word} left out"):
                continue
            if ("too large" in note or "bytes of artifacts" in note) is too_large:
                return note
        return None

    return judge


def _content_within_budget(subject: Subject) -> None:
    def judge(outcome: Outcome) -> str | None:
        succeeded = outcome.result is not None and outcome.result.success
        if not succeeded or outcome.step is None or not outcome.step.truncated:
            return None
        return f"content of {outcome.step.original_size} bytes was cut to what leaves the seam"

    subject.judge_each(subject.outcomes, judge)


def _content_clean(subject: Subject) -> None:
    def judge(outcome: Outcome) -> str | None:
        # What only echoes an unclean argument is the seam's to clean.
        result = outcome.sound
        if result is None or result.failure is not None or hidden_in(texts_of(outcome.arguments)):
            return None
        found = hidden_in(result.content)
        return None if found is None else f"the content holds the hidden character {found}"

    subject.judge_each(subject.outcomes, judge)


def hidden_in(text: str) -> str | None:
    found = _HIDDEN.search(text.replace("\r\n", "\n"))
    return None if found is None else f"U+{ord(found[0]):04X}"


def texts_of(value: object) -> str:
    """Return every text inside a JSON value, one behind the other."""
    if isinstance(value, Mapping):
        pairs = cast("Mapping[object, object]", value).items()
        return "\n".join(texts_of(part) for pair in pairs for part in pair)
    if isinstance(value, list):
        return "\n".join(map(texts_of, cast("list[object]", value)))
    return value if isinstance(value, str) else ""


def _content_not_blank(outcome: Outcome) -> str | None:
    result = outcome.result
    if result is None or result.failure is not None or result.content.strip():
        return None
    return "a success says nothing; the model reads `(no output)`"


def _failure_says_why(outcome: Outcome) -> str | None:
    message = _message(outcome)
    if message is None:
        return None
    if not message.strip():
        return "a failure without a message"
    size = len(message.encode("utf-8", "replace"))
    return (
        f"a message of {size} bytes; {MESSAGE_BYTES} leave the seam"
        if size > MESSAGE_BYTES
        else None
    )


def _failure_without_foreign_text(outcome: Outcome) -> str | None:
    message = _message(outcome)
    for pattern, what in _FOREIGN if message is not None else ():
        if pattern.search(message or ""):
            return f"a failure's message holds {what}"
    return None


def _message(outcome: Outcome) -> str | None:
    """Return the message of a failure that is the tool's own."""
    if isinstance(outcome.raised, ToolError):
        return outcome.raised.message
    if outcome.sound is not None and outcome.sound.failure is not None:
        return outcome.sound.failure.message
    return None


def _cells_in_content(subject: Subject) -> None:
    def judge(outcome: Outcome) -> str | None:
        result = outcome.sound
        if result is None or result.failure is not None:
            return None
        # Cells are cleaned when an artifact is built, content when the seam hands it out.
        seen = "" if outcome.result is None else outcome.result.content
        told = _squeezed(result.content) + _squeezed(seen)
        for artifact in result.artifacts:
            for cell in _cells(artifact):
                if _squeezed(cell) not in told:
                    return f"the cell {cell[:80]!r} of {artifact.label!r} is not in the content"
        return None

    subject.judge_each(subject.outcomes, judge)


def _cells(artifact: ToolArtifact) -> Iterator[str]:
    """Give what an artifact shows to people, piece by piece; a text is one as a whole."""
    if not artifact.data:
        return
    if artifact.type == "table":
        yield from chain.from_iterable(artifact.rows)
    elif artifact.type == "key_value":
        yield from chain.from_iterable(artifact.items)
    elif artifact.type == "tree":
        yield from (text for _, text in artifact.nodes)
    elif artifact.type == "code":
        yield from artifact.lines


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


CHECKS: tuple[Check[Subject], ...] = (
    Check(
        slug="examples-fit-schema",
        level=Level.MUST,
        clause="§4",
        title="Every example that the author gives fits the tool's own schema.",
        why="A model is told the schema; an example that breaks it shows that one is wrong.",
        mend="Correct the example, or the `Arguments` class.",
        applies=_without_examples,
        run=_examples_fit_schema,
    ),
    Check(
        slug="examples-succeed",
        level=Level.MUST,
        clause="§5",
        title="Every example succeeds.",
        why="The other checks say little of a tool that only ever refuses.",
        mend="Give `host=` or `settings=` with what the tool needs, or correct the example.",
        applies=_without_examples,
        run=_examples_succeed,
    ),
    Check(
        slug="returns-tool-result",
        level=Level.MUST,
        clause="§5",
        title="`execute` returns exactly a `ToolResult`.",
        why="Anything else is dropped unread, and the tool is withdrawn.",
        mend="End every branch in `return ToolResult.text(...)` or `ToolResult.error(...)`.",
        applies=uncalled,
        run=_every_return,
    ),
    Check(
        slug="result-untampered",
        level=Level.MUST,
        clause="§1",
        title="A result is handed over as the factory built it.",
        why="What was changed behind the factory's back was judged by nobody.",
        mend="Pass everything to the factory; to change a result, build another one.",
        applies=uncalled,
        run=over(_result_untampered),
    ),
    Check(
        slug="never-raises",
        level=Level.MUST,
        clause="§5",
        title="No arguments that fit the schema make `execute` raise, `ToolError` apart.",
        why="The model is told only the exception's type, and cannot do better next time.",
        mend="Narrow the schema, or raise `ToolError` with a sentence and a code.",
        applies=_ungenerated,
        run=_never_raises,
    ),
    Check(
        slug="survives-hostile-values",
        level=Level.MUST,
        clause="§5",
        title="Hostile values inside the schema are answered like any other.",
        why="A model passes on what a page told it: control characters, paths, markup, extremes.",
        mend="Refuse what the tool cannot take with `ToolError(..., ErrorCode.INVALID_ARGUMENTS)`.",
        applies=_ungenerated,
        run=_survives_hostile_values,
    ),
    Check(
        slug="never-exits",
        level=Level.MUST,
        clause="§5",
        title="`execute` raises no `SystemExit`, `KeyboardInterrupt` or other `BaseException`.",
        why="They mean the application, and it would end with the call.",
        mend="Raise `ToolError`; catch the `SystemExit` of a command line that is called inside.",
        applies=uncalled,
        run=over(_never_exits),
    ),
    Check(
        slug="builds-valid-values",
        level=Level.MUST,
        clause="§1",
        title="Content, data and metadata are of the kinds that the factories take.",
        why="A value that JSON cannot say ends the call as a breach of the contract.",
        mend="Convert with `json_safe(value)`; give text as `str` and keys as `str`.",
        applies=uncalled,
        run=over(_builds_valid_values),
    ),
    Check(
        slug="no-contract-error",
        level=Level.MUST,
        clause="§1",
        title="The tool never says `contract_error` itself.",
        why="Only the framework issues it: who reads it must know that the tool is withdrawn.",
        mend="Choose another code; `execution_error` is the general one.",
        applies=uncalled,
        run=over(_no_contract_error),
    ),
    Check(
        slug="output-schema-kept",
        level=Level.MUST,
        clause="§3",
        title="Every success carries data that fits the output schema.",
        why="Programs read `data` by that schema; what breaks it is `contract_error`.",
        mend="Correct the data or the schema; data over 50,000 bytes counts as absent.",
        applies=_without_output_schema,
        run=over(_output_schema_kept),
    ),
    Check(
        slug="data-within-budget",
        level=Level.MUST,
        clause="§1",
        title="Data fits its 50,000 bytes.",
        why="What is larger is left out, and the program gets nothing.",
        mend="Answer a page at a time, with `limit` and `offset`.",
        applies=uncalled,
        run=over(_noted("data", too_large=True)),
    ),
    Check(
        slug="metadata-within-budget",
        level=Level.MUST,
        clause="§1",
        title="Metadata fits its 50,000 bytes.",
        why="What is larger is left out of trace and audit.",
        mend="Keep facts in metadata, and content in the content.",
        applies=uncalled,
        run=over(_noted("metadata", too_large=True)),
    ),
    Check(
        slug="artifacts-fit-shape",
        level=Level.MUST,
        clause="§7",
        title="Every artifact fits the shape of its type.",
        why="One that does not takes the whole list with it: people see `Artifacts omitted`.",
        mend="Build them with `ToolArtifact.table` and `ToolArtifact.text`.",
        applies=uncalled,
        run=over(_noted("artifacts", too_large=False)),
    ),
    Check(
        slug="artifacts-within-budget",
        level=Level.MUST,
        clause="§7",
        title="The list of artifacts fits its 50,000 bytes.",
        why="A larger one is replaced as a whole by one line that says so.",
        mend="Use `ToolArtifact.table(..., fit=True)`, or show a page.",
        applies=uncalled,
        run=over(_noted("artifacts", too_large=True)),
    ),
    Check(
        slug="content-within-budget",
        level=Level.SHOULD,
        clause="§7",
        title="Content fits its 50,000 bytes.",
        why="It is cut wherever the limit falls, in the middle of what matters.",
        mend="Answer a page at a time and say how to get the next one.",
        applies=uncalled,
        run=_content_within_budget,
    ),
    Check(
        slug="content-clean",
        level=Level.SHOULD,
        clause="§7",
        title="Content is free of control, bidi and tag characters.",
        why="The seam makes them visible, and the model reads pictures instead of words.",
        mend="Decode and clean what comes from outside before it becomes content.",
        applies=uncalled,
        run=_content_clean,
    ),
    Check(
        slug="content-not-blank",
        level=Level.SHOULD,
        clause="§6",
        title="A success says something.",
        why="A model that reads `(no output)` does not know whether nothing was found.",
        mend="Say it: `No records.`",
        applies=uncalled,
        run=over(_content_not_blank),
    ),
    Check(
        slug="failure-says-why",
        level=Level.SHOULD,
        clause="§1",
        title="A failure has a message of at most 2,000 bytes.",
        why="It is all that the model has to mend its call by.",
        mend="One sentence: what is wrong and what would be right; long output goes to `output=`.",
        applies=uncalled,
        run=over(_failure_says_why),
    ),
    Check(
        slug="failure-without-foreign-text",
        level=Level.MUST,
        clause="§1",
        title="A failure's message holds no text of a driver, an exception or the system.",
        why="Such texts carry paths, queries, addresses and passwords to the provider.",
        mend="Write a sentence of your own; the exception belongs in `context.logger`.",
        applies=uncalled,
        run=over(_failure_without_foreign_text),
    ),
    Check(
        slug="cells-in-content",
        level=Level.SHOULD,
        clause="§1",
        title="Every cell, node, item and line of an artifact occurs in the content.",
        why="The provider reads the content alone; a person must not see more than the model.",
        mend="Write the same cells into the content, or show fewer of them.",
        applies=uncalled,
        run=_cells_in_content,
        builtin_level=Level.MUST,
    ),
)
