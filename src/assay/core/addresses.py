"""Where code lived when answers were first stored under its name.

The identity of an answer holds the module of its system, and answers of earlier releases must be found after
a module was moved. So a class keeps the address that it was first stored under. A new class needs no entry.
"""

from __future__ import annotations

FIRST_ADDRESSES = {
    "assay.kinds.answers.panel": "assay.review.panel",
    "assay.kinds.answers.systems.prompted": "assay.systems.prompted",
    "assay.kinds.answers.systems.responses": "assay.systems.responses",
    "assay.kinds.hierarchy.judges.answerable": "assay.judges.answerable",
    "assay.kinds.hierarchy.systems.abstaining": "assay.systems.abstaining",
    "assay.kinds.hierarchy.systems.builders": "assay.systems.hierarchy.builders",
    "assay.kinds.hierarchy.systems.keywords": "assay.systems.hierarchy.keywords",
    "assay.kinds.hierarchy.systems.mixture": "assay.systems.hierarchy.mixture",
    "assay.kinds.hierarchy.systems.routers": "assay.systems.hierarchy.routers",
    "assay.kinds.hierarchy.systems.scan": "assay.systems.hierarchy.scan",
    "assay.kinds.hierarchy.systems.system": "assay.systems.hierarchy.system",
    "assay.kinds.hierarchy.systems.written": "assay.systems.hierarchy.written",
    "assay.kinds.memory.systems.modes": "assay.systems.graph.modes",
    "assay.kinds.memory.systems.packs": "assay.systems.graph.packs",
    "assay.kinds.memory.systems.reader": "assay.systems.reader",
    "assay.kinds.models.judges.rules": "assay.judges.rules",
    "assay.kinds.search.judges.anchors": "assay.judges.anchors",
    "assay.systems.flat_strong": "assay.systems.flat",
}


def address(cls: type) -> str:
    """The module and name under which answers of a class are stored."""
    return f"{FIRST_ADDRESSES.get(cls.__module__, cls.__module__)}:{cls.__qualname__}"
