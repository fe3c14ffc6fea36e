"""Pages of several sources of real texts, one source after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from assay.core.errors import DataError, Problem
from assay.core.protocols import Kit
from assay.core.registry import Registry
from assay_worlds.sources.source import SOURCES, Page, Source


def gathered(sources: Sequence[Any], kit: Kit) -> Iterator[Page]:
    """Every page of every source; a source may still be as a study writes it.

    What is wrong with the sources is reported at the end, all of it together, each problem with its source.
    """
    registry = Registry()
    made: list[Source] = [
        each if isinstance(each, Source) else registry.create(SOURCES, each) for each in sources
    ]
    problems = list[Problem]()
    for number, source in enumerate(made):
        try:
            yield from source.pages(kit)
        except DataError as error:
            problems += (_placed(each, f"sources.{number}") for each in error.problems)
    if problems:
        raise DataError(problems)


def _placed(problem: Problem, place: str) -> Problem:
    return replace(problem, field=f"{place}.{problem.field}" if problem.field else place)
