"""Asks a search API over HTTP. The study describes the request, and where to find the parts of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

from assay.core.dataset import Corpus, Dataset, digest
from assay.core.endpoint import Endpoint
from assay.core.errors import DataError, Problem, SystemFailure, UsageError
from assay.core.parts import Tokenizer
from assay.core.protocols import Kit
from assay.core.records import Budget, Query, Response
from assay.core.registry import TOKENIZERS, added_later, outside_identity, part_identities
from assay.retrieval.tokens import O200kBase
from assay.systems.answering import Meter
from assay.systems.http_reading import AnswerReader, ContextReader, DefaultField, Expression, parse_budget
from assay.systems.http_request import (
    PORT,
    HttpClient,
    RateLimiter,
    RequestTemplate,
    ServiceUnreachable,
    check_headers,
    check_places,
    service_endpoint,
)
from assay.systems.server_process import (
    ServerProcess,
    await_ready,
    find_missing_program,
    free_port,
    is_port_taken,
    readiness_probe,
    split_command,
)


@dataclass(frozen=True)
class HttpIndex:
    """Connections to a service, and its server process if we started one. The index is its own session."""

    form: RequestTemplate
    exchange: HttpClient
    reading: AnswerReader
    pace: RateLimiter
    timeout: float
    served: ServerProcess | None

    def session(self) -> HttpIndex:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        """Makes one attempt. The measured time does not include the wait for our own rate limit."""
        call = self.form.call(query)
        self.pace.wait()
        meter = Meter()
        try:
            body = self.exchange.ask(call, self.timeout)
        except ServiceUnreachable:
            if self.served is not None and self.served.ended() is not None:
                raise SystemFailure(self.served.exit_message()) from None
            raise
        meter.lap("http")
        response = self.reading.response(body, budgets)
        meter.lap("read")
        response.observed = meter.observed()
        return response

    def close(self) -> None:
        self.pace.end()
        self.exchange.close()
        if self.served is not None:
            self.served.stop()


@dataclass(frozen=True)
class Http:
    """Any search API that is asked by GET or POST and answers in JSON.

    All places in the answer are JMESPath expressions. `results` finds the list of results; `id`, `text` and
    `score` find the parts of a result. `route`, `flags` and `contexts` (one per budget) search the whole
    answer.
    """

    url: str
    method: Literal["GET", "POST"] | None = None  # None: POST where there is a body
    params: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] | list[Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    results: str = "results"
    id: str | None = DefaultField.ID
    text: str | None = "text"
    score: str | None = DefaultField.SCORE
    route: str | dict[str, str] | None = None
    flags: dict[str, str] = field(default_factory=dict)
    contexts: dict[int | str, str] | None = added_later(None)  # by budget
    tokenizer: Annotated[Tokenizer, TOKENIZERS] = added_later(O200kBase())  # counts the tokens of contexts
    k: int = 10
    start: str | None = None
    files: tuple[str, ...] | str = ()  # files whose content its answers depend on
    revision: str = ""  # the version of the service, if the same address may serve another one later
    ready: str | None = outside_identity(None)
    patience: float = outside_identity(30.0)  # seconds until a server that was started is ready
    timeout: float = outside_identity(30.0)  # seconds for one attempt
    rate: float | None = outside_identity(None)  # requests per second, over all threads
    threads: int = outside_identity(8)
    version: ClassVar[str] = "2"

    def __post_init__(self) -> None:
        for name in ("k", "threads", "timeout", "patience", "rate"):
            number = getattr(self, name)
            if number is not None and not 0 < number < float("inf"):
                raise UsageError(f"{name} is {number:g}. It must be a number above 0.")
        if self.method == "GET" and self.body is not None:
            raise UsageError("body: a GET request has none. Write method: POST, or use params.")
        own = {"start": self.start or "", "ready": self.ready or ""}
        check_places(self.url, self.params, self.body, own)
        if self.start is None and PORT in f"{self.url}{self.ready or ''}":
            raise UsageError("url: {port} is the port of a server that start runs, and there is no start.")
        if self.start is not None:
            split_command(self.start)
            if PORT in self.url and PORT not in self.start:
                raise UsageError("start: the server must be told its {port} too. Add it to the command.")
        if self.ready is not None and not self.ready.startswith(("/", "http://", "https://")):
            raise UsageError(f"ready is {self.ready!r}. Write a path, such as /health, or a URL.")
        check_headers(self.headers)
        self._reading(Corpus(()), service_endpoint(self._form(1), self.headers))
        if self.contexts is not None:  # YAML reads 400 as a number, and an identity has words for names
            object.__setattr__(self, "contexts", {str(key): where for key, where in self.contexts.items()})
        self._places()

    @property
    def gives(self) -> frozenset[str]:
        """The parts that responses can have: contexts only if the study says where they are."""
        return frozenset({"hits", "texts", "route", "flags"} | ({"contexts"} if self.contexts else set()))

    @property
    def budgets(self) -> frozenset[Budget]:
        """The budgets for which answers have a context."""
        return frozenset(self._places())

    def _places(self) -> dict[Budget, Expression]:
        return {
            parse_budget(budget): Expression.of(f"contexts.{budget}", written)
            for budget, written in (self.contexts or {}).items()
        }

    def _form(self, port: int) -> RequestTemplate:
        return RequestTemplate(self.url.replace(PORT, str(port)), self.params, self.body, self.k)

    def _reading(self, corpus: Corpus, service: Endpoint) -> AnswerReader:
        route: Expression | list[tuple[str, Expression]]
        if isinstance(self.route, dict):
            route = [(name, Expression.of(f"route.{name}", given)) for name, given in self.route.items()]
        else:
            route = Expression.of("route", self.route)
        return AnswerReader(
            Expression.of("results", self.results),
            Expression.of("id", self.id),
            Expression.of("text", self.text),
            Expression.of("score", self.score),
            route,
            {name: Expression.of(f"flags.{name}", given) for name, given in self.flags.items()},
            self.k,
            corpus,
            service.conceal,
        )

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> HttpIndex:
        port = free_port() if PORT in f"{self.url}{self.start}" else 0
        form, pace = self._form(port or 1), RateLimiter(self.rate)
        service = service_endpoint(form, self.headers)
        method = self.method or ("GET" if self.body is None else "POST")
        reading = self._reading(corpus, service)
        if self.contexts:
            tokens = self.tokenizer.load(kit)
            shown = ContextReader(self._places(), reading.doc_id, reading.text, corpus, tokens)
            reading = replace(reading, contexts=shown.contexts)
        with ExitStack() as undo:
            exchange = HttpClient(service, method, self.headers, pace, kit.clock)
            undo.callback(exchange.close)
            served = None
            if self.start is not None:
                if is_port_taken(form.origin):
                    fix = "End it, or write {port} for the port in url and start."
                    raise SystemFailure(f"Another program listens at {form.origin} already. {fix}")
                served = ServerProcess(self.start.replace(PORT, str(port)), kit)
                undo.callback(served.stop)
            self._await(form, exchange, port, served)
            undo.pop_all()
        return HttpIndex(form, exchange, reading, pace, self.timeout, served)

    def _await(
        self, form: RequestTemplate, exchange: HttpClient, port: int, served: ServerProcess | None
    ) -> None:
        """Waits until the service is ready, if it was started here or has a `ready` path."""
        if self.ready is None:
            if served is not None:
                await_ready(readiness_probe(form.origin, {}, any_status=True), self.patience, served)
            return
        url = self.ready.replace(PORT, str(port))
        own = url.startswith("/")  # headers may contain secrets, so no other service gets them
        seen = readiness_probe(
            form.origin + url if own else url, exchange.headers if own else {}, any_status=False
        )
        await_ready(seen, self.patience, served)

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        """Reports items without a language if the request needs one, and a program that does not exist."""
        found = []
        without = [item.item_id for item in dataset.items if item.language is None]
        if without and self._form(1).needs_language:
            place = dataset.places.get(without[0])
            what = f"{len(without)} items, such as {without[0]!r}, have no language, and the request holds it"
            where, line = (place.file, place.line) if place is not None else (dataset.name, None)
            fix = "Give them one, or take {language} out of the request."
            found.append(Problem(what, where, line, fix=fix))
        if self.start is not None and (program := find_missing_program(self.start, kit)) is not None:
            fix = "Correct start, or install it."
            found.append(Problem(f"start: there is no program {program!r}", fix=fix))
        return found

    def identity(self, kit: Kit) -> dict[str, Any]:
        """Returns hashes of the files that answers depend on, and the tokenizer's identity if it is used."""
        named = [self.files] if isinstance(self.files, str) else self.files
        parts = part_identities(self, kit) if self.contexts else {}
        return {**{each: digest(_contents(each, kit)) for each in named}, **parts}


def _contents(named: str, kit: Kit) -> list[bytes]:
    """Returns the content of a file, or the names and contents of all files of a folder or pattern."""
    path = kit.path(named)
    if path.is_file():
        return [path.read_bytes()]
    folder, pattern = (path, "**/*") if path.is_dir() else (kit.root, named)
    files = sorted(
        each for each in folder.glob(pattern) if each.is_file() and "__pycache__" not in each.parts
    )
    if not files:
        fix = "Correct files, which are relative to the study."
        raise DataError(Problem(f"files: there is no {named!r}", str(kit.root), fix=fix))
    return [
        part for each in files for part in (each.relative_to(folder).as_posix().encode(), each.read_bytes())
    ]
