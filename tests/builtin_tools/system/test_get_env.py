import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam import Actor, ErrorCode, ToolError, ToolResult
from toolseam.guards import MASK
from toolseam.testing import harness
from toolseam_builtin._shown_value import WITHHELD, shown_value
from toolseam_builtin.system import get_env
from toolseam_builtin.system.get_env import compose

SECRETS = ("Tulip-77", "Fern_33", "Hazel9", "Moss-12", "k-Aster-9", "Alder+88")
ENVIRONMENT = {
    "DATABASE_URL": "postgresql://app:Tulip-77@db.internal:5432/shop",
    "REDIS_URL": "redis://:Fern_33@cache:6379/0",
    "HTTP_PROXY": "http://bob:Hazel9@proxy.internal:3128",
    "SMTP_PASS": "Moss-12",
    "CONFIG_JSON": '{"region":"eu","api_key":"k-Aster-9"}',
    "AWS_SECRET_ACCESS_KEY": "Alder+88",
    "COMPASS_HEADING": "north",
    "KEYBOARD_LAYOUT": "de",
    "TOKENIZERS_PARALLELISM": "false",
    "AUTHOR": "depot-team",
    "EMPTY_TOKEN": "",
}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of P09 added to the host's own."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def call(**arguments: object) -> ToolResult:
    """Call the tool through the seam."""
    return harness(get_env).call(arguments)


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("name", [None, *ENVIRONMENT])
def test_no_secret_leaves(name: str | None) -> None:
    """Neither the listing nor a single look-up shows a secret, in any channel (P09)."""
    result = call() if name is None else call(name=name)

    everything = f"{result.content}{result.artifacts[0].rows}{result.data}"
    assert result.success
    assert [secret for secret in SECRETS if secret in everything] == []


def test_the_listing_is_sorted_and_readable() -> None:
    """Harmless names, hosts and databases stay, masks show no length, empty stays empty (P09)."""
    assert compose(ENVIRONMENT, None).text.split("\n") == [
        "11 environment variables, shown 1 to 11.",
        "AUTHOR=depot-team",
        f"AWS_SECRET_ACCESS_KEY={MASK}",
        "COMPASS_HEADING=north",
        f'CONFIG_JSON={{"region": "eu", "api_key": "{MASK}"}}',
        f"DATABASE_URL=postgresql://{MASK}@db.internal:5432/shop",
        "EMPTY_TOKEN=",
        f"HTTP_PROXY=http://{MASK}@proxy.internal:3128",
        "KEYBOARD_LAYOUT=de",
        f"REDIS_URL=redis://{MASK}@cache:6379/0",
        f"SMTP_PASS={MASK}",
        "TOKENIZERS_PARALLELISM=false",
    ]


@pytest.mark.usefixtures("environment")
def test_table_and_data_say_the_same() -> None:
    """The cells of the table and the rows of the data are those of the text."""
    result = call()

    lines = result.content.split("\n")[1:]
    assert [f"{name}={value}" for name, value in result.artifacts[0].rows] == lines
    assert result.data is not None
    assert result.data["rows"] == result.artifacts[0].rows


@pytest.mark.usefixtures("environment")
def test_one_variable_can_be_asked_for() -> None:
    """A name gives that variable alone."""
    assert call(name="AUTHOR").content.split("\n")[1:] == ["AUTHOR=depot-team"]


@pytest.mark.parametrize("name", ["NO_SUCH_VARIABLE", "author", "A=B", "A\0"])
def test_an_unknown_name_is_not_found(name: str) -> None:
    """A name that is not set is `not_found`."""
    with pytest.raises(ToolError) as caught:
        compose(ENVIRONMENT, name)
    assert caught.value.code == ErrorCode.NOT_FOUND


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("host=db password=Aster9 user=app", "Aster9"),
        ("bob:Aster9@proxy.internal:3128", "Aster9"),
        ("--token Aster9 --port 5", "Aster9"),
        ("-Djavax.net.ssl.keyStorePassword=Aster9", "Aster9"),
        ("sk-proj-abcdefghij0123456789", "abcdefghij"),
        ('[{"name": "password", "value": "Aster9"}]', "Aster9"),
        ('{"a": "{\\"password\\": \\"Aster9\\"}"}', "Aster9"),
        ('{"url": "https://u:Aster9@h"}', "Aster9"),
        ('{"password": "Aster9"', "Aster9"),
        ("password: Aster9\nuser: bob", "Aster9"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEAster9\n-----END PRIVATE KEY-----", "Aster9"),
        ("Server=h;Pwd=Aster9;Uid=x", "Aster9"),
    ],
)
def test_secrets_inside_a_value_are_masked(value: str, secret: str) -> None:
    """Connection strings, flags, JSON in JSON, broken JSON and key blocks give nothing away."""
    shown = shown_value("SETTINGS", value)

    assert secret not in shown
    assert MASK in shown


def test_a_value_that_cannot_be_judged_is_withheld() -> None:
    """Where masking fails, nothing of the value is shown."""
    assert shown_value("DEEP", "[" * 100 + "]" * 100) == WITHHELD
    assert shown_value("DEEPER", "[" * 100_000 + "]" * 100_000) == WITHHELD


def test_the_working_folder_is_no_password() -> None:
    """`PWD` as shells set it is shown; anything else of that name is masked."""
    assert shown_value("PWD", "/srv/shop") == "/srv/shop"
    assert shown_value("PWD", "Aster9") == MASK


def test_line_breaks_forge_no_variable() -> None:
    """A value with line ends stays one line."""
    answer = compose({"A": "x\nADMIN=1\r\ny"}, None)

    assert answer.text.split("\n")[1:] == ["A=x↵ADMIN=1↵y"]


def test_a_long_value_is_cut_with_its_length() -> None:
    """The listing shows 500 characters of a value, a look-up by name more."""
    environment = {"LONG": "x" * 3000}

    assert compose(environment, None).text.endswith("… [3,000 characters in all]")
    assert compose(environment, "LONG").text.endswith("x" * 3000)


def test_a_full_page_says_where_the_next_one_begins() -> None:
    """An environment too large for one answer is cut between variables, and can be paged."""
    environment = {f"NAME_{number:04}": "x" * 400 for number in range(300)}

    names: list[object] = []
    offset: object = 0
    while isinstance(offset, int):
        answer = compose(environment, None, offset=offset)
        rows = answer.artifacts[0].rows
        first = f"300 environment variables, shown {offset + 1} to {offset + len(rows)}."
        assert answer.text.startswith(first)
        names += [name for name, _ in rows]
        offset = answer.data["next_offset"]
        assert offset is None or answer.text.endswith(f"More with offset={offset}.")

    assert names == sorted(environment)
    assert "none shown; offset 300 is past the end" in compose(environment, None, offset=300).text


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    """An unknown name that is close to one in the list is answered with that one."""
    with pytest.raises(ToolError, match="Did you mean 'AUTHOR'"):
        compose(ENVIRONMENT, "AUTHORS")


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=60), max_size=5))
def test_any_environment_is_answered(environment: dict[str, str]) -> None:
    """Whatever names and values there are, each has its row, and every row is in the text."""
    answer = compose(environment, None)

    assert len(answer.artifacts[0].rows) == len(environment)
    assert json.dumps(answer.data)


@pytest.mark.parametrize("actor", [None, Actor("ada")])
def test_only_admins_may_look(actor: Actor | None) -> None:
    """Without the role admin the tool is refused."""
    failure = harness(get_env, actor=actor).call({}).failure

    assert failure is not None
    assert failure.code == ErrorCode.PERMISSION_DENIED
