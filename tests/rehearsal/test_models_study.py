"""SQL as a judge: relevance is a WHERE clause over the passages, and models are levels of a factor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import duckdb

from assay.core.block import Block
from assay.core.dataset import Corpus, Dataset
from assay.core.protocols import Kit
from assay.core.records import Budget, Hit, Item, Judgment, Passage, Query, Response
from assay.core.registry import JUDGES, SYSTEMS
from assay.pipeline.evaluation import Evaluation
from assay.study.study import Study

SECTIONS = ["ANALYSIS", "CAUSE"]
PASSAGES = [
    Passage(
        f"r{report}#{section}", f"report {report} {section}", section=section, metadata={"report": report}
    )
    for report in range(24)
    for section in SECTIONS
]
ITEMS = [
    Item(f"q{report}", f"cause of report {report}", gold={"sql": f"report = {report} AND section = 'CAUSE'"})
    for report in range(24)
]


@dataclass(frozen=True)
class Sql:
    """Each item's clause decides every passage: a closed world."""

    version: ClassVar[str] = "1"
    names: ClassVar[tuple[str, ...]] = ("sql",)
    closed_labels: ClassVar[frozenset[str]] = frozenset({"relevance"})

    def judge(self, dataset: Dataset, blocks: Sequence[Block], kit: Kit) -> list[Judgment]:
        base = duckdb.connect()
        base.execute("CREATE TABLE passages (doc_id VARCHAR, section VARCHAR, report INTEGER)")
        rows = [(each.doc_id, each.section, each.metadata["report"]) for each in dataset.corpus.passages]
        base.executemany("INSERT INTO passages VALUES (?, ?, ?)", rows)
        return [
            Judgment(item.item_id, "relevance", 1.0, "sql", target=doc_id, reason=item.gold["sql"])
            for item in dataset.items
            for (doc_id,) in base.execute(f"SELECT doc_id FROM passages WHERE {item.gold['sql']}").fetchall()  # noqa: S608
        ]


@dataclass(frozen=True)
class Reader:
    """Model "large" puts the cause first; model "small" puts it second for odd reports."""

    model: str
    version: ClassVar[str] = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Reader:
        return self

    def session(self) -> Reader:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        report = int(query.text.split()[-1])
        order = SECTIONS if self.model == "small" and report % 2 else SECTIONS[::-1]
        return Response(hits=[Hit(f"r{report}#{section}", 2.0 - rank) for rank, section in enumerate(order)])


STUDY = """
kind: models
data: folder(path=.)
factors: {model: [large, small]}
systems: {embed: {use: reader, model: large}}
judges: [sql]
measures: [RR@10, Success@1]
gates:
  choose:
    go: ["RR@10(embed)[model=large] - RR@10(embed)[model=small] >= 0.10"]
"""


def test_models_are_compared_on_labels_that_sql_gives(
    study_at: Callable[..., Study], evaluated: Callable[[Study], Evaluation]
) -> None:
    study = study_at(STUDY, ITEMS, PASSAGES, {SYSTEMS: {"reader": Reader}, JUDGES: {"sql": Sql}})
    assert [arm.name for arm in study.arms] == ["embed[model=large]", "embed[model=small]"]
    found = evaluated(study)

    values = {
        each.factors["model"]: each.value for each in found.results.estimates if each.measure == "RR@10"
    }
    assert values == {"large": 1.0, "small": 0.75}  # half of the reports at 1, half at 1/2
    assert found.judgments[0].reason == "report = 0 AND section = 'CAUSE'"
    clause = found.results.verdicts[0].clauses[0]
    assert clause.value is not None
    assert abs(clause.value - 0.15) < 1e-12  # 0.25 less the 0.10 asked for
    assert found.results.verdict == "go"
