"""Every status of a record, with real distributions in a real environment."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from support.dist_info import tools, write_dist
from support.environments import Environment, probe

Operator = Callable[[str], Path]
BEFORE = {"found", "disabled", "untrusted", "conflict", "bad_metadata"}
AFTER = {"ready", "incompatible", "missing_extra", "broken"}


def by_distribution(seen: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Give the records of third parties, by distribution and name."""
    return {
        f"{record['distribution']} {record['name']}".strip(): record
        for record in seen["records"]
        if not record["builtin"]
    }


@attrs.frozen
class Everything:
    """What one host saw that loaded everything, and the marks of what was imported meanwhile."""

    host: dict[str, Any]
    marks: set[str]


@pytest.fixture(scope="module")
def everything(installed: Environment, tmp_path_factory: pytest.TempPathFactory) -> Everything:
    """A host of an operator who trusts everybody, and a call of half a plugin."""
    folder = tmp_path_factory.mktemp("everything")
    file = folder / "toolseam" / "config.toml"
    file.parent.mkdir()
    file.write_text('trust = ["*", "late-pack"]\n')
    installed.marked()
    seen = probe(installed, "--host", "--call", "first", cwd=folder, config=folder)
    return Everything(seen["hosts"][0], installed.marked())


@pytest.fixture
def loaded(everything: Everything) -> dict[str, dict[str, Any]]:
    """The records after everything was loaded."""
    return by_distribution(everything.host)


def test_listing_imports_no_plugin(environment: Environment, workspace: Path) -> None:
    """Everything is listed, nothing ran, and nothing third-party is trusted."""
    seen = probe(environment, cwd=workspace)

    records = by_distribution(seen)
    assert environment.marked() == set()
    assert {name: record["status"] for name, record in records.items()} == {
        "async-pack wait": "untrusted",
        "boom-pack boom": "untrusted",
        "exit-pack leave": "untrusted",
        "extra-pack read_records": "untrusted",
        "future-pack later": "untrusted",
        "generator-pack drip": "untrusted",
        "half-pack torn": "untrusted",
        "half-pack whole": "untrusted",
        "late-pack late": "untrusted",
        "loud-pack shout": "untrusted",
        "mangled-pack": "bad_metadata",
        "misspelt-pack typo": "untrusted",
        "needy-pack needy": "untrusted",
        "ok-pack greet": "untrusted",
        "param-pack greedy": "untrusted",
        "stockpack stock": "untrusted",
        "twin-one ping": "untrusted",
        "twin-two ping": "untrusted",
    }
    assert all(record["version"] in {"1.0", "1.2"} for record in records.values())
    assert not {"attrs", "pluggy", "importlib_metadata"} & set(seen["modules"])


def test_an_untrusted_plugin_is_not_imported_by_a_host(
    environment: Environment, workspace: Path
) -> None:
    """Loading a host and asking for all tools runs no third party's code."""
    seen = probe(environment, "--host", "--call", "greet", cwd=workspace)

    assert environment.marked() == set()
    (host,) = seen["hosts"]
    assert "greet" not in host["tools"]
    assert host["calls"]["greet"].startswith("Error (not_found)")


def test_a_trusted_plugin_is_loaded_and_called(
    environment: Environment, workspace: Path, operator: Operator
) -> None:
    """The operator's word opens one distribution and no other."""
    config = operator('trust = ["OK_pack"]\n')

    seen = probe(environment, "--host", "--call", "greet", cwd=workspace, config=config)

    assert environment.marked() == {"ok_pack"}
    assert seen["hosts"][0]["calls"]["greet"] == "Hello, you"


