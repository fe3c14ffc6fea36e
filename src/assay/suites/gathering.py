"""Pages of several sources of real texts, one source after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from assay.datasets.sources.source import Page, Source
from assay.plugins import SOURCES, Registry
from assay.protocols import Kit


def gathered(sources: Sequence[Any], kit: Kit) -> Iterator[Page]:
    """Every page of every source; a source may still be as a study writes it."""
    registry = Registry()
    for given in sources:
        source: Source = given if isinstance(given, Source) else registry.create(SOURCES, given)
        yield from source.pages(kit)
