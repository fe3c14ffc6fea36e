"""The knowledge base of an organisation in three stages, with a suite of 500 queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Annotated, Any, NamedTuple

from assay.core.dataset import Dataset
from assay.core.errors import UsageError, did_you_mean
from assay.core.parts import Tokenizer, Tokens
from assay.core.protocols import Kit
from assay.core.records import Item, Passage
from assay.core.registry import TOKENIZERS
from assay.datasets import evidence as gold
from assay.retrieval.tokens import O200kBase
from assay_worlds.organisation.documents import FinishedPage, Mention
from assay_worlds.sources.source import SOURCES, passages_of, read_sources
from assay_worlds.suites.asked import WordedQuestion
from assay_worlds.suites.asking import QuestionMaker
from assay_worlds.suites.leaks import leaks
from assay_worlds.suites.plan import ADVERSARIAL, HAND, SuiteSlot, slots
from assay_worlds.suites.rephrase import Rephrase
from assay_worlds.suites.special_questions import HandQuestionMaker, InjectedQuestionMaker
from assay_worlds.workplace.corpus import SIZES, STAGES, Workforce, WrittenStage, allot_pages
from assay_worlds.workplace.facts import Atom, Facts, places_of_facts
from assay_worlds.workplace.injections import InjectedGroup, injections
from assay_worlds.workplace.programs import Derivation, Program, minimal

LABELS = {"relevance": "2: the passage holds a sentence that the answer takes"}
# measured in paragraphs: policies and procedures
PARAGRAPHS = frozenset({"steps", "loan", "two_clauses", "two_topics", "history", "series"})
MOST_REAL = 0.6  # with a larger share, too little of the organisation is left for questions
TRIES = 3000  # draws for one query; most draws give no query


class SuiteQuery(NamedTuple):
    """A query of the suite, independent of the stages that can answer it."""

    slot: SuiteSlot
    asked: WordedQuestion


@dataclass(frozen=True)
class Workplace:
    """A generated organisation: policies, people, services, releases, incidents and more, in three stages.

    `stage` is 10k, 50k or 200k, the number of passages. Each stage begins with the whole stage before it. The
    same seed gives the same bytes. The queries are the same in every stage. A query whose evidence is not
    there yet expects nothing.

    `sources` are real texts to mix in, up to the share `real` of each stage. The suite has no questions on
    them. `rephrase` names a model that rewords the queries: {url: …, model: …}. Without it, the queries keep
    their generated wording.
    """

    stage: str = "10k"
    seed: int = 7
    sources: list[Annotated[Any, SOURCES]] = field(default_factory=list)
    real: float = 0.4
    tokenizer: Annotated[Tokenizer, TOKENIZERS] = O200kBase()
    rephrase: Rephrase | None = None

    def load(self, kit: Kit) -> Dataset:
        if self.stage not in SIZES:
            raise UsageError(f"There is no stage {self.stage!r}. {did_you_mean(self.stage, STAGES)}")
        if not 0.0 <= self.real <= MOST_REAL:
            raise UsageError(f"real is {self.real}. It is a share of the passages, from 0 to {MOST_REAL}.")
        pages = [
            FinishedPage(page.document, passages_of(page), []) for page in read_sources(self.sources, kit)
        ]
        workforce = Workforce(self.seed, allot_pages(pages, self.real, self.seed))
        groups = injections(workforce.directory)
        written = workforce.written(
            self.stage, [draft for group in groups for draft in group.drafts], kit.progress
        )
        suite = Suite(workforce, written, self.tokenizer.load(kit))
        items = [suite.item(query) for query in suite.queries(groups)]
        notes: Sequence[str] = ()
        if self.rephrase is not None:
            items, notes = self.rephrase.applied(items, kit)
        return Dataset(f"workplace-{self.stage}-{self.seed}", written.corpus, items, LABELS, notes)


class Suite:
    """Makes the queries of a stage, with their evidence."""

    def __init__(self, workforce: Workforce, written: WrittenStage, tokens: Tokens) -> None:
        self._workforce, self._corpus, self._tokens = workforce, written.corpus, tokens
        self._places = places_of_facts(written.mentions)
        self._facts = Facts(self._places)
        first = {passage.doc_id for passage in written.corpus.passages[: SIZES[STAGES[0]]]}
        self._first = Facts(atom for atom, place in self._places.items() if place.doc_id in first)

    def queries(self, groups: Sequence[InjectedGroup]) -> Iterator[SuiteQuery]:
        """Yields one query per slot: the first draw that fits the slot and is new."""
        asking = QuestionMaker(self._workforce.directory, self._first)
        injected, by_hand = InjectedQuestionMaker(groups), HandQuestionMaker(asking)
        known: set[str | Program] = set()  # neither a text nor a program may occur twice
        for slot in slots():
            rng = self._workforce.directory.rng("query", slot.number)
            for _ in range(TRIES):
                if slot.origin == ADVERSARIAL:
                    asked: WordedQuestion | None = injected.make(slot.cell.shape, rng)
                elif slot.origin == HAND:
                    asked = by_hand.make(slot.cell.shape, rng, slot.tier)
                else:
                    asked = asking.makers[slot.cell.shape](rng, slot.tier)
                if asked is None or not known.isdisjoint(asked.identity):
                    continue
                if self._fits(slot, asked):
                    known.update(asked.identity)
                    by_hand.settle()
                    yield SuiteQuery(slot, asked)
                    break
            else:
                raise UsageError(f"No query of the shape {slot.cell.shape!r} can be made with this seed.")

    def _fits(self, slot: SuiteSlot, asked: WordedQuestion) -> bool:
        """Whether a question fits its slot.

        Its evidence must be minimal and of the slot's length. If the slot is for a later stage, or for a
        question without an answer, the first stage must not contain the answer.
        """
        derived = asked.program.derive(self._first)
        if slot.cell.unknown:
            return derived is None
        if slot.tier:  # the first stage cannot contain the evidence of a later stage
            return derived is None
        if derived is None or not minimal(asked.program, derived) or leaks(asked.text, derived.answer):
            return False
        return (self._size(derived) <= gold.BUDGET) == slot.cell.feasible

    def _size(self, derived: Derivation) -> int:
        return gold.evidence_tokens(
            [{"text": self._places[atom].text, "start": 0} for atom in derived.atoms], self._tokens
        )

    # ------------------------------------------------------------------------------------- items

    def item(self, query: SuiteQuery) -> Item:
        """Turns a query into an item, with its evidence in this stage."""
        slot, asked = query
        derived = asked.program.derive(self._facts)
        impossible = _impossible(slot, derived)
        tags = {
            "tag": list(slot.cell.tags),
            "feasible": ["yes" if slot.cell.feasible else "no"],
            "present": ["yes" if derived or slot.cell.unknown else "no"],
            "origin": [slot.origin],
            "impossible": [impossible or "no"],
            "shape": [slot.cell.shape],
        }
        if slot.origin == ADVERSARIAL and slot.cell.injector:
            tags["injector"] = [slot.cell.injector]
        held: dict[str, Any] = {"impossible": impossible} if impossible else {}
        if derived is not None:
            held |= self._evidence(slot, derived)
        expects = None if derived else "nothing"
        return Item(f"w{slot.number:03d}", asked.text, "en", tags, held, expects, split=slot.split)

    def _evidence(self, slot: SuiteSlot, derived: Derivation) -> dict[str, Any]:
        grain = gold.PARAGRAPH if slot.cell.shape in PARAGRAPHS else gold.SENTENCE
        units = self._paragraphs(derived.atoms) if grain == gold.PARAGRAPH else self._sentences(derived.atoms)
        answer = derived.answer[0] if len(derived.answer) == 1 else list(derived.answer)
        return {
            "evidence": units,
            "grain": grain,
            "answer": answer,
            "relevant": gold.evidence_grades(units),
            "tokens": gold.evidence_tokens(units, self._tokens),
        }

    def _sentences(self, atoms: Sequence[Atom]) -> list[dict[str, Any]]:
        places = (self._places[atom] for atom in atoms)
        return [gold.sentence_unit(self._passage(place), place.span) for place in places]

    def _paragraphs(self, atoms: Sequence[Atom]) -> list[dict[str, Any]]:
        places = sorted(
            (self._places[atom] for atom in atoms), key=lambda place: (place.doc_id, place.span.start)
        )
        grouped = (list(inside) for _, inside in groupby(places, key=lambda place: place.doc_id))
        return [
            gold.paragraph_unit(self._passage(some[0]), [place.span for place in some]) for some in grouped
        ]

    def _passage(self, place: Mention) -> Passage:
        return self._corpus.passages[self._corpus.position[place.doc_id]]


def _impossible(slot: SuiteSlot, derived: Derivation | None) -> str | None:
    """Says why a query cannot be answered within the budget in this stage; None if it can."""
    if derived is None:
        return gold.OUT_OF_KB
    return None if slot.cell.feasible else gold.AGGREGATION
