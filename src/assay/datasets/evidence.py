"""Gold for budgets: units of evidence with their place in the text.

An item's gold has these keys:
`evidence`    the units, all of which an answer needs. Each unit is a map with `source` (document), `start`
              and `end` (its characters there), `text`, and `doc_id` (the passage that contains it). A unit of
              paragraph grain is a whole paragraph; its `needs` lists the sentences (pairs of start and end)
              that the answer needs. `also` lists other places with the same content, in the same form.
`grain`       "sentence" or "paragraph": the size of a unit
`answer`      a text, or a list of texts that all belong to the answer
`relevant`    grades by passage, for ranking measures
`impossible`  why the item cannot be answered within the budget: "aggregation" (the evidence is too long) or
              "out_of_kb" (there is no evidence); absent if it can be answered
`tokens`      the number of tokens of all needed sentences together, by the suite's tokenizer
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.core.dataset import Corpus
from assay.core.records import Passage, Span

if TYPE_CHECKING:
    from assay.core.parts import Tokens

AGGREGATION, OUT_OF_KB = "aggregation", "out_of_kb"
SENTENCE, PARAGRAPH = "sentence", "paragraph"
BUDGET = 400  # tokens of a "feasible" item
STATES = 2  # the grade of a passage that holds evidence


def sentence_unit(passage: Passage, span: Span) -> dict[str, Any]:
    """Returns a sentence of a passage as a unit of evidence. `span` counts characters of the document."""
    base = passage.span.start if passage.span else 0
    text = passage.text[span.start - base : span.end - base]
    source = passage.source or passage.doc_id
    return {"doc_id": passage.doc_id, "source": source, "start": span.start, "end": span.end, "text": text}


def paragraph_unit(passage: Passage, needs: Sequence[Span]) -> dict[str, Any]:
    """Returns a whole passage as a unit of evidence. `needs` are the sentences that the answer needs."""
    whole = passage.span or Span(0, len(passage.text))
    return {**sentence_unit(passage, whole), "needs": [[span.start, span.end] for span in needs]}


def needed_texts(unit: Mapping[str, Any]) -> list[str]:
    """Returns the sentences of a unit that an answer needs."""
    start = unit["start"]
    if "needs" not in unit:
        return [unit["text"]]
    return [unit["text"][first - start : last - start] for first, last in unit["needs"]]


def evidence_tokens(units: Iterable[Mapping[str, Any]], tokens: Tokens) -> int:
    """Counts the tokens of the needed sentences, one sentence per line, as a reader would see them."""
    return tokens.counts(["\n".join(text for unit in units for text in needed_texts(unit))])[0]


def evidence_grades(units: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Returns the grades of the passages that hold evidence."""
    return {unit["doc_id"]: STATES for unit in units}


def find_misplaced(units: Iterable[Mapping[str, Any]], corpus: Corpus) -> list[str]:
    """Returns the ids of passages with a unit whose text is not at its place. A valid suite has none."""
    found = []
    for unit in units:
        document = corpus.documents.get(unit["source"])
        if document is None or document.text[unit["start"] : unit["end"]] != unit["text"]:
            found.append(unit["doc_id"])
    return found
