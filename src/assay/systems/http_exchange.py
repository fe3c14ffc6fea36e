"""Asking over HTTP, one attempt at a time: connections kept open, a pace that is kept, failures told apart.

What may pass (no connection, no answer in time, 429, 5xx, an answer cut short) raises Retryable, and whoever
asks decides about another attempt; what would be refused again raises Refused or SystemFailure.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from assay.core.endpoint import LARGEST, Endpoint, RequestRefusal, is_passing, pause_before
from assay.core.errors import Retryable, SystemFailure, UsageError
from assay.core.unpacking import ACCEPTED, OversizedContent, decompress
from assay.systems.http_request import HttpRequest

if TYPE_CHECKING:
    from urllib3.response import BaseHTTPResponse

CONNECTIONS = 256  # kept at most: as many threads as a study may have
_PART = 64 * 1024
_SHOWN = 200  # characters of what a service said
_UP = "See whether the service is up, and run again."


class ServiceUnreachable(Retryable):
    """A request that got no answer at all."""


class RateLimiter:
    """When the next request may go out: at most `rate` a second, and none while the service asks to wait.

    Threads share it, and each takes the next free moment when it comes, so that none is passed over.
    """

    def __init__(self, rate: float | None) -> None:
        self._gap = 1.0 / rate if rate else 0.0
        self._turn = threading.Lock()
        self._free = self._held = 0.0  # the next free moment; the end of the longest wait that was asked for
        self._over = threading.Event()

    def wait(self) -> None:
        """Returns when it is this caller's turn; SystemFailure where nobody waits for the answer any more."""
        with self._turn:
            moment = max(self._free, time.monotonic()) if self._gap else 0.0
            self._free = moment + self._gap
        while (left := max(moment, self._held) - time.monotonic()) > 0 and not self._over.is_set():
            self._over.wait(left)
        if self._over.is_set():
            raise SystemFailure("The system was closed before it was this request's turn. Run again.")

    def hold(self, seconds: float) -> None:
        """Lets nobody go for so long."""
        with self._turn:
            self._held = max(self._held, time.monotonic() + seconds)

    def end(self) -> None:
        """Sends away whoever still waits."""
        self._over.set()


