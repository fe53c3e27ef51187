from __future__ import annotations

import grp
from typing import TYPE_CHECKING

from support.accounts import CANARY, NAMED, PEOPLE
from support.databases import ask, everything, sqlite_workspace
from toolseam_builtin.accounts import list_groups
from toolseam_builtin.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path


def test_groups_are_listed_by_harmless_columns(tmp_path: Path) -> None:
    """A group is its name and description, never the token that lets people in."""
    result = ask(list_groups, sqlite_workspace(tmp_path, PEOPLE, accounts=NAMED))

    assert result.content.splitlines() == [
        "SQLite table team: 1 group, shown 1 to 1.",
        "- team:1",
        "  name: editors",
        "  description: They write.",
        "Never shown: invite_token.",
    ]
    assert CANARY not in everything(result)


def test_groups_of_the_system_have_members(tmp_path: Path) -> None:
    """Groups of the operating system come by number, with the names of their members."""
    first = min(grp.getgrall(), key=lambda group: group.gr_gid)

    result = ask(list_groups, Workspace(folder=tmp_path), limit=1)

    assert f"- group:{first.gr_gid}\n  name: {first.gr_name}\n" in result.content
    assert result.artifacts[0].columns == ["gid", "name", "members"]
