import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam.guards import is_sensitive_name

WORDS = (
    *("password", "passwd", "pwd", "passphrase", "secret", "token", "salt", "hash"),
    *("credential", "credentials", "mfa", "otp", "dsn", "authorization", "cookie", "session"),
)
KEYS = ("api", "access", "private", "secret", "encryption", "license")
segments = st.text("bdfgjlmqrvwxz", min_size=1, max_size=6)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize(
    "form", ["{}", "user_{}", "{}_value", "X-{}", "db.{}", "{}2", "a_{}12_b", "list[{}]"]
)
def test_a_segment_that_is_a_secret_word_decides(word: str, form: str) -> None:
    """A word for a secret counts between underscores, dashes and dots, digits behind it or not."""
    assert is_sensitive_name(form.format(word))
    assert is_sensitive_name(form.format(word.upper()))


@pytest.mark.parametrize("word", WORDS)
def test_a_change_of_case_parts_segments(word: str) -> None:
    """Camel case is cut at its humps, acronyms included."""
    assert is_sensitive_name(f"user{word.capitalize()}")
    assert is_sensitive_name(f"HTTP{word.capitalize()}Value")
    assert is_sensitive_name(f"user{word.upper()}")


@pytest.mark.parametrize("owner", KEYS)
@pytest.mark.parametrize("form", ["{}_key", "{}-KEY", "my.{}.key", "{}Key2", "{}key", "my{}keys"])
def test_a_key_counts_by_its_owner(owner: str, form: str) -> None:
    """A key is a secret behind api, access, private, secret, encryption and license."""
    assert is_sensitive_name(form.format(owner))


@pytest.mark.parametrize(
    "name",
    ["accesstoken", "clientsecret", "authToken", "PGPASSWORD", "sessionid", "APIKey", "ApiKey2"],
)
def test_words_written_together_count(name: str) -> None:
    """The joined forms of common names are known, behind a prefix too."""
    assert is_sensitive_name(name)


@pytest.mark.parametrize("name", ["SMTP_PASS", "pass", "dbPass", "DB_PASS2"])
def test_pass_counts_at_the_end(name: str) -> None:
    """`pass` as the last segment is a password (P09)."""
    assert is_sensitive_name(name)


@pytest.mark.parametrize(
    "name",
    [
        *("author", "monkey", "keyboard_layout", "tokenizer", "secretary"),
        *("TOKENIZERS_PARALLELISM", "COMPASS_HEADING", "AUTHOR", "KEYBOARD_LAYOUT"),
        *("key", "primary_key", "foreignKey", "key_api", "keywords", "pass_rate", "passenger"),
        *("hashtag", "max_tokens", "saltwater", "cookiecutter", "", "_", "42", "-.-"),
    ],
)
def test_names_that_only_look_alike_are_clean(name: str) -> None:
    """A word inside a longer word is no secret."""
    assert not is_sensitive_name(name)


def test_look_alike_letters_count_as_what_they_look_like() -> None:
    """Full-width letters and invisible joiners do not hide a name."""
    assert is_sensitive_name("".join(chr(ord(letter) + 0xFEE0) for letter in "password"))
    assert is_sensitive_name("pass\u200bword")


@given(st.lists(segments, max_size=4), st.sampled_from(WORDS), st.lists(segments, max_size=4))
def test_neighbours_do_not_matter(before: list[str], word: str, after: list[str]) -> None:
    """Whatever stands beside the word, the name stays sensitive."""
    assert is_sensitive_name("_".join([*before, word, *after]))


@given(st.lists(segments, max_size=6))
def test_names_without_a_word_are_clean(parts: list[str]) -> None:
    """Names of letters that no word for a secret is made of are clean."""
    assert not is_sensitive_name("_".join(parts))
