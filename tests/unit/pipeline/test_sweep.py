"""A sweep from start to end: what is asked and embedded, the reference, broken settings, judgments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from assay.core.dataset import Corpus
from assay.core.errors import DataError, SystemFailure
from assay.core.protocols import Kit
from assay.core.records import Budget, Hit, Judgment, Query, Response
from assay.core.registry import outside_identity
from assay.pipeline.sweep import SweepRun, run_sweep, setting_names
from assay.store.journal import JudgmentEntry
from assay.store.run_store import Store
from small_study import WORDS
from sweep_grid import STUDY, embedded, opened, write_corpus

SMALL = """\
  system: both
  grid:
    fuse.k: [40, 60]
    chunk: [tokens(size=12), tokens(size=24)]
    model: [counted(size=8), counted(size=16)]
"""
LARGE = """\
  system: both
  grid:
    fuse: [rrf, "weighted(weights=[0.4, 0.6])", "weighted(weights=[0.6, 0.4])"]
    chunk.size: [12, 18, 24]
    model: [counted(size=8), counted(size=16), counted(size=24)]
"""


@pytest.mark.slow
@pytest.mark.parametrize(("sweep", "settings"), [(SMALL, 8), pytest.param(LARGE, 27, marks=pytest.mark.slow)])
def test_each_text_is_embedded_once_a_model(tmp_path: Path, sweep: str, settings: int) -> None:
    study = opened(write_corpus(tmp_path, sweep))
    found = run_sweep(study)
    assert len(found.settings) == settings
    seen = Counter(embedded(tmp_path))
    assert set(seen.values()) == {1}
    swept = SweepRun.of(study, {}).swept
    corpora = [swept.dataset(arm).corpus for arm in swept.arms]
    texts = {passage.text for corpus in corpora for passage in corpus.passages}
    queries = {item.text for item in swept.dataset(swept.arms[0]).items}
    models = len(found.grid["model"])
    wanted = {("passage", text) for text in texts} | {("query", text) for text in queries}
    # no more than the distinct texts of all chunkings, and each of them by every model
    assert Counter((role, text) for _, role, text in seen) == dict.fromkeys(wanted, models)
    # a second sweep asks nothing and finds the same
    again = run_sweep(opened(tmp_path))
    assert Counter(embedded(tmp_path)) == seen
    assert (again.settings, again.parameters, again.folds) == (found.settings, found.parameters, found.folds)


def test_the_run_of_the_study_is_left_alone(tmp_path: Path) -> None:
    run_sweep(opened(write_corpus(tmp_path, "  grid: {k: [3, 10]}\n")))
    assert not (tmp_path / "run").exists()
    assert (tmp_path / "sweep/manifest.json").is_file()


def test_the_reference_is_what_the_study_runs_where_the_grid_has_it(tmp_path: Path) -> None:
    def reference(sweep: str) -> str:
        return run_sweep(opened(write_corpus(tmp_path, sweep))).reference.name

    # the study's own: depth=20, chunks of 16 tokens
    assert reference("  {system: both, grid: {depth: [5, 20], chunk: [tokens(size=16)]}}\n") == "depth=20"
    assert reference("  {system: both, grid: {chunk.size: [12, 16], depth: [20]}}\n") == "chunk.size=16"
    assert reference("  {system: both, grid: {depth: [5, 10]}}\n") == "depth=5"


def test_names_say_no_more_than_it_takes() -> None:
    grid = {
        "fuse": ["rrf(k=40)", "rrf"],
        "depth": ["5", "10"],
        "model": ["static"],
        "a": ["x"],
        "b": ["x", "y"],
    }
    settings = [{"fuse": "rrf", "depth": "5", "model": "static", "a": "x", "b": "x"}]
    assert setting_names(settings, grid) == ["rrf, depth=5, b=x"]
    weights = {"fuse.weights": ["[0.6, 0.4]", "[0.4, 0.6]"], "exact": ["true", "false"]}
    assert setting_names([{"fuse.weights": "[0.6, 0.4]", "exact": "true"}], weights) == [
        "fuse.weights=[0.6, 0.4], exact=true"
    ]


def test_items_and_settings_can_be_narrowed(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path, "  {grid: {k: [3, 5, 10]}, where: {topic: odd}}\n")
    found = run_sweep(opened(folder), {"k": ["3", "5"]})
    assert (found.items, [each.name for each in found.settings]) == (6, ["k=3", "k=5"])
    assert found.where == {"topic": ["odd"], "k": ["3", "5"]}
    # what the command line says of a tag replaces what the file says
    assert run_sweep(opened(folder), {"topic": ["odd", "even"]}).items == 12


# -------------------------------------------------------------------------------------- changes


@dataclass(frozen=True)
class Chancy:
    """Finds the page that a word names with every second seed, each word with another one; or always."""

    version: ClassVar[str] = "1"
    gives: ClassVar[frozenset[str]] = frozenset({"hits"})

    sure: bool = False
    blind: bool = False
    patience: int = outside_identity(1)

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> ChancySession:
        return ChancySession(self, seed)


@dataclass(frozen=True)
class ChancySession:
    system: Chancy
    seed: int

    def session(self) -> ChancySession:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        place = WORDS.index(query.text.split()[-1])
        lucky = self.system.sure or (place + self.seed) % 2 == 0
        return Response(hits=[Hit(WORDS[place - (not lucky or self.system.blind)], 1.0)])


CHANCY = """\
data: data
seeds: 2
systems: {chancy: chancy}
measures: [Success@1]
compare: {resamples: 1000}
"""
CHANGES = """\
  changes:
    never: {blind: true}
    always: {sure: true}
