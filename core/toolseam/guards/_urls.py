"""The parts of a web address, read once and strictly, so that nobody reads it another way."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote, urlsplit

import attrs

from toolseam._errors import ErrorCode
from toolseam._result import ToolError
from toolseam.guards._addresses import read_address

_URL_CHARACTERS = 2_000
_HOST_CHARACTERS = 253
PORTS = {"http": 80, "https": 443}
_LAST_PORT = 65_535
_REFUSED = re.compile(r"[\x00-\x20\x7f\\]")
_NETLOC = re.compile(
    r"(?:\[(?P<v6>[0-9A-Fa-f]*:[0-9A-Fa-f:.]+)\]|(?P<name>[^\[\]:]+))(?::(?P<port>[0-9]{0,5}))?"
)
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?:\.(?!-)[a-z0-9_-]{1,63})*", re.ASCII)
# What may stand in a path or query as it is; a percent sign too, since it encodes already.
_AS_IT_IS = "%/:?#[]@!$&'()*+,;=~"


@attrs.frozen
class WebAddress:
    """An absolute http or https URL without userinfo.

    Args:
        scheme: `http` or `https`.
        host: a lower-case ASCII name without a dot at its end, or an address in its usual
            spelling; an IPv4-mapped one as IPv4.
        port: the scheme's own where the URL named none.
        path: path and query as they are sent, in ASCII; begins with `/`. A fragment is left out.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> str:
        """Scheme and host, and the port where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"


def outside() -> ToolError:
    """Give the one refusal for an address that is not allowed, whatever stands there."""
    return ToolError("That address is outside what may be reached.", ErrorCode.PERMISSION_DENIED)


def read_web_address(url: str) -> WebAddress:
    """Read an absolute http or https URL.

    Args:
        url: at most 2,000 characters; other than ASCII is encoded as browsers do.

    Raises:
        ToolError: `invalid_arguments` for what is no absolute URL; `permission_denied`, the one
            of `EgressGuard`, for another scheme, userinfo, and a host in another spelling than
            the usual one.
    """
    if len(url) > _URL_CHARACTERS or _REFUSED.search(url):
        raise _no_url()
    try:
        parts = urlsplit(url)
    except ValueError:
        raise outside() from None
    if not url.lower().startswith(f"{parts.scheme}://") or not parts.scheme:
        raise _no_url()
    found = _NETLOC.fullmatch(parts.netloc)
    if parts.scheme not in PORTS or found is None:
        raise outside()
    host = canonical_host(found["v6"] or found["name"])
    port = int(found["port"] or PORTS[parts.scheme])
    if host is None or not 0 < port <= _LAST_PORT:
        raise outside()
    query = f"?{parts.query}" if parts.query else ""
    path = quote((parts.path or "/") + query, _AS_IT_IS, errors="replace")
    return WebAddress(parts.scheme, host, port, path)


def canonical_host(name: str) -> str | None:
    """Return a host's one spelling, or None for what is no host.

    Args:
        name: a name, also an international one, or an address, with or without brackets.
    """
    name = name.removeprefix("[").removesuffix("]")
    if not name or len(name) > _HOST_CHARACTERS:
        return None
    if (address := read_address(name)) is not None:
        return str(address)
    if not name.isascii():
        try:
            name = unicodedata.normalize("NFKC", name).encode("idna").decode("ascii")
        except UnicodeError:
            return None
        if read_address(name) is not None:
            return None
    name = name.lower().removesuffix(".")
    return name if _NAME.fullmatch(name) and not _is_number(name) else None


def _is_number(name: str) -> bool:
    """Tell whether a resolver would take a name for an address: 2130706433, 0x7f.1, 127.1."""
    last = name.rpartition(".")[2]
    return last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last) is not None


def _no_url() -> ToolError:
    message = f"An absolute http or https URL of at most {_URL_CHARACTERS:,} characters is needed."
    return ToolError(message, ErrorCode.INVALID_ARGUMENTS)
