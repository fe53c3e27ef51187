import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import attrs
import pytest

from plugins.conformance import good
from plugins.conformance.mutants import NOTHING, Plugin, fine, prints, talking
from support.tools import Counted
from support.tools import fine as answer
from toolseam import Actor, Host, Step, ToolContext, ToolResult, testing, tool
from toolseam.testing import TargetError, check_tool, targets
from toolseam_plugins import conformance
from toolseam_plugins.conformance import (
    ALL_CHECKS,
    Check,
    CheckResult,
    Failed,
    Level,
    Status,
    check_host,
)
from toolseam_plugins.conformance._run import run_check, weigh
from toolseam_plugins.conformance._subject import Subject

SLUGS = [check.slug for check in ALL_CHECKS]


def only(plugin: object, slug: str, **options: Any) -> CheckResult:
    """Return what one check says of a plugin."""
    (found,) = check_tool(plugin, checks=[slug], **options)
    return found


def made(run: Any, **more: Any) -> Check[object]:
    """Return a check of anything."""
    given: dict[str, Any] = {"slug": "made", "level": Level.MUST, "clause": "§1"}
    texts = {"title": "It holds.", "why": "It must.", "mend": "Mend it."}
    return Check(**{**given, **texts, "run": run, **more})


def fail(_: object) -> None:
    """Fail as a check does."""
    raise Failed("it does not hold", "toolseam run it")


def crash(_: object) -> None:
    """Crash."""
    raise LookupError("within the check")


def test_there_are_enough_checks_with_slugs_of_their_own() -> None:
    """At least forty checks, each with one slug, a clause, and texts for authors."""
    assert len(SLUGS) == len(set(SLUGS)) >= 40
    for check in ALL_CHECKS:
        assert check.slug.replace("-", "").isalnum()
        assert check.slug.islower()
        assert check.clause[0] == "§"
        assert check.title[-1] == check.why[-1] == "."
        assert check.mend


def test_a_failure_tells_how_to_see_it_again() -> None:
    """A failed result has the check's level and clause, what is wrong, and a command."""
    found = run_check(made(fail), object(), "it")

    assert found == CheckResult(
        "it", "made", Level.MUST, "§1", Status.FAILED, "it does not hold", "toolseam run it"
    )


def test_a_crash_of_a_check_is_an_error() -> None:
    """A check that raises anything else is told as an error, with the place."""
    found = run_check(made(crash), object(), "it")

    assert found.status is Status.ERROR
    assert "LookupError" in found.message


def test_a_check_with_nothing_to_judge_says_why() -> None:
    """A reason of `applies` becomes the message, and the check does not run."""
    found = run_check(made(crash, applies=lambda _: "no reason"), object(), "it")

    assert (found.status, found.message) == (Status.NOT_APPLICABLE, "no reason")


def test_newer_checks_are_not_scored() -> None:
    """A failure of a check that the asked contract does not know is not scored."""
    assert run_check(made(fail, since="2"), object(), "it", "1").status is Status.NOT_SCORED
    assert run_check(made(fail, since="2"), object(), "it", "2").status is Status.FAILED


def test_builtins_are_asked_for_more() -> None:
    """A check may ask of builtins what it only advises others."""
    check = made(fail, level=Level.SHOULD, builtin_level=Level.MUST)

    assert run_check(check, object(), "it").level is Level.SHOULD
    assert run_check(check, object(), "it", builtin=True).level is Level.MUST


def test_an_expected_failure_is_masked() -> None:
    """A failure that was expected with a reason does not count."""
    found = only(Plugin(prints), "prints-nothing", expected_failures={"prints-nothing": "old"})

    assert found.status is Status.EXPECTED_FAILURE
    assert "old" in found.message


def test_an_expected_failure_may_name_the_tool() -> None:
    """`tool:slug` concerns one tool."""
    found = only(Plugin(prints), "prints-nothing", expected_failures={"probe:prints-nothing": "x"})

    assert found.status is Status.EXPECTED_FAILURE


