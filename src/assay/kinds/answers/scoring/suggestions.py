"""Suggestions: what a rule or a model would say first. Only a person's word counts.

A rater is shown a suggestion on request alone, and that it was shown is kept with the mark. A model that
suggests must be none of those under test. It sees the question, the reference answer and the response as
raters see it, so that it cannot know a condition either.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import msgspec
import numpy as np

from assay.core.dataset import digest
from assay.core.errors import Retryable, SystemFailure, UsageError
from assay.core.protocols import Kit
from assay.core.records import Finding, Question
from assay.core.registry import identity, outside_identity
from assay.judges.llm import ModelJudge
from assay.kinds.answers.blinding.pack import BlindedResponse, BlindPack
from assay.kinds.answers.results import SuggestionUptake
from assay.kinds.answers.scoring.marks import FIRST, Mark, current_marks
from assay.kinds.answers.scoring.rubric import ACCURACY, CITATION, NOT_APPLICABLE, STEPS, step_of
from assay.kinds.answers.scoring.rule_suggestions import RULE, suggest_by_rule
from assay.pipeline.paying_judges import HOPELESS
from assay.stats.agreement import cohen_kappa
from assay.store.journal import JournalWriter, read_lines

FOLDER = "suggestions"  # in the pack's folder: a journal of what models said
APPLIES = "citation_applies"


class StoredSuggestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """What somebody else would say of one response in one pass. It holds no time, which might tell."""

    response_id: str
    step: str
    value: str | None  # None: no grade, but a reason to look
    by: str
    reason: str = ""
    key: str = ""  # of what was asked: nobody is asked the same twice


def rule_suggestions(pack: BlindPack, response: BlindedResponse) -> Iterator[StoredSuggestion]:
    """What rules say of a response, in each pass that has one."""
    for step in STEPS:
        found = suggest_by_rule(step.name, pack.questions[response.question_id], response.text)
        if found is not None:
            yield StoredSuggestion(response.response_id, step.name, found.value, RULE, found.reason)


def read_suggestions(folder: Path) -> list[StoredSuggestion]:
    """What models suggested, in the folder of a pack."""
    return list(read_lines(folder / FOLDER, StoredSuggestion)) if (folder / FOLDER).is_dir() else []


# ---------------------------------------------------------------------------------------- a model


@dataclass(frozen=True, repr=False)
class AccuracyJudge(ModelJudge):
    """A model that grades the accuracy of responses. Its parameters are those of every model that judges."""

    prompt: str = outside_identity("accuracy")

    labels: ClassVar[tuple[str, ...]] = (ACCURACY,)

    def question(self, pack: BlindPack, response: BlindedResponse) -> Question:
        """What it is asked of one response."""
        asked = pack.questions[response.question_id]
        about = self.shown_with({"query": asked.text, "expected": asked.gold})
        return Question(asked.question_id, self.label, response.text, about)


@dataclass(frozen=True)
class SuggestionCounts:
    """What became of asking a model."""

    asked: int  # now
    known: int  # from before
    failed: int
    cost: float
    fault: str = ""  # the last

    @property
    def in_words(self) -> str:
        """The same in a sentence."""
        said = f"{self.asked - self.failed} responses got a suggestion, {self.known} had one"
        return f"{said}; {self.failed} failed, the last one: {self.fault}" if self.failed else said


def suggest_accuracy(
    folder: Path, pack: BlindPack, judge: AccuracyJudge, tested: Collection[str], kit: Kit
) -> SuggestionCounts:
    """Asks a model for every response that it has not graded yet, and keeps what it says as it comes.

    `tested` names the models under test. Asking stops early where none of the first is answered.
    """
    judge = judge.within(kit)
    refuse_tested(judge, tested)
    known = {each.key for each in read_suggestions(folder)}
    todo = {
        key: (response, question)
        for response in pack.responses
        if (key := _key(judge, response, question := judge.question(pack, response))) not in known
    }
    costs: list[float] = []
    faults: list[str] = []
    with JournalWriter(folder / FOLDER) as writer, ThreadPoolExecutor(judge.threads) as crew:
        asking: dict[Future[Finding], tuple[str, BlindedResponse]] = {
            crew.submit(judge.ask, question, kit): (key, response)
            for key, (response, question) in todo.items()
        }
        for number, done in enumerate(as_completed(asking), 1):
            key, response = asking[done]
            try:
                finding = done.result()
            except (SystemFailure, Retryable) as error:
                faults.append(str(error))
                costs.append(getattr(error, "cost", 0.0))
            else:
                costs.append(finding.cost or 0.0)
                writer.append(_suggestion(judge, response, finding, key))
            kit.progress("suggesting", number, len(todo))
            if len(faults) == number == HOPELESS:
                crew.shutdown(wait=False, cancel_futures=True)
                break
    fault = faults[-1] if faults else ""
    return SuggestionCounts(len(costs), len(pack.responses) - len(todo), len(faults), math.fsum(costs), fault)


def _key(judge: AccuracyJudge, response: BlindedResponse, question: Question) -> str:
    """The same judge would be shown the same of this response."""
    return digest([identity(judge).encode(), msgspec.json.encode(question), response.response_id.encode()])


def _suggestion(
    judge: AccuracyJudge, response: BlindedResponse, finding: Finding, key: str
) -> StoredSuggestion:
    by = f"{judge.names[0]} ({judge.model})"
    value, reason = str(int(finding.grade)), finding.reason or ""
    return StoredSuggestion(response.response_id, ACCURACY, value, by, reason, key)


def refuse_tested(judge: ModelJudge, tested: Iterable[str]) -> None:
    """Refuses a judge whose model is under test, or that does not say which model it is."""
    if not judge.model.strip():
        fix = "Give its model, so that it can be told from those under test."
        raise UsageError(
            f"The judge at {judge.endpoint.address if judge.url else 'no address'} has no name. {fix}"
        )
    for name in tested:
        if is_same_model(judge.model, name):
            what = f"The judge's model {judge.model!r} is under test, as {name!r}"
            raise UsageError(f"{what}. Nobody grades their own answers: take another model.")


def is_same_model(one: str, other: str) -> bool:
    """Whether two names mean one model: letter case, a vendor before it, a path and a file's ending aside."""
    return _bare(one) in _forms(other) or _bare(other) in _forms(one)


