"""Walks as a section: a line per item and system for terminals, pictures of a few items for pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.core.results import Results
from assay.core.section import Detail, Section
from assay.kinds.memory.report.graph_picture import walk_pictures
from assay.kinds.memory.report.walks import WalkedItem, path_line, walked_items
from assay.pipeline.evaluation import Evaluation
from assay.report.flips import score_grid

LEGEND = (
    "Thick and numbered: the best path. Thin: what else was walked or reached. Dashed: stopped, and why. "
    "A circle with a tick: expected, on a path. A diamond: expected, ranked or reached, on no path. "
    "An octagon with a cross: expected, never reached. No sign: not expected."
)


@dataclass(frozen=True)
class Walks:
    """The ways that systems walked."""

    def of(self, evaluation: Evaluation) -> Section | None:
        # how a system went about it may tell a condition
        if evaluation.sealed or not evaluation.detailed:
            return None
        results = evaluation.shown
        return walk_section(results, walked_items(results, evaluation.blocks, evaluation.datasets))


def walk_section(results: Results, items: Sequence[WalkedItem]) -> Section | None:
    """A line for every walk, and pictures of those that a reader asks about first."""
    if not items:
        return None
    drawn = walk_pictures(results, items, score_grid(results))
    details = [
        *(
            Detail(item, figure.arm, blocks=[figure.block()])
            for item, figures in drawn.items()
            for figure in figures
        ),
        *(
            Detail(item.item_id, arm, path_line(walk.path))
            for item in items
            for arm, walk in item.walks.items()
        ),
    ]
    return Section(
        key="walks",
        name="Walks",
        title="Which way did they walk?",
        lead="How systems came to what they returned; opened with its item, each walk is drawn.",
        place="items",
        details=details,
        legend=LEGEND,
    )
