"""One sturdy client for every service that is asked in JSON over HTTP.

An `Endpoint` says where the service is and how patiently it is asked; `open()` gives the `Client` that asks.
What may pass (no connection, no answer in time, 429, 5xx, an answer cut short, rubbish, an answer that is not
what was asked for) is tried again, ever more slowly, and in the end raises Retryable. What would be refused
again raises Refused at once. No message holds the key, a header, or a password, even if the service says it.
"""

from __future__ import annotations

import ipaddress
import json
import random
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import msgspec

from assay.errors import Retryable, SystemFailure, UsageError

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

LONGEST_PAUSE = 60.0  # seconds before another attempt, whatever a service asks for
_PASSING = frozenset({408, 409, 425, 429})  # besides every status from 500 on
_SHOWN = 200  # characters of what a service said


class Refused(SystemFailure):
    """A service refuses a request, and would again: `status`, and what it `said`."""

    def __init__(self, message: str, status: int, said: str) -> None:
        super().__init__(message)
        self.status, self.said = status, said


class Usage(msgspec.Struct):
    """What a service counted, in the form that services for embeddings, reranking and chat share."""

    total_tokens: int | None = None


def counted(usage: Usage | None) -> int:
    """The tokens that a service says a request took; 0 where it says nothing."""
    return (usage.total_tokens or 0) if usage is not None else 0


@dataclass(frozen=True)
class Endpoint:
    """Where a service is, who asks and how patiently, and what it costs."""

    url: str = field(repr=False)  # may hold credentials, and a query such as ?api-version=…
    key: str | None = field(default=None, repr=False)  # sent as a bearer token
    timeout: float = 30.0  # seconds for one attempt
    retries: int = 5  # attempts after the first
    backoff: float = 0.5  # seconds before the second attempt; twice as many before each one after it
    price: float = 0.0  # of a million tokens
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not _is_address(self.url):
            harmless = self.url.rpartition("@")[2].partition("?")[0]
            raise UsageError(f"{harmless!r} is not the address of a service. Write http(s)://HOST/….")
        if not 0 < self.timeout < float("inf"):
            raise UsageError(f"timeout is {self.timeout:g}. It must be a number of seconds above 0.")
        if self.retries < 0:
            raise UsageError(f"retries is {self.retries}. It must be 0 or more.")
        if not 0 <= self.backoff < float("inf"):
            raise UsageError(f"backoff is {self.backoff:g}. It must be a number of seconds, 0 or more.")
        if not 0 <= self.price < float("inf"):
            raise UsageError(f"price is {self.price:g}. It must be what a million tokens cost, 0 or more.")
        for name, value in self.sent_headers.items():
            if not (value.isascii() and value.isprintable()):
                what = "The key" if name == "Authorization" else f"The header {name}"
                raise UsageError(f"{what} holds a line break or a letter beyond ASCII. Copy it again.")

    @property
    def address(self) -> str:
        """The URL without credentials and query: what messages and identities may hold."""
        return _bare(self.url).rstrip("/")

    @property
    def sent_headers(self) -> dict[str, str]:
        """What goes along with every request."""
        key = (self.key or "").strip()  # one that was read from a file ends with a line break
        own = {"User-Agent": "retrieval-assay", "Content-Type": "application/json", **self.headers}
        return {**own, "Authorization": f"Bearer {key}"} if key else own

    @cached_property
    def secrets(self) -> list[str]:
        """Whatever no message may hold, as it is and as in a URL, the longest first."""
        password = urlsplit(self.url).password or ""
        plain = {(self.key or "").strip(), *self.headers.values(), password, unquote(password)} - {""}
        return sorted(plain | {quote(value, safe="") for value in plain}, key=len, reverse=True)

    @property
    def encrypted(self) -> bool:
        return urlsplit(self.url).scheme == "https"

    @property
    def loopback(self) -> bool:
        """Whether the service is on this machine."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    def target(self, path: str) -> str:
        """The whole URL of a path below the endpoint's, query kept."""
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path, fragment=""))

    def cost(self, tokens: int) -> float:
        return tokens * self.price / 1e6

    def open(
        self, *, sleep: Callable[[float], None] = time.sleep, clock: Callable[[], float] = time.time
    ) -> Client:
        """A client with connections of its own. `clock` tells the time of day, as dates in answers do."""
        return Client(self, sleep, clock)


class _Failed(ValueError):
    """An attempt that came to nothing, and how many seconds the service asks to wait before another."""

    def __init__(self, what: str, wait: float = 0.0) -> None:
        super().__init__(what)
        self.wait = wait


