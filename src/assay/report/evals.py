"""A search evaluation as one JSON file a language: figures by category, and every query that failed.

Its names are those that search teams use: `recall_at_3` is Success@3, `mrr_at_10` is RR@10. A figure that
rests on nothing is null.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import msgspec
import polars as pl

from assay.results import GO, ItemView, Results

UNDATED, UNNAMED = "undated", "und"  # und: the code for a language that is not determined
SHOWN_RESULTS = 3
# What the figures of a measure are called, by its family; the cut-off follows.
NAMES = {
    "Success": "recall",
    "RR": "mrr",
    "Routed": "routing_accuracy",
    "IntentMet": "intent_met",
    "Flagged": "flag_accuracy",
}
DECISIVE = ("Success", "Routed", "IntentMet", "Flagged")  # a query fails where one of these is 0
_MEASURE = re.compile(r"(?P<family>\w+)(?:\(.*\))?(?:@(?P<cutoff>\w+))?")


@dataclass(frozen=True)
class Evals:
    """`eval-{language}-{time}.json`, one a language; of several systems, a folder each."""

    def files(self, results: Results) -> dict[str, bytes]:
        """The path and content of every file."""
        when = datetime.fromtimestamp(results.created, UTC) if results.created is not None else None
        time = UNDATED if when is None else when.strftime("%Y%m%dT%H%M%SZ")
        languages = dict.fromkeys(item.language or UNNAMED for item in results.items) or [UNNAMED]
        found = {}
        for arm in results.arms:
            folder = "" if len(results.arms) == 1 else f"{_safe(arm)}/"
            for language in languages:
                content = _Eval(results, arm, language).content(when)
                path = f"{folder}eval-{_safe(language)}-{time}.json"
                found[path] = msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"
        return found


@dataclass(frozen=True)
class _Eval:
    """One arm on the items of one language."""

    results: Results
    arm: str
    language: str

    def content(self, when: datetime | None) -> dict[str, Any]:
        return {
            "timestamp": None if when is None else when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "language": self.language,
            "system": self.arm,
            "total_queries": len(self.items),
            **{f"overall_{name}": value for name, value in self._figures(self.items).items()},
            "categories": {name: self._category(items) for name, items in self._by_category.items()},
            "failures": [self._failure(item) for item in self.items if self._failed(item)],
            "errors": {item.item_id: item.faults[self.arm] for item in self.items if self.arm in item.faults},
            "lower_bounds": [m.name for m in self.results.measures if m.lower_bound],
            "gate_passed": self._gate_passed(),
        }

    @cached_property
    def items(self) -> list[ItemView]:
        return [item for item in self.results.items if (item.language or UNNAMED) == self.language]

    @property
    def _by_category(self) -> dict[str, list[ItemView]]:
        found: dict[str, list[ItemView]] = {}
        for item in self.items:
            for category in item.tags.get("category", []):
                found.setdefault(category, []).append(item)
        return found

    @cached_property
    def _measures(self) -> dict[str, str]:
        """What each measure that has a name here is called, by its own name."""
        found: dict[str, str] = {}
        for measure in self.results.measures:
            read = _MEASURE.fullmatch(measure.name)
            if read is not None and read["family"] in NAMES:
                cut = f"_at_{read['cutoff']}" if read["cutoff"] else ""
                found[measure.name] = NAMES[read["family"]] + cut
        return found

    @cached_property
    def _values(self) -> Mapping[tuple[str, str], float | None]:
        """An item's value of a measure, over its seeds; None where it has none."""
        own = self.results.scores.filter(pl.col("arm") == self.arm)
        means = own.group_by("item", "measure").agg(pl.col("value").mean())
        return {(item, measure): value for item, measure, value in means.iter_rows()}

    def _figures(self, items: Sequence[ItemView]) -> dict[str, float | None]:
        found = {}
        for measure, name in self._measures.items():
            values = [self._values.get((item.item_id, measure)) for item in items]
            known = [value for value in values if value is not None]
            found[name] = sum(known) / len(known) if known else None
        return found

    def _category(self, items: Sequence[ItemView]) -> dict[str, Any]:
        """How many items, and the figures that apply to them."""
        figures = {name: value for name, value in self._figures(items).items() if value is not None}
        return {"count": len(items), **figures}

    def _failed(self, item: ItemView) -> bool:
        """Whether an answer came, and was wrong by a measure that decides."""
        decisive = [name for name in self._measures if name.partition("(")[0].partition("@")[0] in DECISIVE]
        return any(self._values.get((item.item_id, name)) == 0 for name in decisive)

    def _failure(self, item: ItemView) -> dict[str, Any]:
        returned = item.returned.get(self.arm, [])
        best = max((one.grade for one in item.expected), default=0.0)
        ranks = [place for place, one in enumerate(returned, 1) if best and (one.grade or 0) >= best]
        found: dict[str, Any] = {
            "id": item.item_id,
            "query": item.text,
            "category": next(iter(item.tags.get("category", [])), None),
            "expected_passage": item.expected[0].text if item.expected else None,
            "best_match_rank": ranks[0] if ranks else None,
            "top_3_results": [one.text for one in returned[:SHOWN_RESULTS]],
        }
        if item.expectation:
            found |= {"expected": item.expectation, "got": item.took(self.arm)}
        return found

    def _gate_passed(self) -> bool | None:
        """Whether the gates that speak of this language say go; those of every language where none does."""
        spoken = [v for v in self.results.verdicts if any("language=" in c.text for c in v.clauses)]
        own = re.compile(rf"language=(?:[^,\s\]]*\|)?{re.escape(self.language)}(?![\w-])")
        about = [v for v in spoken if any(own.search(c.text) for c in v.clauses)]
        gates = about if spoken else list(self.results.verdicts)
        deciding = [verdict for verdict in gates if verdict.deciding] or gates
        return all(verdict.verdict == GO for verdict in deciding) if deciding else None


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.=,-]+", "_", name)
