import json
import shlex
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from support.commands import SCRIPT, Ran, documented, on_terminal, toolseam
from support.dist_info import tools, write_dist
from toolseam.cli._proof import _for_people, prove
from toolseam_plugins.conformance import _egress
from toolseam_plugins.conformance._egress import Cell

# A good tool, and one that breaks the contract now and then.
KIT = '''\
"""Tools for the conformance kit to judge."""

from typing import Annotated

from toolseam import Arg, ErrorCode, ToolResult, tool

toolseam_api = "1"


@tool(effect="read_only", data_class="public_content")
def greet(
    name: Annotated[str, Arg("Who is greeted.")], times: Annotated[int, Arg("How often.")] = 1
) -> ToolResult:
    """Say hello to somebody, as often as asked."""
    if not 1 <= times <= 5:
        return ToolResult.error("From one to five times.", ErrorCode.INVALID_ARGUMENTS)
    return ToolResult.text("Hello!\\n" * times)


@tool(effect="read_only", data_class="public_content")
def breaks(number: int = 0) -> ToolResult:
    """Break the contract where the number is large."""
    if number > 137:
        return "text \\x1b[2J"
    return ToolResult.text("fine")
'''

# An interpreter that finds everything but the packages that are named before it.
WITHOUT = """\
import sys


class Without:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        return None if name in MISSING else self.finder.find_spec(name, path, target)


sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
"""
HOST = ["call_wire", "acall_wire", "rendered", "specifications", "shown", "log", "run"]
FRAMEWORKS = ("langchain_core", "pydantic_ai", "agents", "fastmcp", "llm")
# What fails for `breaks`, what passes, what has nothing to ask: none of them calls the tool.
SOME = ("parameters-described", "effect-known", "examples-succeed")
EXTRAS = ("openai", "anthropic", "google.genai", "mcp", "opentelemetry", *FRAMEWORKS)


@pytest.fixture
def kit(tmp_path: Path) -> dict[str, str]:
    """A distribution `acme-kit` that nobody trusts, as an environment to see it in."""
    folder = tmp_path / "kit"
    write_dist(folder, "acme_kit", points=tools(greet="acme_kit:greet", breaks="acme_kit:breaks"))
    (folder / "acme_kit.py").write_text(KIT)
    return {"PYTHONPATH": str(folder)}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """An empty folder to work in."""
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


def check(*words: str, cwd: Path, environ: dict[str, str]) -> Ran:
    """Run `toolseam check` in a pipe."""
    return toolseam("check", *words, cwd=cwd, environ=environ)


def only(*slugs: str) -> list[str]:
    """Return the words that leave all other checks out."""
    return [word for slug in slugs for word in ("--only", slug)]


def check_without(*packages: str, words: Sequence[str], cwd: Path, folder: Path) -> Ran:
    """Run it where interpreters start without some packages."""
    (folder / "sitecustomize.py").write_text(f"MISSING = {packages!r}\n{WITHOUT}")
    environ = {"PYTHONPATH": str(folder)}
    return toolseam("check", *words, cwd=cwd, environ=environ, program=(SCRIPT,))


def test_a_good_tool_passes(here: Path, kit: dict[str, str]) -> None:
    """A line a check, the counts at the end, exit code 0, and nothing is left in the folder."""
    ran = check("greet", "--example", 'greet={"name": "Ada"}', cwd=here, environ=kit)

    assert ran.code == 0, ran.out + ran.err
    *lines, blank, closing = ran.out.splitlines()
    assert blank == ""
    assert closing.startswith(f"1 tool, {len(lines)} checks: ")
    assert all(line.split("\t")[0] == "greet" for line in lines)
    assert "\texamples-succeed\tMUST\tpassed\t" in ran.out
    assert list(here.iterdir()) == []


def test_what_hypothesis_works_out_is_not_left_behind(here: Path, kit: dict[str, str]) -> None:
    """Where nobody names it a folder, it makes none where the command runs, also for texts."""
    unnamed = kit | {"HYPOTHESIS_STORAGE_DIRECTORY": None}
    words = ("greet", *only("never-raises"))

    ran = toolseam("check", *words, cwd=here, environ=unnamed, program=(SCRIPT,))

    assert ran.code == 0, ran.out + ran.err
    assert list(here.iterdir()) == []


