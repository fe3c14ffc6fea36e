"""Labels over a golden set: where each holds, what a model is asked, and what nobody has looked at."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest

from assay.core.dataset import Corpus
from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.core.records import Budget, Hit, Judgment, Query, Response
from assay.core.registry import SYSTEMS, Registry
from assay.judges.labels import text_hash
from assay.pipeline.evaluate import judge_study
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import run_study
from assay.pipeline.validate import check_study
from assay.store.journal import JudgmentEntry
from assay.store.run_store import Store
from assay.study.study import Study, open_study
from small_golden import APPLES, CROSSING, DARK, ROPE, STUDY, entry, expected, write_golden, write_set
from stand_ins.chat_server import ChatStandIn, by_turns

NOWHERE = "some other words entirely, which stand nowhere in the book"
MEASURES = "measures: [Success(rel=2)@3, R@10]\ncompare: {resamples: 200}\n"
CUTS = ["tokens(size=30, overlap=5)", "tokens(size=20, overlap=5)"]


@dataclass(frozen=True)
class Scripted:
    """An endpoint with passages of its own: `answers.json` has its hits, by system and item."""

    name: str
    version: ClassVar[str] = "1"
    gives: ClassVar[frozenset[str]] = frozenset({"hits", "texts"})

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> _Answers:
        return _Answers(json.loads(kit.path("answers.json").read_text())[self.name])


@dataclass(frozen=True)
class _Answers:
    hits: Mapping[str, Sequence[tuple[str, str]]]

    def session(self) -> _Answers:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        found = self.hits.get(query.item_id, ())
        return Response([Hit(doc, 1 - place / 100, text=text) for place, (doc, text) in enumerate(found)])


def edited(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def model(url: str, **more: Any) -> str:
    return json.dumps({"use": "llm", "url": url, "model": "m", "backoff": 0, **more})


def opened(folder: Path) -> Study:
    return open_study(folder, registry=Registry({SYSTEMS: {"scripted": Scripted}}))


def endpoints(folder: Path, answers: Mapping[str, Any], judges: str = "anchors", more: str = "") -> Study:
    """One query for the rope, asked of endpoints with ids of their own."""
    systems = "\n".join(f"  {name}: scripted(name={name})" for name in answers)
    changes = [
        ("systems: {words: bm25}", f"systems:\n{systems}"),
        ("[anchors]", f"[{judges}]"),
        ("measures: [Success@3]\n", MEASURES + more),
        ("count: 2", "count: 1"),
    ]
    write_golden(folder, edited(STUDY, *changes))
    (folder / "golden-set-es.json").unlink()
    write_set(folder, [entry("en-direct-001", "who held the rope", expected(ROPE))])
    (folder / "answers.json").write_text(
        json.dumps({name: {"en-direct-001": hits} for name, hits in answers.items()})
    )
    return opened(folder)


def evaluated(study: Study) -> Evaluation:
    run_study(study)
    judge_study(study)
    return Evaluation(study)


def values(found: Evaluation, measure: str) -> dict[str, float]:
    """The mean of each arm."""
    one = found.scores.filter(pl.col("measure") == measure)
    return dict(one.group_by("arm", maintain_order=True).agg(pl.col("value").mean()).iter_rows())


# ------------------------------------------------------------------------------ documents cut twice


def two_cuts(folder: Path, judges: str) -> Study:
    text = edited(
        STUDY,
        (f"chunk: {CUTS[0]}", f"factors: {{chunk: {json.dumps(CUTS)}}}"),
        ("[anchors]", f"[{judges}]"),
        ("measures: [Success@3]\n", MEASURES),
    )
    return opened(write_golden(folder, text))


def test_passages_of_another_chunking_are_not_missing_and_what_anchors_decide_is_not_asked(
    tmp_path: Path,
) -> None:
    closed = values(evaluated(two_cuts(tmp_path / "alone", "anchors")), "R@10")
    # of what counts for the three queries all is found; in the finer cut 2 of 3 passages for the second
    assert list(closed.values()) == pytest.approx([1.0, (1 + 2 / 3 + 1) / 3])
    with ChatStandIn(by_turns("NOT_RELEVANT\nNo.")) as server:
        found = evaluated(two_cuts(tmp_path / "model", f"anchors, {model(server.url)}"))
        assert values(found, "R@10") == pytest.approx(closed)
        said = {(each.item_id, each.target): each.judge for each in found.judgments}
        asked = [each for each in found.judgments if each.judge == "llm:relevance"]
        assert all(said[each.item_id, each.target] == "llm:relevance" for each in asked)
        # one passage came back that no anchor names; the other 9 were asked about in vain
        assert server.calls == len(asked) == 1


def test_a_mark_on_a_passage_of_one_chunking_counts_only_there(tmp_path: Path) -> None:
    study = two_cuts(tmp_path, "human, anchors")
    run_study(study)
    own, both = "en/ferry/01#0-133", "en/ferry/02"  # a passage of the first cut; a document, which all have
    coarse, fine = (study.dataset(arm).corpus for arm in study.arms)
    assert own in coarse.position
    assert own not in fine.position
    with Store(study.run_folder).writer() as writer:
        for target in (own, both):
            mark = Judgment("es-direct-001", "relevance", 2.0, "anna", target=target)
            writer.append(JudgmentEntry(mark), now=True)
    found = Evaluation(study)
    assert [each.arm for each in found.judgments if each.judge == "anna"] == [None, None]
    marked = found.labels.frame.filter(pl.col("item") == "es-direct-001", pl.col("rank") == 0)
    assert marked.select("target", "arm").rows() == [(own, study.arms[0].name), (both, None)]


# ------------------------------------------------------------------------- endpoints beside each other

A = [("a1", ROPE)]
B = [("b1", f"and {ROPE} on"), ("b2", f"{ROPE} on the water")]


def test_another_endpoint_moves_no_figure_of_a_closed_label(tmp_path: Path) -> None:
    # one passage of the corpus counts as the anchor, and what each of them returned: 1 of 2, 2 of 3
    assert values(evaluated(endpoints(tmp_path / "1", {"a": A})), "R@10") == {"a": 1 / 2}
    found = values(evaluated(endpoints(tmp_path / "2", {"a": A, "b": B})), "R@10")
    assert found == pytest.approx({"a": 1 / 2, "b": 2 / 3})


def test_in_an_open_world_endpoints_share_what_they_found(tmp_path: Path) -> None:
    with ChatStandIn(by_turns("NOT_RELEVANT\nNo.")) as server:
        study = endpoints(tmp_path, {"a": A, "b": [*B, ("b3", NOWHERE)]}, f"anchors, {model(server.url)}")
        # the passage of the corpus, a1, b1 and b2
        assert values(evaluated(study), "R@10") == {"a": 1 / 4, "b": 2 / 4}
        assert server.calls == 1  # b3: the others match the anchor, for one endpoint or for both


@pytest.mark.parametrize(
    ("opened", "wanted"),
    [
        (False, {"a": 1 / 2, "b": 1.0}),  # a1 of a1 and the passage; b1 of b1, which is the passage
        (True, {"a": 1 / 2, "b": 1 / 2}),  # a1 and b1 are all there is to find
    ],
)
def test_a_passage_under_an_id_of_theirs_is_wanted_once(
    tmp_path: Path, opened: bool, wanted: dict[str, float]
) -> None:
    answers = {"a": A, "b": [("b1", CROSSING[:133])]}  # the first passage of the study's own cut
    with ChatStandIn(by_turns("NOT_RELEVANT\nNo.")) as server:
        study = endpoints(tmp_path, answers, f"anchors, {model(server.url)}" if opened else "anchors")
        assert "en/ferry/01#0-133" in study.dataset(study.arms[0]).corpus.position
        assert values(evaluated(study), "R@10") == wanted
        assert server.calls == 0


# ------------------------------------------------------------------------------- what nobody looked at


def marked(study: Study, *marks: tuple[str, str, float]) -> Evaluation:
    """The study with a person's marks on some hits."""
    run_study(study)
    with Store(study.run_folder).writer() as writer:
        for target, text, grade in marks:
            seen = text_hash(text)
            mark = Judgment("en-direct-001", "relevance", grade, "anna", target=target, seen=seen)
            writer.append(JudgmentEntry(mark), now=True)
    return Evaluation(study)


