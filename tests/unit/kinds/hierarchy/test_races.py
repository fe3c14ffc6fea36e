"""assay fit of a race: what each way is asked, what is fitted on it, the table, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest

from assay.core.dataset import Corpus
from assay.core.errors import DataError, SystemFailure, UsageError
from assay.core.protocols import Kit, System
from assay.core.records import Budget, Context, Fault, Hit, Piece, Query, Response, Span
from assay.core.registry import SYSTEMS, Registry
from assay.kinds.hierarchy.features import feature_extractor
from assay.kinds.hierarchy.fitted import read_confidence, read_detector
from assay.kinds.hierarchy.fitting import RacingSystem, fit_confidences, fit_detectors
from assay.study.study import Study, open_study
from assay.systems.wrapping import AnySystem
from small_detecting import PROJECTS
from small_study import assay, edited, write_lines

STUDY = """\
kind: anything
data: data
split: test
seeds: 4
budgets: [400]
systems:
  plain: bm25
  race: race
measures: [nDCG@10]
"""
ONE_SEED = edited("seeds: 4", "seeds: 1", STUDY)


@dataclass(frozen=True)
class OneWay:
    """Finds what a query with its word in it asks for, and for any other the passage after it."""

    word: str
    fails: bool = False
    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> OneWayIndex:
        return OneWayIndex(self, corpus, seed)


@dataclass(frozen=True)
class OneWayIndex:
    way: OneWay
    corpus: Corpus
    seed: int

    def session(self) -> OneWayIndex:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        if self.way.fails:
            return Response(error=Fault("Broken", "it broke"))
        at = next(n for n, each in enumerate(self.corpus.passages) if each.doc_id in query.text)
        if self.way.word not in query.text and self.seed < 3:  # a fourth seed finds everything
            at = (at + 1) % len(self.corpus)
        found = self.corpus.passages[at]
        piece = Piece(found.doc_id, found.text, Span(0, len(found.text)))
        contexts = [Context(budget, [piece], 20, "told") for budget in budgets]
        return Response(hits=[Hit(found.doc_id, 1.0)], contexts=contexts)


@dataclass(frozen=True)
class Race:
    """Takes the surer of two ways."""

    confidence: str = "race.json"
    other: str = "budget"
    fails: bool = False
    version: ClassVar[str] = "1"

    def paths(self) -> dict[str, System]:
        return {"beam": OneWay("leads", self.fails), "collapsed": OneWay(self.other)}

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> RaceIndex:
        return RaceIndex(self, corpus, seed, kit)


@dataclass(frozen=True)
class RaceIndex:
    race: Race
    corpus: Corpus
    seed: int
    kit: Kit

    def session(self) -> RaceIndex:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        confidence = read_confidence(self.kit.path(self.race.confidence), self.race.paths())
        extractor = feature_extractor(self.corpus, self.kit)
        answers = {
            path: way.build(self.corpus, self.seed, self.kit).session().answer(query, budgets)
            for path, way in self.race.paths().items()
        }
        sure = {
            path: confidence.of(path, extractor.features(query.text, answer.hits))
            for path, answer in answers.items()
        }
        taken = max(sure, key=lambda path: sure[path])
        answers[taken].route = taken
        return answers[taken]


@dataclass(frozen=True)
class Around:
    """A system put around another."""

    of: Annotated[AnySystem, SYSTEMS]
    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Any:
        return self.of.build(corpus, seed, kit)


def items() -> list[dict[str, Any]]:
    """Of each project two questions, of whose evidence each way finds one; the last two are for the test.

    Of every fifth project the evidence is that of another, so that no way finds it.
    """
    made = []
    for n, name in enumerate(PROJECTS):
        other = (n + 10) % len(PROJECTS) if n % 5 == 0 else n
        texts = [f"Who leads Project {name}?", f"What is the budget of Project {name}?"]
        text = passage(other)
        unit = {
            "doc_id": PROJECTS[other],
            "source": PROJECTS[other],
            "start": 0,
            "end": len(text),
            "text": text,
        }
        split = ("tune", "dev")[n // 2 % 2] if n < 18 else "test"
        made += [
            {
                "item_id": f"{kind}{n}",
                "text": asked,
                "gold": {"evidence": [unit]},
                "split": split,
                "tags": {"feasible": "yes"},
            }
            for kind, asked in zip("lb", texts, strict=True)
        ]
    return made


def passage(n: int) -> str:
    return f"The {PROJECTS[n]} team leads Project {PROJECTS[n]}. Its budget is {100 + n} euros."


def write(folder: Path, study: str = STUDY, made: list[dict[str, Any]] | None = None) -> Study:
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(study)
    passages = [{"doc_id": name, "text": passage(n)} for n, name in enumerate(PROJECTS)]
    write_lines(folder / "data/passages.jsonl", passages)
    write_lines(folder / "data/items.jsonl", items() if made is None else made)
    return open_study(folder, registry=Registry({SYSTEMS: {"race": Race, "around": Around}}))


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raced")
    (done,) = fit_confidences(write(folder))
    assert (done.system, done.path) == ("race", str(folder / "race.json"))
    return folder


def test_the_file_says_what_it_was_fitted_on_and_what_the_race_reaches(fitted: Path) -> None:
    origin = read_confidence(fitted / "race.json", ["beam", "collapsed"]).fitted
    assert (origin.dataset, origin.arm, origin.budget, origin.seeds) == ("data", "race", 400, [0, 1, 2])
    assert "Race" in origin.system
    # projects 0, 1, 4, 5, 8, 9, 12, 13, 16, 17 are tune, with two questions and three seeds: 60 answers. Each
    # way finds one question of each, but of 0 and 5, whose evidence is elsewhere: 8 × 3 = 24
    assert origin.counts["tune"].answers == 60
    assert origin.counts["tune"].enough == {"beam": 24, "collapsed": 24}
    # dev: 2, 3, 6, 7, 10, 11, 14, 15, of which 10 and 15 cannot be found: 6 of 16 by either way, 12 by one
    assert origin.counts["dev"].answers == 48
    assert origin.reached.alone == {"beam": 0.375, "collapsed": 0.375}
    assert origin.reached.perfect == 0.75
    assert origin.reached.race == 0.75
    assert 0.0 < origin.reached.uncalibrated <= 0.75


def test_what_was_fitted_is_surer_of_what_is_right(fitted: Path) -> None:
    ways = read_confidence(fitted / "race.json").paths
    for way in ways.values():
        assert way.weights["named_ten"] > 0.05  # the name in the question is in what was found


def test_the_same_inputs_give_the_same_bytes_and_only_feasible_items_of_tune_and_dev_count(
    fitted: Path, tmp_path: Path
) -> None:
    made = items()
    for item in made:
        if item["split"] == "test":
            item["text"] = f"Changed, of {PROJECTS[3]}?"
    made.append({**made[0], "item_id": "long", "tags": {"feasible": "no"}})
    made.append({**made[0], "item_id": "bare", "gold": {}})
    fit_confidences(write(tmp_path, made=made))
    first, second = (read_confidence(folder / "race.json") for folder in (fitted, tmp_path))
    assert second.paths == first.paths
    assert second.fitted.counts == first.fitted.counts


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"split": "test"}, ["has the split 'tune'", "has the split 'dev'"]),
        ({"tags": {}}, ["no item with evidence and the tag feasible=yes has the split 'tune'"]),
        ({"gold": {}}, ["no item with evidence and the tag feasible=yes has the split 'dev'"]),
    ],
)
def test_data_without_items_to_learn_from_is_refused(
    tmp_path: Path, change: dict[str, Any], what: list[str]
) -> None:
    study = write(tmp_path, made=[{**item, **change} for item in items()])
    with pytest.raises(DataError) as caught:
        fit_confidences(study)
    for each in what:
        assert each in str(caught.value)
    assert "study.yaml:2: data: " in str(caught.value)


def test_too_few_answers_of_one_sort_are_refused(tmp_path: Path) -> None:
    study = write(tmp_path, edited("race: race", "race: race(other=o)", ONE_SEED))
    # every question has an o in it: the second way finds all but what is elsewhere, 4 of 20
    with pytest.raises(DataError) as caught:
        fit_confidences(study)
    told = "on tune, only 4 of 20 answers of 'collapsed' miss some evidence (5 are needed). Add items"
    assert told in str(caught.value)
    assert not (tmp_path / "race.json").exists()


def test_a_way_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    study = write(tmp_path, STUDY.replace("race: race", "race: race(fails=true)"))
    old = '{"format": "assay/confidence/1"}'
    (tmp_path / "race.json").write_text(old)
    with pytest.raises(SystemFailure, match=r"l0 failed \(Broken: it broke\), so nothing was fitted"):
        fit_confidences(study)
    assert (tmp_path / "race.json").read_text() == old


def test_a_file_that_is_not_a_confidence_is_not_overwritten(tmp_path: Path) -> None:
    study = write(tmp_path)
    (tmp_path / "race.json").write_text("my notes")
    with pytest.raises(UsageError, match="exists and is not a confidence"):
        fit_confidences(study)
    assert (tmp_path / "race.json").read_text() == "my notes"


def test_who_races_is_found_inside_and_without_a_file_is_left_out(tmp_path: Path) -> None:
    assert isinstance(Race(), RacingSystem)
    systems = "  a: around(of=race)\n  b: race\n  c: race(confidence='')\n"
    study = write(tmp_path, edited("  plain: bm25\n  race: race\n", systems, ONE_SEED))
    (done,) = fit_confidences(study)  # the same race, once
    assert done.system == "a"
    assert fit_confidences(study, ["c"]) == []
    other = write(tmp_path, edited("  plain: bm25", "  plain: race(other=of)", ONE_SEED))
    with pytest.raises(UsageError, match=r"The systems plain and race both read race\.json\."):
        fit_confidences(other)


def test_a_detector_of_a_race_is_fitted_on_what_the_race_answers(tmp_path: Path) -> None:
    made = items()
    for n, name in enumerate(PROJECTS[:10]):
        text = f"List all leaders of all projects, for each project like {name}"
        split = ("tune", "dev")[n % 2]
        made.append({"item_id": f"a{n}", "text": text, "split": split, "gold": {"impossible": "aggregation"}})
    systems = "  shy: abstaining(of=race, detector=shy.json)\n"
    study = write(tmp_path, edited("  plain: bm25\n  race: race\n", systems, ONE_SEED), made)
    with pytest.raises(DataError, match=r"race\.json: not fitted yet"):
        fit_detectors(study)
    assert [done.system for done in fit_confidences(study)] == ["shy"]
    fit_detectors(study)
    assert read_detector(tmp_path / "shy.json").fitted.reached["any"].recall == 1.0


def test_the_command_fits_both_and_shows_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, ONE_SEED)
    both = Registry({SYSTEMS: {"race": Race}})
    monkeypatch.setattr("assay.study.study.Registry", lambda *_: both)
    done = assay("fit", tmp_path)
    assert done.code == 0
    assert done.err.splitlines()[-1] == f"race: {tmp_path / 'race.json'}"
    assert [line.split() for line in done.out.splitlines()] == [
        ["system", "path", "dev", "answers", "A@400"],
        ["race", "beam", "16", "0.375"],
        ["race", "collapsed", "16", "0.375"],
        ["race", "race", "16", "0.750"],
        ["race", "uncalibrated", "16", "0.750"],
        ["race", "perfect", "choice", "16", "0.750"],
    ]
    told = assay("fit", tmp_path, "--json").json
    assert told["fits"] == []
    (race,) = told["confidences"]
    assert race["reached"]["race"] == 0.75
    assert race["counts"]["dev"] == {"answers": 16, "enough": {"beam": 6, "collapsed": 6}}
    assert set(race["strengths"]) == {"beam", "collapsed"}