def test_a_failure_is_shrunk_and_can_be_seen_again(here: Path, kit: dict[str, str]) -> None:
    """The smallest failing arguments are told as a command, and the command fails as told."""
    ran = check("breaks", "--only", "returns-tool-result", cwd=here, environ=kit)
    command = next(line for line in ran.out.splitlines() if "again: " in line).strip()
    words = shlex.split(command.removeprefix("again: toolseam "))
    again = toolseam(
        *words,
        cwd=here,
        environ=kit | {"TOOLSEAM_TRUST": "acme-kit"},
    )

    assert ran.code == 1
    assert words[:3] == ["run", "breaks", "--json-args"]
    # The smallest is 138; a busy machine may have had no time for the last steps.
    assert json.loads(words[3]).keys() == {"number"}
    assert 138 <= json.loads(words[3])["number"] < 1_000
    assert ran.out.splitlines()[-1] == "1 tool, 1 check: 1 failed"
    assert again.code != 0


def test_a_whole_distribution_is_checked(here: Path, kit: dict[str, str]) -> None:
    """Naming a distribution checks each of its tools."""
    ran = check("Acme.Kit", *only("effect-known"), cwd=here, environ=kit)

    assert (ran.code, ran.out.splitlines()[-1]) == (0, "2 tools, 2 checks: 2 passed")


def test_an_object_of_a_module_is_checked(here: Path, kit: dict[str, str]) -> None:
    """`module:object` needs no entry point."""
    ran = check("acme_kit:greet", *only("effect-known"), cwd=here, environ=kit)

    assert (ran.code, ran.out.splitlines()[-1]) == (0, "1 tool, 1 check: 1 passed")


def test_json_is_as_documented(here: Path, kit: dict[str, str]) -> None:
    """`--json` prints one object that holds every result."""
    ran = check("acme-kit", "--json", *only(*SOME), cwd=here, environ=kit)

    documented("check").validate(ran.json)
    assert (ran.json["ok"], ran.json["target"]) == (False, "acme-kit")
    assert sorted((each["tool"], each["slug"]) for each in ran.json["results"]) == sorted(
        product(("breaks", "greet"), SOME)
    )
    assert {each["status"] for each in ran.json["results"]} == {
        *("failed", "passed", "not_applicable")
    }
    assert sorted(ran.json["tools"]) == ["breaks", "greet"]
    assert ran.code == 1


def test_a_junit_report_is_written(here: Path, kit: dict[str, str]) -> None:
    """`--junit` writes a file that build servers read, beside what is printed."""
    ran = check("breaks", "--junit", "report.xml", *only(*SOME), cwd=here, environ=kit)

    suite = ET.parse(here / "report.xml").find("testsuite")  # noqa: S314 - our own
    assert ran.code == 1
    assert suite is not None
    assert suite.get("name") == "breaks"
    assert [suite.get(word) for word in ("tests", "failures", "skipped")] == ["3", "1", "1"]


@pytest.mark.parametrize("nested", [False, True])
def test_an_expected_failure_is_excused(here: Path, kit: dict[str, str], nested: bool) -> None:
    """A failure that a file names with a reason does not fail the run."""
    text = 'parameters-described = "until 2.0"\n'
    (here / "expected.toml").write_text(f"[breaks]\n{text}" if nested else text)
    words = ("breaks", *only("parameters-described"), "--expected-failures", "expected.toml")

    ran = check(*words, cwd=here, environ=kit)

    assert ran.code == 0, ran.out
    assert ran.out.splitlines()[-1] == "1 tool, 1 check: 1 expected failure"


def test_expected_failures_may_stand_in_pyproject(here: Path, kit: dict[str, str]) -> None:
    """Of a `pyproject.toml` one table counts, and no other."""
    text = '[tool.toolseam.expected-failures]\n"breaks:parameters-described" = "until 2.0"\n'
    (here / "pyproject.toml").write_text(f'[project]\nname = "x"\n{text}')
    words = ("breaks", *only("parameters-described"), "--expected-failures", "pyproject.toml")

    assert check(*words, cwd=here, environ=kit).code == 0


def test_an_expected_failure_that_passes_fails(here: Path, kit: dict[str, str]) -> None:
    """An entry that is no longer needed is told."""
    (here / "expected.toml").write_text('effect-known = "it used to"\n')
    words = ("greet", *only("effect-known"), "--expected-failures", "expected.toml")

    ran = check(*words, cwd=here, environ=kit)

    assert ran.code == 1
    assert "take the entry out" in ran.out


@pytest.mark.parametrize("text", ["never-raises = 1\n", "[a.b]\nc = 'd'\n", "no TOML"])
def test_a_reason_is_a_text(here: Path, kit: dict[str, str], text: str) -> None:
    """A file of expected failures that says something else is usage, with its name."""
    (here / "expected.toml").write_text(text)

    ran = check("greet", "--expected-failures", "expected.toml", cwd=here, environ=kit)

    assert ran.code == 2
    assert ran.err.startswith("toolseam: expected.toml: ")


