"""Accounts of the operating system; not every system has them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from toolseam import ErrorCode, ToolError
from toolseam.guards import mask_secrets
from toolseam_builtin._page import excerpt, one_line
from toolseam_builtin.accounts._accounts import Accounts, Finder

if TYPE_CHECKING:
    from toolseam_builtin.accounts._accounts import Row
    from toolseam_builtin.accounts._wanted import Wanted

_CHARACTERS = 300
_USERS = ("uid", "name", "full_name", "gid", "shell")
_USERS_RAW = (*_USERS, "home", "gecos")
_GROUPS = ("gid", "name", "members")


def system_users(wanted: Wanted) -> Accounts:
    """Return a page of the system's users by number."""
    return _users(_USERS, wanted)


def raw_system_users(wanted: Wanted) -> Accounts:
    """Return a page of the system's users with their home folders and all of gecos."""
    return _users(_USERS_RAW, wanted)


def _users(columns: tuple[str, ...], wanted: Wanted) -> Accounts:
    try:
        import pwd
    except ImportError:
        raise _missing("users") from None
    rows = [
        [
            (str(user.pw_uid), user.pw_uid),
            *map(_cell, (user.pw_name, user.pw_gecos.split(",", 1)[0])),
            (str(user.pw_gid), user.pw_gid),
            *map(_cell, (user.pw_shell, user.pw_dir, user.pw_gecos)),
        ][: len(columns)]
        for user in sorted(pwd.getpwall(), key=lambda user: (user.pw_uid, user.pw_name))
    ]
    return _page("user", "users", columns, rows, wanted)


def system_groups(wanted: Wanted) -> Accounts:
    """Return a page of the system's groups by number."""
    try:
        import grp
    except ImportError:
        raise _missing("groups") from None
    rows = [
        [(str(group.gr_gid), group.gr_gid), _cell(group.gr_name), _cell(", ".join(group.gr_mem))]
        for group in sorted(grp.getgrall(), key=lambda group: (group.gr_gid, group.gr_name))
    ]
    return _page("group", "groups", _GROUPS, rows, wanted)


def _page(
    title: str,
    setting: str,
    columns: tuple[str, ...],
    rows: list[Row],
    wanted: Wanted,
) -> Accounts:
    finder = Finder(wanted)
    for row in rows:
        finder.take(row)
    note = f"workspace.accounts.{setting} names no table, so these are the system's own."
    return Accounts(
        "Operating system", title, 1, columns, finder.rows, finder.matching, notes=(note,)
    )


def _cell(text: str) -> tuple[str, object]:
    shown = excerpt(one_line(mask_secrets(text)[0]), _CHARACTERS)
    return shown, shown


def _missing(what: str) -> ToolError:
    return ToolError(
        f"The platform {sys.platform} keeps no list of {what} that can be read; name a table:"
        f' {what} = "..." in the table [workspace.accounts].',
        ErrorCode.UNAVAILABLE,
        metadata={"reason": "platform"},
    )