"""


def test_changes_are_compared_with_the_system_as_it_is_over_all_seeds(tmp_path: Path) -> None:
    """As it is, each word is found with one of two seeds: 0.5 an item. Never is 0, always 1, for each."""
    folder = write_corpus(tmp_path, CHANGES, CHANCY)
    sweeping = SweepRun.of(opened(folder, {"chancy": Chancy}), {})
    outcome, broken = sweeping.ask()
    assert outcome is not None
    assert (outcome.answered, broken) == (3 * 12 * 2, None)  # three settings, twelve items, two seeds
    found = sweeping.results()
    assert [each.name for each in found.settings] == ["chancy", "never", "always"]
    assert [each.estimates[0].value for each in found.settings] == [0.5, 0.0, 1.0]
    differences = [each.difference for each in found.settings]
    assert [one and (one.difference, one.wins, one.ties, one.losses) for one in differences] == [
        None,
        (-0.5, 0, 0, 12),  # with the first seed alone it would be six ties and six losses
        (0.5, 12, 0, 0),
    ]
    assert (found.reference.name, found.parameters, found.folds) == ("chancy", [], [])
    assert found.changes == {"never": {"blind": "true"}, "always": {"sure": "true"}}
    again = SweepRun.of(opened(folder, {"chancy": Chancy}), {})
    resumed, _ = again.ask()
    assert resumed is not None
    assert (resumed.answered, resumed.reused) == (0, 72)


def test_a_change_that_no_answer_depends_on_is_not_asked(tmp_path: Path) -> None:
    folder = write_corpus(
        tmp_path, "  changes: {more patient: {patience: 3}, always: {sure: true}}\n", CHANCY
    )
    with pytest.raises(DataError, match=r"study.yaml:7: sweep.changes.more patient: no answer depends on"):
        SweepRun.of(opened(folder, {"chancy": Chancy}), {})
    assert not (folder / "sweep").exists()


# -------------------------------------------------------------------------------- broken things


@dataclass(frozen=True)
class Fickle:
    """Finds the page a word names; may not open, or fail on some words."""

    version: ClassVar[str] = "1"
    gives: ClassVar[frozenset[str]] = frozenset({"hits"})

    mood: str = "good"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Fickle:
        if self.mood == "shut":
            raise FileNotFoundError("no such model")
        return self

    def session(self) -> Fickle:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        word = query.text.split()[-1]
        if self.mood == "bad" and word in WORDS[:3]:
            raise ValueError("too hard")
        return Response(hits=[Hit(word if self.mood != "wrong" else WORDS[0], 1.0)])


MOODS = """\
data: data
systems: {fickle: fickle}
measures: [Success@1]
run: {retries: 0}
compare: {resamples: 1000}
"""


def moody(folder: Path, moods: str) -> Path:
    return write_corpus(folder, f"  grid: {{mood: [{moods}]}}\n", MOODS)


def test_a_setting_with_failures_says_so(tmp_path: Path) -> None:
    found = run_sweep(opened(moody(tmp_path, "wrong, good, bad"), {"fickle": Fickle}))
    good, bad, wrong = found.settings
    assert [each.name for each in found.settings] == ["good", "bad", "wrong"]
    assert (bad.estimates[0].value, bad.estimates[0].counts) == (1.0, {"failed": 3})
    assert good.estimates[0].counts == {}
    assert wrong.estimates[0].value == pytest.approx(1 / 12)  # the first word is its own page
    assert any("3 items failed with ValueError: too hard" in warning for warning in found.warnings)
    assert found.broken is None


def test_a_setting_that_cannot_be_opened_is_listed_with_the_reason(tmp_path: Path) -> None:
    found = run_sweep(opened(moody(tmp_path, "good, shut, wrong"), {"fickle": Fickle}))
    assert found.broken == "fickle[mood=shut] could not be opened: FileNotFoundError: no such model"
    shut = found.settings[-1]
    assert (shut.name, shut.ranked, shut.estimates[0].value) == ("shut", False, None)
    assert shut.estimates[0].counts == {"pending": 12}
    assert found.best is not None
    assert found.best.name == "good"


def test_where_nothing_answers_there_is_no_table(tmp_path: Path) -> None:
    folder = write_corpus(
        tmp_path, "  grid: {mood: [shut], chunk: [tokens(size=5), tokens(size=9)]}\n", MOODS
    )
    with pytest.raises(SystemFailure, match="could not be opened"):
        run_sweep(opened(folder, {"fickle": Fickle}))


def test_too_few_resamples_for_the_grid_are_a_warning(tmp_path: Path) -> None:
    text = STUDY.replace("resamples: 1000", "resamples: 100")
    folder = write_corpus(tmp_path, "  grid: {k: [1, 2, 3, 4, 5, 6, 7]}\n", text)
    # the smallest p is 1 / 101, and 6 / 101 is above 0.05; 2 · 6 / 0.05 = 240
    (warning,) = [each for each in run_sweep(opened(folder)).warnings if "resamples" in each]
    assert warning.startswith("compare.resamples is 100: too few to correct over 6 comparisons")
    assert warning.endswith("; raise it to 240 or more")


def test_what_was_judged_for_the_study_counts_in_the_sweep(tmp_path: Path) -> None:
    """A person says that the page of the second word answers the first: every setting finds only that one."""
    text = MOODS.replace("run:", "judges: [human, ids]\nrun:")
    folder = write_corpus(tmp_path, "  grid: {mood: [good, wrong]}\n", text)
    mark = Judgment(f"q-{WORDS[1]}", "relevance", 1.0, "anna", target=WORDS[0], judgment_id="m1")
    with Store(folder / "run").locked(), Store(folder / "run").writer() as writer:
        writer.append(JudgmentEntry(mark), now=True)
    for _ in range(2):  # the second time it is there already
        found = run_sweep(opened(folder, {"fickle": Fickle}))
        values = {setting.name: setting.estimates[0].value for setting in found.settings}
        assert values == {"good": 1.0, "wrong": pytest.approx(2 / 12)}
    assert len(Store(folder / "sweep").judged()) == 1