@pytest.mark.parametrize(
    ("name", "status", "told"),
    [
        ("ok-pack greet", "ready", ""),
        ("loud-pack shout", "ready", "printed"),
        ("async-pack wait", "ready", ""),
        ("stockpack stock", "ready", ""),
        ("half-pack whole", "ready", ""),
        ("half-pack torn", "broken", "other"),
        ("boom-pack boom", "broken", "ModuleNotFoundError: libfoo_missing"),
        ("needy-pack needy", "missing_extra", "pip install 'needy-pack[bar]'"),
        ("exit-pack leave", "broken", "SystemExit"),
        ("future-pack later", "incompatible", "99"),
        ("misspelt-pack typo", "broken", "exceute"),
        ("param-pack greedy", "broken", "database"),
        ("generator-pack drip", "broken", "generator"),
        ("late-pack late", "broken", "KeyError"),
        ("twin-one ping", "conflict", "twin-two"),
        ("twin-two ping", "conflict", "twin-one"),
        ("extra-pack read_records", "conflict", "prefer"),
        ("mangled-pack", "bad_metadata", "line 2"),
    ],
)
def test_what_becomes_of_each(
    loaded: dict[str, dict[str, Any]], name: str, status: str, told: str
) -> None:
    """P15, P17: each ends with its own status and the fact that somebody needs to mend it."""
    record = loaded[name]

    assert record["status"] == status
    assert told in record["detail"]
    assert record["version"]


def test_half_a_plugin_is_none(everything: Everything) -> None:
    """P17: `late-pack` gives a tool and then fails, so the tool is not there."""
    assert "late_pack" in everything.marks
    assert "first" not in everything.host["tools"]
    assert everything.host["calls"]["first"].startswith("Error (not_found)")


def test_hooks_of_another_contract_are_never_called(everything: Everything) -> None:
    """P17: `future-pack` is imported, and refused before its hooks run."""
    assert {name for name in everything.marks if "future" in name} == {"future_pack"}


def test_the_builtin_stays(everything: Everything) -> None:
    """P15: a trusted package that takes its name changes nothing, and no name is there twice."""
    names = everything.host["tools"]
    assert len(names) == len(set(names))
    (builtin,) = [
        record
        for record in everything.host["records"]
        if record["builtin"] and record["name"] == "read_records"
    ]
    assert builtin["status"] == "ready"
    assert "extra_pack" not in everything.marks


def test_prefer_replaces_a_builtin_and_decides_between_twins(
    environment: Environment, workspace: Path, operator: Operator
) -> None:
    """Only the operator's explicit word does."""
    config = operator('trust = ["*"]\n[prefer]\nread_records = "extra-pack"\nping = "twin-two"\n')
    calls = ("--call", "read_records", "--call", "ping")

    seen = probe(environment, "--host", *calls, cwd=workspace, config=config)

    assert seen["hosts"][0]["calls"] == {"read_records": "Replaced, you", "ping": "Pong two, you"}


def test_two_sets_live_in_one_process(
    environment: Environment, workspace: Path, operator: Operator
) -> None:
    """Each host has its own tools, also under the same name."""
    config = operator(
        'trust = ["*"]\n'
        '[sets.one]\nallow = ["twin-one"]\n'
        '[sets.two]\nblock = ["twin-one", "ok-pack"]\n'
    )
    calls = ("--call", "ping", "--call", "greet")

    seen = probe(
        environment, "--host", "--set", "one", "--set", "two", *calls, cwd=workspace, config=config
    )

    one, two = seen["hosts"]
    assert one["tools"] == ["ping"]
    assert one["calls"]["ping"] == "Pong one, you"
    assert two["calls"]["ping"] == "Pong two, you"
    assert two["calls"]["greet"].startswith("Error (not_found)")