def _bare(name: str) -> str:
    plain = name.strip().casefold().replace("\\", "/").rstrip("/").rpartition("/")[2]
    return plain.removesuffix(".gguf").removesuffix(":latest")


def _forms(name: str) -> set[str]:
    """A name, and what follows a colon in it: `openai:gpt` is gpt, but `llama3:8b` may be 8b as well."""
    return {_bare(name), _bare(name).partition(":")[2]} - {""}


# ------------------------------------------------------------------------------ how often it was right


def suggestion_uptake(
    marks: Iterable[Mark], suggestions: Iterable[StoredSuggestion]
) -> list[SuggestionUptake]:
    """How often people's word was what had been suggested, by pass and by who suggested it.

    First rounds count. A suggestion without a grade says one thing all the same: that citations apply.
    """
    said: dict[tuple[str, str], list[Mark]] = {}
    for mark in current_marks(marks).values():
        if mark.round == FIRST:
            said.setdefault((mark.step, mark.response_id), []).append(mark)
    pairs: dict[tuple[str, str], list[tuple[float, float, bool]]] = {}
    latest = {(each.step, each.by, each.response_id): each for each in suggestions}
    for suggestion in latest.values():
        for mark in said.get((suggestion.step, suggestion.response_id), []):
            for step, ours, theirs in _compared(suggestion, mark):
                seen = mark.suggested is not None
                pairs.setdefault((step, suggestion.by), []).append((ours, theirs, seen))
    return [_suggested(step, by, found) for (step, by), found in sorted(pairs.items())]


def _compared(suggestion: StoredSuggestion, mark: Mark) -> Iterator[tuple[str, float, float]]:
    if suggestion.value is not None:
        choices = [grade.value for grade in step_of(mark.step).grades]
        choice = step_of(mark.step).choice_of(mark.grade)
        if choice in choices and suggestion.value in choices:
            yield mark.step, choices.index(choice), choices.index(suggestion.value)
    if mark.step == CITATION:
        yield APPLIES, mark.grade is not None, suggestion.value != NOT_APPLICABLE


def _suggested(step: str, by: str, pairs: Sequence[tuple[float, float, bool]]) -> SuggestionUptake:
    ours, theirs, seen = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    kappa = float(cohen_kappa(ours, theirs)[0])
    equal = float(np.mean(ours == theirs))
    return SuggestionUptake(
        step, by, len(pairs), equal, None if math.isnan(kappa) else kappa, int(seen.sum())
    )
