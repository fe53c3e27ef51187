"""Sealing: what waits of a run is opened only as what it was, and only where it was (H08).

AES-256-GCM under one key of 32 bytes, a file for its owner alone that is made on first use, or the
operator's own. Bound to run, column and owner, so that nothing can be moved to another place.
"""

from __future__ import annotations

import base64
import binascii
import os
from contextlib import suppress
from typing import TYPE_CHECKING

import attrs
import orjson

from toolseam.guards import UnsafePlace, make_private, state_folder
from toolseam_plugins.audit._database import AuditError
from toolseam_plugins.audit._private import beginning, make_empty

if TYPE_CHECKING:
    from pathlib import Path

    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

FILE = "key"
BYTES = 32
_FORMAT = b"\x01"
_NONCE = 12


class Sealed(Exception):
    """What is there does not open: altered, moved, never sealed, or sealed with another key."""


@attrs.frozen
class Place:
    """Where something sealed stands: the run, the column and the wait, whose run it is."""

    run_id: str
    column: str
    owner: str | None

    def bound(self) -> bytes:
        """Return what is authenticated together with the text."""
        return orjson.dumps(["toolseam audit", self.run_id, self.column, self.owner])


class Seal:
    """Seals and opens; the key is looked for when it is first needed."""

    def __init__(self, key_env: str | None = None) -> None:
        self._key_env = key_env
        self._cipher: AESGCM | None = None

    def close(self, text: bytes, place: Place) -> bytes:
        """Seal a text for one place; raises `AuditError` where there can be no key."""
        nonce = os.urandom(_NONCE)
        made = self._with(make=True).encrypt(nonce, text, place.bound())
        return _FORMAT + nonce + made

    def open(self, sealed: object, place: Place) -> bytes:
        """Return what was sealed for this place.

        Raises `Sealed` for what is none of it, `AuditError` where the key is not there.
        """
        cipher = self._with(make=False)
        if not isinstance(sealed, bytes) or sealed[:1] != _FORMAT:
            raise Sealed
        nonce, text = sealed[1 : 1 + _NONCE], sealed[1 + _NONCE :]
        from cryptography.exceptions import InvalidTag

        try:
            return cipher.decrypt(nonce, text, place.bound())
        except (InvalidTag, ValueError):
            raise Sealed from None

    def _with(self, *, make: bool) -> AESGCM:
        if self._cipher is None:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM

            given = self._key_env
            key = _kept_key(make=make) if given is None else _given_key(given)
            self._cipher = AESGCM(key)
        return self._cipher


def _given_key(variable: str) -> bytes:
    try:
        key = base64.b64decode(os.environ.get(variable, ""), validate=True)
    except binascii.Error:
        key = b""
    if len(key) != BYTES:
        raise AuditError(f"The variable {variable} holds no key: 32 bytes in base64.")
    return key


def _kept_key(*, make: bool) -> bytes:
    """Return the key of the state folder; where nothing was ever sealed, it may be made."""
    folder = state_folder()
    file = folder / FILE
    if not file.exists():
        if not make:
            raise AuditError(f"{file}: the key is not there")
        _make_key(folder)
    key = beginning(file, BYTES + 1)
    if len(key) != BYTES:
        raise AuditError(f"{file}: is no key of 32 bytes")
    return key


def _make_key(folder: Path) -> None:
    try:
        make_private(folder)
        temporary = folder / f".{FILE}.{os.urandom(8).hex()}"
        number = make_empty(temporary)
        try:
            os.write(number, os.urandom(BYTES))
            os.fsync(number)
        finally:
            os.close(number)
        # Of two processes the first one's key is everybody's.
        with suppress(FileExistsError):
            os.link(temporary, folder / FILE)
        temporary.unlink()
    except UnsafePlace as fault:
        raise AuditError(f"The folder of the key {fault}.") from None
    except OSError as error:
        raise AuditError(f"{folder / FILE}: cannot be made ({type(error).__name__})") from None
