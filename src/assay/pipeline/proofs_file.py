"""What trying gates on controls found, in the run folder: shown only while it is about what is there now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from assay.core.dataset import digest
from assay.core.proof_results import Proof
from assay.core.registry import CONTROLS, identity
from assay.pipeline.concerned import named_plugins_for
from assay.pipeline.scores_file import input_hash
from assay.store.disk import write_atomic
from assay.store.run_store import UNREADABLE
from assay.study.study import Study

if TYPE_CHECKING:
    from assay.controls.trial import Control
    from assay.gates.verdict import Gate
    from assay.pipeline.evaluation import Evaluation

FILE = "controls.json"


def store_proofs(evaluation: Evaluation, proofs: Sequence[Proof]) -> None:
    """Writes the proofs of every gate in the place of earlier ones."""
    content = msgspec.json.format(msgspec.json.encode(proofs), indent=1)
    write_atomic(evaluation.store.root / FILE, lambda target: target.write_bytes(content))


def load_proofs(evaluation: Evaluation) -> list[Proof]:
    """The proofs of gates, answers and labels as they are now; none where nothing was tried since."""
    path = evaluation.store.root / FILE
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=list[Proof]) if path.is_file() else []
    except (*UNREADABLE, msgspec.MsgspecError):
        return []
    if not kept:  # so that nothing is hashed where nothing was tried
        return []
    gates, evidence = {gate.name: gate for gate in evaluation.study.gates}, ProofEvidence(evaluation)
    return [each for each in kept if each.gate in gates and evidence.has(each, gates[each.gate])]


def controls_of(study: Study) -> dict[str, Control]:
    """The controls that concern a study, by name."""
    return named_plugins_for(study, CONTROLS)


@dataclass(frozen=True)
class ProofEvidence:
    """What proofs are keyed by: a proof of other answers, labels or clauses is about something else."""

    evaluation: Evaluation

    def of(self, gate: Gate) -> str:
        """The hash of a gate, of the answers and labels of its study, and of the controls."""
        return self._of(gate, controls_of(self.evaluation.study))

    def has(self, proof: Proof, gate: Gate) -> bool:
        """Whether a proof is about what is there now, and tried every control that concerns the study.

        Earlier versions tried controls of every kind of study, so that a proof may list more.
        """
        study, tried = self.evaluation.study, sorted({each.control for each in proof.controls})
        if not set(controls_of(study)) <= set(tried) <= set(study.registry.names(CONTROLS)):
            return False
        return proof.evidence == self._of(
            gate, {name: study.registry.create(CONTROLS, name) for name in tried}
        )

    def _of(self, gate: Gate, controls: Mapping[str, Control]) -> str:
        names = [f"{name} {identity(control)}".encode() for name, control in controls.items()]
        study = digest([self._made_of.encode(), str(self.evaluation.study.baseline).encode(), *names])
        rules = msgspec.json.encode(gate.rules.model_dump(mode="json"), order="sorted")
        return digest([gate.name.encode(), rules, study.encode()])

    @cached_property
    def _made_of(self) -> str:
        found = self.evaluation
        return input_hash(found.study, found.measures, found.blocks, sealed=found.sealed)
