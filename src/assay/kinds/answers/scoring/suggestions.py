"""Suggestions: marks that a rule or a model proposes. Only a person's mark counts.

A rater sees a suggestion only on request, and the mark records that the suggestion was shown. A model that
makes suggestions must not be under test. It sees the question, the reference answer and the response as
raters see them, so that it cannot know a condition either.

Rules compare words and do not understand meaning. They point out what a person should look at twice. Rules
cannot recognise hallucinations, so there is no rule for them. The words are English.
"""

from __future__ import annotations

import math
import re
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
from assay.judges.llm import JudgeRefusal, JudgeUnavailable, ModelJudge
from assay.kinds.answers.blinding.pack import BlindedResponse, BlindPack, GoldQuestion
from assay.kinds.answers.results import SuggestionUptake
from assay.kinds.answers.scoring.marks import FIRST, Mark, current_marks
from assay.kinds.answers.scoring.rubric import (
    ACCURACY,
    CITATION,
    COMPLETENESS,
    NOT_APPLICABLE,
    SYNTHESIS,
    rubric,
    step_of,
)
from assay.pipeline.paying_judges import HOPELESS
from assay.retrieval.tokens import sentence_spans
from assay.retrieval.words import ENGLISH_STOP_WORDS, content_stems
from assay.stats.agreement import cohen_kappa
from assay.store.journal import JournalWriter, read_lines

FOLDER = "suggestions"  # in the pack's folder: a journal of what models said
APPLIES = "citation_applies"
RULE = "rule"  # who makes a suggestion by rule


class StoredSuggestion(msgspec.Struct, frozen=True, omit_defaults=True):
    """A suggestion for one response in one pass. It has no time, as a time might reveal the condition."""

    response_id: str
    step: str
    value: str | None  # None: no grade, but a reason to look twice
    by: str
    reason: str = ""
    key: str = ""  # identifies the question to the model, so that nothing is asked twice


def read_suggestions(folder: Path) -> list[StoredSuggestion]:
    """Reads the suggestions of models from the folder of a pack."""
    return list(read_lines(folder / FOLDER, StoredSuggestion)) if (folder / FOLDER).is_dir() else []


# --------------------------------------------------------------------------------------- by rule

BESIDE = 20  # a refusal has fewer words than this outside the sentences that refuse
SHARE = 0.25  # the share of the words of a part that must occur before the part counts as mentioned

_MATERIAL = (
    r"(?:content|context|documents?|documentation|docs|information|material|page|passages?|source|text)"
)
_REFUSING = re.compile(
    r"\b(?:I|we) (?:do not|don['’]t) (?:have|know|see|find)\b"
    r"|\b(?:cannot|can['’]t|could not|couldn['’]t|(?:am |is |was )?(?:not able|unable) to) "
    r"(?:be )?(?:answer|determine|find|provide|say|tell)"
    r"|\b(?:not enough|insufficient|no) (?:context|information|details?)\b"
    rf"|\b{_MATERIAL}\b[^.]{{0,40}}\b(?:does not|doesn['’]t|do not|don['’]t)\b (?:\w+ )?"
    r"(?:contain|cover|describe|include|mention|provide|say|specify|state)"
    r"|\b(?:is|are) not (?:\w+ )?"
    r"(?:available|covered|described|included|mentioned|provided|specified|stated)\b",
    re.IGNORECASE,
)
_TASK = """
    advantages analyse analyze benefits compare constraints describe difference differences discuss examples
    explain give identify implications including key list main name outline primary purpose relationship role
    roles specific summarise summarize trade offs two three used using work works
"""
_WITHOUT_CONTENT = (
    *ENGLISH_STOP_WORDS,
    *_TASK.split(),
)  # words of a question that its answer need not repeat
_PREAMBLE = re.compile(r"(?:according|as|for|in|on|per|under|when|with|within)\b", re.IGNORECASE)
_NEXT_PART = re.compile(
    r"[?;]|[,.]? (?:and|but|including)? ?(?=\b(?:what|how|why|which|when|where|who|whether|under what)\b)"
    r"|, (?:and|including) ",
    re.IGNORECASE,
)
_ASKED_BY_SOURCE = re.compile(
    r"\baccording to\b"
    r"|\bas (?:\w+ )?(?:described|defined|documented|explained|listed|noted|outlined|stated|specified)\b"
    r"|\b(?:described|documented|listed|stated|named|mentioned) (?:in|by|on) the\b"
    rf"|\b(?:{_MATERIAL}|guide|reference|section|tutorial|quick ?start)\b[^.?]{{0,40}}"
    r"\b(?:say|describe|explain|indicate|list|mention|name|note|recommend|specify|state)s?\b",
    re.IGNORECASE,
)
_PLACE = r"(?:article|chapter|FAQ|guide|overview|page|quick ?start|reference|section|tutorial)"
_CITING = re.compile(
    r"\b(?:according to"
    r"|as (?:\w+ )?(?:described|documented|explained|listed|noted|outlined|stated|shown) (?:in|by|on)"
    r"|source:)\s+(?P<named>[^.,;:()\n]{2,80})"
    rf"|\b(?P<place>(?:[\w&/'’-]+ ){{1,6}}{_PLACE})\b (?:\w+ )?"
    r"(?:covers|describes|explains|lists|notes|says|states)\b"
    rf"|\b(?:in|under|from|on|per|see|based on) (?P<under>the (?:[\w&/'’-]+ ){{0,5}}{_PLACE})\b",
    re.IGNORECASE,
)
# words that name the whole content, in which no place could be looked up
_WHOLE = {
    *("content", "context", "document", "documents", "documentation", "docs", "information", "material"),
    *("passage", "passages", "source", "sources", "text", "website"),
}
# words beside a name, which name nothing themselves
_BESIDE = {
    *("a", "an", "the", "this", "that", "these", "its", "their", "your", "our", "above", "available"),
    *("given", "official", "provided", "shown", "site", "supplied"),
}


