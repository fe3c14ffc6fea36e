"""Measures whether a query gives its answer away, and how many of its words are in its evidence."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Sequence

from assay.core.records import Item
from assay.datasets.evidence import needed_texts
from assay.retrieval.words import content_stems


def leaks(text: str, answer: Sequence[str]) -> bool:
    """Whether a query contains a part of its answer as whole words."""
    plain = _plain(text)
    return any(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", plain) for part in map(_plain, answer) if part)


def overlap(item: Item) -> float | None:
    """Returns the share of a query's content words that occur in its evidence.

    Returns None if the query has no content words or no evidence.
    """
    asked = set(content_stems([item.text])[0])
    units = item.gold.get("evidence") or ()
    if not asked or not units:
        return None
    sentences = content_stems([text for unit in units for text in needed_texts(unit)])
    known = {stem for stems in sentences for stem in stems}
    return len(asked & known) / len(asked)


def overlap_by_tag(items: Iterable[Item]) -> dict[str, tuple[float, int]]:
    """Returns the mean overlap of the items of each tag, and the number of these items."""
    found: dict[str, list[float]] = {}
    for item in items:
        share = overlap(item)
        for tag in item.tags.get("tag", ()) if share is not None else ():
            found.setdefault(tag, []).append(share or 0.0)
    return {tag: (statistics.fmean(shares), len(shares)) for tag, shares in sorted(found.items())}


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
