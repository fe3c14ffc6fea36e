"""A robust client for every service that answers HTTP requests with JSON.

An `Endpoint` holds the address, timeout, retries and price of a service. Its method `open` returns a
`Client`, which sends requests. The client repeats a request after a temporary failure, with growing pauses,
and raises Retryable if no attempt succeeds. A failure is temporary if there is no connection, no answer in
time, a status such as 429 or 5xx, an answer that is cut short, or an answer that cannot be used. If the
service would refuse the request again, the client raises RequestRefusal at once. No message contains a key,
header or password, even if the service repeats it in an answer.
"""

from __future__ import annotations

import base64
import ipaddress
import json
import random
import re
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote, unquote_plus, urlsplit, urlunsplit

import msgspec

from assay.core.errors import Retryable, SystemFailure, UsageError
from assay.core.unpacking import ACCEPTED, OversizedContent, decompress

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

LONGEST_PAUSE = 60.0  # seconds before another attempt, even if a service asks for more
_PASSING = frozenset({408, 409, 425, 429})  # as is every status from 500 on
LARGEST = 64 * 1024 * 1024  # bytes of a decompressed answer
_LARGEST_REFUSAL = 1024 * 1024  # bytes that are read of an answer that is an error
_SHOWN = 200  # characters of a message from a service
_NOT_JSON = (ValueError, RecursionError)  # reading JSON raises them, the second if it is nested too deeply
# How services say that a text or a batch is too large. If this matches too often, a few more requests are
# refused; if it misses a case, the run fails. Smaller batches do not help against limits on dimensions.
_TOO_MUCH = re.compile(
    r"(?=.*(token|length|batch|input|text|document|size|character|long|large|big))(?!.*dimension)"
    r".*\b(max|limit|at most|less than|exceed|too (many|long|large|big))",
    re.IGNORECASE,
)
# Parameters of a query that are credentials: api-key, accessToken, X-Amz-Signature; not max_tokens.
_SECRET = re.compile(
    r"(key|token|secret|sig|signature|password|passwd|passphrase|pwd|auth|credentials?)$|^(code|pass)$",
    re.IGNORECASE,
)


class RequestRefusal(SystemFailure):
    """A service refuses a request and would refuse it again.

    `status` is the HTTP status. `said` is the message of the service.
    """

    fault_kind = "Refused"

    def __init__(self, message: str, status: int, said: str) -> None:
        super().__init__(message)
        self.status, self.said = status, said

    @property
    def too_much(self) -> bool:
        """Whether the service might accept a smaller request."""
        worded = self.status in {400, 422} and _TOO_MUCH.match(self.said) is not None
        return self.status == 413 or worded


def ask_in_parts(texts: list[str], ask: Callable[[list[str]], T]) -> list[T]:
    """Calls `ask` on all texts and returns the results in order.

    If a request is too large, its texts are sent again in two halves, each in a request of its own.
    """
    try:
        return [ask(texts)]
    except RequestRefusal as refusal:
        if not refusal.too_much:
            raise
        if len(texts) == 1:
            what = f"A text of {len(texts[0]):,} characters is refused. {refusal}"
            raise SystemFailure(f"{what} If it is too long, cut it into smaller ones.") from refusal
    half = len(texts) // 2
    return [*ask_in_parts(texts[:half], ask), *ask_in_parts(texts[half:], ask)]


def read_unpacked(response: httpx.Response, most: int, until: float = float("inf")) -> Iterator[bytes]:
    """Yields the decompressed pieces of a streamed answer, of at most `most` bytes together.

    Raises httpx.ReadTimeout if reading goes on after the time `until` of the monotonic clock.
    """
    import httpx

    def sent() -> Iterator[bytes]:
        for part in response.iter_raw():
            yield part
            if time.monotonic() > until:  # the library's own timeout starts again with every byte
                raise httpx.ReadTimeout("the body takes too long")

    return decompress(sent(), response.headers.get("Content-Encoding", ""), most)


def is_passing(status: int) -> bool:
    """Whether a failure with this status is temporary, so that another attempt may succeed."""
    return status in _PASSING or status >= 500


def pause_before(
    attempt: int, backoff: float, retry_after: str | None = None, clock: Callable[[], float] = time.time
) -> float:
    """Returns the seconds to wait before an attempt; the second attempt has the number 2.

    The pause doubles with each attempt. It is multiplied by a random number from 0.5 to 1.5, so that threads
    that failed together do not try again together. It is at least as long as the header Retry-After asks for,
    but never longer than LONGEST_PAUSE.
    """
    own = backoff * 2.0 ** min(max(attempt - 2, 0), 16) * (0.5 + random.random())
    return min(max(own, _retry_after_seconds(retry_after or "", clock())), LONGEST_PAUSE)