FAULTY = ("boom-pack", "late-pack", "future-pack", "needy-pack")
STARTS = """\
import json, sys, toolseam
from toolseam._errors import LoadError
told = {}
for name in sys.argv[1:]:
    try:
        toolseam.Host.load(trust=[name])
    except LoadError as error:
        told[name] = str(error)
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def failed_starts(
    installed: Environment, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """What is said where a strict operator trusts one faulty distribution after the other."""
    folder = tmp_path_factory.mktemp("strict")
    file = folder / "toolseam" / "config.toml"
    file.parent.mkdir()
    file.write_text("strict = true\n")
    done = installed.run("-c", STARTS, *FAULTY, cwd=folder, config=folder)
    assert done.returncode == 0, done.stderr
    told: dict[str, str] = json.loads(done.stdout)
    return told


@pytest.mark.parametrize("name", FAULTY)
def test_strict_makes_a_fault_a_failed_start(failed_starts: dict[str, str], name: str) -> None:
    """P17: the failure names the distribution; the mangled one is there all the time."""
    assert name in failed_starts[name]
    assert "mangled-pack" in failed_starts[name]
    assert not [each for each in FAULTY if each != name and each in failed_starts[name]]


def test_a_symlinked_path_finds_nothing_twice(
    environment: Environment, workspace: Path, operator: Operator, tmp_path: Path
) -> None:
    """P18: `lib64 -> lib` on the path adds no record, no shadow and no conflict."""
    link = tmp_path / "lib64"
    link.symlink_to(environment.site)
    config = operator('trust = ["stockpack"]\n')
    environ = {"PYTHONPATH": str(link)}

    seen = probe(
        environment, "--host", "--call", "stock", cwd=workspace, config=config, environ=environ
    )

    assert seen["hosts"][0]["tools"].count("stock") == 1
    assert seen["hosts"][0]["calls"]["stock"] == "Stock, you"


def test_a_newer_version_earlier_on_the_path_is_the_one_used(
    environment: Environment, workspace: Path, operator: Operator, tmp_path: Path
) -> None:
    """P18: the version that Python imports is reported, with a diagnostic for the other."""
    source = tmp_path / "source"
    write_dist(source, "stockpack", "1.3", tools(stock="stockpack:stock"), egg=True)
    config = operator('trust = ["stockpack"]\n')

    seen = probe(environment, cwd=workspace, config=config, environ={"PYTHONPATH": str(source)})

    assert by_distribution(seen)["stockpack stock"]["version"] == "1.3"
    assert seen["shadowed"] == [["stockpack", "1.2", str(source)]]


@pytest.mark.parametrize("pythonpath", [".", "", "{workspace}"])
def test_what_is_planted_in_the_current_folder_is_never_loaded(
    environment: Environment, workspace: Path, operator: Operator, pythonpath: str
) -> None:
    """H04, S1: planted metadata is listed as `untrusted_location`; planted modules never run."""
    write_dist(workspace, "toolseam", "99.0", tools(read_records="evil"))
    write_dist(workspace, "ok-pack", "99.0", tools(greet="evil", other="evil"))
    for module in ("evil", "yaml", "attrs", "pluggy", "ok_pack", "toolseam_builtin"):
        (workspace / f"{module}.py").write_text(
            f"import import_marks\nimport_marks.mark('planted-{module}')\n"
        )
    config = operator('trust = ["*"]\n')
    environ = {"PYTHONPATH": pythonpath.format(workspace=workspace)}

    listed = probe(environment, cwd=workspace, config=config, environ=environ)
    seen = probe(
        environment, "--host", "--call", "greet", cwd=workspace, config=config, environ=environ
    )

    assert not {name for name in environment.marked() if name.startswith("planted")}
    assert seen["hosts"][0]["calls"]["greet"] == "Hello, you"
    assert all(
        record["status"] == "untrusted" and record["reason"] == "untrusted_location"
        for record in listed["records"]
        if record["version"] == "99.0"
    )
    readers = [r for r in listed["records"] if r["name"] == "read_records" and r["builtin"]]
    assert [reader["status"] for reader in readers] == ["found"]


def test_an_environment_inside_the_workspace_counts(
    environment: Environment, operator: Operator
) -> None:
    """`.venv` in the project's folder is where most people have it."""
    config = operator('trust = ["ok-pack"]\n')

    seen = probe(environment, cwd=environment.folder.parent, config=config)

    assert by_distribution(seen)["ok-pack greet"]["status"] == "found"


def test_every_status_is_reached(
    environment: Environment,
    workspace: Path,
    operator: Operator,
    loaded: dict[str, dict[str, Any]],
) -> None:
    """No word of the list is without a case."""
    config = operator('trust = ["*"]\nblock = ["ok-pack"]\n')

    listed = by_distribution(probe(environment, cwd=workspace, config=config))
    plain = by_distribution(probe(environment, cwd=workspace))

    reached = {record["status"] for found in (listed, plain) for record in found.values()}
    assert reached == BEFORE
    assert {record["status"] for record in loaded.values()} >= AFTER
