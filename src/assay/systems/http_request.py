"""Requests to a search API: templates with places for the query, and the client that sends them.

`{query}`, `{language}` and `{k}` are filled in the address (as parts of a URL), in its parameters and in the
strings of a JSON body; a string that is only `{k}` becomes a number there. Other braces stay, but a word in
braces that looks like a misspelt place is refused.

The client makes one attempt at a time. Failures that may pass (no connection, no answer in time, 429, 5xx, an
incomplete answer) raise Retryable, and the caller decides about another attempt. Requests that would fail
again raise RequestRefusal or SystemFailure.
"""

from __future__ import annotations

import difflib
import re
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urlencode, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec

from assay.core.endpoint import LARGEST, Endpoint, RequestRefusal, is_passing, pause_before
from assay.core.errors import Retryable, SystemFailure, UsageError
from assay.core.records import Query
from assay.core.unpacking import ACCEPTED, OversizedContent, decompress

if TYPE_CHECKING:
    from urllib3.response import BaseHTTPResponse

PORT = "{port}"
_PLACE = re.compile(r"\{(query|language|k)\}")
_REQUEST = frozenset({"url", "params", "body"})
_FILLED = {"query": _REQUEST, "language": _REQUEST, "k": _REQUEST, "port": {"url", "start", "ready"}}
_WORD = re.compile(r"\{(\w+)\}")
_NEAR = 0.7  # a word with at least this similarity counts as a misspelt place
_HARMLESS = {
    "accept",
    "accept-language",
    "content-type",
    "user-agent",
}  # headers that contain no secret
_SHORTEST = 4  # characters of a secret. Shorter values would be removed from ordinary words and numbers


class HttpRequest(NamedTuple):
    """The path and query of a URL, and a body."""

    target: str
    body: bytes | None


@dataclass(frozen=True)
class RequestTemplate:
    """A request as a study writes it, with the port filled in."""

    url: str
    params: Mapping[str, Any]
    body: Any
    k: int

    def __post_init__(self) -> None:
        try:
            Endpoint(_PLACE.sub("x", self.url))
        except UsageError as error:
            raise UsageError(f"url: {error}") from None
        if _PLACE.search(urlsplit(self.url).netloc):
            fix = "Name one system for each host"
            raise UsageError(f"url: query, language and k may only be in the path and after it. {fix}.")

    @property
    def origin(self) -> str:
        """The scheme, host and port of the URL."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    @cached_property
    def _target(self) -> str:
        parts = urlsplit(self.url)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        return [pair for name, value in self.params.items() for pair in _pairs(name, value)]

    @property
    def needs_language(self) -> bool:
        """Whether the request contains the language of the query."""
        texts = [self.url, *(value for _, value in self.pairs), *(text for _, text in _leaves("", self.body))]
        return any("{language}" in text for text in texts)

    def call(self, query: Query) -> HttpRequest:
        """Returns the request for a query."""
        values = self._values(query)
        target = _PLACE.sub(lambda match: quote(str(values[match[1]]), safe=""), self._target)
        if self.pairs:
            pairs = [(name, _fill_text(text, values)) for name, text in self.pairs]
            target += ("&" if "?" in target else "?") + urlencode(pairs)
        return HttpRequest(
            target, None if self.body is None else msgspec.json.encode(_fill_body(self.body, values))
        )

    def _values(self, query: Query) -> Mapping[str, str | int]:
        text = query.text.encode("utf-8", "replace").decode()  # half a character cannot be sent
        values: dict[str, str | int] = {"query": text, "k": self.k}
        if query.language is not None:
            values["language"] = query.language
        elif self.needs_language:
            fix = "Give the item a language, or take {language} out of the request."
            raise SystemFailure(f"The item has no language, and the request holds {{language}}. {fix}")
        return values


def service_endpoint(form: RequestTemplate, headers: Mapping[str, str]) -> Endpoint:
    """Returns the service as an endpoint that knows all secrets of the request, so that it can hide them."""
    held = {
        f"{name} {number}": part
        for name, value in headers.items()
        if name.lower() not in _HARMLESS
        for number, part in enumerate((value, *value.split()))
        if len(part) >= _SHORTEST and part.lower() not in {"basic", "bearer", "digest", "token"}
    }
    said = [*form.pairs, *_leaves("", form.body)]
    more = urlencode([(name, text) for name, text in said if len(text) >= _SHORTEST and "{" not in text])
    url = _PLACE.sub("x", form.url)
    joined = ("&" if "?" in url else "?") if more else ""
    return Endpoint(f"{url}{joined}{more}", headers=held)


def check_places(url: str, params: Mapping[str, Any], body: Any, own: Mapping[str, str]) -> None:
    """Raises a UsageError for a request without the query, and for a misspelt place.

    `own` has the texts for a server that we start, by parameter.
    """
    sent = [("url", url.partition("#")[0])]
    sent += [("params", text) for name, value in params.items() for _, text in _pairs(name, value)]
    sent += [("body", text) for _, text in _leaves("", body)]
    for field, text in (*sent, *own.items()):
        known = [place for place in _FILLED if field in _FILLED[place]]
        for word in _WORD.findall(text):
            if word not in known and (meant := _meant(word, known)):
                raise UsageError(f"{field}: {{{word}}} is not filled in. Did you mean {{{meant}}}?")
    if not any("{query}" in text for _, text in sent):
        fix = 'Write it where the service looks for the query, as in params: {q: "{query}"}.'
        raise UsageError(f"there is no {{query}} in url, params or body, so no query is sent. {fix}")


def _meant(word: str, known: Sequence[str]) -> str | None:
    """Returns the place that a word abbreviates or nearly spells."""
    short = [name for name in known if name.startswith(word.lower())]
    return next(iter(short or difflib.get_close_matches(word.lower(), known, 1, _NEAR)), None)


def check_headers(headers: Mapping[str, str]) -> None:
    """Raises a UsageError for headers that cannot be sent, or that have places to fill in."""
    for name, value in headers.items():
        if _PLACE.search(value) or PORT in value:
            raise UsageError(
                f"headers: {name} has a place to fill in. Use the address, params or body for it."
            )
        if not (value.isascii() and value.isprintable()) or not re.fullmatch(r"[\w!#$%&'*+.^`|~-]+", name):
            raise UsageError(f"headers: {name} holds a line break or a letter beyond ASCII. Copy it again.")


def _pairs(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yields a parameter as it is sent in a query: once per value of a list, and not at all for null."""
    if isinstance(value, list):
        for each in value:
            yield from _pairs(name, each)
    elif isinstance(value, bool):
        yield name, "true" if value else "false"
    elif isinstance(value, str | int | float):
        yield name, str(value)
    elif value is not None:
        raise UsageError(
            f"params: {name} is a {type(value).__name__}. Write text, a number or a list of them."
        )


