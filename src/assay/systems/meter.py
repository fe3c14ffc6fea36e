"""What answering one query takes: seconds by stage, tokens that models read, money."""

from __future__ import annotations

from time import perf_counter

from assay.core.records import Observed


class Meter:
    """Runs from the moment it is made. A stage that comes twice adds up."""

    def __init__(self) -> None:
        self._last = perf_counter()
        self._stages: dict[str, float] = {}
        self._tokens = 0
        self._cost = 0.0

    def lap(self, stage: str, *, took: float | None = None, tokens: int = 0, cost: float = 0.0) -> None:
        """Books the time since the last lap under a stage, or what it took when it was really done."""
        now = perf_counter()
        self._stages[stage] = self._stages.get(stage, 0.0) + (now - self._last if took is None else took)
        self._last = now
        self._tokens += tokens
        self._cost += cost

    def observed(self) -> Observed:
        """Every stage and their total, as a record."""
        seconds = {**self._stages, "total": sum(self._stages.values())}
        return Observed(seconds=seconds, tokens=self._tokens or None, cost=self._cost or None)
