"""A section of every report: how many hits each system returned."""

from __future__ import annotations

from dataclasses import dataclass

from assay.core.section import Section, Table, TableCell, TableColumn
from assay.pipeline.evaluation import Evaluation


@dataclass(frozen=True)
class HitsReturned:
    """The number of hits per system."""

    def of(self, evaluation: Evaluation) -> Section | None:
        rows = []
        for block in evaluation.blocks:
            count = sum(len(response.hits) for response in block.responses if response is not None)
            name = block.arm.name
            rows.append([TableCell(name, system=name), TableCell(str(count), value=float(count))])
        if not rows:
            return None
        table = Table([TableColumn("system", figure=False), TableColumn("hits")], rows)
        return Section(
            key="hits_returned",
            name="Hits",
            title="How many hits came back?",
            lead="Hits per system, over all items.",
            place="systems",
            blocks=[table],
        )
