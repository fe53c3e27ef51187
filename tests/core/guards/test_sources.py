import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam.guards import MASK, mask_assignment, mask_source

CANARY = "Aster-9"
LINES = (
    'PASSWORD = "Aster-9"',
    "password = 'Aster-9'  # why",
    'API_KEY: Final[str] = "Aster-9"',
    'password: str = "Aster-9"',
    'def login(user, password="Aster-9", *, token: str = "Aster-9") -> None:',
    'def login(password: SecretStr = SecretStr("Aster-9"), x=1):',
    'x = connect(host="h", password="a,b Aster-9", port=5)',
    'x = connect(host="h", password=get("a", "Aster-9"), port=5)',
    'f(password="a" "Aster-9", x=1)',
    'if token == "Aster-9":',
    "user, password = 'bob', 'Aster-9'",
    "password, user = 'Aster-9', 'bob'",
    "a = secret = 'Aster-9'",
    'os.environ["API_KEY"] = "Aster-9"',
    "os.environ.setdefault('API_KEY', 'Aster-9')",
    "os.getenv('API_KEY', \"Aster-9\")",
    "define('DB_PASSWORD', 'Aster-9');",
    "$config['db']['password'] = 'Aster-9';",
    "'password' => 'Aster-9',",
    ":password => 'Aster-9'",
    "const password = `Aster-9`;",
    'String dbPassword = "Aster-9";',
    'password := "Aster-9"',
    'this.password ||= "Aster-9"',
    "  password: Aster-9",
    "password: 'it''s Aster-9'",
    "- api_key: Aster-9",
    "{password: Aster-9, x: 1}",
    '{"password": "Aster-9", "user": "bob"}',
    '{"a": [{"api_key": "Aster-9"}]}',
    '{"db password":"Aster-9"}',
    "password = Aster-9",
    "password: Aster-9",
    "spring.datasource.password=Aster-9",
    "export SMTP_PASS=Aster-9",
    "SMTP_PASS=Aster-9 run me",
    "set -gx TOKEN Aster-9",
    "setenv TOKEN Aster-9",
    "ENV TOKEN Aster-9",
    "run --password Aster-9 --user bob",
    "run --password=Aster-9",
    "run -token Aster-9",
    "<password>Aster-9</password>",
    '<add key="DbPassword" value="Aster-9"/>',
    "# old password: Aster-9",
    "Authorization: Basic Aster-9",
    "X-Auth-Token: Aster-9",
    "token = a://[masked]@Aster-9",
)
CLEAN = (
    "monkey = 'ape'",
    "keyboard_layout: de",
    'AUTHOR="depot-team"',
    "TOKENIZERS_PARALLELISM=false",
    "for token in tokens:",
    "if token:",
    "return password",
    "password: str",
    "token: str | None = None",
    "def f(token: str, session: Session) -> None:",
    "sorted(rows, key=lambda token: token.start)",
    "session.execute(statement)",
    "class Token(Base):",
    '{"password": null, "token": ""}',
    "EMPTY_TOKEN=",
    "first, rest = split(tokenize(line))",
    "from app.session import open_session",
)


@pytest.mark.parametrize("line", LINES)
def test_the_right_side_of_a_sensitive_name_is_masked(line: str) -> None:
    """Whatever the language, the value of a sensitive name is not shown (H46)."""
    masked = mask_assignment(line)

    assert CANARY not in masked
    assert MASK in masked
    assert mask_assignment(masked) == masked


@pytest.mark.parametrize("line", CLEAN)
def test_lines_without_a_secret_stay(line: str) -> None:
    """Harmless names, types, constants, control flow and empty values stay readable."""
    assert mask_assignment(line) is line


def test_a_literal_in_brackets_is_masked_alone() -> None:
    """What follows a masked literal within its bracket stays readable."""
    masked = mask_assignment('connect(host="h", password="a,b", port=5)')

    assert masked == f'connect(host="h", password={MASK}, port=5)'


