"""Token efficiency of content pairs: how many tokens the same content takes under both conditions.

Only content is counted, as a model is given it: no instructions and no question. A negative delta means that
condition B needs fewer tokens than A. Percentages are of A.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Protocol

import msgspec
import numpy as np

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, Problem
from assay.core.records import Passage
from assay.datasets.page_text import HTML, read_page
from assay.kinds.answers.datasets.content_documents import CONDITIONS
from assay.kinds.answers.results import PairTokens, SiteTokens

_SAME = re.compile(r"(?:\.html?)?(?:-commonmark)?\.md")  # what the Markdown of x.html adds to x


class TokenCounter(Protocol):
    """Something that counts the tokens of texts, under a name of its own."""

    @property
    def name(self) -> str: ...
    def counts(self, texts: Sequence[str]) -> list[int]: ...


class DeltaDistribution(msgspec.Struct, frozen=True):
    """How the sites' deltas, in percent of A, lie under one tokenizer."""

    tokenizer: str
    sites: int
    lowest: float
    first_quartile: float
    median: float
    third_quartile: float
    highest: float
    fewer: float  # share of the sites on which B needs fewer tokens


def pair_tokens(dataset: Dataset, tokenizers: Iterable[TokenCounter]) -> list[PairTokens]:
    """Every content pair of a dataset under each tokenizer; a problem where it has none."""
    pairs = _pairs(dataset.corpus)
    if not pairs:
        fix = "Add content-pairs.json and its pages to the data, or name a folder of pages."
        raise DataError(Problem("there is no content pair", dataset.name, fix=fix))
    texts = [sides[condition].text for sides in pairs.values() for condition in CONDITIONS]
    found = []
    for tokenizer in tokenizers:
        counts = iter(tokenizer.counts(texts))
        for (pair, sides), a, b in zip(pairs.items(), counts, counts, strict=True):
            site = str(sides[CONDITIONS[0]].metadata.get("site", ""))
            found.append(PairTokens(pair, site, tokenizer.name, a, b, b - a, _percent(b - a, a)))
    return found


def site_tokens(pairs: Iterable[PairTokens]) -> list[SiteTokens]:
    """The pairs of each site and tokenizer together, in the order in which they come."""
    groups: dict[tuple[str, str], list[PairTokens]] = {}
    for pair in pairs:
        groups.setdefault((pair.tokenizer, pair.site_id), []).append(pair)
    found = []
    for (tokenizer, site_id), group in groups.items():
        a, b = ([each.condition_a_tokens for each in group], [each.condition_b_tokens for each in group])
        mean_a, mean_b = float(mean(a)), float(mean(b))
        delta = mean_b - mean_a
        medians = float(median(a)), float(median(b))
        found.append(
            SiteTokens(
                site_id, tokenizer, len(group), mean_a, mean_b, *medians, delta, _percent(delta, mean_a)
            )
        )
    return found


def delta_distributions(sites: Iterable[SiteTokens]) -> list[DeltaDistribution]:
    """How the deltas of sites are distributed, by tokenizer. Quartiles lie on lines between sites."""
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


def folder_pairs(path: Path, extract: str = "main") -> Dataset:
    """The pages of a folder in pairs: x.html with x.md, x.html.md or x-commonmark.md, one site a folder.

    An HTML page without its Markdown is warned of, one with several is a problem.
    """
    pages = sorted(each for each in path.glob("*") if each.suffix.lower() in HTML)
    markdown = sorted(path.glob("*.md"))
    problems, warnings, passages = list[Problem](), list[str](), list[Passage]()
    for page in pages:
        same = [each for each in markdown if each.name.startswith(page.stem) and _is_same(each, page)]
        if not same:
            warnings.append(f"{page.name} has no Markdown beside it")
        elif len(same) > 1:
            what = f"{' and '.join(each.name for each in same)} could both be its Markdown"
            problems.append(Problem(what, str(page), fix="Keep one of them in this folder."))
        else:
            passages += _read_pair(page, same[0], extract, problems)
    if not passages and not problems:
        what = "there is no page with its Markdown: x.html and x.md, x.html.md or x-commonmark.md"
        problems.append(
            Problem(what, str(path), fix="Name a folder of pages, or a study with content pairs.")
        )
    if problems:
        raise DataError(problems)
    return Dataset(path.resolve().name, Corpus(passages), [], warnings=warnings)


def _is_same(markdown: Path, page: Path) -> bool:
    return _SAME.fullmatch(markdown.name[len(page.stem) :]) is not None


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


def _pairs(corpus: Corpus) -> Mapping[str, dict[str, Passage]]:
    """Both sides of each pair; a pair that lacks one is none."""
    found: dict[str, dict[str, Passage]] = {}
    for passage in corpus.passages:
        pair, condition = passage.metadata.get("pair"), passage.metadata.get("condition")
        if isinstance(pair, str) and condition in CONDITIONS:
            found.setdefault(pair, {})[condition] = passage
    return {pair: sides for pair, sides in found.items() if len(sides) == len(CONDITIONS)}


def _percent(delta: float, of: float) -> float:
    return 100.0 * delta / of if of else 0.0