@dataclass(frozen=True)
class Endpoint:
    """The address of a service, with its credentials, timeout, retries and price.

    `timeout` limits the time of one attempt. An attempt can take longer only while it connects or receives
    headers byte by byte: there, the limit applies to each wait.
    """

    url: str = field(repr=False)  # may hold credentials, and a query such as ?api-version=…
    key: str | None = field(default=None, repr=False)  # sent as a bearer token
    timeout: float = 30.0  # seconds for one attempt
    retries: int = 5  # attempts after the first one
    backoff: float = 0.5  # seconds before the second attempt; twice as many before each one after it
    price: float = 0.0  # the price of a million tokens
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if "${" not in self.url:  # for an identity, variables are not filled in
            self._check_address()
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

    def _check_address(self) -> None:
        if not _is_address(self.url):
            harmless = self.url.rpartition("@")[2].partition("?")[0]
            raise UsageError(f"{harmless!r} is not the address of a service. Write http(s)://HOST/….")

    @property
    def address(self) -> str:
        """The URL without credentials and query. Messages may contain it."""
        return _without_credentials(self.url).rstrip("/")

    @property
    def identity(self) -> str:
        """The text that distinguishes the service from others: its address, and its query without secrets."""
        query = urlsplit(self.url).query
        kept = "&".join(pair for pair, name, _ in _query(query) if not _SECRET.search(name))
        return f"{self.address}?{kept}" if kept else self.address

    @property
    def sent_headers(self) -> dict[str, str]:
        """The headers of every request."""
        key = (self.key or "").strip()  # a key from a file ends with a line break
        own = {"User-Agent": "retrieval-assay", "Content-Type": "application/json"}
        own |= {"Accept-Encoding": ACCEPTED, **self.headers}
        return {**own, "Authorization": f"Bearer {key}"} if key else own

    @cached_property
    def secrets(self) -> list[str]:
        """Every text that no message may contain, plain and as in a URL, the longest first."""
        hidden = {(self.key or "").strip(), *self.headers.values(), *_url_secrets(self.url)} - {""}
        return sorted(hidden | {quote(value, safe="") for value in hidden}, key=len, reverse=True)

    def conceal(self, text: str) -> str:
        """Returns the text on one line, with each secret replaced by an ellipsis."""
        for secret in self.secrets:
            text = text.replace(secret, "…")
        return " ".join(text.split())

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
        """Returns the URL of the service with `path` added to its path. The query of the URL stays."""
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path, fragment=""))

    def counted(self, usage: object, texts: Sequence[str]) -> int:
        """Returns the number of tokens that a request took, according to the field `usage` of the answer.

        Without that field the number is 0. But if tokens have a price, four characters that were sent count
        as one token, and each text as at least one, so that a cost is never reported as zero.
        """
        total = usage.get("total_tokens") if isinstance(usage, dict) else None
        if isinstance(total, int | float) and 0 <= total < float("inf"):
            return int(total)
        return sum(max(len(text) // 4, 1) for text in texts) if self.price else 0

    def cost(self, tokens: int) -> float:
        return tokens * self.price / 1e6

    def open(
        self, *, sleep: Callable[[float], None] = time.sleep, clock: Callable[[], float] = time.time
    ) -> Client:
        """Returns a client with its own connections. `clock` gives the time of day, for dates in answers."""
        self._check_address()
        return Client(self, sleep, clock)


class _AttemptFailure(ValueError):
    """An attempt that failed. `retry_after` is the header in which the service says when to try again."""

    def __init__(self, what: str, retry_after: str | None = None) -> None:
        super().__init__(what)
        self.retry_after = retry_after


class Client:
    """A client with open connections to one endpoint. Threads may share it. Its connections close with it."""

    def __init__(
        self, endpoint: Endpoint, sleep: Callable[[float], None], clock: Callable[[], float]
    ) -> None:
        import httpx

        self.endpoint = endpoint
        self._sleep, self._clock = sleep, clock
        self._http = httpx.Client(
            headers=endpoint.sent_headers,
            timeout=httpx.Timeout(endpoint.timeout, pool=None),  # threads wait for a connection without limit
            trust_env=not endpoint.loopback,  # a proxy does not reach this machine
            verify=endpoint.encrypted,  # reading all certificates takes 30 ms; plain HTTP has none
        )
        self.close = weakref.finalize(self, self._http.close)

    def post(self, path: str, payload: object, read: Callable[[Any], T]) -> T:
        """Sends a request and returns what `read` makes of the answer.

        If `read` raises ValueError, the request is sent again.
        """
        content = json.dumps(payload, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        attempt = 1
        while True:
            try:
                return read(self._attempt(path, content))
            except ValueError as error:
                if attempt > self.endpoint.retries:
                    raise Retryable(self._given_up(path, attempt, error)) from error
                asked = error.retry_after if isinstance(error, _AttemptFailure) else None
            attempt += 1
            self._sleep(pause_before(attempt, self.endpoint.backoff, asked, self._clock))

    def _given_up(self, path: str, attempts: int, error: ValueError) -> str:
        times = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        what = f"{self.endpoint.address}{path} gave nothing of use in {times}. The last: {error}"
        return f"{what.rstrip('.')}. See whether the service is up, and run again."

    def _attempt(self, path: str, content: bytes) -> Any:
        """Sends one request and returns the answer.

        Raises _AttemptFailure if another attempt may succeed, and RequestRefusal if the service refuses the
        request.
        """
        response, body = self._exchange(self.endpoint.target(path), content)
        status = f"{response.status_code} {response.reason_phrase}".strip()
        if is_passing(response.status_code):
            raise _AttemptFailure(
                self._shown(f"{status}: {_message_of_service(body)}"), response.headers.get("Retry-After")
            )
        if not response.is_success:
            said = self.endpoint.conceal(_message_of_service(body))
            what = f"{self.endpoint.address}{path} answers {status}: {said[:_SHOWN]}".rstrip(": .")
            raise RequestRefusal(f"{what}. {self._advice(response)}", response.status_code, said)
        try:
            return msgspec.json.decode(body)
        except _NOT_JSON:
            begins = self._shown(body.decode("utf-8", "replace"))
            raise _AttemptFailure(f"an answer that is not JSON, which begins {begins!r}") from None

    def _exchange(self, url: str, content: bytes) -> tuple[httpx.Response, bytes]:
        import httpx

        timeout = self.endpoint.timeout
        until, body = time.monotonic() + timeout, bytearray()
        try:
            with self._http.stream("POST", url, content=content) as response:
                most = LARGEST if response.is_success else _LARGEST_REFUSAL
                for part in read_unpacked(response, most, until):
                    body += part
        except OversizedContent as error:
            if response.is_success:
                raise _AttemptFailure(f"an answer of more than {LARGEST >> 20} MiB") from error
        except ValueError as error:
            raise _AttemptFailure(self._shown(str(error))) from error
        except httpx.TimeoutException as error:
            raise _AttemptFailure(f"no whole answer within {timeout:g} s") from error
        except httpx.RequestError as error:
            raise _AttemptFailure(self._shown(str(error) or type(error).__name__)) from error
        return response, bytes(body)

    def _advice(self, response: httpx.Response) -> str:
        if response.has_redirect_location:
            return f"It has moved to {_without_credentials(response.headers['Location'])}: use that address."
        if response.status_code in {401, 403}:
            return "Check the key." if self.endpoint.key else "Give it a key: key=${NAME_OF_A_VARIABLE}."
        if response.status_code in {404, 405, 410}:
            return "Check the URL and the name of the model."
        return "Change the request as it says."

    def _shown(self, text: str) -> str:
        return self.endpoint.conceal(text)[:_SHOWN]  # in this order, so that no cut leaves half a secret


def _is_address(url: str) -> bool:
    if " " in url or not url.isprintable():
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that are never closed, a port that is not a number
        return False


def _without_credentials(url: str) -> str:
    """Returns a URL without its credentials and its query."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _url_secrets(url: str) -> Iterator[str]:
    """Yields the credentials in a URL: user and password, the header made of both, and keys in the query."""
    parts = urlsplit(url)
    written = [part for part in (parts.username, parts.password) if part]
    if written:
        sent = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        yield base64.b64encode(sent.encode()).decode()
    written += [value for _, name, value in _query(parts.query) if _SECRET.search(name)]
    for value in written:
        yield from (value, unquote(value), unquote_plus(value))


def _query(query: str) -> Iterator[tuple[str, str, str]]:
    """Yields each parameter of a query: the parameter as written, its name, and its value as written."""
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        yield pair, unquote_plus(name), value


def _message_of_service(body: bytes) -> str:
    """Returns the message in the body of an error, or the whole body if the usual fields have no message."""
    text = body.decode("utf-8", "replace")
    try:
        answer = msgspec.json.decode(body)
    except _NOT_JSON:
        return text
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    message = error.get("message", error.get("detail")) if isinstance(error, dict) else error
    return message if isinstance(message, str) else text


def _retry_after_seconds(header: str, now: float) -> float:
    """Returns the seconds that a Retry-After asks for, by a number or a date; 0 if it is neither."""
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(header).timestamp() - now
        except ValueError:
            return 0.0
    return seconds if seconds > 0 else 0.0  # 0 also for NaN