class Client:
    """Connections to one endpoint, kept open and shared by threads; closed when nobody holds the client."""

    def __init__(
        self, endpoint: Endpoint, sleep: Callable[[float], None], clock: Callable[[], float]
    ) -> None:
        import httpx

        self.endpoint = endpoint
        self._sleep, self._clock = sleep, clock
        self._http = httpx.Client(
            headers=endpoint.sent_headers,
            timeout=httpx.Timeout(endpoint.timeout, pool=None),  # threads wait for a connection as they must
            trust_env=not endpoint.loopback,  # a proxy does not reach this machine
            verify=endpoint.encrypted,  # reading all certificates takes 30 ms; plain HTTP has none
        )
        self.close = weakref.finalize(self, self._http.close)

    def post(self, path: str, payload: object, read: Callable[[Any], T]) -> T:
        """What `read` makes of the answer; where it raises ValueError, the request is made again."""
        content = json.dumps(payload, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        attempt = 1
        while True:
            try:
                return read(self._attempt(path, content))
            except ValueError as error:
                if attempt > self.endpoint.retries:
                    raise Retryable(self._given_up(path, attempt, error)) from error
                pause = self._pause(attempt, error)
            self._sleep(pause)
            attempt += 1

    def _given_up(self, path: str, attempts: int, error: ValueError) -> str:
        times = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        what = f"{self.endpoint.address}{path} gave nothing of use in {times}. The last: {error}"
        return f"{what.rstrip('.')}. See whether the service is up, and run again."

    def _pause(self, attempt: int, error: ValueError) -> float:
        """Seconds to wait after a failure: twice as long each time, and never less than the service asks for.

        Chance makes it half as long or half as long again, so that threads that failed together do not come
        back together.
        """
        own = self.endpoint.backoff * 2.0 ** min(attempt - 1, 16) * (0.5 + random.random())
        return min(max(own, error.wait if isinstance(error, _Failed) else 0.0), LONGEST_PAUSE)

    def _attempt(self, path: str, content: bytes) -> Any:
        """The answer to one request; _Failed where another may fare better, Refused where none will."""
        response, body = self._exchange(self.endpoint.target(path), content)
        status = f"{response.status_code} {response.reason_phrase}".strip()
        if response.status_code in _PASSING or response.status_code >= 500:
            wait = _wait(response.headers.get("Retry-After", ""), self._clock())
            raise _Failed(self._shown(f"{status}: {_said(body)}"), wait)
        if not response.is_success:
            said = self._concealed(_said(body))
            what = f"{self.endpoint.address}{path} answers {status}: {said[:_SHOWN]}".rstrip(": .")
            raise Refused(f"{what}. {self._advice(response)}", response.status_code, said)
        try:
            return msgspec.json.decode(body)
        except ValueError:
            begins = self._shown(body.decode("utf-8", "replace"))
            raise _Failed(f"an answer that is not JSON, which begins {begins!r}") from None

    def _exchange(self, url: str, content: bytes) -> tuple[httpx.Response, bytes]:
        import httpx

        timeout = self.endpoint.timeout
        until, body = time.monotonic() + timeout, bytearray()
        try:
            with self._http.stream("POST", url, content=content) as response:
                for part in response.iter_bytes():
                    body += part
                    if time.monotonic() > until:  # the library's own limit starts anew with every byte
                        raise httpx.ReadTimeout("the body takes too long")
        except httpx.TimeoutException as error:
            raise _Failed(f"no whole answer within {timeout:g} s") from error
        except httpx.RequestError as error:
            raise _Failed(self._shown(str(error) or type(error).__name__)) from error
        return response, bytes(body)

    def _advice(self, response: httpx.Response) -> str:
        if response.has_redirect_location:
            return f"It has moved to {_bare(response.headers['Location'])}: use that address."
        if response.status_code in {401, 403}:
            return "Check the key." if self.endpoint.key else "Give it a key: key=${NAME_OF_A_VARIABLE}."
        if response.status_code in {404, 405, 410}:
            return "Check the URL and the name of the model."
        return "Change the request as it says."

    def _shown(self, text: str) -> str:
        return self._concealed(text)[:_SHOWN]  # in this order, so that no cut leaves half a secret behind

    def _concealed(self, text: str) -> str:
        """A text on one line, without secrets."""
        for secret in self.endpoint.secrets:
            text = text.replace(secret, "…")
        return " ".join(text.split())


def _is_address(url: str) -> bool:
    if " " in url or not url.isprintable():
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that are never closed, a port that is no number
        return False


def _bare(url: str) -> str:
    """A URL without credentials and query."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _said(body: bytes) -> str:
    """The message in the body of an error: where services put it, or else all of it."""
    text = body.decode("utf-8", "replace")
    try:
        answer = msgspec.json.decode(body)
    except ValueError:
        return text
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    message = error.get("message", error.get("detail")) if isinstance(error, dict) else error
    return message if isinstance(message, str) else text


def _wait(header: str, now: float) -> float:
    """How many seconds a Retry-After asks for: it holds their number or a date; 0 where it holds neither."""
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - now
        except ValueError:
            return 0.0
    return seconds if seconds > 0 else 0.0  # which NaN is not
