"""Connections to addresses that were judged, under one deadline."""

from __future__ import annotations

import ssl
import time
from typing import TYPE_CHECKING, Any

import httpcore2

from toolseam import ErrorCode, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Connect = Callable[[str, int, float], httpcore2.NetworkStream]
    """Connects to an address and port within so many seconds."""


_FAULTS = {10: "has expired", 9: "is not valid yet", 62: "is for another name"} | dict.fromkeys(
    (18, 19, 20, 21), "is not signed by an authority that is trusted here"
)
"""What OpenSSL finds wrong with a certificate, by its numbers."""


def unavailable(message: str, reason: str) -> ToolError:
    """Return the failure of a host that gave no answer."""
    return ToolError(message, ErrorCode.UNAVAILABLE, retriable=True, metadata={"reason": reason})


def connect(address: str, port: int, seconds: float) -> httpcore2.NetworkStream:
    """Connect by TCP."""
    return httpcore2.SyncBackend().connect_tcp(address, port, seconds)


class Network(httpcore2.NetworkBackend):
    """Connects to judged addresses only, whatever host it is asked for."""

    def __init__(self, addresses: tuple[str, ...], end: float, connector: Connect) -> None:
        self._addresses = addresses
        self._end = end
        self._connect = connector

    def connect_tcp(
        self,
        host: str,  # noqa: ARG002 - the name; the addresses are known
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the one deadline holds
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        """Connect to the first address that takes it, each with its share of the time."""
        failed: Exception = httpcore2.ConnectTimeout()
        for number, address in enumerate(self._addresses):
            share = (self._end - time.monotonic()) / (len(self._addresses) - number)
            if share <= 0:
                break
            try:
                return Stream(self._connect(address, port, share), self._end)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
        raise failed


class Stream(httpcore2.NetworkStream):
    """A connection on which each step has what is left of the one deadline."""

    def __init__(self, stream: httpcore2.NetworkStream, end: float) -> None:
        self._stream = stream
        self._end = end

    def _left(self, late: type[Exception]) -> float:
        left = self._end - time.monotonic()
        if left <= 0:
            raise late
        return left

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        """Read."""
        return self._stream.read(max_bytes, self._left(httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        """Write."""
        self._stream.write(buffer, self._left(httpcore2.WriteTimeout))

    def close(self) -> None:
        """Close."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore2.NetworkStream:
        """Shake hands for the name that was asked for; a wrong certificate is said as such."""
        left = self._left(httpcore2.ConnectTimeout)
        try:
            return Stream(self._stream.start_tls(ssl_context, server_hostname, left), self._end)
        except httpcore2.ConnectError as error:
            cause = error.__cause__
        if isinstance(cause, ssl.SSLCertVerificationError):
            fault = _FAULTS.get(cause.verify_code, "is not valid")
            raise unavailable(f"The host's certificate {fault}.", "certificate")
        raise unavailable("The host does not speak TLS as it should.", "no_http")

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - whatever the stream knows
        """Return what the connection knows of itself."""
        return self._stream.get_extra_info(info)