def suggest_by_rule(step: str, response_id: str, asked: GoldQuestion, text: str) -> StoredSuggestion | None:
    """Returns the suggestion of a rule for a response in a pass; None if the pass has no rule."""
    rules = {ACCURACY: _accuracy, COMPLETENESS: _completeness, CITATION: _citation}
    if step not in rules:
        return None
    value, reason = rules[step](asked, text)
    return StoredSuggestion(response_id, step, value, RULE, reason)


def rule_suggestions(pack: BlindPack, response: BlindedResponse) -> Iterator[StoredSuggestion]:
    """Yields the suggestions of rules for a response, for each pass that has a rule."""
    for step in rubric().steps:
        asked = pack.questions[response.question_id]
        if found := suggest_by_rule(step.name, response.response_id, asked, response.text):
            yield found


def refusing(text: str) -> list[str]:
    """Returns the sentences in which a response says that it does not know the answer."""
    sentences = (text[span.start : span.end] for span in sentence_spans(text))
    return [sentence for sentence in sentences if _REFUSING.search(sentence)]


def refuses(text: str) -> bool:
    """Whether a response says that it does not know the answer, and hardly anything else."""
    sentences = refusing(text)
    words = len(text.split()) - sum(len(each.split()) for each in sentences)
    return bool(sentences) and words < BESIDE


def _accuracy(asked: GoldQuestion, text: str) -> tuple[str | None, str]:
    if refuses(text) and not refusing(asked.gold):  # a refusal is right if the reference refuses too
        return "0", f"it reads like a refusal: “{refusing(text)[0]}”"
    return None, "it does not read like a refusal; rules see no more than that"


def parts_of(question: str) -> list[str]:
    """Returns the things that a question asks for, as far as commas and question words separate them."""
    found = [part.strip(" ,.?") for part in _NEXT_PART.split(question)]
    parts = [part for part in found if any(content_stems([part], _WITHOUT_CONTENT))]
    return parts[1:] if len(parts) > 1 and _PREAMBLE.match(parts[0]) else parts


def unmentioned(asked: GoldQuestion, text: str) -> list[str]:
    """Returns the parts of a question whose words do not occur in the response.

    For a question across sections, the sections are treated like parts.
    """
    several = asked.complexity == SYNTHESIS and len(asked.sections) > 1
    parts, sections = parts_of(asked.text), asked.sections if several else []
    answer, gold, *stems = (
        set(each) for each in content_stems([text, asked.gold, *parts, *sections], _WITHOUT_CONTENT)
    )
    if len(parts) == 1 and not sections and gold & answer:
        return []  # a short answer to one thing repeats the reference rather than the question
    least = [*[SHARE] * len(parts), *[0.0] * len(sections)]  # a heading often says little of its section
    return [
        part
        for part, words, share in zip([*parts, *sections], stems, least, strict=True)
        if words and len(words & answer) <= share * (len(words) - 1)
    ]


