"""The steps of a review: export forms for people, import their marks, show progress and agreement."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from assay.core.dataset import Corpus
from assay.core.errors import DataError, Problem, UsageError
from assay.core.optional import EverybodyJudge
from assay.core.protocols import PersonJudge
from assay.core.records import Judgment
from assay.core.registry import REVIEWS
from assay.core.results import Results, ReviewSummary
from assay.gates.intervals import linear_form
from assay.gates.operand import means_of
from assay.gates.syntax import Arithmetic
from assay.judges.labels import BlockTexts, current_judgments
from assay.measures.marks import KEYWORD_MATCH, REVIEW
from assay.measures.semantic import MarkShare
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.plugins import named_plugins_for
from assay.pipeline.runner import command_path
from assay.review.export import blind_forms, model_forms, write_forms
from assay.review.form_import import ReviewImport, read_marks
from assay.review.forms import ReviewForm, read_forms
from assay.review.grade_forms import (
    GradeForm,
    GradeKey,
    grade_form,
    join_imports,
    read_grades,
    split_forms,
    write_grade_forms,
)
from assay.review.judged_items import ITEMS, Agreement, GradingProgress, JudgedItem, drawn, judged_items
from assay.review.marks import run_book
from assay.review.order import decisive_order
from assay.review.passage_work import import_passages
from assay.review.pool import Pool
from assay.review.work import OwnReview, Review
from assay.stats.compare import ComparisonSettings
from assay.study.study import Study


def reviews_for(study: Study) -> dict[str, Review]:
    """Returns the reviews that a study asks for, by name. Reviews with their own forms come first."""
    found: dict[str, Review] = {
        name: review for name, review in named_plugins_for(study, REVIEWS).items() if review.asked(study)
    }
    return dict(sorted(found.items(), key=lambda named: not isinstance(named[1], OwnReview)))


def own_review(study: Study) -> OwnReview | None:
    """Returns the review with its own forms, progress and agreement, if the study asks for such a review."""
    return next((each for each in reviews_for(study).values() if isinstance(each, OwnReview)), None)


@dataclass(frozen=True)
class ExportedForms:
    """The forms that were written, and the number of passages that they ask about."""

    paths: list[Path]
    asked: int  # passages that are still to be judged
    filled: int  # passages that rules or earlier marks fill in
    blind: bool
    folder: Path | None = None

    @classmethod
    def of(
        cls, forms: Sequence[ReviewForm], paths: list[Path], folder: Path, *, blind: bool = True
    ) -> ExportedForms:
        """Counts the passages on the forms."""
        rows = [row for form in forms for row in form.rows]
        asked = sum(not row.judgment for row in rows)
        return cls(paths, asked, len(rows) - asked, blind, folder)


def export_review(
    study: Study,
    folder: Path | None = None,
    *,
    per_model: bool = False,
    first: int | None = None,
    reviewer: str | None = None,
    seed: int = 0,
) -> ExportedForms:
    """Writes one form per query. The forms are blinded unless `per_model` asks for the forms of each model.

    With `first`, the forms have only that many open passages: those most able to change the decision. With a
    `reviewer`, they show only that person's marks, so that two people can judge the same independently.
    """
    if per_model and first is not None:
        raise UsageError(
            "Forms for each model hold everything it returned. Leave out --first or --per-model."
        )
    evaluation = Evaluation(study)
    pool, corpus = evaluation.reviewing.pool, shared_corpus(evaluation)
    if not pool.items:
        what = "No item of this study wants a review. Items that do carry the tag review=yes"
        raise UsageError(f"{what}; to export the grades of a model judge, add --verdicts.")
    if reviewer is not None:
        pool = _seen_by(pool, reviewer, stored_marks(evaluation))
    if per_model:
        forms = model_forms(evaluation.blocks, pool, corpus)
    else:
        chosen = None if first is None else _most_decisive(evaluation, pool, first, seed)
        forms = blind_forms(pool, corpus, only=chosen, seed=seed)
    if reviewer is not None:
        forms = [dataclasses.replace(form, reviewer=reviewer) for form in forms]
    place = folder or _fresh_folder(_review_folder(study, reviewer), batch=first is not None)
    paths = write_forms(forms, place, taken=stored_marks(evaluation), reasons=pool.reasons)
    return ExportedForms.of(forms, paths, place, blind=not per_model)


def _most_decisive(evaluation: Evaluation, pool: Pool, first: int, seed: int) -> set[tuple[str, str]]:
    """Returns the keys of the `first` passages that are most able to change the decision."""
    order = decisive_order(pool, compared_arms(evaluation), seed, mark_thresholds(evaluation))
    return {each.key for each in order[:first]}


def export_verdicts(
    study: Study,
    folder: Path | None = None,
    *,
    items: int = ITEMS,
    reviewer: str | None = None,
    seed: int = 0,
) -> ExportedForms:
    """Writes forms on which people mark what a paying judge graded. It draws `items` items at random.

    With a `reviewer`, the forms show the earlier marks of that person; without, all earlier marks. They never
    show the judge's grades.
    """
    evaluation = Evaluation(study)
    asked = graded_by_models(evaluation)
    if not asked:
        raise UsageError(
            "No paying judge of this study has judged anything yet. List one, such as llm, and run: "
            f"assay run {command_path(study)}"
        )
    earlier: dict[GradeKey, str] = {}
    known = set(stored_grades(evaluation))
    for mark in evaluation.judgments:  # marks that are not stale
        if mark in known and reviewer in {None, mark.judge}:
            earlier.setdefault((mark.item_id, mark.label, mark.target or ""), mark.category or "")
    forms = [grade_form(each, seed, earlier, reviewer or "") for each in drawn(asked, items, seed)]
    place = folder or _review_folder(study, reviewer) / "verdicts"
    paths = write_grade_forms(forms, place, stored_grades(evaluation))
    return ExportedForms.of([each.form for each in forms], paths, place)


def graded_by_models(evaluation: Evaluation) -> list[JudgedItem]:
    """Returns the items that paying judges graded, with the texts that the judges were shown."""
    present = [BlockTexts(block, evaluation.datasets[block.arm.name].corpus) for block in evaluation.blocks]
    return judged_items(evaluation.study.judges, evaluation.judgments, present)


def _review_folder(study: Study, reviewer: str | None) -> Path:
    """Returns the folder `review`, or a reviewer's folder inside it."""
    name = "".join(sign if sign.isalnum() else "-" for sign in reviewer or "")
    return study.folder / "review" / name if name else study.folder / "review"


