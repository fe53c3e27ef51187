import re
from pathlib import Path

import attrs

from support.commands import MODULE, SCRIPT, documented, on_terminal, toolseam
from support.dist_info import tools, write_dist
from support.lab import Lab
from toolseam._selection import WORKSPACE_KEYS
from toolseam._settings_keys import WorkspaceSettings

LIST = documented("list")
HEAVY = {"attr", "attrs", "cattrs", "pluggy", "importlib.metadata", "importlib_metadata", "typing"}


def test_a_line_in_a_pipe_is_a_record(workspace: Path) -> None:
    """Each line holds name, status, reason, distribution, version and group, by tabs."""
    ran = toolseam("list", cwd=workspace)

    rows = [line.split("\t") for line in ran.out.splitlines()]
    assert (ran.code, ran.err) == (0, "")
    assert {len(row) for row in rows} == {6}
    assert ["read_records", "found", "", "toolseam"] in [row[:4] for row in rows]
    assert rows == sorted(rows)


def test_json_is_as_documented(workspace: Path, lab: Lab) -> None:
    """`--json` prints a list of objects with exactly the documented fields."""
    ran = toolseam("list", "--json", cwd=workspace, environ=lab.environ)

    LIST.validate(ran.json)
    records = {record["name"]: record for record in ran.json}
    assert records["read_records"]["group"] == "content"
    assert records["echo"]["status"] == "untrusted"
    assert records["echo"]["reason"] == "not_trusted"
    assert records["echo"]["distribution"] == "acme-lab"
    assert records["echo"]["group"] is None


def test_a_plain_listing_imports_no_plugin(workspace: Path, trusted_lab: Lab) -> None:
    """Even a trusted plugin is not imported to be listed."""
    (trusted_lab.folder / "acme_lab.py").write_text("open('imported', 'w')\n")

    ran = toolseam("list", cwd=workspace, environ=trusted_lab.environ)

    assert "echo\tfound" in ran.out
    assert not (workspace / "imported").exists()


def test_load_says_what_became_of_each(workspace: Path, trusted_lab: Lab) -> None:
    """`--load` imports under guard: what works is ready, what does not is broken."""
    (trusted_lab.folder / "acme_writer.py").write_text("raise ValueError\n")

    ran = toolseam("list", "--load", "--json", cwd=workspace, environ=trusted_lab.environ)

    records = {record["name"]: record for record in ran.json}
    LIST.validate(ran.json)
    assert records["read_records"]["status"] == "ready"
    assert (records["echo"]["status"], records["echo"]["group"]) == ("ready", "general")
    assert records["writes"]["status"] == "broken"
    assert ran.code == 0


def test_a_listing_waits_for_no_heavy_module(workspace: Path) -> None:
    """A plain listing answers without attrs, pluggy, cattrs, metadata libraries and typing."""
    timed = {"PYTHONPROFILEIMPORTTIME": "1"}
    ran = toolseam("list", cwd=workspace, program=(SCRIPT,), environ=timed)

    imported = {line.rpartition("|")[2].strip() for line in ran.err.splitlines()}
    ours = imported - _bare(workspace)
    assert "toolseam._discovery" in ours
    assert not ours & HEAVY


def _bare(workspace: Path) -> set[str]:
    """Name what the interpreter itself imports here, `.pth` files included."""
    program = (MODULE[0], "-c", "import re")
    ran = toolseam(program=program, cwd=workspace, environ={"PYTHONPROFILEIMPORTTIME": "1"})
    return {line.rpartition("|")[2].strip() for line in ran.err.splitlines()}


def test_a_table_stands_on_a_terminal(workspace: Path, lab: Lab) -> None:
    """A person gets headings, colour, and how to trust what is not."""
    ran = on_terminal("list", cwd=workspace, environ=lab.environ, width=120)

    assert "NAME" in ran.out
    assert "\x1b[33muntrusted" in ran.out
    assert "toolseam trust acme-lab" in ran.out


def test_no_color_is_honoured(workspace: Path) -> None:
    """`NO_COLOR` leaves the table without escape sequences."""
    ran = on_terminal("list", cwd=workspace, environ={"NO_COLOR": "1"})

    assert "NAME" in ran.out
    assert "\x1b" not in ran.out


def test_what_is_no_record_is_said_too(workspace: Path, lab: Lab, config: Path) -> None:
    """Shadowed distributions, unknown names and ignored keys stand below the records."""
    second = lab.folder.parent / "second"
    write_dist(second, "acme_lab", "2.0", tools(echo="acme_lab:echo"))
    config.write_text('trust = ["acme-lob"]\n')
    (workspace / "toolseam.toml").write_text('zone = "local"\n')

    ran = toolseam("list", cwd=workspace, environ={"PYTHONPATH": f"{lab.folder}:{second}"})

    assert f"acme-lab 2.0 in {second} is shadowed" in ran.out
    assert "did you mean 'acme-lab'?" in ran.out
    assert f"ignored: {workspace / 'toolseam.toml'}: zone" in ran.out
    assert ran.code == 0


def test_every_key_that_would_widen_is_shown_as_ignored(workspace: Path) -> None:
    """Keys of the operator, keys that nobody knows, and words that would widen: none is silent."""
    (workspace / "toolseam.toml").write_text(
        'trust = ["*"]\nenforce = "observe"\n[tables]\nallow = ["users"]\n'
        '[providers.mine]\nbase_url = "http://127.0.0.1:9"\n[limits]\nthreads = 1\n'
    )

    ran = toolseam("list", cwd=workspace)

    ignored = re.findall(r"^note: ignored: .*toolseam\.toml: ([\w.]+):", ran.out, re.MULTILINE)
    assert sorted(ignored) == ["enforce", "providers", "tables.allow", "trust"]


def test_the_keys_of_a_workspace_are_those_that_its_class_reads() -> None:
    """A listing goes without the settings' classes, and knows the same keys."""
    assert set(WORKSPACE_KEYS) == {field.name for field in attrs.fields(WorkspaceSettings)}


def test_remarks_do_not_spoil_the_json(workspace: Path) -> None:
    """With `--json` remarks go to standard error."""
    (workspace / "toolseam.toml").write_text('zone = "local"\n')

    ran = toolseam("list", "--json", cwd=workspace)

    LIST.validate(ran.json)
    assert "ignored:" in ran.err


def test_names_of_others_are_harmless_on_a_terminal(workspace: Path, lab: Lab) -> None:
    """A distribution may be called what it likes: no escape sequence of it is obeyed."""
    write_dist(lab.folder, "evil\x1b]0;x\x07", points=tools(evil="evil"))

    ran = on_terminal("list", cwd=workspace, environ=lab.environ | {"NO_COLOR": "1"})

    assert "evil" in ran.out
    assert not {"\x1b", "\x07"} & set(ran.out)


def test_an_operators_file_that_cannot_be_read_is_usage(workspace: Path, config: Path) -> None:
    """A broken operator's file exits with 2 and is named."""
    config.write_text("trust = [")

    ran = toolseam("list", cwd=workspace)

    assert (ran.code, ran.out) == (2, "")
    assert str(config) in ran.err
