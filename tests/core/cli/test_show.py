from pathlib import Path

from support.commands import documented, on_terminal, toolseam
from support.lab import Lab


def test_json_is_as_documented(workspace: Path) -> None:
    """`--json` gives the specification that a provider is told, the policy and the origin."""
    ran = toolseam("show", "read_records", "--json", cwd=workspace)

    documented("show").validate(ran.json)
    assert ran.code == 0
    assert ran.json["schema"]["additionalProperties"] is False
    assert ran.json["schema"]["required"] == ["table"]
    assert ran.json["policy"]["effect"] == "read_only"
    assert ran.json["origin"]["target"] == "toolseam_builtin.content.read_records"
    assert ran.json["origin"]["builtin"] is True
    assert "database" in ran.json["settings"]


def test_a_person_reads_it_in_three_parts(workspace: Path) -> None:
    """The plain page says what is told, what is allowed, and where it comes from."""
    ran = toolseam("show", "get_env", cwd=workspace)

    told, _, rest = ran.out.partition("\nPolicy\n")
    policy, _, origin = rest.partition("\nOrigin\n")
    assert "What a provider is told" in told
    assert '"additionalProperties": false' in told
    assert "admins only     yes" in policy
    assert "external_global not offered, data_class" in policy
    assert "a builtin of toolseam" in origin


def test_a_raised_class_is_shown_beside_the_claim(workspace: Path, config: Path) -> None:
    """What settings raised stands beside what the tool claims."""
    config.write_text('[tools.list_tables]\ndata_class = "secret_adjacent"\n')

    ran = toolseam("show", "list_tables", "--json", cwd=workspace)

    assert ran.json["policy"]["data_class"] == "secret_adjacent"
    assert ran.json["policy"]["claimed_data_class"] == "editor_content"


def test_a_write_says_that_it_needs_approval(workspace: Path, trusted_lab: Lab) -> None:
    """A third party's write shows its effect and that a person must approve."""
    ran = toolseam("show", "writes", "--json", cwd=workspace, environ=trusted_lab.environ)

    assert ran.json["policy"]["requires_approval"] is True
    assert ran.json["origin"]["distribution"] == "acme-lab"
    assert ran.json["origin"]["builtin"] is False


def test_a_tool_that_may_not_load_says_why(workspace: Path, lab: Lab) -> None:
    """An untrusted tool is a failure, with its origin and the command that trusts it."""
    ran = toolseam("show", "echo", cwd=workspace, environ=lab.environ)

    assert (ran.code, ran.out) == (1, "")
    assert "echo of acme-lab 1.0 is untrusted" in ran.err
    assert "toolseam trust acme-lab" in ran.err


def test_an_unknown_name_gets_the_nearest(workspace: Path) -> None:
    """A misspelt name is a failure with a suggestion."""
    ran = toolseam("show", "list_table", cwd=workspace)

    assert ran.code == 1
    assert "did you mean 'list_tables'?" in ran.err


def test_a_terminal_gets_colour(workspace: Path) -> None:
    """On a terminal the headings are painted."""
    ran = on_terminal("show", "list_tables", cwd=workspace)

    assert "\x1b[36mPolicy" in ran.out
