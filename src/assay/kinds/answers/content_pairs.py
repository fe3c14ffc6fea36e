"""Reads content documents, and counts the tokens of the same content under both conditions.

A content document is the text that a model is given for a question under one condition. It is a passage of a
corpus. Its metadata names its pair, its condition, its site, and the questions it is given for: {"pair":
"S001-P03", "condition": "A", "site": "S001", "questions": ["S001-Q01"]}.

Only the content is counted, as the model is given it. Instructions and the question are not counted. A delta
is B minus A: a negative delta means that condition B needs fewer tokens. Percentages are percentages of A's
tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median

import msgspec
import numpy as np

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, Problem, UsageError, did_you_mean
from assay.core.parts import Tokens
from assay.core.records import Hit, Passage
from assay.datasets.page_text import HTML, read_page
from assay.kinds.answers.results import PairTokens, SiteTokens

CONDITIONS = ("A", "B")  # the baseline, and the condition that is compared with it
BETWEEN = "\n\n"  # between two documents that are given together
_MARKDOWN_OF = re.compile(r"(?:\.html?)?(?:-commonmark)?\.md")  # what the Markdown of x.html adds to x


def check_condition(condition: str) -> None:
    """Raises a UsageError if the condition is neither A nor B."""
    if condition not in CONDITIONS:
        raise UsageError(f"condition: there is no {condition!r}. {did_you_mean(condition, CONDITIONS)}")


def content_of(corpus: Corpus, condition: str) -> Mapping[str, Sequence[Passage]]:
    """Maps each question to its documents under one condition, in the order in which a model reads them."""
    found: dict[str, list[Passage]] = {}
    for passage in corpus.passages:
        if passage.metadata.get("condition") == condition:
            for item_id in passage.metadata.get("questions", ()):
                found.setdefault(item_id, []).append(passage)
    return found


def as_hits(passages: Sequence[Passage]) -> list[Hit]:
    """Returns documents as the hits of a response. The first document is the best hit."""
    scores = range(len(passages), 0, -1)
    return [Hit(passage.doc_id, float(score)) for passage, score in zip(passages, scores, strict=True)]


def join_texts(texts: Iterable[str]) -> str:
    """Joins texts as a model is given them. Tokens are counted in the joined text."""
    return BETWEEN.join(texts)


# --------------------------------------------------------------------------------------- tokens


class DeltaDistribution(msgspec.Struct, frozen=True):
    """The distribution of the sites' token deltas, in percent of A, under one tokenizer."""

    tokenizer: str
    sites: int
    lowest: float
    first_quartile: float
    median: float
    third_quartile: float
    highest: float
    fewer: float  # share of the sites on which B needs fewer tokens


def pair_tokens(dataset: Dataset, tokenizers: Iterable[Tokens]) -> list[PairTokens]:
    """Counts the tokens of every content pair under each tokenizer. Raises a DataError without pairs."""
    by_pair: dict[str, dict[str, Passage]] = {}
    for passage in dataset.corpus.passages:
        name, condition = passage.metadata.get("pair"), passage.metadata.get("condition")
        if isinstance(name, str) and condition in CONDITIONS:
            by_pair.setdefault(name, {})[condition] = passage
    pairs = {name: sides for name, sides in by_pair.items() if len(sides) == len(CONDITIONS)}
    if not pairs:
        fix = "Add content-pairs.json and its pages to the data, or name a folder of pages."
        raise DataError(Problem("there is no content pair", dataset.name, fix=fix))
    texts = [sides[condition].text for sides in pairs.values() for condition in CONDITIONS]
    found = []
    for tokenizer in tokenizers:
        counts = iter(tokenizer.counts(texts))
        for (name, sides), a, b in zip(pairs.items(), counts, counts, strict=True):
            site = str(sides[CONDITIONS[0]].metadata.get("site", ""))
            found.append(PairTokens(name, site, tokenizer.name, a, b, b - a, _percent(b - a, a)))
    return found


def site_tokens(pairs: Iterable[PairTokens]) -> list[SiteTokens]:
    """Summarises the pairs of each site under each tokenizer, in the order of the pairs."""
    groups: dict[tuple[str, str], list[PairTokens]] = {}
    for pair in pairs:
        groups.setdefault((pair.tokenizer, pair.site_id), []).append(pair)
    found = []
    for (tokenizer, site_id), group in groups.items():
        a, b = [each.condition_a_tokens for each in group], [each.condition_b_tokens for each in group]
        means, medians = (float(mean(a)), float(mean(b))), (float(median(a)), float(median(b)))
        delta = means[1] - means[0]
        found.append(
            SiteTokens(site_id, tokenizer, len(group), *means, *medians, delta, _percent(delta, means[0]))
        )
    return found


def delta_distributions(sites: Iterable[SiteTokens]) -> list[DeltaDistribution]:
    """Returns the distribution of the sites' deltas for each tokenizer. Quartiles are interpolated."""
    groups: dict[str, list[SiteTokens]] = {}
    for site in sites:
        groups.setdefault(site.tokenizer, []).append(site)
    found = []
    for tokenizer, group in groups.items():
        lowest, first, middle, third, highest = np.quantile(
            [each.delta_pct for each in group], [0, 0.25, 0.5, 0.75, 1]
        ).tolist()
        fewer = sum(each.delta < 0 for each in group) / len(group)
        found.append(DeltaDistribution(tokenizer, len(group), lowest, first, middle, third, highest, fewer))
    return found


def _percent(delta: float, of: float) -> float:
    return 100.0 * delta / of if of else 0.0


def folder_pairs(path: Path, extract: str = "main") -> Dataset:
    """Reads the pages of a folder as content pairs of one site.

    A pair is an HTML page x.html and its Markdown: x.md, x.html.md or x-commonmark.md. An HTML page without
    Markdown gives a warning. An HTML page with several Markdown files is a problem.
    """
    pages = sorted(each for each in path.glob("*") if each.suffix.lower() in HTML)
    markdown = sorted(path.glob("*.md"))
    problems, warnings, passages = list[Problem](), list[str](), list[Passage]()
    for page in pages:
        same = [
            each
            for each in markdown
            if each.name.startswith(page.stem) and _MARKDOWN_OF.fullmatch(each.name[len(page.stem) :])
        ]
        if not same:
            warnings.append(f"{page.name} has no Markdown beside it")
        elif len(same) > 1:
            what = f"{' and '.join(each.name for each in same)} could both be its Markdown"
            problems.append(Problem(what, str(page), fix="Keep one of them in this folder."))
        else:
            passages += _read_pair(page, same[0], extract, problems)
    if not passages and not problems:
        what = "there is no page with its Markdown: x.html and x.md, x.html.md or x-commonmark.md"
        fix = "Name a folder of pages, or a study with content pairs."
        problems.append(Problem(what, str(path), fix=fix))
    if problems:
        raise DataError(problems)
    return Dataset(path.resolve().name, Corpus(passages), [], warnings=warnings)


def _read_pair(page: Path, markdown: Path, extract: str, problems: list[Problem]) -> list[Passage]:
    found = []
    for condition, side in zip(CONDITIONS, (page, markdown), strict=True):
        about = {"pair": page.stem, "condition": condition, "site": page.parent.resolve().name}
        try:
            text = read_page(side, extract)
        except DataError as error:
            problems += error.problems
        else:
            found.append(Passage(f"{page.stem}/{condition}", text, metadata=about))
    return found
