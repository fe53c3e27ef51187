"""Whom a TLS connection believes: the system's authorities, and those that were named."""

import ssl
from pathlib import Path

import pytest

from toolseam.guards import tls_context


def test_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A variable that names other authorities changes nothing, and names are checked."""
    (tmp_path / "empty.pem").write_text("")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "empty.pem"))

    context = tls_context()

    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_file_that_holds_no_authorities_is_an_error(tmp_path: Path, content: str | None) -> None:
    """Nothing is trusted in its place."""
    file = tmp_path / "own.pem"
    if content is not None:
        file.write_text(content)

    with pytest.raises(OSError):
        tls_context(str(file))
