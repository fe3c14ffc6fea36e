"""Writes a search evaluation as a JSON file for each language: values by category, and every failed query.

The names are those that search teams use: `recall_at_3` is Success@3, `mrr_at_10` is RR@10. A value without
scores is null.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import msgspec

from assay.core.records import Arm, ClauseResult, Status
from assay.core.results import GO, ItemView, MeasureInfo, Results
from assay.report.items import COUNTED, Grid, ItemScore, score_grid
from assay.report.wording import file_stem, only_rises, wants_review

UNDATED, UNNAMED = "undated", "und"  # und: the code for a language that is not determined
SHOWN_RESULTS = 3
# the name of a measure's value, by the measure's family; the cut-off is appended
NAMES = {
    "Success": "recall",
    "RR": "mrr",
    "Routed": "routing_accuracy",
    "IntentMet": "intent_met",
    "Flagged": "flag_accuracy",
}
DECISIVE = ("Success", "Routed", "IntentMet", "Flagged")  # a query fails if one of these is 0
_MEASURE = re.compile(r"(?P<family>\w+)(?:\(.*\))?(?:@(?P<cutoff>\w+))?")


@dataclass(frozen=True)
class EvalFiles:
    """The files `eval-{language}-{time}.json`, one for each language. Several systems get a folder each."""

    def files(self, results: Results) -> dict[str, bytes]:
        """Returns the path and the content of every file."""
        when = datetime.fromtimestamp(results.created, UTC) if results.created is not None else None
        time = UNDATED if when is None else when.strftime("%Y%m%dT%H%M%SZ")
        languages = dict.fromkeys(item.language or UNNAMED for item in results.items) or [UNNAMED]
        grid, found = score_grid(results), {}
        for arm in results.arms:
            folder = "" if len(results.arms) == 1 else f"{file_stem(arm)}/"
            for language in languages:
                content = _LanguageEval(results, grid, arm, language).content(when)
                path = f"{folder}eval-{file_stem(language)}-{time}.json"
                found[path] = msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"
        return found


@dataclass(frozen=True)
class _LanguageEval:
    """The results of one arm on the items of one language."""

    results: Results
    grid: Grid
    arm: str
    language: str

    def content(self, when: datetime | None) -> dict[str, Any]:
        return {
            "timestamp": None if when is None else when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "language": self.language,
            "system": self.arm,
            "total_queries": len(self.items),
            **{f"overall_{name}": value for name, value in self._figures(self.items, {}).items()},
            "categories": {name: self._category(name, items) for name, items in self._by_category.items()},
            "failures": [self._failure(item) for item in self.items if self._failed(item)],
            "errors": {item.item_id: item.faults[self.arm] for item in self.items if self.arm in item.faults},
            "unjudged": [item.item_id for item in self.items if self._open(item)],
            "lower_bounds": [m.name for m in self.results.measures if m.lower_bound or self._understates(m)],
            "only": self.results.only,
            "gate_passed": self._gate_passed(),
        }

    @cached_property
    def items(self) -> list[ItemView]:
        return [item for item in self.results.items if (item.language or UNNAMED) == self.language]

    def _understates(self, measure: MeasureInfo) -> bool:
        """Whether judgments that people still have to make could raise the value of a measure."""
        return only_rises(measure.name) and any(map(self._unjudged, self.items))

    @property
    def _by_category(self) -> dict[str, list[ItemView]]:
        found: dict[str, list[ItemView]] = {}
        for item in self.items:
            for category in item.tags.get("category", []):
                found.setdefault(category, []).append(item)
        return found

    @cached_property
    def _measures(self) -> dict[str, str]:
        """The name of each measure in the file. Of several measures with the same name, the first one
        counts."""
        found: dict[str, str] = {}
        for measure in self.results.measures:
            read = _MEASURE.fullmatch(measure.name)
            if read is not None and read["family"] in NAMES:
                cut = f"_at_{read['cutoff']}" if read["cutoff"] else ""
                found.setdefault(NAMES[read["family"]] + cut, measure.name)
        return {measure: name for name, measure in found.items()}

    def _cell(self, item: ItemView, measure: str) -> ItemScore:
        found = self.grid.get((self.arm, measure), {}).get(item.item_id)
        return found or ItemScore(None, Status.NOT_APPLICABLE)

    def _value(self, item: ItemView, measure: str) -> float | None:
        """Returns an item's value if it enters a mean, otherwise None. A failed seed leaves no value."""
        cell = self._cell(item, measure)
        return cell.value if cell.status in COUNTED else None

    def _figures(self, items: Sequence[ItemView], where: Mapping[str, str]) -> dict[str, float | None]:
        """Returns the mean of each measure.

        This is the report's estimate if the report has this slice, otherwise the mean of the items.
        """
        found: dict[str, float | None] = {}
        for measure, name in self._measures.items():
            values = [value for item in items if (value := self._value(item, measure)) is not None]
            estimate = self._estimates.get((measure, *sorted(where.items())))
            found[name] = estimate if values and estimate is not None else _mean(values)
        return found

    @cached_property
    def _estimates(self) -> dict[tuple[Any, ...], float | None]:
        """The report's means of this arm and language, by measure and the other parts of the slice."""
        several = len({item.language for item in self.results.items}) > 1
        found = {}
        for one in self.results.estimates:
            where = dict(one.where)
            own = where.pop("language", None) == self.language if several else "language" not in where
            if own and Arm(one.system, one.factors).name == self.arm:
                found[one.measure, *sorted(where.items())] = one.value
        return found

    def _category(self, name: str, items: Sequence[ItemView]) -> dict[str, Any]:
        """Returns the number of items, the values that apply to them, and how many items have no value."""
        figures = {
            key: value for key, value in self._figures(items, {"category": name}).items() if value is not None
        }
        left = {
            "failed": sum(self.arm in item.faults for item in items),
            "unjudged": sum(self._open(item) for item in items),
        }
        return {"count": len(items), **figures, **{word: n for word, n in left.items() if n}}

    def _open(self, item: ItemView) -> bool:
        """Whether a measure of the item waits for a judgment, or people still have to judge its results."""
        cells = [self._cell(item, measure).status for measure in self._measures]
        return Status.UNJUDGED in cells or (self._wrong(item) and self._unjudged(item))

    def _unjudged(self, item: ItemView) -> bool:
        """Whether people still have to judge one of the item's results."""
        return wants_review(item) and any(one.grade is None for one in item.returned.get(self.arm, []))

    def _failed(self, item: ItemView) -> bool:
        """Whether an item's answer is wrong by a decisive measure."""
        return self._wrong(item) and not self._unjudged(item)

    def _wrong(self, item: ItemView) -> bool:
        decisive = [name for name in self._measures if name.partition("(")[0].partition("@")[0] in DECISIVE]
        return any(self._value(item, name) == 0 for name in decisive)

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
        """Whether all gates about this system and language say go; None if there are no such gates."""
        own = re.compile(rf"\b{re.escape(self.arm.partition('[')[0])}\b")
        about = [gate for gate in self.results.verdicts if any(own.search(c.text) for c in gate.clauses)]
        here = [gate for gate in about if not gate.clauses or any(map(self._concerns, gate.clauses))]
        deciding = [gate for gate in here if gate.deciding] or here
        return all(gate.verdict == GO for gate in deciding) if deciding else None

    def _concerns(self, clause: ClauseResult) -> bool:
        """Whether a clause is about this language: the clause names the language, or names no language."""
        named = re.findall(r"\blanguage\s*=\s*([^,\s\]]+)", clause.text)
        return not named or any(self.language in each.split("|") for each in named)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
