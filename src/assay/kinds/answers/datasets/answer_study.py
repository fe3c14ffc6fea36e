"""The dataset of an answer study: questions, gold answers, and the pages of both conditions.

questions.json       sites with their questions: question_id, text, complexity, source_sections, source_urls
gold-answers.json    sites with their answers: question_id, gold_answer, source_urls, verified_date
site-list.csv        optional: site_id, sector, verification_date, verification_status; other columns allowed
content-pairs.json   optional: content_pair_id, site_id, question_ids, title, and the pages `a` and `b`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from assay.core.dataset import Corpus, Dataset, Place
from assay.core.errors import DataError, Problem
from assay.core.protocols import Kit
from assay.core.records import Item, Passage
from assay.datasets.page_text import HTML, extractor, read_page
from assay.kinds.answers.content_pairs import CONDITIONS
from assay.kinds.answers.datasets.answer_study_files import (
    COMPLEXITIES,
    ContentPair,
    GoldAnswer,
    PlacedRecord,
    QuestionRecord,
    Site,
    read_gold,
    read_pairs,
    read_questions,
    read_sites,
)

LABELS = {
    "accuracy": "0: wrong, 1: partly right, 2: mostly right, 3: right in all that matters",
    "hallucinations": "how many claims the content does not support",
    "hallucination": "1: a claim the content does not support, with its category",
    "completeness": "1: every part of the question is addressed, 0: one is not",
    "citation_applies": "1: sources are asked for or given, 0: neither",
    "citation": "0: none or invented, 1: some point to the wrong place, 2: all are right",
}
_SYNTHESIS = COMPLEXITIES[1]
_LISTED = 5  # ids that a warning lists


@dataclass(frozen=True)
class AnswerStudy:
    """The questions of an answer study in a folder, with the content of both conditions if it is there.

    `extract` chooses how an HTML page becomes text: main, visible or trafilatura.
    """

    path: str
    extract: str = "main"

    def __post_init__(self) -> None:
        extractor(self.extract)

    def load(self, kit: Kit) -> Dataset:
        folder = kit.path(self.path)
        if not folder.is_dir():
            raise DataError(Problem("there is no such folder", str(folder), fix="Check the path."))
        problems: list[Problem] = []
        files = _read(folder, problems)
        problems += [*_unmatched_answers(files), *_unmatched_pairs(files)]
        passages = _documents(files.pairs, folder, self.extract, problems)
        if problems:
            raise DataError(problems)
        gold = {each.record.question_id: each.record for each in files.gold}
        items = [_item(each, gold[each.record.question_id], files.sites) for each in files.questions]
        places = {each.record.question_id: Place(each.where, each.line) for each in files.questions}
        name, warnings = folder.resolve().name, [*_warnings(files)]
        return Dataset(name, Corpus(passages), items, LABELS, warnings, places=places)


@dataclass(frozen=True)
class _StudyFiles:
    """The readable content of the files in a study's folder."""

    questions: Sequence[PlacedRecord[QuestionRecord]]
    gold: Sequence[PlacedRecord[GoldAnswer]]
    sites: Mapping[str, Site] | None  # None: there is no list of sites
    pairs: Sequence[PlacedRecord[ContentPair]]


def _read(folder: Path, problems: list[Problem]) -> _StudyFiles:
    listed, paired = folder / "site-list.csv", folder / "content-pairs.json"
    return _StudyFiles(
        read_questions(folder / "questions.json", problems),
        read_gold(folder / "gold-answers.json", problems),
        read_sites(listed, problems) if listed.is_file() else None,
        read_pairs(paired, problems) if paired.is_file() else [],
    )


def _item(question: PlacedRecord[QuestionRecord], gold: GoldAnswer, sites: Mapping[str, Site] | None) -> Item:
    asked, site = question.record, (sites or {}).get(question.site_id)
    tags = {"site": [question.site_id], "complexity": [asked.complexity]}
    if site is not None and site.sector:
        tags["sector"] = [site.sector]
    right: dict[str, Any] = {
        "answer": gold.gold_answer,
        "sections": asked.source_sections,
        "urls": list(dict.fromkeys([*gold.source_urls, *asked.source_urls])),
    }
    if gold.verified_date:
        right["verified"] = gold.verified_date
    return Item(asked.question_id, asked.text, tags=tags, gold=right)


# -------------------------------------------------------------------------------------- problems


def _unmatched_answers(files: _StudyFiles) -> Iterator[Problem]:
    """Yields a problem for each question without a gold answer, and for each answer without a question.

    A gold answer under another site than its question is a problem too.
    """
    asked = {each.record.question_id: each for each in files.questions}
    answered = {each.record.question_id for each in files.gold}
    if not asked or not answered:
        return  # a file that cannot be read is a problem already
    for question_id, question in asked.items():
        if question_id not in answered:
            what = f"the question {question_id!r} has no gold answer"
            yield question.problem(what, fix="Add it to gold-answers.json, or take the question out.")
    for gold in files.gold:
        question_id = gold.record.question_id
        if question_id not in asked:
            yield gold.problem(f"there is no question {question_id!r}", fix="Correct the id, or take it out.")
        elif gold.site_id != (site_id := asked[question_id].site_id):
            what = f"{question_id!r} is of the site {site_id!r}, and not of {gold.site_id!r}"
            yield gold.problem(what, fix="Move the answer to the site of its question.")


