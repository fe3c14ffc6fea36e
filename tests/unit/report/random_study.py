"""Random studies in memory: systems that differ by chance, a little or a lot, and gates of every shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.results import Results, TrustSummary
from assay.gates.evaluator import Evaluator
from assay.gates.gate import Gate
from assay.gates.looks import LookHistory
from assay.gates.verdict import decide_gates, find_decided_differences, overall_verdict
from assay.report.views import measure_infos
from assay.stats.compare import ComparisonSettings, summarise
from assay.stats.rows import Rows
from score_rows import REGISTRY, B, E, M, frame_of, gate, items_of

RESAMPLES = 300
MEASURES = {"M": M, "B": B, "E": E}


@dataclass(frozen=True)
class Pairwise:
    """A clause about one difference: `measure(a) >= measure(b) + constant`, maybe in one part."""

    a: str
    b: str
    measure: str
    constant: float
    part: str = ""

    @property
    def text(self) -> str:
        sign, op = ("+", ">=") if self.measure != "E" else ("-", "<=")
        where = f" where part={self.part}" if self.part else ""
        return f"{self.measure}({self.a}) {op} {self.measure}({self.b}) {sign} {self.constant:g}{where}"


@dataclass(frozen=True)
class RandomStudy:
    """What a study comes to, and which of its clauses are about one difference, by text."""

    results: Results
    pairwise: dict[str, Pairwise]
    choices: dict[str, list[Pairwise]]  # `max(…)` of several: the differences that it chooses among


def random_study(seed: int) -> RandomStudy:
    """One study of 20 to 60 items, two to six systems and one to four gates."""
    random = np.random.default_rng(seed)
    items, systems = int(random.integers(20, 61)), [f"s{at}" for at in range(random.integers(2, 7))]
    parts = random.choice(["x", "y"], size=items, p=[0.6, 0.4]).tolist()
    questions = items_of(items, part=parts)
    frame = frame_of(_columns(random, systems, items), questions)
    rows = Rows(frame, questions)
    evaluator = Evaluator(rows, REGISTRY, resamples=RESAMPLES)
    pairwise: dict[str, Pairwise] = {}
    choices: dict[str, list[Pairwise]] = {}
    gates = [_gate(f"gate{at}", random, systems, pairwise, choices) for at in range(random.integers(1, 5))]
    verdicts = decide_gates(gates, evaluator)
    how = ComparisonSettings(
        systems[0],
        against=str(random.choice(["baseline", "all"])),
        correction=str(random.choice(["holm", "benjamini-hochberg"])),
        resamples=RESAMPLES,
        by=["part"],
    )
    declared = find_decided_differences(gates, verdicts, evaluator, LookHistory())
    measures = list(MEASURES.values())
    estimates, comparisons = summarise(rows, measures, how, declared)
    results = Results(
        study=f"random {seed}",
        kind="search",
        systems=systems,
        arms=systems,
        baseline=systems[0],
        measures=measure_infos(measures),
        by=["part"],
        scores=frame,
        estimates=estimates,
        comparisons=comparisons,
        verdicts=verdicts,
        verdict=overall_verdict(verdicts),
        trust=TrustSummary({}, [], {}),
        report="report.html",
    )
    return RandomStudy(results, pairwise, choices)


def _columns(random: np.random.Generator, systems: list[str], items: int) -> dict[Any, Any]:
    """Scores that share how hard an item is; a system may be a copy, alike, a little or much better."""
    hard = random.random(items)
    columns: dict[Any, Any] = {}
    for system in systems:
        if len(columns) > 1 and random.random() < 0.1:
            copied = str(random.choice([name for name, _ in columns]))
            columns |= {(system, measure): columns[copied, measure] for measure in MEASURES}
            continue
        gain = random.choice([0.0, 0.0, 0.1, 0.2, -0.15])
        noise = random.normal(0, 0.25, items)
        score = np.clip(np.round(hard + gain + noise, 1), 0, 1)
        columns[system, "M"] = score
        columns[system, "B"] = (random.random(items) < np.clip(0.5 + 2 * gain, 0, 1)).astype(float)
        columns[system, "E"] = np.clip(np.round(1 - hard - gain + noise / 2, 1), 0, 1)
    return columns


def _gate(
    name: str,
    random: np.random.Generator,
    systems: list[str],
    pairwise: dict[str, Pairwise],
    choices: dict[str, list[Pairwise]],
) -> Gate:
    def one() -> str:
        a, b = random.choice(systems, 2, replace=False).tolist()
        made = Pairwise(
            a,
            b,
            str(random.choice(list(MEASURES))),
            float(random.choice([0.0, 0.0, 0.02, 0.05, -0.05])),
            str(random.choice(["", "", "x"])),
        )
        pairwise[made.text] = made
        return made.text

    def best() -> str:
        (rival, *others), constant = random.permutation(systems).tolist(), float(random.choice([0, 0.02]))
        if len(others) < 2:
            return one()
        text = f"max({', '.join(f'M({each})' for each in others)}) >= M({rival}) + {constant:g}"
        choices[text] = [Pairwise(each, rival, "M", constant) for each in others]
        return text

    def several() -> list[str]:
        return list(dict.fromkeys(one() for _ in range(random.integers(2, 6))))

    number = f"M({systems[-1]}) >= 0.5"
    shape = str(random.choice(["one", "all", "any", "max", "kill", "estimate", "number", "both"]))
    made: dict[str, Any] = {
        "one": lambda: {"go": [one()]},
        "all": lambda: {"go": {"all": several()}},
        "any": lambda: {"go": {"any": several()}},
        "max": lambda: {"go": [best()]},
        "kill": lambda: {"kill": {"any": [*several(), number.replace(">=", "<")]}},
        "estimate": lambda: {"go": several(), "on": "estimate"},
        "number": lambda: {"go": [number, one()]},
        "both": lambda: {"go": [one()], "kill": {"any": several()}},
    }[shape]()
    return gate(name, deciding=bool(random.random() < 0.8), **made)
