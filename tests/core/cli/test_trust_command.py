from pathlib import Path

from support.commands import documented, on_terminal, toolseam
from support.lab import Lab

TRUST = documented("trust")


def test_a_trusted_distribution_may_be_used(workspace: Path, lab: Lab) -> None:
    """After `trust` the tool answers; before, it was not even imported."""
    before = toolseam("run", "waits", cwd=workspace, environ=lab.environ)
    given = toolseam("trust", "acme_lab", cwd=workspace, environ=lab.environ)
    after = toolseam("run", "waits", cwd=workspace, environ=lab.environ)

    assert (before.code, given.code, after.code) == (1, 0, 0)
    assert "it offers:" in given.err
    assert "waits" in given.err


def test_trust_is_taken_back_as_it_was_given(workspace: Path, lab: Lab) -> None:
    """`--remove` undoes it, by any spelling of the name."""
    toolseam("trust", "acme-lab", cwd=workspace, environ=lab.environ)

    removed = toolseam("trust", "--remove", "Acme.Lab", cwd=workspace, environ=lab.environ)
    listed = toolseam("trust", "--list", "--json", cwd=workspace, environ=lab.environ)

    assert (removed.code, listed.json) == (0, [])


def test_json_is_as_documented(workspace: Path, config: Path, lab: Lab) -> None:
    """`--json` lists all that is trusted, in either file, and how it stands."""
    config.write_text('trust = ["acme-lab", "gone"]\n')

    ran = toolseam("trust", ".", "--json", cwd=workspace, environ=lab.environ)

    TRUST.validate(ran.json)
    assert [(each["word"], each["kind"], each["state"]) for each in ran.json] == [
        ("acme-lab", "distribution", "installed"),
        ("gone", "distribution", "missing"),
        (str(workspace), "workspace", "current"),
    ]


def test_a_changed_workspace_file_is_no_longer_trusted(workspace: Path) -> None:
    """Trust of a folder is bound to its file, and the list says when it has changed."""
    (workspace / "toolseam.toml").write_text("[workspace]\n")
    toolseam("trust", ".", cwd=workspace)
    (workspace / "toolseam.toml").write_text("[workspace]\nsource_root = '.'\n")

    ran = toolseam("trust", "--list", cwd=workspace)

    assert ran.out.split("\t")[2] == "changed"


def test_a_misspelt_name_is_said(workspace: Path, lab: Lab) -> None:
    """A name that nothing answers to is trusted, and the nearest one is suggested."""
    ran = toolseam("trust", "acme-lob", cwd=workspace, environ=lab.environ)

    assert ran.code == 0
    assert "not installed; did you mean 'acme-lab'?" in ran.err


def test_what_the_operator_wrote_himself_stays(workspace: Path, config: Path) -> None:
    """The command takes nothing out of the operator's own file, and says where it stands."""
    config.write_text('trust = ["acme-lab"]\n')

    ran = toolseam("trust", "--remove", "acme-lab", cwd=workspace)

    assert ran.code == 1
    assert str(config) in ran.err
    assert config.read_text() == 'trust = ["acme-lab"]\n'


def test_what_is_no_name_is_usage(workspace: Path) -> None:
    """A pattern is for the operator's own file; no words at all are usage too."""
    pattern = toolseam("trust", "*", cwd=workspace)
    nothing = toolseam("trust", cwd=workspace)
    folder = toolseam("trust", "./nowhere", cwd=workspace)

    assert (pattern.code, nothing.code, folder.code) == (2, 2, 2)
    assert "nowhere" in folder.err


def test_trust_that_was_not_given_cannot_be_taken(workspace: Path) -> None:
    """Removing what is not trusted is a failure that says so."""
    ran = toolseam("trust", "--remove", "acme-lab", cwd=workspace)

    assert ran.code == 1
    assert "is not trusted" in ran.err


def test_a_terminal_gets_a_table(workspace: Path) -> None:
    """On a terminal the list has headings."""
    toolseam("trust", "acme-lab", cwd=workspace)

    ran = on_terminal("trust", "--list", cwd=workspace)

    assert "WRITTEN IN" in ran.out
    assert "missing" in ran.out
