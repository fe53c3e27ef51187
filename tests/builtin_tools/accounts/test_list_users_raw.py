from __future__ import annotations

from typing import TYPE_CHECKING

from support.accounts import CANARY, NAMED, PEOPLE
from support.databases import ask, everything, sqlite_workspace
from toolseam_builtin.accounts import list_users_raw

if TYPE_CHECKING:
    from pathlib import Path


def test_the_raw_list_holds_all_but_credentials(tmp_path: Path) -> None:
    """Every column that is not sensitive is shown, sensitive keys in its JSON masked."""
    result = ask(list_users_raw, sqlite_workspace(tmp_path, PEOPLE, accounts=NAMED))

    assert "  phone: 556" in result.content
    assert '  about: {"api_key": "[masked]", "likes": "boats"}' in result.content
    assert "Never shown: password_hash, mfa_secret, password_copy." in result.content
    assert CANARY not in everything(result)


def test_a_full_answer_says_where_the_next_begins(tmp_path: Path) -> None:
    """Long texts fill an answer before the limit does; the rest is reached by offset."""
    script = PEOPLE + (
        "with recursive n(x) as (select 10 union all select x + 1 from n limit 200)"
        " insert into people (id, phone, about) select x, hex(zeroblob(140)),"
        " hex(zeroblob(140)) from n;"
    )
    workspace = sqlite_workspace(tmp_path, script, accounts=NAMED)

    result = ask(list_users_raw, workspace, limit=100)

    shown = len(result.artifacts[0].rows)
    assert shown < 100
    assert f"202 users, shown 1 to {shown}." in result.content
    assert f"More with offset={shown}." in result.content


def test_a_masked_cell_is_no_oracle(tmp_path: Path) -> None:
    """What is masked inside a shown cell cannot be found either."""
    workspace = sqlite_workspace(tmp_path, PEOPLE, accounts=NAMED)

    right, wrong = (ask(list_users_raw, workspace, filter=guess) for guess in (CANARY, "nobody"))

    assert right.data is not None
    assert wrong.data is not None
    assert right.data["total"] == wrong.data["total"] == 0