@pytest.mark.parametrize(
    "text",
    [
        'SECRET = (\n    "Aster-9"\n    "Aster-9"\n)\nb = 2',
        'SECRET = [\n"a)",\n"Aster-9"]\nb = 2',
        'PASSWORD = """\nAster-9\n"""\nb = 2',
        'PASSWORD = \\\n    "Aster-9"\nb = 2',
        "PASSWORD='x\nAster-9'\nb = 2",
        "password: |\n  x\n\n  Aster-9\nb = 2",
        "password:\n  Aster-9\nb = 2",
        "passwords:\n- Aster-9\n- Aster-9\nb = 2",
        '"password":\n    "Aster-9",\nb = 2',
        'connect(\n    password=read(\n        "Aster-9",\n    ),\n)\nb = 2',
        "token = '''\nAster-9\n",
        'x = """-----BEGIN PRIVATE KEY-----\nMIIE\nAster-9\n-----END PRIVATE KEY-----"""\nb',
    ],
)
def test_a_value_of_several_lines_is_masked_to_its_end(text: str) -> None:
    """Brackets, quotes, blocks and continued lines hide nothing, and lines keep their numbers."""
    masked = mask_source(text)

    assert CANARY not in masked
    assert masked.count("\n") == text.count("\n")
    assert masked.endswith(text.rsplit("\n", 1)[1])
    assert mask_source(masked) == masked


@pytest.mark.parametrize("value", ["don't", "'tis", "(so"])
def test_what_nothing_closes_hides_no_code(value: str) -> None:
    """A quote or bracket that nothing closes masks its own line only."""
    assert mask_source(f"token: {value}\nb = 2") == f"token: {MASK}\nb = 2"


def test_a_default_over_lines_does_not_hide_the_body() -> None:
    """A masked value ends where its own bracket ends."""
    text = "def f(session=Depends(\n        read)):\n    return 1"

    assert mask_source(text).endswith("\n    return 1")


@given(
    st.sampled_from(["password", "api_key", "dbPassword", "X-Auth-Token", "SMTP_PASS"]),
    st.text(st.characters(codec="ascii", exclude_characters="\n\r"), max_size=20),
    st.integers(0, 3),
)
def test_json_hides_the_value_in_any_layout(name: str, noise: str, indent: int) -> None:
    """However a JSON document is laid out, the value under a sensitive key is not in it."""
    document = {"a": noise, "b": [{name: f"{noise}{CANARY}{noise}"}], "c": 1}

    assert CANARY not in mask_source(json.dumps(document, indent=indent or None))


@given(st.sampled_from(["password", "api_key", "session_token"]), st.text(max_size=30))
def test_a_python_literal_never_shows(name: str, noise: str) -> None:
    """Any string literal that is assigned to a sensitive name is hidden."""
    source = f"{name} = {noise + CANARY + noise!r}\nother = 1"

    masked = mask_source(source)

    assert CANARY not in masked
    assert masked.endswith("other = 1")


@given(st.lists(st.sampled_from([*LINES, *CLEAN, "(", "'''", "  x", ""]), max_size=12))
def test_masking_source_twice_changes_nothing(lines: list[str]) -> None:
    """Masking is idempotent and keeps the number of lines."""
    once = mask_source("\n".join(lines))

    assert once.count("\n") == max(len(lines) - 1, 0)
    assert mask_source(once) == once


@pytest.mark.parametrize(
    "evil",
    [
        *("token", "token ", "token,", "password=", 'token="', "<token>", 'key="', "token: "),
        *('{"token":"x",', "f(token: x, ", "lambda token:", "-token", "token = (\n", 'token["'),
        *("token = '''\n", "token='\n", "token=\\\n", "token:\n", "token  ", "token = x\n"),
    ],
)
def test_hostile_source_costs_no_more_than_its_length(evil: str) -> None:
    """Text made to trip the patterns is masked in time that grows with its length."""
    text = (evil * 50_000)[:50_000]
    started = time.process_time()

    mask_source(text)

    assert time.process_time() - started < 2


@pytest.mark.parametrize("stops", [1, 2, 3])
def test_what_is_not_masked_yet_when_it_is_stopped_is_left_out(stops: int) -> None:
    """Masking asks now and then whether to stop, and then gives the masked lines alone."""
    text = "x = 1\n" + "".join(f"password = 'Aster-9{n}'\n" for n in range(1_000))
    asked = iter(range(1, 10))

    masked = mask_source(text, lambda: next(asked) == stops)

    assert mask_source(text).startswith(masked)
    assert masked.count("\n") < text.count("\n")
    assert CANARY not in masked