def _seen_by(pool: Pool, reviewer: str, marks: Sequence[Judgment]) -> Pool:
    """Returns the pool without the marks of other reviewers."""
    own = {(mark.item_id, mark.target) for mark in current_judgments(marks) if mark.judge == reviewer}
    candidates = [
        each
        if not each.by_person or each.key in own
        else dataclasses.replace(each, by_person=False, mark=KEYWORD_MATCH if each.ruled else None)
        for each in pool.candidates
    ]
    return dataclasses.replace(pool, candidates=candidates)


def shared_corpus(evaluation: Evaluation) -> Corpus:
    """Returns the corpus of all arms. Arms with different corpora are a UsageError."""
    corpora = {dataset.corpus.hash: dataset.corpus for dataset in evaluation.datasets.values()}
    if len(corpora) > 1:
        raise UsageError(
            "The arms searched different corpora, and a passage is judged once for all arms. "
            "Review one corpus at a time: a study of its own for each."
        )
    return next(iter(corpora.values()))


def stored_marks(evaluation: Evaluation) -> list[Judgment]:
    """Returns all stored marks of people on relevance."""
    return [mark for mark in evaluation.store.judgments() if mark.label == REVIEW]


def compared_arms(evaluation: Evaluation) -> list[tuple[str, str]]:
    """Returns the pairs of arms that are compared, usually each arm with the baseline's."""
    study, arms = evaluation.study, evaluation.reviewing.pool.arms
    by_system: dict[str, list[str]] = {}
    for arm in evaluation.arms:
        by_system.setdefault(arm.system, []).append(arm.name)
    pairs = ComparisonSettings(study.baseline, study.file.compare.against).pairs(list(by_system))
    found = [(a, b) for left, right in pairs for a in by_system[left] for b in by_system[right]]
    return found or list(combinations(arms, 2))


def mark_thresholds(evaluation: Evaluation) -> list[float]:
    """Returns the differences that clauses on marks ask for, and 0, because a gain must not be a loss."""
    found = {0.0}
    for gate in evaluation.study.gates:
        for clause in (clause for clause in gate.clauses() if clause.each is None):
            form = linear_form(Arithmetic("-", clause.left, clause.right))
            operands = evaluation.evaluator.operands(clause).values()
            means = [mean for leaf in operands for mean in means_of(leaf)]
            if form is not None and any(isinstance(mean.measure, MarkShare) for mean in means):
                found |= {form[1], -form[1]}  # the clause may name either of the two systems first
    return sorted(found)


def _fresh_folder(root: Path, *, batch: bool) -> Path:
    """Returns the folder for forms: `root`, or a new numbered folder in it for a batch of forms."""
    if not batch:
        return root
    taken = [int(path.name) for path in root.glob("[0-9]*") if path.name.isdigit()]
    return root / f"{max(taken, default=0) + 1:03d}"


