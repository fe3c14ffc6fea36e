"""A trial made up by hand: two systems on items with one relevant document each."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from assay.controls.trial import Roles, Trial
from assay.core.block import Block
from assay.core.protocols import Measure
from assay.core.records import Arm, Item, Judgment, Response
from assay.core.registry import Registry
from assay.judges.labels import resolve
from assay.measures.parse import parse_measure
from assay.measures.score import score_blocks
from assay.stats.rows import Rows
from assay.store.journal import Answer, answer_columns, select_by_key
from walked_block import hits

CLOSED = frozenset({"relevance"})


def items(count: int, **gold: object) -> list[Item]:
    """So many items, each of whose right document is that of its number; every other is tagged odd."""
    return [
        Item(
            f"q{n}",
            "a query",
            tags={"topic": ["odd" if n % 2 else "even"]},
            gold={"relevant": {f"d{n}": 1.0}, **gold},
        )
        for n in range(count)
    ]


def block(system: str, of: Sequence[Item], responses: Sequence[Response]) -> Block:
    answers = answer_columns(
        Answer(each.item_id, each.item_id, told) for each, told in zip(of, responses, strict=True)
    )
    judgments = [
        Judgment(each.item_id, "relevance", float(grade), "ids", target=doc_id)
        for each in of
        for doc_id, grade in each.gold.get("relevant", {}).items()
    ]
    labels = resolve(judgments, ["ids"], CLOSED)
    stored = select_by_key(answers, [each.item_id for each in of])
    return Block(Arm(system), 0, of, stored, labels, judgments)


def trial(
    blocks: Sequence[Block],
    measures: Sequence[str | Measure],
    pairs: Mapping[str, str | None],
    by: Sequence[str] = (),
) -> Trial:
    made = [parse_measure(each, Registry()) if isinstance(each, str) else each for each in measures]
    scores = score_blocks(made, blocks)
    of = list(blocks[0].items)
    references = tuple(dict.fromkeys(each for each in pairs.values() if each is not None))
    return Trial(
        Roles(pairs, references),
        made,
        blocks,
        Rows(scores, of),
        scores,
        blocks[0].judgments,
        by=by,
        baseline=references[0] if references else None,
        every=made,
    )


def ranked(count: int, right_at: int, depth: int = 5) -> list[Response]:
    """Answers that have each item's own document at one rank, others around it."""
    made = []
    for n in range(count):
        others = [f"d{(n + step) % count}" for step in range(1, depth)]
        others.insert(right_at - 1, f"d{n}")
        made.append(Response(hits(*others)))
    return made


def value_of(found: Trial, columns: Mapping[tuple[str, str], object], key: tuple[str, str]) -> float:
    """The mean of one column, over the rows that count."""
    column = found.rows.replacing(columns).column(*key)  # type: ignore[arg-type]
    return float(column.values[column.counted].mean())


replace = dataclasses.replace
