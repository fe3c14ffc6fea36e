"""An HTTP endpoint on loopback, and a judge that costs something: what breaks is a failure, never a miss."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from assay.core.block import Block
from assay.core.dataset import Corpus, Dataset
from assay.core.errors import Retryable
from assay.core.protocols import Kit
from assay.core.records import Budget, Finding, Hit, Item, Judgment, Passage, Query, Question, Response
from assay.core.registry import JUDGES, SYSTEMS
from assay.pipeline.evaluate import judge_study
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import run_study
from assay.pipeline.work_orders import NoProgress
from assay.store.journal import JudgmentEntry
from assay.store.run_store import Store
from assay.study.study import Study, open_study
from small_study import assay

WORDS = ["ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibis", "jay"]
PASSAGES = [Passage(f"p-{word}", f"all about the {word}") for word in WORDS]
ITEMS = [
    Item(
        f"en-{word}", f"tell me of the {word}", "en", {"category": ["direct"]}, {"relevant": {f"p-{word}": 1}}
    )
    for word in WORDS
]


class Endpoint(BaseHTTPRequestHandler):
    """Finds the passage that shares a word with the query; always breaks on the gnu."""

    calls: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        text = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)["q"][0]
        self.calls.append(text)
        self.send_response(500 if "gnu" in text else 200)
        self.end_headers()
        found = [word for word in WORDS if word in text.split()]
        self.wfile.write(json.dumps([[f"p-{word}", 1.0] for word in found]).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Endpoint.calls.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/search"
    server.shutdown()
    server.server_close()


@dataclass(frozen=True)
class Web:
    """Asks an endpoint; a 5xx may pass."""

    url: str
    version: ClassVar[str] = "1"
    threads: ClassVar[int] = 4

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Web:
        return self

    def session(self) -> Web:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        address = f"{self.url}?{urllib.parse.urlencode({'q': query.text})}"
        try:
            with urllib.request.urlopen(address, timeout=5) as reply:
                return Response(hits=[Hit(doc_id, score) for doc_id, score in json.load(reply)])
        except urllib.error.HTTPError as error:
            error.close()
            raise Retryable(f"{error.code} from {self.url}") from error


STUDY = """
kind: search
data: folder(path=.)
systems: {{web: {{use: web, url: "{url}"}}}}
measures: [Success@3, RR@10]
by: [category]
run: {{retries: 1, backoff: 0.01}}
gates:
  merge: {{go: ["Success@3(web) >= 80% where category=direct"], max_failed: 20%}}
  strict: {{go: ["Success@3(web) >= 95%"], max_failed: 20%}}