@dataclass(frozen=True)
class StudyReviewImport:
    """The marks that were imported, and the results with these marks."""

    forms: ReviewImport
    results: Results
    checked: GradingProgress | None  # None: no paying judge graded anything


def import_review(study: Study, paths: Sequence[Path], reviewer: str | None = None) -> StudyReviewImport:
    """Imports people's marks. If one form has a problem, no mark is imported. Earlier marks stay stored."""
    evaluation = Evaluation(study)
    with evaluation.store.locked():
        given = [study.folder / "review"] if not paths else list(paths)
        forms, verdicts = split_forms(read_forms(given))
        found = _filled_in(evaluation, forms, verdicts, reviewer)
        import_passages(found.filled, run_book(evaluation.store), study.kit.clock)
    now = Evaluation(study)
    return StudyReviewImport(found, now.results, _checked(now))


def _filled_in(
    evaluation: Evaluation, forms: Sequence[ReviewForm], verdicts: Sequence[GradeForm], reviewer: str | None
) -> ReviewImport:
    """Reads the marks of both kinds of form. A DataError has the problems of both kinds."""
    study, problems, found = evaluation.study, list[Problem](), list[ReviewImport]()
    how: dict[str, Any] = {"reviewer": reviewer, "when": study.kit.clock()}
    try:
        if forms or not verdicts:
            pool, corpus, before = (
                evaluation.reviewing.pool,
                shared_corpus(evaluation),
                stored_marks(evaluation),
            )
            found.append(read_marks(forms, pool, corpus, standing=before, counted=_counted(study), **how))
    except DataError as error:
        problems += error.problems
    try:
        if verdicts:
            found.append(
                read_grades(verdicts, graded_by_models(evaluation), earlier=stored_grades(evaluation), **how)
            )
    except DataError as error:
        problems += error.problems
    if problems:
        raise DataError(problems)
    return join_imports(found)


def stored_grades(evaluation: Evaluation) -> list[Judgment]:
    """Returns all stored marks of people on texts that judges graded."""
    entries = [entry.judgment for entry in evaluation.store.judged() if entry.key is None]
    return [mark for mark in entries if mark is not None and mark.label != REVIEW]


def _checked(evaluation: Evaluation, draw: Set[str] = frozenset()) -> GradingProgress | None:
    judges, names = evaluation.study.judges, evaluation.judging.names
    asked = graded_by_models(evaluation)
    return GradingProgress.of(asked, judges, evaluation.judgments, names, draw) if asked else None


def _counted(study: Study) -> list[str] | None:
    """Returns the people whose marks the study counts; None means everybody."""
    if any(isinstance(judge, EverybodyJudge) and judge.everybody for judge in study.judges):
        return None
    return [name for judge in study.judges for name in judge.names if isinstance(judge, PersonJudge)]


@dataclass(frozen=True)
class ReviewProgress:
    """How much people have reviewed: the relevance of passages, and the grades of a paying judge."""

    review: ReviewSummary | None  # of relevance
    verdicts: GradingProgress | None  # of checking a paying judge


def review_progress(study: Study) -> ReviewProgress:
    """Returns the progress of a study's reviews."""
    evaluation = Evaluation(study)
    found = ReviewProgress(evaluation.review, _checked(evaluation, _in_forms(study)))
    if found == ReviewProgress(None, None):
        what = "no item carries the tag review=yes, and no paying judge, such as llm, has judged anything yet"
        raise UsageError(f"There is nothing to review: {what}.")
    return found


def _in_forms(study: Study) -> set[str]:
    """Returns the items that have forms for checking a judge in the study's folder."""
    forms = read_forms([study.folder / "review"]) if has_forms(study) else []
    return {each.form.item_id for each in split_forms(forms)[1]}


def has_forms(study: Study) -> bool:
    """Whether there are forms in the folder to which forms are exported by default."""
    return any((study.folder / "review").rglob("*.yaml"))


def review_agreement(study: Study) -> Agreement:
    """Computes the agreement among the people whose marks count, and between them and paying judges."""
    evaluation = Evaluation(study)
    return Agreement.of(evaluation.judgments, evaluation.judging.raters, graded_by_models(evaluation))


def next_step(study: Study, place: str) -> str:
    """Returns the command or action that follows a run."""
    found = Evaluation(study).review
    if found is None or not found.open or found.settled:
        return f"assay report {place}" + (" --format benchmark" if found is not None else "")
    if has_forms(study):
        return f"fill in the forms in {study.folder / 'review'}, then assay review import {place}"
    return f"assay review export {place} ({found.outlook})"
