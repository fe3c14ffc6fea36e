"""The reader: what the model is asked, what becomes of its answer, what it costs, and how it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import PluginError, Problem, UsageError
from assay.core.optional import StructuredIndex
from assay.core.protocols import Kit
from assay.core.records import Budget, Fault, Hit, Item, Node, Observed, Passage, Query, Response, Structure
from assay.core.registry import SYSTEMS, Registry, identity
from assay.kinds.memory.systems.reader import Reader
from assay.systems.flat import BM25
from stand_ins.chat_server import ChatStandIn, by_turns
from stand_ins.openai_server import Reply

KEY = "sk-very-secret-0123456789"
URL = "http://127.0.0.1:9/v1"
QUERY = Query("q", "Where was {passages} born?")
CORPUS = Corpus(
    [
        Passage("mill:0", "Ada Finch built it.", "Orr Mill"),
        Passage("finch:0", "She was born in {question}."),
        Passage("blank:0", " "),
    ]
)
SHOWN = "[1] Orr Mill\nAda Finch built it.\n\n[2] She was born in {question}."


@dataclass(frozen=True)
class Fixed:
    """A system that always finds the same, and counts how often it is asked."""

    names: tuple[str, ...] = ("mill:0", "blank:0", "finch:0")
    texts: tuple[str | None, ...] = (None, None, None)
    error: bool = False
    asked: list[str] = field(default_factory=list, compare=False)
    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Fixed:
        return self

    def session(self) -> Fixed:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        self.asked.append(query.item_id)
        if self.error:
            return Response(error=Fault("Broken", "it broke"))
        pairs = zip(self.names, self.texts, strict=True)
        hits = [Hit(name, 9.0 - rank, text=text) for rank, (name, text) in enumerate(pairs)]
        return Response(hits, observed=Observed({"search": 0.25, "total": 0.5}, tokens=7, cost=0.001))

    def problems(self, dataset: Dataset, kit: Kit) -> list[Problem]:
        return [Problem("cannot serve it", dataset.name)]

    def identity(self, kit: Kit) -> str:
        return "fixed"


class Drawn(Fixed):
    """One that publishes a graph, and cost something to build."""

    cost = 0.5

    def structure(self) -> Structure:
        return Structure([Node("mill:0")], [])


def answered(server: ChatStandIn, of: Any = None, **how: Any) -> Response:
    reader = Reader(of or Fixed(), url=server.url, model="m", backoff=0, **how)
    return reader.build(CORPUS, 3, Kit()).session().answer(QUERY, [])


def test_the_model_gets_the_question_and_the_first_texts_that_are_not_blank() -> None:
    with ChatStandIn(by_turns(" Tollen\n")) as server:
        response = answered(server, prompt="{passages}\n--\n{question}")
        assert response.answer == "Tollen"
        (request,) = server.requests
        # braces in a question or a passage are not filled in
        said = f"{SHOWN}\n--\nWhere was {{passages}} born?"
        assert request.payload == {
            "model": "m",
            "messages": [{"role": "user", "content": said}],
            "temperature": 0.0,
            "max_tokens": 50,
            "seed": 3,
        }
        assert [hit.doc_id for hit in response.hits] == ["mill:0", "blank:0", "finch:0"]


def test_only_the_first_k_hits_are_shown_and_a_hit_s_own_text_counts() -> None:
    with ChatStandIn(by_turns("x")) as server:
        answered(server, k=1)
        answered(server, Fixed(("other",), ("text from elsewhere",)))
        first, second = (each.payload["messages"][0]["content"] for each in server.requests)
    assert "Ada Finch built it." in first
    assert "She was born" not in first
    assert "[1] text from elsewhere\n" in second


def test_fields_of_the_request_can_be_added_and_taken_out() -> None:
    with ChatStandIn(by_turns("x")) as server:
        answered(server, extra={"temperature": None, "seed": None, "top_p": 1})
        assert set(server.requests[0].payload) == {"model", "messages", "max_tokens", "top_p"}


def test_time_tokens_and_cost_add_up() -> None:
    with ChatStandIn(by_turns("in Tollen")) as server:
        seen = answered(server, prompt="{question} {passages}", price_in=10.0, price_out=1000.0).observed
    # a word is a token: 4 of the question; number, title and text of two passages; 2 that are said
    read = len(f"Where was {{passages}} born? {SHOWN}".split())
    assert read == 4 + (1 + 2 + 4) + (1 + 5)
    assert seen.tokens == 7 + read + 2
    assert seen.cost == pytest.approx(0.001 + (read * 10 + 2 * 1000) / 1e6)
    assert set(seen.seconds) == {"search", "read", "total"}
    assert seen.seconds["total"] == pytest.approx(0.5 + seen.seconds["read"])


def test_without_anything_to_read_the_model_is_not_asked() -> None:
    with ChatStandIn(by_turns("x")) as server:
        assert answered(server, Fixed((), ())).answer is None
        assert answered(server, Fixed(("blank:0",), (None,))).answer is None
        broken = answered(server, Fixed(error=True))
        assert broken.error == Fault("Broken", "it broke")
        assert server.requests == []


def test_silence_is_an_answer_and_is_not_asked_for_again() -> None:
    with ChatStandIn(by_turns("")) as server:
        assert answered(server).answer == ""
        assert len(server.requests) == 1


def test_what_may_pass_is_asked_again() -> None:
    with ChatStandIn(by_turns(Reply({"error": "busy"}, 503), None, "Tollen")) as server:
        assert answered(server).answer == "Tollen"
        assert len(server.requests) == 3


def test_a_failed_reading_can_be_tried_again_and_the_system_is_asked_once() -> None:
    busy = Reply({"error": {"message": f"busy, {KEY}"}}, 503)
    with ChatStandIn(by_turns(busy, busy, "Tollen", "later")) as server:
        system = Fixed()
        reader = Reader(system, url=server.url, key=KEY, retries=0, backoff=0)
        session = reader.build(CORPUS, 0, Kit()).session()
        for _ in range(2):
            failed = session.answer(QUERY, [])
            assert failed.error is not None
            assert failed.error.retryable
            assert KEY not in failed.error.message
        answer = session.answer(QUERY, [])
        assert (answer.answer, system.asked) == ("Tollen", ["q"])
        # what the system cost is booked only with the first attempt
        assert answer.observed.cost is None
        assert session.answer(Query("r", "?"), []).answer == "later"
        assert system.asked == ["q", "r"]


def test_what_a_failed_attempt_cost_is_reported() -> None:
    with ChatStandIn(by_turns(None)) as server:
        reader = Reader(Fixed(), url=server.url, price_out=1.0, price_in=1.0, retries=1, backoff=0)
        failed = reader.build(CORPUS, 0, Kit()).session().answer(QUERY, [])
        tokens = sum(len(each.payload["messages"][0]["content"].split()) for each in server.requests)
    assert failed.error is not None
    assert failed.observed.cost == pytest.approx(0.001 + tokens / 1e6)


def test_a_refusal_is_final() -> None:
    with ChatStandIn(by_turns("x"), key="another") as server:
        failed = answered(server, key=KEY)
        assert failed.error is not None
        assert (failed.error.kind, failed.error.retryable) == ("Refused", False)
        assert "Check the key" in failed.error.message
        assert len(server.requests) == 1


def test_what_the_system_publishes_is_passed_on() -> None:
    drawn = Reader(Drawn(), url=URL).build(CORPUS, 0, Kit())
    assert isinstance(drawn, StructuredIndex)
    assert drawn.structure().nodes == [Node("mill:0")]
    assert drawn.cost == 0.5
    plain = Reader(BM25(), url=URL).build(CORPUS, 0, Kit())
    assert not isinstance(plain, StructuredIndex)
    assert plain.cost is None
    plain.close()
    dataset = Dataset("d", CORPUS, [Item("q", "?")])
    assert Reader(Fixed(), url=URL).problems(dataset, Kit()) == [Problem("cannot serve it", "d")]
    assert Reader(BM25(), url=URL).problems(dataset, Kit()) == []


def test_a_study_names_it_with_the_system_it_reads_from() -> None:
    made = Registry().create(SYSTEMS, f"reader(of=bm25(k=7), url='{URL}', model=m)")
    assert made == Reader(BM25(k=7), url=URL, model="m")
    with pytest.raises(PluginError, match=r"'reader': of: There is no system 'bm26'"):
        Registry().create(SYSTEMS, f"reader(of=bm26, url='{URL}')")
    with pytest.raises(PluginError, match="of: "):
        Registry().create(SYSTEMS, {"use": "reader", "of": 3, "url": URL})


def test_its_identity_is_the_system_s_and_the_model_s_and_no_secret() -> None:
    one = Reader(BM25(), url=f"http://me:{KEY}@127.0.0.1:9/v1", model="m", key=KEY)
    assert KEY not in identity(one) + repr(one)
    others = [
        Reader(BM25(k=9), url=URL, model="m"),
        Reader(BM25(), url=URL, model="n"),
        Reader(BM25(), url="http://127.0.0.1:8/v1", model="m"),
        Reader(BM25(), url=URL, model="m", k=4),
        Reader(BM25(), url=URL, model="m", prompt="{passages} {question}"),
    ]
    assert len({identity(each) for each in (one, *others)}) == 6
    assert identity(Reader(BM25(), url=URL, model="m", timeout=9, price_in=1, threads=2)) == identity(one)
    assert Reader(Fixed(), url=URL).identity(Kit()) == {"of": "fixed"}


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"url": ""}, "url: no service"),
        ({"url": "nowhere"}, "not the address"),
        ({"k": 0}, "k is 0"),
        ({"price_in": -1.0}, "price_in is -1"),
        ({"prompt": "{passages}"}, r"\{question\} is missing"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(wrong: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        Reader(**{"of": BM25(), "url": URL, **wrong})