def _unmatched_pairs(files: _StudyFiles) -> Iterator[Problem]:
    """Yields a problem for each pair whose question does not exist or belongs to another site."""
    site_of = {each.record.question_id: each.site_id for each in files.questions}
    for pair in files.pairs:
        for question_id in pair.record.question_ids if site_of else ():
            site_id = site_of.get(question_id)
            what = f"the pair {pair.record.content_pair_id!r} is for {question_id!r}"
            if site_id is None:
                what, fix = f"{what}, and there is no such question", "Correct the id, or take it out."
                yield pair.problem(what, "question_ids", fix)
            elif site_id != pair.site_id:
                what = f"{what}, which is of the site {site_id!r}, and not of {pair.site_id!r}"
                yield pair.problem(what, "question_ids", "Correct the site or the questions.")


# -------------------------------------------------------------------------------------- documents


def _documents(
    pairs: Sequence[PlacedRecord[ContentPair]], folder: Path, extract: str, problems: list[Problem]
) -> list[Passage]:
    """Reads both pages of every pair as passages. Problems of reading are added to `problems`."""
    read = cache(partial(read_page, extract=extract))  # one page may be part of several pairs
    found: list[Passage] = []
    for pair in pairs:
        record = pair.record
        for condition, page in zip(CONDITIONS, (record.a, record.b), strict=True):
            try:
                text = read(folder / page)
            except DataError as error:
                fix = f"It is side {condition.lower()} of the pair {record.content_pair_id!r}."
                problems += [
                    Problem(each.what, each.where, each.line, each.field, f"{each.fix} {fix}".strip())
                    for each in error.problems
                ]
                continue
            about = {
                "pair": record.content_pair_id,
                "condition": condition,
                "site": record.site_id,
                "questions": list(dict.fromkeys(record.question_ids)),
                "form": "text" if page.lower().endswith((*HTML, ".txt")) else "markdown",
            }
            doc_id = f"{record.content_pair_id}/{condition}"
            found.append(Passage(doc_id, text, record.title, metadata=about))
    return found


# --------------------------------------------------------------------------------------- warnings


def _warnings(files: _StudyFiles) -> Iterator[str]:
    """Yields warnings about gaps in the files.

    They do not stop a study, but a reader of its results should know them.
    """
    short = [
        each.record.question_id
        for each in files.questions
        if each.record.complexity == _SYNTHESIS and len(each.record.source_sections) < 2
    ]
    sentence = f"fewer than two sections are named by {{}} of complexity {_SYNTHESIS}"
    yield from _warning(sentence, "question", short)
    undated = [each.record.question_id for each in files.gold if not each.record.verified_date]
    yield from _warning("no date of verification is given for {}", "gold answer", undated)
    used, known = dict.fromkeys(each.site_id for each in files.questions), files.sites
    if known is not None:
        unlisted = [site_id for site_id in used if site_id not in known]
        yield from _warning("site-list.csv lacks {} of questions", "site", unlisted)
        unsure = [site_id for site_id in used if site_id in known and not _is_verified(known[site_id])]
        yield from _warning("site-list.csv has no verification that passed for {}", "site", unsure)
    if files.pairs:
        covered = {question_id for each in files.pairs for question_id in each.record.question_ids}
        bare = [each.record.question_id for each in files.questions if each.record.question_id not in covered]
        yield from _warning("no content pair is for {}: a model can be given nothing", "question", bare)
        same = [each.record.content_pair_id for each in files.pairs if each.record.a == each.record.b]
        yield from _warning("both conditions are given the same page in {}", "content pair", same)
        crossed = _crossed([each.record for each in files.pairs])
        sentence = "HTML and Markdown are on other sides than elsewhere in {}"
        yield from _warning(sentence, "content pair", crossed)


def _crossed(pairs: Sequence[ContentPair]) -> list[str]:
    """Returns the pairs that have HTML and Markdown on other sides than most pairs."""
    ways: dict[tuple[bool, bool], list[str]] = {(True, False): [], (False, True): []}  # which side is HTML
    for pair in pairs:
        is_html = (Path(pair.a).suffix.lower() in HTML, Path(pair.b).suffix.lower() in HTML)
        if is_html in ways:
            ways[is_html].append(pair.content_pair_id)
    return min(ways.values(), key=len)


def _is_verified(site: Site) -> bool:
    return bool(site.verification_date) and site.verification_status.upper() == "PASS"


def _warning(sentence: str, noun: str, ids: Sequence[str]) -> Iterator[str]:
    """Yields one warning that lists the first of the ids; yields nothing if there are no ids."""
    if ids:
        count = f"{len(ids)} {noun}" + "s" * (len(ids) != 1)
        more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
        yield f"{sentence.format(count)} ({', '.join(ids[:_LISTED])}{more})"
