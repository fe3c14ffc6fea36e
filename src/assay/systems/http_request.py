"""What a search API is asked: a request with places for the query, its language and the number of hits.

`{query}`, `{language}` and `{k}` are filled in the address (as parts of a URL), in its parameters and in the
strings of a JSON body, where a string that is `{k}` alone becomes a number. Braces around anything else stay,
unless it looks like one of these misspelt, which is refused.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from assay.core.endpoint import Endpoint
from assay.core.errors import SystemFailure, UsageError
from assay.core.records import Query

PORT = "{port}"
_PLACE = re.compile(r"\{(query|language|k)\}")
_REQUEST = frozenset({"url", "params", "body"})
_FILLED = {"query": _REQUEST, "language": _REQUEST, "k": _REQUEST, "port": {"url", "start", "ready"}}
_WORD = re.compile(r"\{(\w+)\}")
_NEAR = 0.7  # likeness of a word to one that is filled in, from which it is taken for that one
_HARMLESS = {
    "accept",
    "accept-language",
    "content-type",
    "user-agent",
}  # headers that say nothing of who asks
_SHORTEST = 4  # characters of a secret: a shorter value would be taken out of words and numbers


class HttpRequest(NamedTuple):
    """One request: path and query of the URL, and the body."""

    target: str
    body: bytes | None


@dataclass(frozen=True)
class RequestTemplate:
    """The request as a study writes it, but for the port, which is known."""

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
            raise UsageError(f"url: query, language and k may stand in the path and after it only. {fix}.")

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
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
        """Whether a query without a language cannot be asked."""
        texts = [self.url, *(value for _, value in self.pairs), *(text for _, text in _leaves("", self.body))]
        return any("{language}" in text for text in texts)

    def call(self, query: Query) -> HttpRequest:
        """The request for a query."""
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
    """The service as messages may show it: whatever says who asks is known, so that it can be taken out."""
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
    """Refuses a request without the query, and what looks like a place and is not filled in.

    `own` is what a server of ours is told, by parameter.
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
        raise UsageError(f"{{query}} stands in neither url, params nor body, so no query is sent. {fix}")


def _meant(word: str, known: Sequence[str]) -> str | None:
    """The place that a word is an abbreviation of, or nearly reads like."""
    short = [name for name in known if name.startswith(word.lower())]
    return next(iter(short or difflib.get_close_matches(word.lower(), known, 1, _NEAR)), None)


def check_headers(headers: Mapping[str, str]) -> None:
    """Refuses what no header can hold, and what would be sent unfilled."""
    for name, value in headers.items():
        if _PLACE.search(value) or PORT in value:
            raise UsageError(
                f"headers: {name} has a place to fill in. Use the address, params or body for it."
            )
        if not (value.isascii() and value.isprintable()) or not re.fullmatch(r"[\w!#$%&'*+.^`|~-]+", name):
            raise UsageError(f"headers: {name} holds a line break or a letter beyond ASCII. Copy it again.")


def _pairs(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """A parameter as it goes into a query: a list as often as it has values, null not at all."""
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
    """Every string inside a body, with the name of the field that holds it."""
    if isinstance(given, str):
        yield name, given
    elif isinstance(given, Mapping):
        for key, value in given.items():
            yield from _leaves(str(key), value)
    elif isinstance(given, list):
        for value in given:
            yield from _leaves(name, value)


def _fill_text(text: str, values: Mapping[str, str | int]) -> str:
    # in one pass, so that braces inside a query are not taken for places
    return _PLACE.sub(lambda match: str(values[match[1]]), text)


def _fill_body(given: Any, values: Mapping[str, str | int]) -> Any:
    if isinstance(given, str):
        return values["k"] if given == "{k}" else _fill_text(given, values)
    if isinstance(given, Mapping):
        return {key: _fill_body(value, values) for key, value in given.items()}
    return [_fill_body(value, values) for value in given] if isinstance(given, list) else given