def test_an_expected_failure_of_no_check_is_an_error(here: Path, kit: dict[str, str]) -> None:
    """A slug that names nothing is told, with the one that is near."""
    (here / "expected.toml").write_text('effect-know = "misspelt"\n')
    words = ("greet", *only("effect-known"), "--expected-failures", "expected.toml")

    ran = check(*words, cwd=here, environ=kit)

    assert ran.code == 3
    assert "effect-known" in ran.out


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("no-such-thing",),
        ("greet", "--only", "no-such-check"),
        ("greet", "--example", "greet"),
        ("greet", "--example", "greet=[1]"),
        ("greet", "--example", 'nobody={"name": "Ada"}'),
        ("greet", "--expected-failures", "nowhere.toml"),
        ("greet", "--only", "effect-known", "--junit", "nowhere/report.xml"),
    ],
)
def test_nothing_to_check_is_usage(here: Path, kit: dict[str, str], words: tuple[str, ...]) -> None:
    """No target, no such tool, no such check, no such file: exit code 2 and one line."""
    ran = check(*words, cwd=here, environ=kit)

    assert ran.code == 2, ran.out
    assert ran.err.startswith("toolseam: ")
    assert "Traceback" not in ran.err


def test_the_same_seed_gives_the_same_report(here: Path, kit: dict[str, str]) -> None:
    """A seed makes a run that can be repeated."""
    words = ("breaks", "--only", "returns-tool-result", "--seed", "7", "--json")

    first, again = (check(*words, cwd=here, environ=kit) for _ in range(2))

    assert first.out == again.out


def test_the_list_of_checks_is_as_documented(here: Path) -> None:
    """`--list` runs nothing; it says what every check asks."""
    listed = toolseam("check", "--list", cwd=here)
    as_json = toolseam("check", "--list", "--json", cwd=here)

    documented("check --list").validate(as_json.json)
    assert len(as_json.json) >= 40
    assert [line.split("\t")[0] for line in listed.out.splitlines()] == [
        each["slug"] for each in as_json.json
    ]


def test_a_terminal_gets_a_table_and_no_escape_sequence_of_a_tool(
    here: Path, kit: dict[str, str]
) -> None:
    """On a terminal a row a tool; what a tool returned cannot reach the screen."""
    words = only("returns-tool-result", "examples-succeed")

    ran = on_terminal("check", "acme-kit", *words, cwd=here, environ=kit)

    assert ran.code == 1
    assert "TOOL" in ran.out
    assert "NOT APPLICABLE" in ran.out
    assert "\x1b[2J" not in ran.out


def test_without_hypothesis_the_extra_is_named(here: Path, kit: dict[str, str]) -> None:
    """Where the extra is not installed the command says which one it is."""
    folder = Path(kit["PYTHONPATH"])

    ran = check_without("hypothesis", words=["greet"], cwd=here, folder=folder)

    assert ran.code == 2
    assert "toolseam[conformance]" in ran.err


def test_no_canary_leaves_a_sink(here: Path, tmp_path: Path) -> None:
    """`--egress` drives each sink that is installed with each canary, and all of them stay."""
    ran = check_without(*EXTRAS, words=["--egress", "--json"], cwd=here, folder=tmp_path)

    documented("check --egress").validate(ran.json)
    assert ran.code == 0
    assert ran.json["ok"] is True
    assert ran.json["sinks"] == [*HOST, "mcp_mount"]
    assert len(ran.json["cells"]) == len(ran.json["sinks"]) * len(ran.json["canaries"])


