"""What several raters said of the same thing: the material of agreement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assay.core.records import Judgment, Span
from assay.judges.resolve import Place, covers

Thing = tuple[str, str | None, Span | None, Place]  # item, target, span; of which arm and seed


def shared_ratings(judgments: Iterable[Judgment], raters: Sequence[str]) -> dict[Thing, dict[str, float]]:
    """The grades of everything that two or more of the raters judged, by rater, in the raters' order.

    A mark for all seeds and one for a single seed are about the same thing: the single seed's response.
    """
    marks: dict[tuple[str, str | None, Span | None], dict[Place, dict[str, float]]] = {}
    for each in judgments:
        if each.judge in raters:
            places = marks.setdefault((each.item_id, each.target, each.span), {})
            places.setdefault((each.arm, each.seed), {})[each.judge] = each.grade
    found: dict[Thing, dict[str, float]] = {}
    for (item_id, target, span), places in marks.items():
        for place in places:
            if any(other != place and covers(place, other) for other in places):
                continue  # what is said here is said of each of the narrower places
            by = _said_of(place, places)
            if len(by) > 1:
                found[item_id, target, span, place] = {each: by[each] for each in raters if each in by}
    return found


def _said_of(place: Place, places: dict[Place, dict[str, float]]) -> dict[str, float]:
    """Each rater's grade for one place, the most specific one where there are several."""
    by: dict[str, float] = {}
    for other in sorted(places, key=lambda each: sum(part is not None for part in each)):
        if covers(other, place):
            by |= places[other]
    return by
