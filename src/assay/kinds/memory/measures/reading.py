"""Measures that compare short answers with the right ones, as SQuAD and HotpotQA do: exact match and F1.

Both sides are normalised: lower case, no ASCII punctuation, no articles, one space between words. If an item
has several right answers, the one that gives the highest score counts.

Rajpurkar et al., "SQuAD: 100,000+ questions for machine comprehension of text", EMNLP 2016; Yang et al.,
"HotpotQA: a dataset for diverse, explainable multi-hop question answering", EMNLP 2018.
"""

from __future__ import annotations

import re
import string
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.block import Block
from assay.core.records import Item, Response
from assay.measures.declaration import Declaration, DeclaredMeasure

FIRST_ADDRESS = "assay.measures.reading"

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_WHOLE = frozenset({"yes", "no", "noanswer"})  # answers that are right or wrong as a whole


def normalized(answer: str) -> str:
    """Returns the normalised form in which an answer is compared."""
    return " ".join(_ARTICLE.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def token_f1(given: str, right: str) -> float:
    """Returns the harmonic mean of precision and recall over the words that two answers share.

    A repeated word counts as often as both answers have it. If one answer is "yes", "no" or "noanswer", the
    score is 1 if both are the same and 0 otherwise. As in HotpotQA's own scoring, an answer without any word
    scores 0, even if the right answer has no word either.
    """
    one, other = normalized(given), normalized(right)
    if one != other and not _WHOLE.isdisjoint({one, other}):
        return 0.0
    shared = (Counter(one.split()) & Counter(other.split())).total()
    return 2 * shared / (len(one.split()) + len(other.split())) if shared else 0.0


answer_declaration = partial(Declaration, needs=frozenset({"answer"}))


@dataclass(frozen=True)
class _AnswerMeasure(DeclaredMeasure, ABC):
    """A measure that reads only the answer. It applies to items whose gold lists the right answers."""

    def applies(self, block: Block) -> NDArray[np.bool_]:
        return np.array([bool(item.gold.get("answers")) for item in block.items], dtype=bool)

    def values(self, block: Block) -> NDArray[np.float64]:
        pairs = zip(block.items, block.responses, strict=True)
        return np.array([self._value(item, response) for item, response in pairs])

    def _value(self, item: Item, response: Response | None) -> float:
        right = item.gold.get("answers")
        if response is None or response.answer is None or not right:
            return np.nan
        return max(self.compare(response.answer, each) for each in right)

    @abstractmethod
    def compare(self, given: str, right: str) -> float: ...


@dataclass(frozen=True)
class ExactMatch(_AnswerMeasure):
    """Exact match: 1 if an answer equals one of the right answers after both are normalised, else 0."""

    declares: ClassVar[Declaration] = answer_declaration("ExactMatch", binary=True)

    def compare(self, given: str, right: str) -> float:
        return float(normalized(given) == normalized(right))


@dataclass(frozen=True)
class TokenF1(_AnswerMeasure):
    """F1 of words: how far an answer overlaps the right answer that is nearest to it, from 0 to 1."""

    first_address: ClassVar[str] = "assay.measures.reading:F1"
    declares: ClassVar[Declaration] = answer_declaration("F1")

    def compare(self, given: str, right: str) -> float:
        return token_f1(given, right)