def test_a_pipe_gets_a_line_for_each_canary_of_a_sink(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sink, canary, and whether it stays; then how many came out."""
    sinks = {name: _egress.SINKS[name] for name in ("rendered", "shown")}
    monkeypatch.setattr(_egress, "SINKS", sinks)

    code = prove(as_json=False)

    *lines, blank, closing = capsys.readouterr().out.splitlines()
    rows = [line.split("\t") for line in lines]
    assert (code, blank) == (0, "")
    assert closing == f"2 sinks, {len(rows) // 2} canaries: 0 came out"
    assert {row[0] for row in rows} == {*sinks}
    assert {row[2] for row in rows} == {"stays"}


def _unheard(_: object) -> str:
    return ""


def _broken(_: object) -> str:
    raise RuntimeError("no\x1b such SDK " + "x" * 1_000)


def _gone(_: object) -> str:
    raise SystemExit("gone")


@pytest.mark.parametrize(
    ("sink", "why"),
    [(_unheard, "AssertionError: slow proves nothing"), (_broken, "RuntimeError"), (_gone, "gone")],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_a_sink_that_cannot_be_driven_is_named(
    sink: Callable[[object], str],
    why: str,
    as_json: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One sentence and exit code 3: there is no traceback, no table, and no proof."""
    monkeypatch.setattr(_egress, "SINKS", {"rendered": _egress.SINKS["rendered"], "slow": sink})

    code = prove(as_json=as_json)

    said = capsys.readouterr()
    assert (code, said.out) == (3, "")
    assert "the sink slow could not be driven, so nothing is proved" in said.err
    assert why in said.err
    assert len(said.err.splitlines()) == 1
    assert len(said.err) < 500
    assert "\x1b" not in said.err


def test_people_see_a_row_a_sink(capsys: pytest.CaptureFixture[str]) -> None:
    """In 80 columns: canaries by number, what came out by name, and which number is which."""
    places = [f"artifact_{number}" for number in range(11)] + ["data", "metadata"]
    cells = [
        Cell(sink, p, hit=(sink, p) == ("leaky", "data"))
        for p in places
        for sink in ("leaky", "openai_responses")
    ]

    _for_people(tuple(cells))

    head, rule, leaky, clean, *_, legend = capsys.readouterr().out.splitlines()
    assert max(map(len, (head, rule, leaky, clean))) <= 80
    assert leaky.split() == ["leaky", *"·" * 11, "X", "·", "data"]
    assert clean.split() == ["openai_responses", *"·" * 13, "nothing"]
    assert "12 data, 13 metadata" in legend


ADAPTER = """\
import json

def drive(session):
    told = [session.call_wire(spec.name) for spec in session.tools()]
    return json.dumps([text for text, _ in told])

def leaky(session):
    told = [session.call_wire(spec.name) for spec in session.tools()]
    return json.dumps([[text, step.data and step.data.value] for text, step in told])

BOTH = {"good": drive, "bad": leaky}
"""


@pytest.fixture
def adapters(tmp_path: Path) -> dict[str, str]:
    """A distribution `acme-adapter` that brings two, one of which leaks."""
    folder = tmp_path / "adapters"
    folder.mkdir()
    points = "[toolseam.adapters]\nacme = acme_adapter:drive\nleaky = acme_adapter:leaky\n"
    write_dist(folder, "acme_adapter", points=points)
    (folder / "acme_adapter.py").write_text(ADAPTER)
    (folder / "acme_bad.py").write_text("raise RuntimeError('no')")
    (folder / "acme_gone.py").write_text("raise SystemExit(0)")
    return {"PYTHONPATH": str(folder)}


def test_a_distributions_adapters_are_checked(here: Path, adapters: dict[str, str]) -> None:
    """By its name, each drive that it brings: what leaks is named, and the report is a check's."""
    ran = check("acme.adapter", "--egress", cwd=here, environ=adapters)
    as_json = check("Acme-Adapter", "--egress", "--json", cwd=here, environ=adapters)

    documented("check").validate(as_json.json)
    assert (ran.code, as_json.code) == (1, 1)
    assert as_json.json["tools"] == ["acme", "leaky"]
    failed = [each for each in as_json.json["results"] if each["status"] == "failed"]
    assert [(f["tool"], f["slug"]) for f in failed] == [("leaky", "adapter-keeps-run-only")]
    assert failed[0]["message"] == "came out: data"
    assert ran.out.endswith("2 adapters, 14 checks: 13 passed, 1 failed\n")


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("acme", ["acme"]),
        ("acme_adapter:drive", ["acme_adapter:drive"]),
        ("acme_adapter:BOTH", ["good", "bad"]),
    ],
)
def test_adapters_are_found_by_name(
    target: str, names: list[str], here: Path, adapters: dict[str, str]
) -> None:
    """An entry point, a function of a module, or a table of functions."""
    only = ("--only", "adapter-runs", "--json")

    ran = check(target, "--egress", *only, cwd=here, environ=adapters)

    assert (ran.code, ran.json["tools"]) == (0, names)


@pytest.mark.parametrize(
    "target",
    ["greet", "acme_adapter:nothing", "no_such:thing", "json:x.y", "acme_bad:x", "acme_gone:x"],
)
def test_what_brings_no_adapter_is_refused(
    target: str, here: Path, adapters: dict[str, str]
) -> None:
    """Nothing checked is no pass: the target is named, and what it could be."""
    ran = check(target, "--egress", cwd=here, environ=adapters)

    assert (ran.code, ran.out) == (2, "")
    assert target in ran.err


def test_an_adapter_is_a_function(here: Path, adapters: dict[str, str]) -> None:
    """A name that leads to something else says what it is."""
    ran = check("acme_adapter:__name__", "--egress", cwd=here, environ=adapters)

    assert (ran.code, "is a str" in ran.err) == (2, True)