def _completeness(asked: GoldQuestion, text: str) -> tuple[str | None, str]:
    if (unknown := refusing(text)) and not refusing(asked.gold):
        return "0", f"it says that it does not know: “{unknown[0]}”"
    if missing := unmentioned(asked, text):
        return "0", f"hardly a word on: {'; '.join(missing)}"
    return "1", "words of every part of the question are in it"


def citations(text: str) -> list[str]:
    """Returns the places that a response cites, in its words, except places too vague to look up."""
    found = ((each["named"] or each["place"] or each["under"]).strip() for each in _CITING.finditer(text))
    return [place for place in dict.fromkeys(found) if not _is_vague(place)]


def _is_vague(place: str) -> bool:
    """Whether a place cannot be looked up: it is a whole documentation, or it has no name."""
    words = re.findall(r"[\w'’-]+", place)
    small = {word.casefold() for word in words}
    if found := re.search(rf"\b{_PLACE}\b", place, re.IGNORECASE):
        return not small - _BESIDE - _WHOLE - {found[0].casefold()}
    return bool(small & _WHOLE) or not any(word[0].isupper() for word in words)


def _citation(asked: GoldQuestion, text: str) -> tuple[str | None, str]:
    if found := citations(text):
        return None, f"it cites {', '.join(f'“{each}”' for each in found)}: look each of them up"
    if _ASKED_BY_SOURCE.search(asked.text):
        return "0", "the question asks for a source, and no place is named that could be looked up"
    return NOT_APPLICABLE, "the question does not ask for a source, and no place is named"


# -------------------------------------------------------------------------------------- by a model


@dataclass(frozen=True, repr=False)
class AccuracyJudge(ModelJudge):
    """A model that grades the accuracy of responses. It has the parameters of every model that judges."""

    prompt: str = outside_identity("accuracy")

    labels: ClassVar[tuple[str, ...]] = (ACCURACY,)

    def question(self, pack: BlindPack, response: BlindedResponse) -> Question:
        """Returns the question that the model is asked about one response."""
        asked = pack.questions[response.question_id]
        about = self.shown_with({"query": asked.text, "expected": asked.gold})
        return Question(asked.question_id, self.label, response.text, about)


@dataclass(frozen=True)
class SuggestionCounts:
    """The numbers of responses and the cost of asking a model for suggestions."""

    asked: int  # now
    known: int  # from before
    failed: int
    cost: float
    fault: str = ""  # the last

    @property
    def sentence(self) -> str:
        counts = f"{self.asked - self.failed} responses got a suggestion, {self.known} had one"
        return f"{counts}; {self.failed} failed, the last one: {self.fault}" if self.failed else counts


def suggest_accuracy(
    folder: Path, pack: BlindPack, judge: AccuracyJudge, tested: Collection[str], kit: Kit
) -> SuggestionCounts:
    """Asks a model about every response that it has not graded yet, and stores each answer at once.

    `tested` names the models under test. If none of the first `HOPELESS` questions is answered, the rest is
    not asked.
    """
    judge = judge.within(kit)
    refuse_tested(judge, tested)
    known = {each.key for each in read_suggestions(folder)}
    todo: dict[str, tuple[BlindedResponse, Question]] = {}
    for response in pack.responses:
        question = judge.question(pack, response)
        # the key is equal if the same judge would be shown the same question again
        parts = [identity(judge).encode(), msgspec.json.encode(question), response.response_id.encode()]
        if (key := digest(parts)) not in known:
            todo[key] = response, question
    costs: list[float] = []
    faults: list[str] = []
    with JournalWriter(folder / FOLDER) as writer, ThreadPoolExecutor(judge.threads) as pool:
        asking: dict[Future[Finding], tuple[str, BlindedResponse]] = {
            pool.submit(judge.ask, question, kit): (key, response)
            for key, (response, question) in todo.items()
        }
        for number, done in enumerate(as_completed(asking), 1):
            key, response = asking[done]
            try:
                finding = done.result()
            except (SystemFailure, Retryable) as error:
                faults.append(str(error))
                costs.append(error.cost if isinstance(error, JudgeRefusal | JudgeUnavailable) else 0.0)
            else:
                costs.append(finding.cost or 0.0)
                by, value = f"{judge.names[0]} ({judge.model})", str(int(finding.grade))
                suggestion = StoredSuggestion(
                    response.response_id, ACCURACY, value, by, finding.reason or "", key
                )
                writer.append(suggestion)
            kit.progress("suggesting", number, len(todo))
            if len(faults) == number == HOPELESS:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    fault = faults[-1] if faults else ""
    return SuggestionCounts(len(costs), len(pack.responses) - len(todo), len(faults), math.fsum(costs), fault)


