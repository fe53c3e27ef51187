import hashlib
import string
import sys
import time
from unittest import mock
from uuid import UUID

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolseam.guards import MASK, mask_secrets
from toolseam.guards._gate import Gate

A = string.ascii_lowercase + string.ascii_uppercase
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEowIBAAKCAQEAabcd\nabcd==\n"
    "-----END RSA PRIVATE KEY-----"
)
TOKENS = (
    *("sk-" + A[:20], "sk-proj-" + A + "_9", "sk-ant-api03-" + A + "-1"),
    *("sk_live_" + A[:24], "rk_test_" + A[:24], "whsec_" + A[:32]),
    *("AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE", "AIza" + A[:35], "ya29." + A[:30]),
    *("ghp_" + "a" * 36, "gho_" + A[:36], "ghs_" + "1" * 36, "github_pat_" + A[:22]),
    *("glpat-" + A[:20], "xoxb-12345678901-abcdefghij", "xapp-1-" + A[:20]),
    *("SG." + A[:22] + "." + A[:43], "npm_" + A[:36], "pypi-A" + A * 2, "hf_" + A[:34]),
    *("dop_v1_" + "0a" * 32, "shpat_" + "0a" * 16, "hvs." + A[:24], "key-" + "0a" * 16),
    *("GOCSPX-" + A[:28], "SK" + "0a" * 16, "AGE-SECRET-KEY-1" + "QP" * 29, JWT, PEM),
)
SECRETS = (
    ("postgresql://app:Tulip-77@db.internal:5432/shop", "Tulip-77"),
    ("redis://:Fern_33@cache:6379/0", "Fern_33"),
    ("http://bob:Hazel9@proxy.internal:3128", "Hazel9"),
    ("amqp://bob:Haz@el9@proxy.internal", "Haz"),
    ("mysql://bob:Haz/el#9@proxy/db", "Haz/el#9"),
    (r"https:\/\/bob:Hazel9@proxy\/x", "Hazel9"),
    ("https://Hazel99@sentry.test/4", "Hazel99"),
    ("https://x.test/a?token=Aster9&page=2", "Aster9"),
    ("https://x.test/a?page=2&api_key=Aster9", "Aster9"),
    ("https://x.test/?a=1&amp;client_secret=Aster9", "Aster9"),
    ("https://x.test/?X-Amz-Signature=Aster9", "Aster9"),
    ("pg://h/db?sslmode=on&sslpassword=Aster9", "Aster9"),
    ("Driver=ODBC;Server=h;PWD=Aster9;Port=1", "Aster9"),
    ("Endpoint=sb://h/;SharedAccessKey=Aster9=", "Aster9"),
    ("?odbc_connect=DRIVER%3Dx%3BPWD%3DAster9", "Aster9"),
    ("curl -H 'Authorization: Bearer Aster9.x-1'", "Aster9"),
    ('{"authorization": "Basic QXN0ZXI6OQ=="}', "QXN0ZXI6OQ"),
    ('{"auths": {"r.test": {"auth": "QXN0ZXI6OQ=="}}}', "QXN0ZXI6OQ"),
    ("//npm.example.test/:_auth=QXN0ZXI6OQ", "QXN0ZXI6OQ"),
    ("bearer abc123def456", "abc123def456"),
    ("https://hooks.slack.com/services/T0/B0/" + A[:24], A[:24]),
    ("https://discord.test/api/webhooks/1234567890/" + A, A),
    ("https://api.telegram.org/bot123456789:AA" + A[:33] + "/get", A[:33]),
    ("-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nrest of it", "MIIEowIBAAKCAQEA"),
    (r'"-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIAbcdefgh\n"', "MHcCAQEEIAbcdefgh"),
)
HARMLESS = (
    "0b6f5c1e-7a55-4f0e-9a39-2f1f5d0c9e11",
    hashlib.md5(b"", usedforsecurity=False).hexdigest(),
    "sha256:" + hashlib.sha256(b"").hexdigest(),
    "A risk-management-of-1234567890abcdefgh task; scikit: sk-learn-compatible-estimators.",
    "The bearer tokens and Bearer authentication of this internationalization-friendly API.",
    "Authorization: Basic authentication is described here.",
    "http://host.test:8080/x?mail=a@b.test and http://[::1]:80/a@b and git+ssh://git@host.test/x",
    "https://cdn.test/app.js?hash=d41d8cd98f00b204e9800998ecf8427e&v=2",
    'if "-----BEGIN PRIVATE KEY-----" in text: raise ValueError',
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIE\n-----END CERTIFICATE-----",
    'auth: required, "auth": "YWJjZGVmZ2g=" and auth = AuthBackend() or auth=////////////',
    "key-value, ghp_short, AKIA, eyJ.x, sk-short, SG.x, mail me at ann@example.test",
)
SHAPED = st.sampled_from([*TOKENS, *(text for text, _ in SECRETS), MASK])
CUT = st.tuples(SHAPED, st.integers(0, 40), st.integers(1, 80)).map(
    lambda it: it[0][it[1] :][: it[2]]
)
GLUE = st.text(st.sampled_from([*" :/@?&=;.-_\"'\\\n", "a", "Z", "9", "[", "]"]), max_size=6)


