"""Which columns of a table of accounts may be listed: those whose names are known, no others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_STATES = (
    "active is_active enabled is_enabled disable disabled is_disabled blocked is_blocked locked"
    " is_locked banned is_banned suspended is_suspended archived is_archived deleted is_deleted"
    " verified is_verified email_verified confirmed is_confirmed status state"
)
_TIMES = (
    "created created_at created_on created_date date_created creation_date crdate registered"
    " registered_at joined joined_at date_joined signup_at last_login last_login_at"
    " last_logged_in_at last_sign_in_at last_seen last_seen_at last_active_at last_activity"
)
USERS = (
    "username user login login_name name nick nickname handle display_name full_name real_name"
    " first_name middle_name last_name given_name family_name surname email email_address mail"
    f" {_STATES} admin is_admin staff is_staff superuser is_superuser role {_TIMES}"
)
"""Names, addresses, states, rights and times of people, in the order of an answer."""

GROUPS = f"name group_name title label display_name description slug code {_STATES} {_TIMES}"
"""The same of groups."""


def harmless(columns: Iterable[str], known: str) -> list[str]:
    """Return those columns whose names are known, whatever their spelling, in the known order.

    Args:
        columns: as the table names them; a leading `user` does not count (`user_email`).
        known: `USERS` or `GROUPS`.
    """
    places = {_bare(name): place for place, name in enumerate(known.split())}
    found: list[tuple[int, str]] = []
    for column in columns:
        bare = _bare(column)
        place = places.get(bare, places.get(bare.removeprefix("user")))
        if place is not None:
            found.append((place, column))
    return [column for _, column in sorted(found)]


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())