def test_an_expected_failure_that_passes_is_told() -> None:
    """What was expected to fail and does not is no pass."""
    found = only(Plugin(fine), "prints-nothing", expected_failures={"prints-nothing": "old"})

    assert found.status is Status.UNEXPECTED_PASS


def test_an_expected_failure_without_anything_to_judge_is_told() -> None:
    """What has nothing to judge cannot fail as expected."""
    slug = "stops-when-cancelled"

    assert only(Plugin(fine), slug, expected_failures={slug: "x"}).status is Status.UNEXPECTED_PASS


@pytest.mark.parametrize(
    "expected", [{"prints-nothin": "x"}, {"other:prints-nothing": "x"}, {"prints-nothing": " "}]
)
def test_a_wrong_entry_is_an_error(expected: Mapping[str, str]) -> None:
    """An entry that names no check or no tool, or gives no reason, is an error."""
    found = check_tool(Plugin(fine), checks=["prints-nothing"], expected_failures=expected)

    assert [result.status for result in found] == [Status.PASSED, Status.ERROR]


def test_a_crash_is_never_masked() -> None:
    """An expected failure does not hide a check that crashed."""
    crashed = run_check(made(crash), object(), "it")

    (found,) = weigh([crashed], {"made": "expected"}, ["made"])

    assert found.status is Status.ERROR


def test_an_unknown_check_is_refused() -> None:
    """A slug that is no check is refused, and so is an empty choice."""
    with pytest.raises(TargetError, match="prints-nothing"):
        check_tool(Plugin(fine), checks=["prints-nothin"])
    with pytest.raises(TargetError):
        check_tool(Plugin(fine), checks=[])
    with pytest.raises(TargetError):
        check_host(checks=["missing"])


def test_examples_must_name_a_tool() -> None:
    """Examples for a tool that is not there are refused."""
    with pytest.raises(TargetError, match="other"):
        check_tool(Plugin(fine), examples={"other": [{}]})


def test_the_kit_asks_for_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without hypothesis the error names the extra that brings it."""
    monkeypatch.setitem(sys.modules, "hypothesis", None)

    with pytest.raises(ImportError, match=r"toolseam\[conformance\]"):
        check_tool(Plugin(fine))


def test_a_writer_is_not_called_by_itself() -> None:
    """A tool that may write is called only where the author gave a place or examples."""
    counted = Counted(answer, effect="non_idempotent_write")

    found = check_tool(counted)

    assert counted.count == 0
    assert "observe=" in next(r.message for r in found if r.slug == "returns-tool-result")


def test_a_writer_is_called_with_examples_alone() -> None:
    """Examples are the author's word; arguments that nobody wrote are not made for a writer."""
    counted = Counted(answer, effect="non_idempotent_write")

    found = {r.slug: r.status for r in check_tool(counted, examples=[{}])}

    assert counted.count > 0
    assert found["examples-succeed"] is Status.PASSED
    assert found["never-raises"] is Status.NOT_APPLICABLE


def test_a_host_may_be_given() -> None:
    """A host that is built, or what makes one, is called instead of a host of the kit's own."""
    counted = Counted(answer)
    with Host(tools=[counted]) as host:
        assert only(counted, "returns-tool-result", host=host).status is Status.PASSED
        assert len(host.steps) > 0
        assert only(counted, "second-host-works", host=host).status is Status.NOT_APPLICABLE

    made_by = only(counted, "second-host-works", host=lambda: Host(tools=[counted]))

    assert made_by.status is Status.PASSED


@tool(effect="read_only", data_class="public_content")
def short() -> ToolResult:
    """Tell little."""
    return ToolResult.text("ok")


@tool(effect="read_only", data_class="public_content")
def long_after_short(context: ToolContext) -> ToolResult:
    """Tell too much, and ask another tool before."""
    context.call("short", {})
    return ToolResult.text("x" * 3_000_000)


@tool(effect="read_only", data_class="public_content")
def short_after_long(context: ToolContext, again: bool = True) -> ToolResult:
    """Tell little, and ask itself before for too much."""
    if again:
        context.call("short_after_long", {"again": False})
    return ToolResult.text("ok" if again else "x" * 3_000_000)