"""


def test_a_failing_item_is_a_failure_and_never_a_miss(
    url: str, study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY.format(url=url), ITEMS, PASSAGES, {SYSTEMS: {"web": Web}})
    results = evaluated(study).results

    estimate = next(each for each in results.estimates if each.measure == "Success@3" and not each.where)
    assert (estimate.value, estimate.n_scored, estimate.n_expected) == (1.0, 9, 10)
    assert estimate.counts == {"failed": 1}
    assert len([call for call in Endpoint.calls if "gnu" in call]) == 2  # one retry
    assert (
        next(view for view in results.items if view.item_id == "en-gnu")
        .faults["web"]
        .startswith("Retryable: 500")
    )

    # 9 of 10 at worst and 10 of 10 at best: both pass 80 %, only one passes 95 %
    merge, strict = results.verdicts
    assert (merge.verdict, merge.clauses[0].holds) == ("go", True)
    assert (strict.verdict, strict.clauses[0].holds) == ("inconclusive", None)
    assert "1 item failed" in strict.clauses[0].reason


def test_one_failure_of_ten_is_more_than_a_gate_allows_by_default(
    url: str, study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    text = STUDY.format(url=url).replace(", max_failed: 20%", "")
    results = evaluated(study_at(text, ITEMS, PASSAGES, {SYSTEMS: {"web": Web}})).results
    assert [each.verdict for each in results.verdicts] == ["no-go", "no-go"]
    assert results.verdicts[1].clauses[0].reason.startswith("web failed on 1 of 10 items, more than the 5 %")


def test_the_failed_item_is_asked_again_and_nothing_else(
    url: str, study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY.format(url=url), ITEMS, PASSAGES, {SYSTEMS: {"web": Web}})
    evaluated(study)
    Endpoint.calls.clear()
    assert evaluated(study).results.verdict == "inconclusive"
    assert set(Endpoint.calls) == {"tell me of the gnu"}


# ------------------------------------------------------------------------ a judge that costs something


@dataclass(frozen=True)
class Shelf:
    """Returns the passage asked for, and the one after it."""

    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Shelf:
        return self

    def session(self) -> Shelf:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        place = WORDS.index(query.text.split()[-1])
        near = [WORDS[place], WORDS[(place + 1) % len(WORDS)]]
        return Response(hits=[Hit(f"p-{word}", 2.0 - rank) for rank, word in enumerate(near)])


@dataclass(frozen=True)
class Model:
    """A scripted model judge: a passage is relevant where it has the query's last word."""

    prompt: str = "relevant?"
    broken: str = ""
    version: ClassVar[str] = "1"
    threads: ClassVar[int] = 2
    names: ClassVar[tuple[str, ...]] = ("model",)
    closed_labels: ClassVar[frozenset[str]] = frozenset()
    asked: ClassVar[Counter[tuple[str, str | None]]] = Counter()

    def questions(self, dataset: Dataset, blocks: Sequence[Block]) -> Iterator[Question]:
        for block in blocks:
            for item, response in zip(block.items, block.responses, strict=True):
                for hit in response.hits if response else ():
                    text = dataset.corpus.text_of(hit.doc_id) or ""
                    yield Question(item.item_id, "relevance", text, item.text, hit.doc_id)

    def ask(self, question: Question, kit: Kit) -> Finding:
        self.asked[question.item_id, question.target] += 1
        if self.broken and self.broken in question.text:
            raise Retryable("the model is overloaded")
        return Finding(float(question.text.split()[-1] in question.about.split()), reason="said so", cost=0.5)


MODEL_STUDY = """
data: folder(path=.)
systems: {{shelf: shelf, twin: shelf}}
judges: [{{use: human, raters: [anna]}}, {{use: model{how}}}]
measures: [Success@1, P@2]
run: {{retries: 1, backoff: 0.01{cap}}}
gates:
  ship: {{go: ["Success@1(shelf) >= 90%"]}}
"""
PEOPLE_STUDY = """
data: folder(path=.)
systems: {shelf: shelf}
judges: [{use: human, raters: [anna]}]
measures: [Success@1]
gates:
  ship: {go: ["Success@1(shelf) >= 90%"]}
"""
MODEL = {SYSTEMS: {"shelf": Shelf}, JUDGES: {"model": Model}}


@pytest.fixture
def model_study(study_at: Callable[..., Study]) -> Callable[..., Study]:
    Model.asked.clear()

    def write(how: str = "", cap: str = "") -> Study:
        return study_at(MODEL_STUDY.format(how=how, cap=cap), ITEMS, PASSAGES, MODEL)

    return write


