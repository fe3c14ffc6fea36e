"""A dataset of real texts (handbooks, mail, release notes, reports) with questions made by rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from random import Random
from typing import Annotated, Any

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, Problem, UsageError
from assay.core.parts import Tokenizer, Tokens
from assay.core.protocols import Kit
from assay.core.records import Item
from assay.core.registry import TOKENIZERS
from assay.datasets.evidence import (
    AGGREGATION,
    BUDGET,
    OUT_OF_KB,
    evidence_grades,
    evidence_tokens,
    find_misplaced,
)
from assay.retrieval.tokens import O200kBase
from assay_worlds.sources.source import SOURCES, SourcePage, passages_of, read_sources
from assay_worlds.suites.leaks import leaks
from assay_worlds.suites.plan import ANCHORED, FOLDS
from assay_worlds.suites.real.question import Maker, QuestionDraft
from assay_worlds.suites.real.value import Passages
from assay_worlds.suites.rephrase import Rephrase

# The modules that draw questions from pages of a kind. Pages of other kinds are only in the corpus.
MAKERS = {
    "handbook": ("handbook_questions", "temporal_questions"),
    "mail": ("mail_questions",),
    "changelog": ("changelog_questions",),
    "report": ("report_questions",),
}
LABELS = {
    "relevance": "2: the passage holds evidence that the answer needs; 1: it says the same in another place",
}
SHARES = {split: FOLDS.count(split) / len(FOLDS) for split in dict.fromkeys(FOLDS)}
_PER_PAGE = 2  # questions whose evidence begins on the same page, at most


@dataclass(frozen=True)
class RealText:
    """The pages of several sources, cut into passages, with questions that rules draw from them.

    The dataset chooses `queries` of the drafted questions, evenly over makers, rules and tags. A fifth is for
    tuning, a fifth for choosing thresholds, and the rest for testing. The same files and seed give the same
    items.
    """

    sources: list[Annotated[Any, SOURCES]]
    seed: int = 7
    queries: int = 200
    tokenizer: Annotated[Tokenizer, TOKENIZERS] = O200kBase()
    rephrase: Rephrase | None = None

    def __post_init__(self) -> None:
        if not self.sources:
            raise UsageError("real_text needs sources. Write sources: [{use: handbook, path: …}].")
        if self.queries < 1:
            raise UsageError(f"queries is {self.queries}; ask for one or more.")

    def load(self, kit: Kit) -> Dataset:
        pages = list(read_sources(self.sources, kit))
        _check_page_ids(pages)
        passages = {page.document.doc_id: passages_of(page) for page in pages}
        documents = {page.document.doc_id: page.document for page in pages}
        corpus = Corpus([each for group in passages.values() for each in group], documents)
        tokens = self.tokenizer.load(kit)
        drafted = _draft_questions(pages, passages, self.seed)
        kept = {name: sound_drafts(drafts, corpus, tokens) for name, drafts in drafted.items()}
        if not any(kept.values()):
            fix = "Give sources with more text, or of a kind that questions are made for."
            raise DataError(Problem("no question can be made of these texts", "real_text", fix=fix))
        chosen = choose(kept, self.queries, Random(self.seed))
        few = (
            [f"{len(chosen)} of {self.queries} questions could be made."]
            if len(chosen) < self.queries
            else []
        )
        asked = items(chosen, tokens)
        if self.rephrase is not None:
            asked, notes = self.rephrase.applied(asked, kit)
            few = [*few, *notes]
        return Dataset(f"real_text-{self.seed}", corpus, asked, LABELS, few)


def _check_page_ids(pages: Sequence[SourcePage]) -> None:
    """Raises a DataError if two pages have the same id, because one page would be lost silently."""
    times = Counter(page.document.doc_id for page in pages)
    fix = "Put sources in folders of different names, and name every page once."
    problems = [
        Problem(f"{count} pages are called {doc_id!r}", "real_text", field="sources", fix=fix)
        for doc_id, count in times.items()
        if count > 1
    ]
    if problems:
        raise DataError(problems)


def _draft_questions(
    pages: Sequence[SourcePage], passages: Passages, seed: int
) -> dict[str, list[QuestionDraft]]:
    """Drafts the questions of all makers. Each maker has its own random generator and is independent."""
    found: dict[str, list[QuestionDraft]] = {}
    for kind, modules in MAKERS.items():
        own = [page for page in pages if page.document.metadata.get("kind") == kind]
        for name in modules if own else ():
            make: Maker = import_module(f"assay_worlds.suites.real.{name}").questions
            found[name] = list(make(own, passages, Random(f"{seed} {name}")))
    return found


# -------------------------------------------------------------------------------------- the checks


def sound_drafts(drafted: Iterable[QuestionDraft], corpus: Corpus, tokens: Tokens) -> list[QuestionDraft]:
    """Returns the valid drafts. Their evidence is in place, and its length is as declared.

    A valid draft does not contain its answer, and its text occurs only once.
    """
    found: dict[str, QuestionDraft] = {}
    for draft in drafted:
        if draft.text in found or gives_away(draft) or find_misplaced(_everywhere(draft), corpus):
            continue
        long = evidence_tokens(draft.units, tokens) > BUDGET if draft.units else False
        wanted = {AGGREGATION: bool(draft.units) and long, OUT_OF_KB: not draft.units}
        if wanted.get(draft.impossible or "", bool(draft.units) and not long):
            found[draft.text] = draft
    return list(found.values())


def gives_away(draft: QuestionDraft) -> bool:
    """Whether an answerable question contains an answer."""
    answers = [draft.answer] if isinstance(draft.answer, str) else draft.answer
    return draft.impossible is None and leaks(draft.text, answers)


def _everywhere(draft: QuestionDraft) -> list[dict[str, Any]]:
    return [*draft.units, *(other for unit in draft.units for other in unit.get("also", ()))]


# -------------------------------------------------------------------------------------- the choice


def choose(drafted: Mapping[str, Sequence[QuestionDraft]], count: int, rng: Random) -> list[QuestionDraft]:
    """Chooses up to `count` drafts. The choice is balanced over makers, then over rules, then over tags."""
    waiting: dict[tuple[str, str], list[QuestionDraft]] = {}
    for maker, drafts in drafted.items():
        for draft in drafts:
            waiting.setdefault((maker, draft.kind), []).append(draft)
    for group in waiting.values():
        rng.shuffle(group)
    makers, rules, tags, pages = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    chosen: list[QuestionDraft] = []
    while waiting and len(chosen) < count:
        maker, rule = min(waiting, key=lambda place: (makers[place[0]], rules[place[1]], place))
        group = [draft for draft in waiting[maker, rule] if pages[_page(draft)] < _PER_PAGE]
        if not group:
            del waiting[maker, rule]
            continue
        draft = min(group, key=lambda each: sum(tags[tag] for tag in each.tags) / len(each.tags))
        waiting[maker, rule] = [each for each in group if each is not draft]
        chosen.append(draft)
        makers[maker] += 1
        rules[rule] += 1
        tags.update(draft.tags)
        pages[_page(draft)] += bool(draft.units)
    return chosen


def _page(draft: QuestionDraft) -> str:
    return str(draft.units[0]["source"]).partition("@")[0] if draft.units else ""


def items(chosen: Sequence[QuestionDraft], tokens: Tokens) -> list[Item]:
    """Makes the items of the drafts. Each split gets its share of every rule.

    Items that share a page are in the same split: a threshold must not be chosen on its test data.
    """
    ordered = sorted(enumerate(chosen), key=lambda pair: (pair[1].kind, pair[0]))
    splits = _splits([draft for _, draft in ordered])
    return [
        _item(draft, number, split, tokens)
        for number, ((_, draft), split) in enumerate(zip(ordered, splits, strict=True))
    ]


def _splits(drafts: Sequence[QuestionDraft]) -> list[str]:
    """Returns the split of each draft.

    Drafts that share pages go together, to the split that needs them most.
    """
    found = [""] * len(drafts)
    have: Counter[tuple[str, str]] = Counter()
    for group in sorted(_sharing(drafts), key=lambda places: (-len(places), places)):
        keys = [
            key for place in group for key in (drafts[place].kind, f"impossible {drafts[place].impossible}")
        ]
        split = min(SHARES, key=lambda name: sum(have[name, key] / SHARES[name] for key in keys))
        for place in group:
            found[place] = split
        have.update((split, key) for key in keys)
    return found


def _sharing(drafts: Sequence[QuestionDraft]) -> list[list[int]]:
    """Returns groups of drafts that share a page, directly or through other drafts."""
    of_page: dict[str, int] = {}
    group = list(range(len(drafts)))
    for place, draft in enumerate(drafts):
        for page in sorted({str(unit["source"]).partition("@")[0] for unit in draft.units}):
            other = group[of_page.setdefault(page, place)]
            group = [group[place] if each == other else each for each in group]
    found: dict[int, list[int]] = {}
    for place, name in enumerate(group):
        found.setdefault(name, []).append(place)
    return list(found.values())


def _grades(draft: QuestionDraft) -> dict[str, int]:
    return {
        **dict.fromkeys((unit["doc_id"] for unit in _everywhere(draft)), 1),
        **evidence_grades(draft.units),
    }


def _item(draft: QuestionDraft, number: int, split: str, tokens: Tokens) -> Item:
    units = list(draft.units)
    gold: dict[str, Any] = {"answer": draft.answer, "relevant": _grades(draft)} if units else {}
    if units:
        needed = evidence_tokens(units, tokens)
        gold |= {"evidence": units, "grain": draft.grain, "tokens": needed}
    if draft.impossible:
        gold["impossible"] = draft.impossible
    tags = {
        "tag": list(draft.tags),
        "feasible": ["no" if draft.impossible else "yes"],
        "present": ["yes"],
        "origin": [ANCHORED],
        "impossible": [draft.impossible or "no"],
        "rule": [draft.kind],
    }
    return Item(
        f"{draft.kind}-{number + 1:03}",
        draft.text,
        language="en",
        tags=tags,
        gold=gold,
        expects=None if units else "nothing",
        split=split,
    )