def bounds(found: Evaluation) -> list[str]:
    return [each.name for each in found.results.measures if each.lower_bound]


MORE = "gates: {deep: {go: ['RR@3(a) >= 0.1'], min_items: 1}}\n"


def test_a_figure_is_a_lower_bound_while_somebody_could_raise_it(tmp_path: Path) -> None:
    answers = {"a": [("1", ROPE), ("2", NOWHERE), ("3", NOWHERE + " at all")]}
    deep = MEASURES.replace("R@10", "R@10, nDCG@10, AP@10, Success@1, RR@2, P@3")
    study = endpoints(tmp_path, answers, "human, anchors")
    text = edited((tmp_path / "study.yaml").read_text(), (MEASURES, deep + MORE))
    (tmp_path / "study.yaml").write_text(text)
    study = opened(tmp_path)
    # the anchor names the first hit; recall, nDCG and average precision fall where more proves relevant
    found = marked(study)
    assert bounds(found) == ["Success(rel=2)@3", "RR@2", "P@3"]
    (told,) = (each for each in found.results.trust.warnings if each.startswith("lower bounds: "))
    assert told.startswith(
        "lower bounds: Success(rel=2)@3, RR@2, P@3, RR@3 ("
    )  # what only the gate reads too
    found = marked(study, ("2", NOWHERE, 0.0))
    assert bounds(found) == ["Success(rel=2)@3", "P@3"]
    found = marked(study, ("3", NOWHERE + " at all", 1.0))
    assert bounds(found) == []
    assert not [each for each in found.results.trust.warnings if each.startswith("lower bounds")]


