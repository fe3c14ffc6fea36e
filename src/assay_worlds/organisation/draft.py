"""A document before it has positions: paragraphs of sentences, some of which state a fact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from assay.core.records import Document, Passage, Span
from assay_worlds.organisation.world import Fact

STATES, REPEATS = (
    2,
    1,
)  # what a passage is worth to a question: it is the source, or it repeats or supports it


class Sentence(NamedTuple):
    """A sentence, and what its passage is worth to a question about a fact, which is the generator's own."""

    text: str
    fact: Any = None
    grade: int = STATES


class Paragraph(NamedTuple):
    """What becomes one passage."""

    section: str
    sentences: tuple[Sentence, ...]


class Mention(NamedTuple):
    """Where a fact is mentioned: the passage, and the sentence's span in the document."""

    fact: Any
    grade: int
    doc_id: str
    source: str
    span: Span
    text: str


@dataclass(frozen=True)
class Draft:
    """A document still in parts."""

    doc_id: str
    title: str
    metadata: Mapping[str, str]
    paragraphs: tuple[Paragraph, ...]


class Page(NamedTuple):
    """A finished document, its passages, and what they say."""

    document: Document
    passages: list[Passage]
    mentions: list[Mention]


def state(fact: Fact) -> Sentence:
    """The sentence in which the fact is at home."""
    return Sentence(fact.sentence, fact)


def prose(*texts: str) -> tuple[Sentence, ...]:
    """Sentences that state no fact anybody asks for."""
    return tuple(Sentence(text) for text in texts)


def lay_out(draft: Draft) -> Page:
    """Writes a draft out: section headings between paragraphs, and the span of everything that counts."""
    parts, passages, mentions, at, metadata = [draft.title], [], [], len(draft.title), dict(draft.metadata)
    for number, paragraph in enumerate(draft.paragraphs, 1):
        doc_id, heading = f"{draft.doc_id}#p{number}", f"\n\n{paragraph.section}\n"
        text = " ".join(sentence.text for sentence in paragraph.sentences)
        start = at = at + len(heading)
        for sentence in paragraph.sentences:
            if sentence.fact is not None:
                span = Span(at, at + len(sentence.text))
                place = (doc_id, draft.doc_id, span, sentence.text)
                mentions.append(Mention(sentence.fact, sentence.grade, *place))
            at += len(sentence.text) + 1
        at = start + len(text)
        span = Span(start, at)
        passages.append(Passage(doc_id, text, draft.title, draft.doc_id, span, paragraph.section, metadata))
        parts += [heading, text]
    return Page(Document(draft.doc_id, "".join(parts), draft.title, metadata), passages, mentions)
