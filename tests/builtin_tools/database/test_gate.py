import pytest

from toolseam_builtin._database._gate import TableGate


@pytest.mark.parametrize(
    "name",
    [
        "users", "user", "auth_user", "UserProfile", "accounts", "django_session", "permissions",
        "auth_group_permissions", "role", "credentials", "oauth_access", "OAuthToken", "login",
        "audit_log", "schema_migrations", "api_tokens", "password_resets",
    ],
)  # fmt: skip
def test_tables_of_people_and_access_are_denied(name: str) -> None:
    """Without the operator's word nothing that tells of accounts or access is readable."""
    assert not TableGate().permits(name)
    assert not TableGate(allow=("*",)).permits(name)
    assert not TableGate(allow=(f"{name[0]}*",)).permits(name)
    assert TableGate(allow=(name.upper(),)).permits(name)


@pytest.mark.parametrize("name", ["album", "house", "usage", "carousel", "tracks", "controls"])
def test_other_tables_pass(name: str) -> None:
    """A name that only looks like one of those is readable."""
    assert TableGate().permits(name)
    assert TableGate(allow=("*",)).permits(name)


def test_a_list_allows_nothing_else() -> None:
    """With a list of the operator, what is not on it is denied."""
    gate = TableGate(allow=("album", "shop_*"))

    assert [gate.permits(name) for name in ("Album", "shop_order", "artist")] == [True, True, False]


def test_deny_wins() -> None:
    """Whatever allows a table, a denial holds, in any case and by pattern."""
    gate = TableGate(allow=("*", "ledger", "users"), deny=("LEDGER", "use*"))

    assert not gate.permits("ledger")
    assert not gate.permits("users")
    assert gate.permits("album")


def test_accounts_of_the_workspace_are_denied() -> None:
    """Tables that the workspace names as its accounts need the operator's word."""
    gate = TableGate(accounts=("people",))

    assert not gate.permits("people")
    assert TableGate(allow=("people",), accounts=("people",)).permits("people")


def test_a_plain_name_allows_in_the_default_schema_only() -> None:
    """An allowed name without a schema does not open its namesakes, a denied one closes all."""
    gate = TableGate(allow=("item", "depot.stock"), default_schema="public")
    closed = TableGate(deny=("item",), default_schema="public")

    assert gate.permits("item", "public")
    assert not gate.permits("item", "depot")
    assert gate.permits("stock", "depot")
    assert not closed.permits("item", "depot")


def test_names_need_the_very_word() -> None:
    """What only a wildcard allows is not allowed by name."""
    assert TableGate(allow=("report",)).names("Report")
    assert not TableGate(allow=("*",)).names("report")
    assert not TableGate().names("report")
    assert not TableGate(allow=("report",), deny=("report",)).names("report")
