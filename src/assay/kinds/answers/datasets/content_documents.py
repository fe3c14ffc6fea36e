"""Content documents: what a model is given for a question under one condition, as a corpus holds it.

Such a passage says in its metadata which pair it is one side of, under which condition, and for which
questions: {"pair": "S001-P03", "condition": "A", "site": "S001", "questions": ["S001-Q01"]}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assay.core.dataset import Corpus
from assay.core.errors import UsageError, did_you_mean
from assay.core.records import Hit, Passage

CONDITIONS = ("A", "B")  # the baseline, and what is held against it
BETWEEN = "\n\n"  # what stands between two documents that are given together


def check_condition(condition: str) -> str:
    """The condition; a UsageError where there is no such one."""
    if condition not in CONDITIONS:
        raise UsageError(f"condition: there is no {condition!r}. {did_you_mean(condition, CONDITIONS)}")
    return condition


def content_of(corpus: Corpus, condition: str) -> Mapping[str, Sequence[Passage]]:
    """The documents of each question under a condition, in the order in which they are given."""
    found: dict[str, list[Passage]] = {}
    for passage in corpus.passages:
        if passage.metadata.get("condition") == condition:
            for item_id in passage.metadata.get("questions", ()):
                found.setdefault(item_id, []).append(passage)
    return found


def as_hits(passages: Sequence[Passage]) -> list[Hit]:
    """Documents as a response names them: the first one is the best."""
    left = range(len(passages), 0, -1)
    return [Hit(passage.doc_id, float(below)) for passage, below in zip(passages, left, strict=True)]


def join_texts(texts: Iterable[str]) -> str:
    """Texts as a model is given them, and as they are counted."""
    return BETWEEN.join(texts)
