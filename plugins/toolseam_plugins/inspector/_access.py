"""Who may come in: whoever has the link, once; and then the browser that came with it."""

from __future__ import annotations

import secrets
import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_BYTES = 32


class Admission(NamedTuple):
    """What a browser is given for a token: a cookie, and a key that the page keeps."""

    cookie: str
    key: str


class Access:
    """Tokens that are good for one use, and the browsers that used one.

    A browser sends its cookies to every port of an address, so that a server of somebody else on
    this machine could collect ours. What a page keeps for itself belongs to its origin alone:
    a request needs both.
    """

    def __init__(self) -> None:
        self.cookie_name = f"toolseam-{secrets.token_hex(4)}"
        self._turn = threading.Lock()
        self._tokens: set[bytes] = set()
        self._admitted: list[Admission] = []

    def new_token(self) -> str:
        """Return a token that nobody has used."""
        token = secrets.token_urlsafe(_BYTES)
        with self._turn:
            self._tokens.add(token.encode())
        return token

    def enter(self, token: str) -> Admission | None:
        """Use a token up; None if it is none, or was used."""
        given = token.encode("utf-8", "replace")
        with self._turn:
            found = [each for each in self._tokens if secrets.compare_digest(each, given)]
            if not found:
                return None
            self._tokens.discard(found[0])
            admission = Admission(secrets.token_urlsafe(_BYTES), secrets.token_urlsafe(_BYTES))
            self._admitted.append(admission)
            return admission

    def knows(self, cookies: Iterable[str], key: str) -> bool:
        """Tell whether a browser that came in sends these."""
        given = key.encode("utf-8", "replace")
        sent = [each.encode("utf-8", "replace") for each in cookies]
        return any(
            secrets.compare_digest(own.key.encode(), given)
            and any(secrets.compare_digest(own.cookie.encode(), each) for each in sent)
            for own in self._admitted
        )
