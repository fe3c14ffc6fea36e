"""Writes docs/memory-results.md: the memories of src/assay/studies/public_memory on public data.

ASSAY_DATA=DIR .venv/bin/python docs/memory_results.py             everything anew: half an hour on two cores
ASSAY_DATA=DIR .venv/bin/python docs/memory_results.py RUN_FOLDER  keeps answers there and goes on with them;
  what was answered before keeps the time that it took then
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from assay.core.dataset import Dataset
from assay.core.records import Arm, ClauseResult, Estimate, Factors
from assay.gates.operand import Mean
from assay.gates.syntax import Arithmetic, Call, Clause
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import run_study
from assay.pipeline.validate import check_study
from assay.report.markdown import code, escaped, table
from assay.report.verdicts import clause_state
from assay.report.wording import NOTHING, number, sample_size, where_text, with_interval
from assay.study.study import open_study

ROOT = Path(__file__).parent.parent
STUDIES = ROOT / "src" / "assay" / "studies" / "public_memory"
PAGE = ROOT / "docs" / "memory-results.md"
SLICED = "R@5"  # the measure of breakdowns and contrasts
TIMED = "Seconds"  # shown as a median, not as a mean


@dataclass(frozen=True)
class Told:
    """What a reader has to know of a data set: its name, what a node is, what a question is asked of."""

    title: str
    node: str
    asked_of: str


SETS = {
    "hotpotqa": Told(
        "HotpotQA", "a sentence", "the sentences of its own paragraphs, most of them distractors"
    ),
    "musique": Told("MuSiQue", "a paragraph", "its own twenty paragraphs"),
    "twowiki": Told("2WikiMultiHopQA", "a passage, named by its title", "all passages of one open corpus"),
    "longmemeval": Told("LongMemEval", "a session", "the sessions of its own history"),
    "locomo": Told("LoCoMo", "a turn", "the turns of its own dialogue"),
}
GRAPHS = {
    "sentence_chain": "neighbouring sentences of one title, and no other edges",
    "sentence_links": "neighbours in one document, titles that a text names, rare names that two share",
    "conversation": "turns and sessions in the order of time, and corrections",
}
OPENING = """# Memories on public data

Graph memories beside flat retrieval on five public data sets: what each finds, by kind of question. The
studies are in `src/assay/studies/public_memory`. This page is written by `docs/memory_results.py` from their
results:

    ASSAY_DATA=DIR .venv/bin/python docs/memory_results.py

- **Top k** is the first k hits of the ranking that an answer ends in: the same room for every system.
  `EvidenceHit@5` alone reads paths, node after node. A memory walks from three seeds, so that one without
  edges shows three nodes there, and hybrid and flat_strong, which have no paths, five hits. Compare by it
  only memories that walk.
- `EvidenceHit` asks for all supporting nodes (policy "all"). Over hits it is then the same as `Complete@5`.
- In brackets: 95 % intervals, resampled over questions. Those of one dialogue or one corpus share it: the
  intervals are about other questions to the same texts.
- ms: median time of an answer once the index is built, all systems of a data set in one run. It compares
  systems, not machines. A mode and its static form are one program: what lies between their times is noise.
- *static* and *minilm* are embedding models: static word vectors, and all-MiniLM-L6-v2. What goes by words
  alone is the same for both.
- Every question is asked in a session of its own. Dynamic forms have nothing to learn from here, and score
  as the static ones; what they learn is measured on [sequences](memory-measures.md).
- No figure here shows that a path, a role or a type of edge is right: see the end of each part.
"""
CONTRAST = """## The better graph against the better flat system

R@5 on questions that need several pieces of evidence. Graph: structure_only, weighted_graph,
activation_spreading_v1, pagerank. Flat: lexical_baseline, embedding_baseline, hybrid, flat_strong. Paired by
question; which is the better of each side is found anew in every resample. Beside it the difference from the
better of the two baselines alone, and H1, which asks for 15 % more than those: it holds where the estimate
does and the interval of the difference excludes a loss, and fails where the interval excludes the 15 %.
A graph memory also matches otherwise than a flat system: by the mean of words and vectors. What its edges
add is the last difference, weighted_graph less no_structure, which is the same without any edge."""
VECTORS = """## Vectors against words

