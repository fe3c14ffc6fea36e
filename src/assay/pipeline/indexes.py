"""The indexes an arm is asked of: one over the whole corpus, or one a scope while its units are in flight."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from assay.core.protocols import Index
from assay.store.keys import Unit

Scope = tuple[str, ...] | None


@dataclass
class _Place:
    """Where one index stands, or will."""

    building: threading.Lock = field(default_factory=threading.Lock)
    index: Index | None = None


class Indexes:
    """Builds an index when its first unit needs it, and closes it when its last unit is done.

    A build that fails leaves nothing behind: the next unit, or the next attempt, tries again.
    """

    def __init__(self, build: Callable[[Scope], Index], units: Iterable[Unit]) -> None:
        self._build = build
        self._left = Counter(unit.scope for unit in units)
        self._places: dict[Scope, _Place] = {scope: _Place() for scope in self._left}

    def of(self, scope: Scope) -> Index:
        """The index over a scope; whoever comes while it is being built waits for it."""
        place = self._places[scope]
        with place.building:
            if place.index is None:
                place.index = self._build(scope)
            return place.index

    def done(self, unit: Unit) -> None:
        """Notes that a unit needs its index no longer."""
        self._left[unit.scope] -= 1
        if not self._left[unit.scope]:
            _close(self._places[unit.scope])

    def close(self) -> None:
        """Closes all that are still open."""
        for place in self._places.values():
            _close(place)


def _close(place: _Place) -> None:
    """Closes an index that offers it. One that cannot be closed has answered all the same."""
    index, place.index = place.index, None
    with suppress(Exception):
        getattr(index, "close", lambda: None)()