@pytest.mark.parametrize("token", TOKENS, ids=lambda token: token[:8])
@pytest.mark.parametrize("frame", ["{}", "a {} b", '{{"k": "{}"}}', "k={}\n", "({})", "<{}>"])
def test_a_token_of_a_known_shape_is_masked_whole(token: str, frame: str) -> None:
    """A key of a well-known vendor leaves neither length nor first letters."""
    text, count = mask_secrets(frame.format(token))

    assert text == frame.format(MASK)
    assert count == 1


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_credentials_in_their_surroundings_are_masked(text: str, secret: str) -> None:
    """URL userinfo, query credentials, bearer values and key blocks never show."""
    masked, count = mask_secrets(f"see {text} there")

    assert secret not in masked
    assert MASK in masked
    assert count >= 1


def test_what_is_no_secret_of_a_url_stays() -> None:
    """Scheme, host, port and database of a URL may be read."""
    masked, _ = mask_secrets("postgresql://app:Tulip-77@db.internal:5432/shop?sslmode=require")

    assert masked == f"postgresql://{MASK}@db.internal:5432/shop?sslmode=require"


@pytest.mark.parametrize("text", HARMLESS)
def test_harmless_text_is_the_same_object(text: str) -> None:
    """UUIDs, hashes, certificates and prose come back untouched."""
    masked, count = mask_secrets(text)

    assert masked is text
    assert count == 0


def test_each_secret_counts() -> None:
    """The count is how many secrets were replaced."""
    assert mask_secrets(f"{TOKENS[0]} {JWT} x://a:b@c")[1] == 3


def test_lines_of_a_key_block_can_be_kept() -> None:
    """With `keep_lines` a masked block has as many line ends as before."""
    masked, _ = mask_secrets(f"a\n{PEM}\nb", keep_lines=True)

    assert masked.count("\n") == PEM.count("\n") + 2
    assert masked.startswith(f"a\n{MASK}\n")
    assert "MIIE" not in masked


@given(st.lists(st.one_of(SHAPED, GLUE), max_size=8).map("".join))
def test_masking_twice_changes_nothing(text: str) -> None:
    """Masking is idempotent, and a second pass counts nothing."""
    once, _ = mask_secrets(text)

    assert mask_secrets(once) == (once, 0)


@pytest.mark.parametrize("imported", [True, False], ids=["engine", "literals"])
@given(text=st.lists(st.one_of(SHAPED, CUT, GLUE, st.text(max_size=3)), max_size=8).map("".join))
def test_no_gate_keeps_a_secret_out(text: str, *, imported: bool) -> None:
    """What is masked is the same with every gate open, with and without the linear engine."""
    with mock.patch.object(Gate, "__call__", return_value=True):
        expected = mask_secrets(text)
    with mock.patch.dict(sys.modules, {"jsonschema_rs": jsonschema_rs}):
        if not imported:
            del sys.modules["jsonschema_rs"]

        masked = mask_secrets(text)

    assert masked == expected


@given(st.uuids(), st.text("abc -./:@\n", max_size=20), st.text("abc -./:@\n", max_size=20))
def test_uuids_stay_wherever_they_stand(value: UUID, before: str, after: str) -> None:
    """No UUID in ordinary text is ever masked."""
    text = f"{before} {value} {after}"

    assert mask_secrets(text) == (text, 0)


@given(st.text(max_size=200))
def test_a_text_without_secrets_never_grows(text: str) -> None:
    """Text in which nothing was counted comes back as it was."""
    masked, count = mask_secrets(text)

    assert count or masked is text


@pytest.mark.parametrize(
    "evil",
    [
        *("eyJ-", "sk-", "://a:b", "-----BEGIN PRIVATE KEY-----", "?token=", "earer ", "_", "-"),
        *("-a", "://:@", "&a=b;token=1", "SK0a", "AKIA", "ghp_a_", "xoxb-", ":AA", "eyJa."),
    ],
)
def test_hostile_text_costs_no_more_than_its_length(evil: str) -> None:
    """Text made to trip the patterns is judged in time that grows with its length."""
    text = (evil * 50_000)[:50_000] + "@"
    started = time.process_time()

    mask_secrets(text)

    assert time.process_time() - started < 2