def test_a_tool_that_calls_is_judged_by_its_own_answer() -> None:
    """What is said of a nested call, be it of the same tool, is not said of the one around it."""
    tools = [short, long_after_short, short_after_long]
    with Host(tools=tools) as host:
        found = [
            only(each, "content-within-budget", host=host, examples=[{}]).message
            for each in (long_after_short, short)
        ]
        outer = Subject(targets(short_after_long)[0], host=host).call({})

    assert found[0] == "content of 3000000 bytes was cut to what leaves the seam"
    assert "cut" not in found[1]
    assert outer.step is not None
    assert not outer.step.truncated


def test_a_call_of_somebody_else_is_not_judged() -> None:
    """On a host that is in use, what others ask the same tool meanwhile is not the kit's."""
    turn = threading.local()

    with Host(tools=[short_after_long]) as host:

        def ask() -> None:
            turn.others = True
            host.call("short_after_long", {"again": False}, actor=Actor.system)

        def ask_too(told: object) -> None:
            if isinstance(told, Step) and not hasattr(turn, "others"):
                others = threading.Thread(target=ask)
                others.start()
                others.join(timeout=10)

        host.listen(ask_too)
        found = Subject(targets(short_after_long)[0], host=host).call({})

    assert found.step is not None
    assert not found.step.truncated


def test_a_host_without_the_tool_is_told() -> None:
    """A host that lacks the tool is a fault that the first check tells."""
    with Host() as host:
        found = only(Plugin(fine), "plugin-loads", host=host)

    assert found.status is Status.FAILED
    assert "no tool" in found.message


def test_a_failing_argument_is_made_small() -> None:
    """Generated arguments that fail are shrunk, and shown as a command."""

    def execute(arguments: dict[str, int]) -> ToolResult:
        if arguments["number"] > 100:
            raise ValueError("too large")
        return ToolResult.text("fine")

    parameters = {
        "type": "object",
        "properties": {"number": {"type": "integer"}},
        "required": ["number"],
    }

    found = only(Plugin(execute, parameters=parameters), "never-raises")

    assert found.reproduce == """toolseam run probe --json-args '{"number": 101}'"""


def test_examples_are_varied() -> None:
    """Generated values are tried beside those of an example, where a tool asks for a known word."""

    def execute(arguments: dict[str, Any]) -> ToolResult:
        if arguments["word"] != "open sesame":
            return ToolResult.error("Another word.", "not_found")
        return ToolResult.text(f"{100 // arguments['number']}")

    parameters = {
        "type": "object",
        "properties": {"word": {"type": "string"}, "number": {"type": "integer", "minimum": 0}},
        "required": ["word", "number"],
    }
    examples = [{"word": "open sesame", "number": 7}]

    found = only(Plugin(execute, parameters=parameters), "never-raises", examples=examples)

    assert found.status is Status.FAILED
    assert "ZeroDivisionError" in found.message


def test_a_schema_that_nothing_fits_is_told() -> None:
    """A check that was promised and has no arguments to try is a failure, and no skip."""
    parameters = {
        "type": "object",
        "properties": {"number": {"type": "integer", "minimum": 2, "maximum": 1}},
        "required": ["number"],
    }

    found = only(Plugin(fine, parameters=parameters), "never-raises")

    assert found.status is Status.FAILED
    assert "no arguments" in found.message


def test_a_pass_says_how_much_there_was_to_judge() -> None:
    """A tool that only ever refuses passes, and the pass says that nothing succeeded."""
    refusing = Plugin(lambda arguments: ToolResult.error("Not now.", "unavailable"))

    assert only(refusing, "returns-tool-result").message == "of 2 calls 0 succeeded"


def test_a_trivial_tool_is_checked_in_three_seconds() -> None:
    """All checks over one trivial tool take less than three seconds, children included."""
    taken: list[float] = []
    for _ in range(2):
        started = time.monotonic()
        check_tool(good.colour)
        taken.append(time.monotonic() - started)

    assert min(taken) < 3