That embedding_baseline finds no less than lexical_baseline, decided on the estimate. A failure is reported,
and stops nothing."""


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else name)
        folder.mkdir(parents=True, exist_ok=True)
        parts = [Part(each, evaluated(each, folder)) for each in SETS]
        PAGE.write_text(page(parts))


def evaluated(name: str, folder: Path) -> Evaluation:
    """One of the studies, run in a folder as far as it was not run there yet."""
    shutil.copy(STUDIES / f"{name}.yaml", folder)
    study = open_study(folder / f"{name}.yaml")
    check_study(study, study.arms)
    run_study(study)
    return Evaluation(study)


def page(parts: Sequence[Part]) -> str:
    sides = ("data", "better graph", "better flat", "", "difference [95 %]", "detectable")
    contrast = (*sides, "from the better baseline", "H1: 15 % more", "edges alone", "n")
    vectors = ("data", "measure", "", "vectors", "words", "difference [95 %]", "n")
    blocks = [
        OPENING.rstrip(),
        CONTRAST,
        table(contrast, [row for part in parts for row in part.contrasts()], texts=4),
        VECTORS,
        table(vectors, [row for part in parts for row in part.vectors()], texts=3),
        *(block for part in parts for block in part.blocks()),
    ]
    return "\n\n".join(blocks) + "\n"


@dataclass(frozen=True)
class Part:
    """A data set's part of the page."""

    name: str
    evaluation: Evaluation

    @property
    def told(self) -> Told:
        return SETS[self.name]

    @cached_property
    def variants(self) -> list[Factors]:
        """The combinations of graph and model that were run."""
        return list({repr(arm.factors): arm.factors for arm in self.evaluation.arms}.values())

    def dataset(self, factors: Factors) -> Dataset:
        arm = next(arm for arm in self.evaluation.arms if arm.factors == factors)
        return self.evaluation.datasets[arm.name]

    def blocks(self) -> Iterator[str]:
        """Everything about the data set, table by table."""
        yield f"## {self.told.title}"
        yield "\n".join(self._facts())
        for factors in self.variants:
            if factors:
                yield f"### {self.told.title}, {self._variant(factors)}"
            yield self._systems(factors)
            yield self._slices(factors)
        unproven = [f"- {escaped(said)}" for said in self.evaluation.results.unproven]
        yield f"What {self.told.title} does not show:\n\n" + "\n".join(unproven)

    def _variant(self, factors: Factors) -> str:
        return ", ".join(f"{name} {value}" for name, value in factors.items())

    def _facts(self) -> Iterator[str]:
        datasets = {each.hash: each for each in map(self.dataset, self.variants)}
        first = next(iter(datasets.values()))
        told = self.told
        yield f"- {len(first.items):,} questions over {len(first.corpus):,} nodes. A node is {told.node}."
        yield f"- A question is asked of {told.asked_of}."
        if bare := sum(item.expects == "nothing" for item in first.items):
            yield f"- {bare} questions have no answer there: `Abstain` is about them, the rest is not."
        for digest, each in datasets.items():
            pack = each.corpus.passages[0].metadata["pack"]
            yield f"- Graph of `{each.name}`: {GRAPHS[pack]}. Data {code(digest)}."
        yield f"- Study `{self.name}.yaml`, fingerprint {code(self.evaluation.study.fingerprint)}."
        yield from (f"- {escaped(warning)}" for warning in first.warnings)

    def _systems(self, factors: Factors) -> str:
        """A row a system: every measure with its interval, and the median time."""
        measures = [each.name for each in self.evaluation.results.measures if each.name != TIMED]
        means = self._estimates(factors, {})
        seconds = self.evaluation.results.trust.seconds
        rows = []
        for system in self.evaluation.results.systems:
            cells = [means[system, measure] for measure in measures]
            median = seconds[Arm(system, factors).name]["p50"] * 1000
            counted = next((each for each in cells if each.n_scored), cells[0])
            rows.append((system, sample_size(counted), *map(_mean, cells), number(median)))
        return table(("system", "n", *map(code, measures), "ms"), rows)

    def _slices(self, factors: Factors) -> str:
        """The one measure by every slice, in the order of the study's tags."""
        found = self.evaluation.results.estimates
        applying = [each.where for each in found if each.where and each.measure == SLICED and each.n_scored]
        slices = sorted({repr(where): where for where in applying}.values(), key=self._place)
        by = [(where, self._estimates(factors, where)) for where in slices]
        first = self.evaluation.results.systems[0]
        heads = [f"{escaped(where_text(where))} ({means[first, SLICED].n_scored})" for where, means in by]
        rows = [
            (system, *(_mean(means[system, SLICED]) for _, means in by))
            for system in self.evaluation.results.systems
        ]
        return f"{code(SLICED)} by kind of question, with how many there are:\n\n" + table(
            ("system", *heads), rows
        )

    def _place(self, where: dict[str, str]) -> tuple[int, str]:
        """Slices stand in the order of the study's tags, the values of one in their own."""
        ((tag, value),) = where.items()
        return self.evaluation.study.file.by.index(tag), value

    def _estimates(self, factors: Factors, where: dict[str, str]) -> dict[tuple[str, str], Estimate]:
        return {
            (each.system, each.measure): each
            for each in self.evaluation.results.estimates
            if each.factors == factors and each.where == where
        }

    # ----------------------------------------------------------------------------------- gates

    def _clauses(self, gate: str) -> list[tuple[Clause, ClauseResult]]:
        """The clauses of a gate as written, each with what it came to."""
        written = next(each for each in self.evaluation.study.gates if each.name == gate)
        found = next(each for each in self.evaluation.verdicts if each.gate == gate)
        return list(zip(written.clauses(), found.clauses, strict=True))

    def contrasts(self) -> Iterator[tuple[str, ...]]:
        """A row a variant: which graph and which flat system were best, and what lies between them."""
        gates = ("better_graph", "h1_absolute", "h1_relative", "edges")
        rows = zip(*map(self._clauses, gates), strict=True)
        for (clause, found), (_, plain), (_, relative), (_, edges) in rows:
            graph, flat = (NOTHING, NOTHING) if found.value is None else self._best(clause)
            yield (
                self._named(clause),
                graph,
                flat,
                {True: "graph better", False: "flat better", None: "not settled"}[found.holds],
                _margin(found),
                number(found.mde),
                _margin(plain),
                clause_state(relative),
                _margin(edges),
                str(found.n),
            )

    def vectors(self) -> Iterator[tuple[str, ...]]:
        """A row a model: whether vectors find no less than words."""
        for clause, found in self._clauses("embedding"):
            measures = [each.measure.name for each in self._means(clause)]
            sides = (_figure(found.left), _figure(found.right))
            named = (self._named(clause), code(measures[0]), clause_state(found))
            yield (*named, *sides, _margin(found), str(found.n))

    def _named(self, clause: Clause) -> str:
        """The data set and the variant that a clause is about."""
        told = [f"{each.name} {each.values[0]}" for each in clause.where if each.name != "multi_hop"]
        return ", ".join([self.told.title, *told])

    def _means(self, clause: Clause) -> list[Mean]:
        found = self.evaluation.evaluator.operands(clause).values()
        return [each for each in found if isinstance(each, Mean)]

    def _best(self, clause: Clause) -> Iterator[str]:
        """The best system on each side of a difference of two maxima, with its mean."""
        evaluator = self.evaluation.evaluator
        leaves = evaluator.operands(clause)
        sides = (clause.left.left, clause.left.right) if isinstance(clause.left, Arithmetic) else ()
        for side in sides:
            means = {
                leaf.system: float(np.nanmean(evaluator.values(leaf, {})))
                for call in (side.args if isinstance(side, Call) else ())
                if isinstance(call, Call) and isinstance(leaf := leaves[call], Mean)
            }
            system = max(means, key=means.__getitem__)
            yield f"{system} {_figure(means[system])}"


def _mean(estimate: Estimate) -> str:
    if not estimate.n_scored:
        return NOTHING
    return with_interval(_even(estimate.value), estimate.low, estimate.high)


def _margin(found: ClauseResult) -> str:
    return with_interval(_even(found.value), found.low, found.high, signed=True)


def _figure(value: float | None) -> str:
    return number(_even(value))


def _even(value: float | None) -> float | None:
    """Without the last bits, in which one mean summed in two orders differs: it must print alike."""
    return None if value is None else round(value, 10)


if __name__ == "__main__":
    main()
