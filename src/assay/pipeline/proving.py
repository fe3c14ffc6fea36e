"""Tries every gate on systems that must not pass and on one that must pass, and stores the proofs.

No system is asked again. A proof is stored with a hash of the gate and of everything that its scores depend
on. A proof of other answers, labels or clauses is not shown.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from functools import cached_property

import msgspec
import numpy as np
from scipy.stats import binomtest

from assay.controls.general import ANYTHING
from assay.controls.oracle import best_scores
from assay.controls.trial import (
    Columns,
    Control,
    ControlNotApplicable,
    Draw,
    Roles,
    StandIn,
    Trial,
    find_roles,
)
from assay.core.block import FAILED
from assay.core.errors import UsageError
from assay.core.optional import TwinControl
from assay.core.protocols import Measure, ProgressCallback, ignore_progress
from assay.core.records import Verdict
from assay.core.registry import ORACLES, as_plugin_error
from assay.core.results import GO, NO_GO, CaughtLoss, ControlResult, Proof
from assay.gates.decision import passes
from assay.gates.evaluator import Evaluator, Floats, combine, value_of
from assay.gates.expansion import ClauseGroup, expand_for_each
from assay.gates.gate import Gate, measures_of
from assay.gates.operand import Mean, Operand, StatisticOperand, means_of
from assay.gates.syntax import Call, Clause
from assay.gates.verdict import decide_gates
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.plugins import plugins_for
from assay.pipeline.stored_results import ProofEvidence, controls_of, store_proofs
from assay.stats.rows import Column

ALPHA = 0.05  # the share of random draws of a control that may pass
RESAMPLES = 500  # resamples if a gate is tried many times. A single trial uses those of the study
SHARES = (0.02, 0.05, 0.10, 0.15, 0.20, 0.30, 0.40, 0.50, 0.75, 1.0)  # of the items, in planted losses
LOSS_DRAWS, CAUGHT = 20, 0.95  # the draws of a planted loss, and the share that a gate must refuse


def prove(evaluation: Evaluation, progress: ProgressCallback = ignore_progress) -> list[Proof]:
    """Tries every gate of a study on every control, and stores the proofs."""
    study = evaluation.study
    if not study.gates:
        raise UsageError(f"{study.lines.where}: there is no gate to try. Add `gates:`.")
    controls, every, proofs = controls_of(study), measures_of(study.gates, study), list[Proof]()
    kept: dict[tuple[str, int, str, str, str], Column] = {}
    for place, gate in enumerate(study.gates):
        progress(f"gate {gate.name}", place, len(study.gates))
        proofs.append(_GateTrial(evaluation, gate, every, kept).proof(controls))
    progress("gates", len(study.gates), len(study.gates))
    store_proofs(evaluation, proofs)
    return proofs


@dataclasses.dataclass(frozen=True)
class _GateTrial:
    """Tries one gate. Columns of controls replace the columns of the gate's candidates."""

    evaluation: Evaluation
    gate: Gate
    every: Sequence[Measure]  # all measures that any gate reads
    kept: dict[tuple[str, int, str, str, str], Column]  # columns that were scored for other gates

    def proof(self, controls: dict[str, Control]) -> Proof:
        roles = self.trial.roles
        return Proof(
            self.gate.name,
            list(roles.candidates),
            list(roles.references),
            [found for name, control in controls.items() for found in self._results(name, control)],
            self._caught_loss(),
            ALPHA,
            self.gate.rules.deciding,
            ProofEvidence(self.evaluation).hash_of(self.gate),
        )

    # ---------------------------------------------------------------------------- what it reads

    @cached_property
    def _clauses(self) -> list[tuple[str, Clause, Clause, dict[Call, Operand]]]:
        """For each clause: its role, the clause, the clause for one value of its `for`, and its operands."""
        evaluator = self.evaluation.evaluator
        return [
            (role, clause, one, evaluator.operands(one))
            for role, clause in self.gate.by_role()
            for _, one in expand_for_each(clause, evaluator.rows.known_values)
        ]

    @cached_property
    def trial(self) -> Trial:
        found = self.evaluation
        operands = [leaf for *_, by_call in self._clauses for leaf in by_call.values()]
        means = [mean for leaf in operands for mean in means_of(leaf)]
        measures: dict[str, Measure] = {mean.measure.name: mean.measure for mean in means}
        for mean in means:
            found.rows.column(*mean.column)  # computed once for all draws
        return Trial(
            self._roles,
            list(measures.values()),
            found.blocks,
            found.rows,
            found.scores,
            found.judgments,
            [
                leaf.label
                for leaf in operands
                if isinstance(leaf, StatisticOperand) and leaf.label is not None
            ],
            found.study.file.by,
            list(dict.fromkeys(mean.where for mean in means)),
            found.study.baseline if len(found.rows.systems) > 1 else None,
            every=self.every,
            kept=self.kept,
            oracle=plugins_for(found.study, ORACLES),
        )

    @cached_property
    def _roles(self) -> Roles:
        clauses = [(role, one, operands) for role, _, one, operands in self._clauses]
        return find_roles(clauses, self.evaluation.study.baseline)

    # ---------------------------------------------------------------------------------- its verdicts

    def verdict(self, stand_in: StandIn, resamples: int) -> Verdict:
        """Decides the gate with a stand-in for its candidates."""
        (found,) = decide_gates([self.gate], self._evaluator(stand_in, resamples))
        return found

    def _evaluator(self, stand_in: StandIn, resamples: int) -> Evaluator:
        whole = self.evaluation.evaluator
        return dataclasses.replace(
            whole,
            rows=self.trial.rows.replacing(stand_in.columns),
            judgments=whole.judgments if stand_in.judgments is None else stand_in.judgments,
            resamples=resamples,
            prediction_powered=None,  # people marked the candidate's answers, not these
            broken={},
            same_answers=None,
        )

    def passes(self, verdict: Verdict) -> bool:
        """Whether a verdict lets the stand-in pass: go or, for a gate with only kill clauses, not no-go."""
        return verdict.verdict == GO if self.gate.go is not None else verdict.verdict != NO_GO

    def passes_quickly(self, stand_in: StandIn) -> bool:
        """Whether the gate passes a stand-in, with fewer resamples, or none if the estimates already fail."""
        if self.gate.go is not None and not self._may_pass(stand_in):
            return False
        return self.passes(self.verdict(stand_in, RESAMPLES))

    def _may_pass(self, stand_in: StandIn) -> bool:
        """Whether the estimates pass the `go` clauses. If they do not, no interval passes either."""
        if any((column.status == FAILED).any() for column in stand_in.columns.values()):
            return True  # only the whole procedure counts failed rows at both ends
        evaluator = self._evaluator(stand_in, RESAMPLES)
        passing: dict[Clause, list[bool]] = {}
        for role, clause, one, operands in self._clauses:
            if role == "go":
                points = {call: _point_estimate(leaf, evaluator) for call, leaf in operands.items()}
                margin = float(combine("-", value_of(one.left, points), value_of(one.right, points))[0])
                passing.setdefault(clause, []).append(math.isnan(margin) or _passes_clause(one, margin))
        decided = {
            clause: sum(each) >= (len(each) if clause.each is None else clause.each.need or len(each))
            for clause, each in passing.items()
        }
        return self.gate.go is None or self.gate.go.holds(decided) is not False

    def _results(self, name: str, control: Control) -> Iterator[ControlResult]:
        about = (type(control).__doc__ or "").strip().splitlines()[0]
        result = ControlResult(
            name,
            about=about,
            expected=self._expected(control),
            harmless=self.gate.rules.harmless.get(name, ""),
        )
        try:
            self._refuse_sealed()
            with as_plugin_error(f"The control {name!r} broke on the gate {self.gate.name!r}"):
                mutants = control.mutants(self.trial)
        except ControlNotApplicable as error:
            yield msgspec.structs.replace(result, reason=str(error))
            return
        for mutant, draw in mutants.items():
            one = msgspec.structs.replace(result, mutant=mutant)
            # one mutant may be harmless, and the others not
            may_pass = self.gate.rules.harmless.get(one.name, result.harmless)
            one = msgspec.structs.replace(one, harmless=may_pass)
            yield self._once(one, draw) if control.draws == 1 else self._often(one, draw, control.draws)

    def _refuse_sealed(self) -> None:
        if self.evaluation.sealed:
            raise ControlNotApplicable("people are still scoring without knowing the conditions")

    def _expected(self, control: Control) -> str:
        is_twin = isinstance(control, TwinControl) and control.twin
        if not is_twin or not self.trial.roles.references:
            return control.expected
        return "refused" if self._asks_for_gain else "either"

    @cached_property
    def _asks_for_gain(self) -> bool:
        """Whether the gate refuses a candidate that is exactly as good as its references."""
        go, kill = self.gate.go, self.gate.kill
        met: dict[Clause, list[bool]] = {}
        for _, clause, one, operands in self._clauses:
            systems = {mean.system for leaf in operands.values() for mean in means_of(leaf)}
            if not systems.isdisjoint(self._roles.candidates) and not systems.isdisjoint(
                self._roles.references
            ):
                alike = dict.fromkeys(operands, np.array([0.5]))
                margin = float(combine("-", value_of(one.left, alike), value_of(one.right, alike))[0])
                met.setdefault(clause, []).append(_passes_clause(one, margin))

        def decided(group: ClauseGroup, otherwise: bool) -> dict[Clause, bool | None]:
            return {each: all(met[each]) if each in met else otherwise for each in group.clauses()}

        refused = go is not None and go.holds(decided(go, True)) is False
        return refused or (kill is not None and kill.holds(decided(kill, False)) is True)

    def _once(self, result: ControlResult, draw: Draw) -> ControlResult:
        stand_in = draw(np.random.default_rng(0))
        hopeless = self.gate.go is not None and not self._may_pass(stand_in)
        resamples = self.evaluation.evaluator.resamples
        verdict = self.verdict(stand_in, min(resamples, RESAMPLES) if hopeless else resamples)
        passed = self.passes(verdict)
        return msgspec.structs.replace(
            result,
            passed=int(passed),
            draws=1,
            rate=float(passed),
            verdict=verdict.verdict,
            reason="" if passed else _refusal_reason(verdict),
        )

    def _often(self, result: ControlResult, draw: Draw, draws: int) -> ControlResult:
        random = np.random.default_rng([1, draws])
        passed = sum(self.passes_quickly(draw(random)) for _ in range(draws))
        interval = binomtest(passed, draws).proportion_ci(method="exact")
        return msgspec.structs.replace(
            result,
            passed=passed,
            draws=draws,
            rate=passed / draws,
            low=float(interval.low),
            high=float(interval.high),
        )

    # ------------------------------------------------------------------------------ planted losses

    def _caught_loss(self) -> CaughtLoss:
        trial = self.trial
        try:
            self._refuse_sealed()
            trial.require(ANYTHING)
            whose, columns = self._passing()
            trial = dataclasses.replace(trial)
            vars(trial)["columns"] = columns  # the loss is planted in these
            _ = trial.emptied
        except ControlNotApplicable as reason:
            return CaughtLoss(reason=str(reason))
        places, missed = np.flatnonzero(trial.read), None
        for share in SHARES:
            count = int(np.ceil(share * len(places)))
            random = np.random.default_rng([2, count])
            refused = 0
            for _ in range(LOSS_DRAWS if count < len(places) else 1):
                lost = np.zeros(len(trial.rows), dtype=bool)
                lost[random.choice(places, count, replace=False)] = True
                refused += not self.passes_quickly(trial.emptied_at(lost))
            if refused >= CAUGHT * (LOSS_DRAWS if count < len(places) else 1):
                return CaughtLoss(whose, share, count, missed, LOSS_DRAWS)
            missed = share
        return CaughtLoss(whose, None, 0, missed, LOSS_DRAWS, "no planted loss is caught")

    def _passing(self) -> tuple[str, Columns]:
        """Returns the answers in which a loss is planted: the candidate's if it passes, else the oracle's."""
        if self.passes_quickly(StandIn(self.trial.columns)):
            return "candidate", self.trial.columns
        best = best_scores(self.trial)
        if self.passes_quickly(StandIn(best)):
            return "oracle", best
        raise ControlNotApplicable(
            "neither the candidate nor the oracle passes, so that there is nothing to lose"
        )


def _passes_clause(clause: Clause, margin: float) -> bool:
    """Whether a clause passes with a margin. The margin is the left side minus the right side."""
    return passes(clause, margin if clause.upward else -margin)


def _point_estimate(leaf: Operand, evaluator: Evaluator) -> Floats:
    """Computes the value of an operand without resampling."""
    columns, rows = evaluator.columns(leaf, {})
    if not len(rows) or not columns:
        return np.array([np.nan])
    if isinstance(leaf, Mean):
        return np.array([columns[0].mean()])
    return np.asarray(leaf.statistic.values(columns, np.ones((1, len(rows)))))


def _refusal_reason(verdict: Verdict) -> str:
    """Returns why a gate refuses a control: the first clause that the control does not pass."""
    against = [
        each
        for each in verdict.clauses
        if (each.holds is True if each.role == "kill" else each.holds is not True)
    ]
    return against[0].text if against else verdict.reason