def refuse_tested(judge: ModelJudge, tested: Iterable[str]) -> None:
    """Raises a UsageError if the judge's model is under test, or if the judge does not name its model."""
    if not judge.model.strip():
        where = judge.endpoint.address if judge.url else "no address"
        fix = "Give its model, so that it can be compared with those under test."
        raise UsageError(f"The judge at {where} has no name. {fix}")
    for name in tested:
        if is_same_model(judge.model, name):
            what = f"The judge's model {judge.model!r} is under test, as {name!r}"
            raise UsageError(f"{what}. No model may grade its own answers: take another model.")


def is_same_model(one: str, other: str) -> bool:
    """Whether two names mean the same model.

    Letter case, a vendor, a path and the ending of a file do not matter.
    """
    return _bare(one) in _forms(other) or _bare(other) in _forms(one)


def _bare(name: str) -> str:
    plain = name.strip().casefold().replace("\\", "/").rstrip("/").rpartition("/")[2]
    return plain.removesuffix(".gguf").removesuffix(":latest")


def _forms(name: str) -> set[str]:
    """Returns the forms that a name may stand for: the whole name, and the part after its colon.

    `openai:gpt` is the model gpt, but `llama3:8b` may be the model 8b as well.
    """
    return {_bare(name), _bare(name).partition(":")[2]} - {""}


# ------------------------------------------------------------------------------ how often it was right


def suggestion_uptake(
    marks: Iterable[Mark], suggestions: Iterable[StoredSuggestion]
) -> list[SuggestionUptake]:
    """Counts how often people's marks were as suggested, by pass and by the source of the suggestion.

    Only first rounds count. A suggestion on citations without a grade still says that citations apply.
    """
    by_response: dict[tuple[str, str], list[Mark]] = {}
    for mark in current_marks(marks).values():
        if mark.round == FIRST:
            by_response.setdefault((mark.step, mark.response_id), []).append(mark)
    pairs: dict[tuple[str, str], list[tuple[float, float, bool]]] = {}
    latest = {(each.step, each.by, each.response_id): each for each in suggestions}
    for suggestion in latest.values():
        for mark in by_response.get((suggestion.step, suggestion.response_id), []):
            for step, ours, theirs in _comparisons(suggestion, mark):
                seen = mark.suggested is not None
                pairs.setdefault((step, suggestion.by), []).append((ours, theirs, seen))
    return [_uptake(step, by, found) for (step, by), found in sorted(pairs.items())]


def _comparisons(suggestion: StoredSuggestion, mark: Mark) -> Iterator[tuple[str, float, float]]:
    """Yields the values to compare, of mark and suggestion: the grade, and whether citations apply."""
    if suggestion.value is not None:
        choices = [grade.value for grade in step_of(mark.step).grades]
        choice = step_of(mark.step).choice_of(mark.grade)
        if choice in choices and suggestion.value in choices:
            yield mark.step, choices.index(choice), choices.index(suggestion.value)
    if mark.step == CITATION:
        yield APPLIES, mark.grade is not None, suggestion.value != NOT_APPLICABLE


def _uptake(step: str, by: str, pairs: Sequence[tuple[float, float, bool]]) -> SuggestionUptake:
    ours, theirs, seen = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    kappa = float(cohen_kappa(ours, theirs)[0])
    equal = float(np.mean(ours == theirs))
    return SuggestionUptake(
        step, by, len(pairs), equal, None if math.isnan(kappa) else kappa, int(seen.sum())
    )
