"""Which names stand for a secret."""

import re
import unicodedata

# One of these somewhere in a name is necessary, and looking for them is far cheaper than splitting.
STEMS = (
    "pass",
    "pwd",
    "secret",
    "token",
    "salt",
    "hash",
    "credential",
    "key",
    "mfa",
    "otp",
    "dsn",
    "authorization",
    "cookie",
    "session",
)

_WORDS = frozenset(
    {
        "password",
        "passwords",
        "passwd",
        "pwd",
        "passphrase",
        "secret",
        "secrets",
        "token",
        "salt",
        "hash",
        "credential",
        "credentials",
        "mfa",
        "otp",
        "dsn",
        "authorization",
        "cookie",
        "session",
    }
)

_KEY_OWNERS = frozenset({"api", "access", "private", "secret", "encryption", "license"})

# Written together, and perhaps behind a prefix: PGPASSWORD, openaiapikey.
_JOINED = (
    *("password", "passwd", "passphrase", "passwordhash", "passwordsalt", "sessionid"),
    *(f"{owner}{key}" for owner in _KEY_OWNERS for key in ("key", "keys")),
    *(
        f"{owner}token"
        for owner in ("api", "access", "auth", "refresh", "bearer", "session", "client")
    ),
    *(f"{owner}secret" for owner in ("client", "app", "shared")),
)

_SEGMENTS = re.compile(
    r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[A-Z][0-9]*|[0-9]+|[^\W\dA-Za-z_]+"
)


def is_sensitive_name(name: str) -> bool:
    """Tell whether a column, key, variable or parameter of this name holds a secret.

    A name is cut into segments at underscores, dashes, dots and other punctuation and at changes
    of case; digits behind a segment do not count. A segment that equals a word for a secret
    decides, so does ``key`` behind ``api``, ``access``, ``private``, ``secret``, ``encryption``
    or ``license``, and so do the forms written together (``apikey``, ``accesstoken``). ``pass``
    decides as the last segment only: ``SMTP_PASS`` is a password, ``pass_rate`` is not.

    Args:
        name: Any name, of any length, in any case.

    Returns:
        True if what stands under the name must not be shown.
    """
    if not name.isascii():
        name = _plain(name)
    if not mentions_secret(name):
        return False
    segments = [segment.lower().rstrip("0123456789") for segment in _SEGMENTS.findall(name)]
    segments = [segment for segment in segments if segment]
    if segments and segments[-1] == "pass":
        return True
    owner = ""
    for segment in segments:
        if segment in _WORDS or segment.endswith(_JOINED):
            return True
        if segment in {"key", "keys"} and owner in _KEY_OWNERS:
            return True
        owner = segment
    return False


def mentions_secret(text: str) -> bool:
    """Tell quickly whether a sensitive name can occur in an ASCII text at all."""
    folded = text.lower()
    return any(stem in folded for stem in STEMS)


def lines_mentioning_secrets(text: str) -> list[int]:
    """Give the numbers, from 0 on, of the lines in which a sensitive name can occur at all."""
    folded = text.lower()
    found: set[int] = set()
    for stem in STEMS:
        number = here = 0
        place = folded.find(stem)
        while place >= 0:
            number += folded.count("\n", here, place)
            found.add(number)
            end = folded.find("\n", place)
            if end < 0:
                break
            here, place = end, folded.find(stem, end)
    return sorted(found)


def _plain(name: str) -> str:
    """Undo what makes a name look alike but compare differently."""
    folded = unicodedata.normalize("NFKC", name)
    return "".join(letter for letter in folded if unicodedata.category(letter) != "Cf")
