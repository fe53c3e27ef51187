from pathlib import Path

import pytest

from support.commands import documented, on_terminal, toolseam
from support.dist_info import tools, write_dist
from support.lab import Lab
from toolseam.isolation._sandbox import level

DOCTOR = documented("doctor")


def test_a_healthy_workspace_passes(workspace: Path) -> None:
    """With nothing wrong it exits with 0 and names interpreter, plugins and database."""
    ran = toolseam("doctor", cwd=workspace)

    assert ran.code == 0
    assert "✓ SQLite" in ran.out
    assert "✓ read_records" in ran.out
    assert "1 readable table" in ran.out
    assert ran.out.endswith("All is well.\n")


def test_json_is_as_documented(workspace: Path) -> None:
    """`--json` holds every check, every record and what is not offered."""
    ran = toolseam("doctor", "--json", cwd=workspace)

    DOCTOR.validate(ran.json)
    documented("list").validate(ran.json["records"])
    assert ran.json["ok"] is True
    assert ran.json["zone"] == "external_global"
    withheld = {each["name"]: each for each in ran.json["not_offered"]}
    assert withheld["get_env"]["reason"] == "data_class"
    assert "zone" in withheld["get_env"]["setting"]


def test_what_each_extra_brings_is_looked_for(workspace: Path) -> None:
    """Every distribution that an extra names is there, with its version or how to install it."""
    ran = toolseam("doctor", "--json", cwd=workspace)

    checks = {each["name"]: each for each in ran.json["checks"] if each["area"] == "installation"}
    assert {"psycopg", "fsspec", "google-re2", "psutil", "cronsim", "httpx2", "pyyaml"} < set(
        checks
    )
    for each in checks.values():
        assert each["mark"] == "ok" or "pip install 'toolseam[" in each["text"]


def test_a_broken_plugin_is_a_fault(workspace: Path, trusted_lab: Lab) -> None:
    """A trusted plugin that does not load fails the examination, and nothing else suffers."""
    (trusted_lab.folder / "acme_writer.py").write_text("raise SystemExit\n")

    ran = toolseam("doctor", "--json", cwd=workspace, environ=trusted_lab.environ)

    faults = [check for check in ran.json["checks"] if check["mark"] == "fault"]
    assert ran.code == 1
    assert [fault["name"] for fault in faults] == ["writes"]
    assert "SystemExit" in faults[0]["text"]


def test_an_untrusted_plugin_is_a_note(workspace: Path, lab: Lab) -> None:
    """What the operator has not named is his choice, not a fault."""
    ran = toolseam("doctor", cwd=workspace, environ=lab.environ)

    assert ran.code == 0
    assert "untrusted, acme-lab 1.0: not_trusted" in ran.out


def test_a_widening_workspace_is_a_fault_and_shown_as_ignored(workspace: Path) -> None:
    """The examination goes on where `run` would not start, and names file and key."""
    (workspace / "toolseam.toml").write_text('trust = ["evil"]\n')

    ran = toolseam("doctor", "--json", cwd=workspace)

    DOCTOR.validate(ran.json)
    texts = {check["name"]: check["text"] for check in ran.json["checks"]}
    assert ran.code == 1
    assert f"ignored: {workspace / 'toolseam.toml'}: trust" in texts["remark"]
    assert f"{workspace / 'toolseam.toml'}: trust" in texts["start"]
    assert "read_records" in texts


@pytest.mark.parametrize("words", ["trust = [", "zone = 5\n"])
def test_an_operators_file_that_is_wrong_is_a_fault(
    workspace: Path, config: Path, words: str
) -> None:
    """A bad operator's file is named, and the rest is still looked at."""
    config.write_text(words)

    ran = toolseam("doctor", cwd=workspace)

    assert ran.code == 1
    assert "✗ start" in ran.out
    assert str(config) in ran.out
    assert "✓ SQLite" in ran.out


def test_rules_that_nothing_answers_to_are_noted(workspace: Path, config: Path) -> None:
    """A rule for a misspelt name makes nothing stricter, so it is named, with its near miss."""
    config.write_text(
        'enable = ["read-record"]\n[tools.get_envs]\nrequires_admin = true\n'
        '[tools.get_env]\nrequires_admin = true\n[groups]\ndisable = ["sistem", "code"]\n'
        '[runs_in]\n"*" = "inline"\n"class:source_code" = "inline"\nprobe_ulr = "process"\n'
        '[sandbox."group:sistem"]\nnetwork = true\n[plugins.acme-gone]\nx = 1\n'
    )

    ran = toolseam("doctor", "--json", cwd=workspace)

    remarks = [each["text"] for each in ran.json["checks"] if each["name"] == "remark"]
    assert ran.code == 0
    assert remarks == [
        "`enable` names 'read-record', to which nothing answers; did you mean 'read_records'?",
        "`tools` names 'get_envs', to which nothing answers; did you mean 'get_env'?",
        "`plugins` names 'acme-gone', to which nothing answers",
        "`groups.disable` names 'sistem', to which nothing answers; did you mean 'system'?",
        "`runs_in` names 'probe_ulr', to which nothing answers; did you mean 'probe_url'?",
        "`sandbox` names 'group:sistem', to which nothing answers; did you mean 'group:system'?",
    ]


def test_conflicts_name_both_and_the_setting(workspace: Path, trusted_lab: Lab) -> None:
    """Two distributions with one tool are a fault that says how to choose."""
    write_dist(trusted_lab.folder, "acme_rival", points=tools(echo="acme_rival"))
    (trusted_lab.folder.parent / "user").mkdir()
    toolseam("trust", "acme-rival", cwd=workspace)

    ran = toolseam("doctor", cwd=workspace, environ=trusted_lab.environ)

    assert ran.code == 1
    assert "acme-lab and acme-rival both offer echo" in ran.out
    assert "prefer = { echo = " in ran.out


def test_a_terminal_gets_colour(workspace: Path) -> None:
    """On a terminal marks are painted."""
    ran = on_terminal("doctor", cwd=workspace)

    assert "\x1b[32m✓\x1b[0m" in ran.out


def test_the_places_for_bodies_are_told(workspace: Path) -> None:
    """Processes and the sandbox each have a line: that it can be had, or why not."""
    found = {check["name"]: check for check in checks_of(workspace, "isolation")}

    assert set(found) == {"process", "sandbox"}
    assert found["process"]["mark"] == "ok"
    assert found["sandbox"]["mark"] == ("ok" if level().reached else "note")
    assert found["sandbox"]["text"] == level().text


def test_a_sandbox_that_is_wanted_and_missing_is_a_fault(
    workspace: Path, config: Path, tmp_path: Path
) -> None:
    """Where a place cannot be had, or not what a tool needs there, doctor fails and says why."""
    config.write_text('[runs_in]\nread_records = "sandbox"\n')
    environ = {"PATH": str(tmp_path)}

    checks = checks_of(workspace, "isolation", environ, code=1)
    found = {check["name"]: check for check in checks if check["mark"] == "fault"}

    assert set(found) == {"sandbox", "read_records"}
    assert "not installed" in found["sandbox"]["text"]
    lacking = f"[sandbox.read_records] grants no read {workspace.resolve()}"
    assert found["read_records"]["text"].startswith(lacking)


def checks_of(
    folder: Path, area: str, environ: dict[str, str] | None = None, code: int = 0
) -> list[dict[str, str]]:
    """Run the examination and return its checks of an area."""
    ran = toolseam("doctor", "--json", cwd=folder, environ=environ)
    DOCTOR.validate(ran.json)
    assert ran.code == code
    return [check for check in ran.json["checks"] if check["area"] == area]
