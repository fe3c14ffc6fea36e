"""The score stage's output: in the run folder, made again if it is damaged or its input has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import polars as pl

import assay
from assay.core.block import Block
from assay.core.dataset import digest
from assay.core.proof_results import Proof
from assay.core.protocols import Measure
from assay.core.registry import CONTROLS, MEASURES, identity
from assay.measures.score import BrokenMeasures, score_blocks, withhold_scores
from assay.pipeline.plugins import named_plugins_for
from assay.pipeline.warnings import check_something_computed
from assay.store.disk import write_atomic
from assay.store.run_store import UNREADABLE, Store
from assay.study.study import Study

if TYPE_CHECKING:
    from assay.controls.trial import Control
    from assay.gates.verdict import Gate
    from assay.pipeline.evaluation import Evaluation


def load_or_score(
    study: Study,
    store: Store,
    measures: Sequence[Measure],
    blocks: Sequence[Block],
    *,
    sealed: bool,
) -> tuple[pl.DataFrame, BrokenMeasures]:
    """Every score, from the run folder where nothing it depends on has changed, and what broke."""
    path, key = store.root / "scores.parquet", input_hash(study, measures, blocks, sealed=sealed)
    if (kept := _read(path, key)) is not None:
        return kept, {}
    broken: BrokenMeasures = {}
    frame = score_blocks(measures, blocks, broken)
    check_something_computed(broken, frame)
    if sealed:
        frame, broken = withhold_scores(frame), {}
    if not broken:  # else not kept: what broke may be mended, and is then to be tried again
        # both hashes lie in the file itself, so that no crash can pair scores with another input
        held = {"input": key, "scores": _hash_rows(frame)}
        write_atomic(path, lambda target: frame.write_parquet(target, metadata=held))
    return frame, broken


def _read(path: Path, made_of: str) -> pl.DataFrame | None:
    """The scores that were made of that input; None if there are none that can be trusted."""
    try:
        held = pl.read_parquet_metadata(path) if path.is_file() else {}
        if held.get("input") != made_of:
            return None
        frame = pl.read_parquet(path)
    except UNREADABLE:
        return None
    return frame if held.get("scores") == _hash_rows(frame) else None


def _hash_rows(frame: pl.DataFrame) -> str:
    """A hash of a frame; another version of Polars may give another one."""
    return digest([frame.hash_rows(0).to_numpy().tobytes()])


def input_hash(study: Study, measures: Sequence[Measure], blocks: Sequence[Block], *, sealed: bool) -> str:
    """A hash of everything a score depends on; measures and judges count with their code's version."""
    encode = msgspec.json.Encoder(order="sorted").encode
    datasets = {block.arm.name: study.dataset(block.arm) for block in blocks}
    return digest(
        [
            assay.__version__.encode(),
            *(
                identity(each, study.registry.provider(MEASURES, getattr(each, "family", ""))).encode()
                for each in measures
            ),
            encode([study.file.judges, sealed]),
            *(identity(judge).encode() for judge in study.judges),
            *(dataset.hash.encode() for dataset in datasets.values()),
            *(encode([block.arm, block.seed, block.item_ids]) for block in blocks),
            *(encode([block.structure, block.structures]) for block in blocks),
            *(_hash_rows(block.answers).encode() for block in blocks),
            *map(encode, blocks[0].judgments),
            *([] if (doubts := blocks[0].labels.doubts) is None else [doubts.write_json().encode()]),
        ]
    )


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