def test_a_paying_judge_is_asked_each_question_once(
    model_study: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = model_study()
    results = evaluated(study).results
    # ten items with two hits each; the twin shows the same passages and costs nothing more
    assert (len(Model.asked), set(Model.asked.values())) == (20, {1})
    assert Store(study.run_folder).cost() == 20 * 0.5
    assert {(each.system, each.measure): each.value for each in results.estimates} == {
        ("shelf", "Success@1"): 1.0,
        ("shelf", "P@2"): 0.5,
        ("twin", "Success@1"): 1.0,
        ("twin", "P@2"): 0.5,
    }
    assert results.verdict == "go"
    assert "relevance: 20 (open world, pool " in results.trust.provenance["labels"]

    assert evaluated(study).results.verdict == "go"  # a second run
    assert Evaluation(study).results.verdict == "go"  # a report
    assert set(Model.asked.values()) == {1}


def test_another_prompt_is_another_judge(
    model_study: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    evaluated(model_study())
    changed = Evaluation(model_study(", prompt: useful"))
    assert changed.results.verdict == "inconclusive"  # what the old prompt said is not what this one says
    assert "20 of 20 questions to model were not asked yet" in changed.results.trust.warnings


def test_questions_that_fail_stay_open_and_are_said_to(
    model_study: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    results = evaluated(model_study(", broken: gnu")).results
    # the gnu stands first for its own item and second for the fox, whose Success@1 needs it not
    estimate = next(each for each in results.estimates if each.measure == "Success@1")
    assert (estimate.value, estimate.n_scored, estimate.counts) == (1.0, 9, {"unjudged": 1})
    failed = "model failed on 2 of 20 questions; the last failure: Retryable: the model is overloaded"
    assert failed in results.trust.warnings
    assert results.verdict == "inconclusive"
    assert Model.asked["en-gnu", "p-gnu"] == 2  # one retry


class Killed(NoProgress):
    """Dies when seven questions have come back."""

    def __init__(self) -> None:
        self.left = 7

    def stage(self, what: str, done: int, total: int) -> None: ...

    def advance(self, items: int, failed: int) -> None:
        self.left -= items
        if not self.left:
            raise KeyboardInterrupt


def test_killed_half_way_nothing_is_asked_twice(model_study: Callable[..., Study]) -> None:
    study = model_study()
    run_study(study)
    with pytest.raises(KeyboardInterrupt):
        judge_study(study, progress=Killed())
    assert 7 <= len(Model.asked) < 20
    half = Evaluation(study).results
    assert half.verdict == "inconclusive"
    assert any("were not asked yet" in warning for warning in half.trust.warnings)

    (tally,) = judge_study(open_study(study.folder, registry=study.registry))
    assert (len(Model.asked), set(Model.asked.values())) == (20, {1})
    assert tally.answered <= 13
    assert Evaluation(study).results.verdict == "go"


def test_a_paying_judge_stops_at_the_spending_cap(
    model_study: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = model_study(cap=", max_cost: 3, threads: 1")
    results = evaluated(study).results
    assert len(Model.asked) == 6  # at 0.5 each
    left = "14 of 20 questions to model were not asked yet, because max_cost was reached"
    assert any(left in warning for warning in results.trust.warnings)
    assert results.verdict == "inconclusive"
    evaluated(study)
    assert len(Model.asked) == 6


def test_what_nobody_judged_does_not_leave_the_mean_in_silence(
    study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(PEOPLE_STUDY, ITEMS, PASSAGES, MODEL)
    with Store(study.run_folder).writer() as writer:
        for word in WORDS[:6]:
            marked = Judgment(f"en-{word}", "relevance", 1.0, "anna", target=f"p-{word}")
            writer.append(JudgmentEntry(marked), now=True)
    results = evaluated(study).results
    estimate = results.estimates[0]
    assert (estimate.value, estimate.n_scored, estimate.n_expected) == (1.0, 6, 10)
    assert estimate.counts == {"unjudged": 4}
    assert results.verdict == "inconclusive"


def test_a_persons_word_comes_before_the_models(
    model_study: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = model_study()
    with Store(study.run_folder).writer() as writer:
        writer.append(JudgmentEntry(Judgment("en-ant", "relevance", 0.0, "anna", target="p-ant")), now=True)
    scores = evaluated(study).scores.filter(item="en-ant", measure="Success@1")
    assert scores["value"].to_list() == [0.0, 0.0]


def test_only_run_asks_and_every_command_reads(
    model_study: Callable[..., Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = model_study()
    monkeypatch.setattr("assay.study.study.Registry", lambda: study.registry)
    done = assay("run", study.folder)
    assert done.code == 0
    assert "model: 20 questions answered, 0 failed, cost 10" in done.err
    for command in ("gate", "report"):
        assert assay(command, study.folder).code == 0
    assert set(Model.asked.values()) == {1}