def test_items_judged_by_intent_show_the_grades_of_that_label(tmp_path: Path) -> None:
    study = endpoints(tmp_path, {"a": []})
    spoken = [("1", NOWHERE), ("2", DARK), ("3", ROPE)]
    wanted = expected(DARK, 2), expected(ROPE, 1, "partial")
    night = entry("en-night-001", "nothing left", *wanted, retrieval_intent="console")
    write_set(tmp_path, [entry("en-direct-001", "rope", expected(APPLES)), night])
    (tmp_path / "answers.json").write_text(json.dumps({"a": {"en-night-001": spoken}}))
    study = opened(tmp_path)
    _, view = evaluated(study).results.items
    assert [(each.text, each.grade) for each in view.expected] == [(DARK, 1.0), (ROPE, 0.0)]
    assert [each.grade for each in view.returned["a"]] == [0.0, 1.0, 0.0]


# ---------------------------------------------------------------------------------- before anything runs


def test_a_judge_that_looks_less_deep_than_a_measure_reads_is_a_problem(tmp_path: Path) -> None:
    def problems(**more: Any) -> list[str]:
        study = endpoints(tmp_path, {"a": A}, f"anchors, {model('http://127.0.0.1:1', **more)}", MORE)
        try:
            check_study(study, study.arms)
        except DataError as error:
            return [str(each).partition(": ")[2] for each in error.problems]
        return []

    assert problems() == []
    assert problems(depth=10) == []
    fix = "Set depth: 10, or lower the cut-off: what it does not look at stays unjudged."
    assert problems(depth=2) == [
        f"judges.1: the depth of llm:relevance is 2, and Success(rel=2)@3, R@10, RR@3 read further. {fix}"
    ]
    assert problems(depth=9) == [f"judges.1: the depth of llm:relevance is 9, and R@10 reads further. {fix}"]
    assert problems(depth=1, prompt="intent") == []  # no measure reads its label


def test_a_judge_that_is_not_asked_need_not_look_deep_and_an_uncut_measure_warns(tmp_path: Path) -> None:
    study = endpoints(tmp_path, {"a": A}, f"anchors, {model('', depth=1)}")
    assert not any("depth" in each for each in check_study(study, study.arms).warnings)
    text = (tmp_path / "study.yaml").read_text()
    url = "http://127.0.0.1:1"
    text = edited(text, (model("", depth=1), model(url)), ("R@10", "R@10, AP, RR(view='document')@3"))
    (tmp_path / "study.yaml").write_text(text)
    study = opened(tmp_path)
    told = "the depth of llm:relevance is 10, and AP, RR(view='document')@3 may read further"
    assert f"{told}: such items stay unjudged" in check_study(study, study.arms).warnings