def _leaves(name: str, given: Any) -> Iterator[tuple[str, str]]:
    """Yields every string in a body, with the name of its field."""
    if isinstance(given, str):
        yield name, given
    elif isinstance(given, Mapping):
        for key, value in given.items():
            yield from _leaves(str(key), value)
    elif isinstance(given, list):
        for value in given:
            yield from _leaves(name, value)


def _fill_text(text: str, values: Mapping[str, str | int]) -> str:
    # in one pass, so that braces in a query are not taken for places
    return _PLACE.sub(lambda match: str(values[match[1]]), text)


def _fill_body(given: Any, values: Mapping[str, str | int]) -> Any:
    if isinstance(given, str):
        return values["k"] if given == "{k}" else _fill_text(given, values)
    if isinstance(given, Mapping):
        return {key: _fill_body(value, values) for key, value in given.items()}
    return [_fill_body(value, values) for value in given] if isinstance(given, list) else given


CONNECTIONS = 256  # kept open at most: as many threads as a study may have
_PART = 64 * 1024
_SHOWN = 200  # characters of what a service said
_UP = "See whether the service is up, and run again."


class ServiceUnreachable(Retryable):
    """A request got no answer at all."""

    fault_kind = "NotReached"


class RateLimiter:
    """Lets at most `rate` requests per second pass, and none while the service asks to wait.

    Threads share a limiter. Each call of `wait` reserves the next free moment, so requests pass in order of
    arrival.
    """

    def __init__(self, rate: float | None) -> None:
        self._gap = 1.0 / rate if rate else 0.0
        self._turn = threading.Lock()
        self._free = self._held = 0.0  # the next free moment; the end of the longest wait that was asked for
        self._over = threading.Event()  # set: nobody waits for answers any more

    def wait(self) -> None:
        """Returns when this request may be sent. Raises a SystemFailure if the system was closed."""
        with self._turn:
            moment = max(self._free, time.monotonic()) if self._gap else 0.0
            self._free = moment + self._gap
        while (left := max(moment, self._held) - time.monotonic()) > 0 and not self._over.is_set():
            self._over.wait(left)
        if self._over.is_set():
            raise SystemFailure("The system was closed before it was this request's turn. Run again.")

    def hold(self, seconds: float) -> None:
        """Lets no request pass for that many seconds."""
        with self._turn:
            self._held = max(self._held, time.monotonic() + seconds)

    def end(self) -> None:
        """Ends all waiting."""
        self._over.set()


class HttpClient:
    """Connections to one service. Threads share them."""

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
        """Sends a request once. Returns the body of the answer."""
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
                response.close()  # the rest of it must not be taken for the next answer
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
            return "Check the credentials in headers, params, or the address."
        if response.status in {404, 405, 410}:
            return "Check url and method."
        return "Change the request as it says."


def sent_headers(asker: Endpoint, method: str, headers: Mapping[str, str]) -> dict[str, str]:
    """Returns the headers of every request. Headers of the study replace ours."""
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
    """Returns a function that sends requests, a prefix for targets, and a function that closes connections.

    One pool per host avoids looking up the host for every request. A proxy needs whole URLs as targets.
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