def test_arguments_are_the_same_for_a_seed() -> None:
    """The seed decides which arguments are generated."""
    (target,) = targets(good.adder)
    subjects = [Subject(target, seed=seed) for seed in (1, 1, 2)]

    made = [[outcome.arguments for outcome in subject.generated] for subject in subjects]
    for subject in subjects:
        subject.close()

    assert made[0] == made[1] != made[2]


def test_a_call_is_shared_by_the_checks() -> None:
    """A tool is called once for all checks that judge its answers."""
    counted = Counted(answer, parameters=NOTHING)

    check_tool(counted, checks=["returns-tool-result"])
    once = counted.count
    check_tool(
        counted, checks=["returns-tool-result", "never-exits", "prints-nothing", "content-clean"]
    )

    assert counted.count == 2 * once


def test_the_kit_shows_its_names() -> None:
    """The package lists what it offers, and an unknown name is an attribute error."""
    assert dir(conformance) == sorted(conformance.__all__)
    with pytest.raises(AttributeError):
        _ = conformance.missing


def test_the_door_has_the_result_too() -> None:
    """`toolseam.testing` shows the class of the results, and no name that it does not have."""
    assert testing.CheckResult is CheckResult
    with pytest.raises(AttributeError):
        _ = testing.missing


@attrs.frozen
class Needy:
    """Settings without defaults."""

    password: str


def test_secrets_need_settings_to_be_planted_in() -> None:
    """Settings that cannot be made, or belong to a host that was given, are asked for."""
    needy = Plugin(fine, settings=Needy)
    slug = "settings-secrets-stay"

    alone = only(needy, slug)
    hosted = only(needy, slug, host=lambda: Host(tools=[needy], plugin_settings=[Needy("x")]))
    given = only(needy, slug, settings=Needy("x"))

    assert (alone.status, hosted.status) == (Status.NOT_APPLICABLE, Status.NOT_APPLICABLE)
    assert given.status is Status.PASSED


def test_nothing_that_a_plugin_prints_comes_through(capsys: pytest.CaptureFixture[str]) -> None:
    """A report goes to standard output, and what a plugin prints at any time does not."""
    check_tool(talking)

    assert capsys.readouterr().out == ""


def test_results_are_told_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    """Who listens is told each result at once, and may print it."""

    def tell(result: CheckResult) -> None:
        sys.stdout.write(f"{result.slug}\n")

    found = check_tool(talking, checks=["plugin-loads", "prints-nothing"], heard=tell)

    assert [result.slug for result in found] == ["plugin-loads", "prints-nothing"]
    assert capsys.readouterr().out == "plugin-loads\nprints-nothing\n"


def test_what_makes_a_host_may_fail() -> None:
    """A function that raises instead of making a host is a fault that is told, and no crash."""

    def make() -> Host:
        raise ZeroDivisionError("no host")

    found = only(Plugin(fine), "plugin-loads", host=make)

    assert (found.status, "no host" in found.message) == (Status.FAILED, True)


def test_local_time_may_be_told_with_its_offset() -> None:
    """A moment is the same one in every zone, and the zone may be named; a bare hour is not."""

    def clock(arguments: Any) -> ToolResult:
        """Tell an instant, in the zone of the process."""
        there = datetime.fromtimestamp(86_400, UTC).astimezone(
            ZoneInfo(os.environ.get("TZ", "UTC"))
        )
        return ToolResult.text(f"{there.isoformat(' ')} in {there.tzinfo}")

    found = only(Plugin(clock), "same-in-another-time-zone", examples=[{}])

    assert found.status is Status.PASSED


def test_what_moves_by_itself_is_no_fault() -> None:
    """An answer that happens to be the same twice, and then is another one, proves nothing."""
    turns: Iterator[int]

    def drifting(arguments: Any) -> ToolResult:
        """Tell a number that seems to stand still."""
        return ToolResult.text(f"{next(turns)} of a hundred")

    for slug in ("same-in-another-locale", "same-in-another-time-zone", "sync-and-async-agree"):
        turns = iter([1, 1, 1, 2, 1, 3, *range(4, 100)])
        assert only(Plugin(drifting), slug, examples=[{}]).message == (
            "its answers differ from call to call"
        )