class HttpClient:
    """Connections to one service, shared by threads."""

    def __init__(
        self,
        asker: Endpoint,
        method: str,
        headers: Mapping[str, str],
        pace: RateLimiter,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.asker, self.method = asker, method
        self.headers, self._pace, self._clock = sent_headers(asker, method, headers), pace, clock
        self._open, self._prefix, self.close = _opener(asker)

    def ask(self, call: HttpRequest, timeout: float) -> bytes:
        """The body of the answer."""
        response, body = self._attempt(call, timeout)
        if 200 <= response.status < 300:
            return body
        status = f"{response.status} {response.reason or ''}".strip()
        said = self.asker.conceal(body[: 10 * _SHOWN].decode("utf-8", "replace"))
        what = f"{self.asker.address} answers {status}: {said[:_SHOWN]}".rstrip(": .")
        if is_passing(response.status):
            if wait := pause_before(2, 0.0, response.headers.get("Retry-After"), self._clock):
                self._pace.hold(wait)
            raise Retryable(f"{what}. See what the service says, and run again.")
        raise RequestRefusal(f"{what}. {self._advice(response)}", response.status, said)

    def _attempt(self, call: HttpRequest, timeout: float) -> tuple[BaseHTTPResponse, bytes]:
        from urllib3 import Timeout
        from urllib3.exceptions import HTTPError

        until = time.monotonic() + timeout
        try:
            response = self._open(
                self.method,
                self._prefix + call.target,
                body=call.body,
                headers=self.headers,
                timeout=Timeout(total=timeout),
                retries=False,
                redirect=False,
                preload_content=False,
            )
            return response, self._body(response, until, timeout)
        except HTTPError as error:
            raise self._failure(error, timeout) from error

    def _body(self, response: BaseHTTPResponse, until: float, timeout: float) -> bytes:
        def sent() -> Iterator[bytes]:
            while part := response.read1(_PART, decode_content=False):
                yield part
                if time.monotonic() > until:  # the library's own limit starts again with every byte
                    raise self._late(timeout)

        whole = False
        try:
            body = b"".join(decompress(sent(), response.headers.get("Content-Encoding", ""), LARGEST))
            whole = True
            return body
        except OversizedContent as error:
            what = f"{self.asker.address} answers with more than {LARGEST >> 20} MiB"
            raise SystemFailure(f"{what}. Ask for fewer or shorter results.") from error
        except ValueError as error:
            why = self.asker.conceal(str(error))[:_SHOWN]
            raise ServiceUnreachable(f"{self.asker.address} sends {why}. {_UP}") from error
        finally:
            if not whole:
                response.close()  # what is left of it must not be taken for the next answer
            response.release_conn()

    def _failure(self, error: Exception, timeout: float) -> SystemFailure | Retryable:
        from urllib3 import exceptions

        address = self.asker.address
        if isinstance(error, exceptions.SSLError) and isinstance(error.args[0], ssl.SSLCertVerificationError):
            why = self.asker.conceal(error.args[0].verify_message)
            fix = "Mend the certificate, or name its authority in SSL_CERT_FILE."
            return SystemFailure(f"{address} has a certificate that does not hold: {why}. {fix}")
        if isinstance(error, exceptions.NewConnectionError | exceptions.ConnectTimeoutError):
            why = self.asker.conceal(str(error).rpartition(": ")[2])[:_SHOWN]
            return ServiceUnreachable(f"{address} cannot be reached: {why}. {_UP}")
        if isinstance(error, exceptions.TimeoutError):
            return self._late(timeout)
        said = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
        why = self.asker.conceal(said or type(error).__name__)[:_SHOWN].rstrip(".")
        return ServiceUnreachable(f"{address} breaks off: {why}. {_UP}")

    def _late(self, timeout: float) -> Retryable:
        what = f"{self.asker.address} gives no whole answer within {timeout:g} s"
        return Retryable(f"{what}. Raise timeout, or run again.")

    def _advice(self, response: BaseHTTPResponse) -> str:
        if response.status in {301, 302, 303, 307, 308} and (moved := response.headers.get("Location")):
            return f"It has moved to {_shown_address(urljoin(self.asker.address, moved))}: use that address."
        if response.status in {401, 403}:
            return "Check what says who asks: headers, params, or the address."
        if response.status in {404, 405, 410}:
            return "Check url and method."
        return "Change the request as it says."


def sent_headers(asker: Endpoint, method: str, headers: Mapping[str, str]) -> dict[str, str]:
    """What goes along with every request; the study's own words come first."""
    from urllib3.util import make_headers

    own = {"User-Agent": "retrieval-assay", "Accept": "application/json", "Accept-Encoding": ACCEPTED}
    if method == "POST":
        own["Content-Type"] = "application/json"
    parts = urlsplit(asker.url)
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        own["Authorization"] = make_headers(basic_auth=pair)["authorization"]
    given = {name.lower() for name in headers}
    return {name: value for name, value in own.items() if name.lower() not in given} | dict(headers)


def _opener(asker: Endpoint) -> tuple[Callable[..., BaseHTTPResponse], str, Callable[[], None]]:
    """What sends a request, what stands before its target there, and what closes all connections.

    One pool for one host does without looking up the host for every request. A proxy is told whole URLs.
    """
    import urllib3

    parts = urlsplit(asker.url)
    host = parts.netloc.rpartition("@")[2]
    proxy = None if asker.loopback or proxy_bypass(host) else getproxies().get(parts.scheme)
    if proxy is not None:
        auth = urllib3.util.parse_url(proxy).auth
        headers = urllib3.util.make_headers(proxy_basic_auth=unquote(auth)) if auth else None
        manager = urllib3.ProxyManager(proxy, maxsize=CONNECTIONS, proxy_headers=headers)
        return manager.urlopen, f"{parts.scheme}://{host}", manager.clear
    pool = urllib3.connection_from_url(f"{parts.scheme}://{host}", maxsize=CONNECTIONS)
    return pool.urlopen, "", pool.close


def _shown_address(url: str) -> str:
    try:
        return Endpoint(url).address
    except UsageError:
        return "an address that is none"
