"""Stores the output of later stages in the run folder, and checks that it matches the current study.

The stages store scores (`scores.parquet`), proofs of gates (`controls.json`) and looks at gates (`looks/`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

import assay
from assay.core.block import Block
from assay.core.dataset import digest
from assay.core.protocols import Measure
from assay.core.records import Arm
from assay.core.registry import CONTROLS, MEASURES, identity
from assay.core.results import Proof
from assay.gates.gate import GateFile, systems_of
from assay.gates.looks import Look, LookHistory
from assay.measures.declaration import declaration_of
from assay.measures.score import BrokenMeasures, score_blocks, withhold_scores
from assay.pipeline.plugins import named_plugins_for
from assay.pipeline.warnings import check_something_computed
from assay.store.disk import write_atomic
from assay.store.journal import GateDeclaration, JournalWriter, read_lines
from assay.store.keys import AnswerBasis
from assay.store.run_store import UNREADABLE, Store
from assay.study.study import Study

if TYPE_CHECKING:
    from assay.controls.trial import Control
    from assay.gates.gate import Gate
    from assay.pipeline.evaluation import Evaluation

PROOFS = "controls.json"
LOOKS = "looks"  # a folder of a run, and of a baseline
# What decides a verdict besides gates, data and systems. The rest of a study file does not change results.
DECIDING = ("factors", "seeds", "judges", "measures", "cluster", "compare", "steps", "limits")

_encode = msgspec.json.Encoder(order="sorted").encode

# ---------------------------------------------------------------------------------------- scores


def load_or_score(
    study: Study,
    store: Store,
    measures: Sequence[Measure],
    blocks: Sequence[Block],
    *,
    sealed: bool,
) -> tuple[pl.DataFrame, BrokenMeasures]:
    """Returns all scores, and the measures that broke. Stored scores are used if their input is the same."""
    path, key = store.root / "scores.parquet", input_hash(study, measures, blocks, sealed=sealed)
    if (stored := _load_scores(path, key)) is not None:
        return stored, {}
    broken: BrokenMeasures = {}
    frame = score_blocks(measures, blocks, broken)
    check_something_computed(broken, frame)
    if sealed:
        frame, broken = withhold_scores(frame), {}
    if not broken:  # else nothing is stored: a broken measure may be repaired, and is then tried again
        # both hashes are in the file itself, so that no crash can combine scores with another input
        hashes = {"input": key, "scores": _hash_rows(frame)}
        write_atomic(path, lambda target: frame.write_parquet(target, metadata=hashes))
    return frame, broken


def _load_scores(path: Path, key: str) -> pl.DataFrame | None:
    """Reads the stored scores. Returns None if their input has another hash or the file is damaged."""
    try:
        hashes = pl.read_parquet_metadata(path) if path.is_file() else {}
        if hashes.get("input") != key:
            return None
        frame = pl.read_parquet(path)
    except UNREADABLE:
        return None
    return frame if hashes.get("scores") == _hash_rows(frame) else None


def _hash_rows(frame: pl.DataFrame) -> str:
    """Hashes the rows of a frame. Another version of Polars may give another hash."""
    return digest([frame.hash_rows(0).to_numpy().tobytes()])


def input_hash(study: Study, measures: Sequence[Measure], blocks: Sequence[Block], *, sealed: bool) -> str:
    """Hashes everything that scores depend on, with the versions of measures and judges."""
    datasets = {block.arm.name: study.dataset(block.arm) for block in blocks}
    return digest(
        [
            assay.__version__.encode(),
            *(
                identity(each, study.registry.provider(MEASURES, declaration_of(each).family)).encode()
                for each in measures
            ),
            _encode([study.file.judges, sealed]),
            *(identity(judge).encode() for judge in study.judges),
            *(dataset.hash.encode() for dataset in datasets.values()),
            *(_encode([block.arm, block.seed, block.item_ids]) for block in blocks),
            *(_encode([block.structure, block.structures]) for block in blocks),
            *(_hash_rows(block.answers).encode() for block in blocks),
            *map(_encode, blocks[0].judgments),
            *([] if (doubts := blocks[0].labels.near_misses) is None else [doubts.write_json().encode()]),
        ]
    )


# ---------------------------------------------------------------------------------------- proofs


def store_proofs(evaluation: Evaluation, proofs: Sequence[Proof]) -> None:
    """Stores the proofs of every gate, and replaces earlier proofs."""
    content = msgspec.json.format(msgspec.json.encode(proofs), indent=1)
    write_atomic(evaluation.store.root / PROOFS, lambda target: target.write_bytes(content))


def load_proofs(evaluation: Evaluation) -> list[Proof]:
    """Returns the stored proofs that match the current gates, answers and labels."""
    path = evaluation.store.root / PROOFS
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=list[Proof]) if path.is_file() else []
    except (*UNREADABLE, msgspec.MsgspecError):
        return []
    if not stored:  # then no hash is needed
        return []
    gates, evidence = {gate.name: gate for gate in evaluation.study.gates}, ProofEvidence(evaluation)
    return [each for each in stored if each.gate in gates and evidence.matches(each, gates[each.gate])]


def controls_of(study: Study) -> dict[str, Control]:
    """Returns the controls that concern a study, by name."""
    return named_plugins_for(study, CONTROLS)


@dataclass(frozen=True)
class ProofEvidence:
    """Computes hashes that say whether a proof matches the current answers, labels and clauses."""

    evaluation: Evaluation

    def hash_of(self, gate: Gate) -> str:
        """Hashes a gate, the answers and labels of its study, and the controls."""
        return self._hash(gate, controls_of(self.evaluation.study))

    def matches(self, proof: Proof, gate: Gate) -> bool:
        """Whether a proof matches the current evidence, and tried every control that concerns the study.

        A proof may list more controls: earlier versions tried the controls of every kind of study.
        """
        study, tried = self.evaluation.study, sorted({each.control for each in proof.controls})
        if not set(controls_of(study)) <= set(tried) <= set(study.registry.names(CONTROLS)):
            return False
        controls = {name: study.registry.create(CONTROLS, name) for name in tried}
        return proof.evidence == self._hash(gate, controls)

    def _hash(self, gate: Gate, controls: Mapping[str, Control]) -> str:
        names = [f"{name} {identity(control)}".encode() for name, control in controls.items()]
        study = digest([self._input_hash.encode(), str(self.evaluation.study.baseline).encode(), *names])
        return digest([gate.name.encode(), _encode(gate.rules.model_dump(mode="json")), study.encode()])

    @cached_property
    def _input_hash(self) -> str:
        found = self.evaluation
        return input_hash(found.study, found.measures, found.blocks, sealed=found.sealed)


# ----------------------------------------------------------------------------------------- looks


def look_book(study: Study, store: Store, bases: Mapping[str, AnswerBasis]) -> LookHistory:
    """Returns all looks at the gates of a study. New looks are stored in the run folder."""
    gates = {gate.name: gate for gate in study.gates}

    def arms(name: str) -> list[Arm]:
        systems = systems_of([gates[name]], study)
        return [arm for arm in study.arms if arm.system in systems and arm.name in bases]

    def question(name: str, with_files: bool = False) -> str:
        versions = {
            arm.name: bases[arm.name].identity if with_files or not study.is_imported(arm) else "imported"
            for arm in arms(name)
        }
        rules = deciding_rules(gates[name].rules.model_dump(mode="json"))
        return digest([_encode(rules), _encode(versions)])

    def is_imported(name: str) -> bool:
        return any(map(study.is_imported, arms(name)))

    def store_look(look: Look) -> None:
        with JournalWriter(store.root / LOOKS) as writer:
            writer.append(look, now=True)

    # in earlier looks the content of imported files was a part of the question
    renamed = {question(name, with_files=True): question(name) for name in gates}
    looks = [
        msgspec.structs.replace(look, question=renamed.get(look.question, look.question))
        for look in stored_looks(study, store)
    ]
    return LookHistory(looks, question, store_look, is_imported)


def stored_looks(study: Study, store: Store) -> list[Look]:
    """Returns the distinct looks of a study's baselines and of its run, oldest first."""
    folders = [path / LOOKS for path in sorted(baselines_folder(study).glob("*")) if path.is_dir()]
    every = [look for folder in (*folders, store.root / LOOKS) for look in read_lines(folder, Look)]
    return list({(look.question, tuple(look.evidence)): look for look in reversed(every)}.values())[::-1]


def baselines_folder(study: Study) -> Path:
    """Returns the folder that the study names, or `baselines` or `NAME.baselines` beside the run folder."""
    if study.file.baselines is not None:
        return study.kit.path(study.filled(study.file.baselines))
    return study.run_folder.with_name(study.run_folder.name.removesuffix("run") + "baselines")


# ------------------------------------------------------------------------------ outdated answers


def list_changes_since_run(
    study: Study, store: Store, arms: Sequence[Arm], bases: Mapping[str, AnswerBasis]
) -> list[str]:
    """Lists what has changed in the study and its data since it was run."""
    manifest, now = store.manifest(), study.file.model_dump(mode="json")
    then, run = manifest.get("study_file", {}), manifest.get("arms", {})
    changed, other_data = list[str](), list[str]()
    for arm in arms:
        dataset = study.dataset(arm)
        if what := bases[arm.name].changes(study, arm, dataset):
            changed.append(f"{arm.name} ({', '.join(what)})")
        if "corpus" not in what and run.get(arm.name, {}).get("data", dataset.hash) != dataset.hash:
            other_data.append(arm.name)
    changed += [field for field in DECIDING if field in then and then[field] != now[field]]
    found = []
    if changed:
        found.append(f"the study has changed since this run: {', '.join(changed)}; run again")
    if other_data:
        found.append(f"the data of {', '.join(other_data)} has changed since this run; run again")
    return found


def list_changed_gates(
    study: Study, declared: Sequence[GateDeclaration], blocks: Sequence[Block]
) -> list[str]:
    """Lists gates that were changed after the oldest answers were stored: they may be fitted to results."""
    asked = [
        response.observed.time
        for block in blocks
        for response in block.responses
        if response is not None and response.observed.time is not None
    ]
    now = {name: deciding_rules(gate.model_dump(mode="json")) for name, gate in study.file.gates.items()}
    if not asked or not now:
        return []
    before = [each for each in declared if each.since <= min(asked)]
    if not before:
        names = ", ".join(map(repr, now))
        return [f"it is not known that the gates {names} were declared before the first answers were stored"]
    first = {name: deciding_rules(gate) for name, gate in before[-1].gates.items()}
    found = []
    for name in (*now, *(name for name in first if name not in now)):
        if name not in now:
            what = "removed after the first answers were stored"
        elif name not in first:
            what = "changed after the first answers were stored (it was not declared)"
        elif changed := [key for key in now[name] if first[name][key] != now[name][key]]:
            was = "; ".join(f"{key}: {first[name][key]}" for key in changed)
            what = f"changed after the first answers were stored (it was {was})"
        else:
            continue
        found.append(f"the gate {name!r} was {what}")
    return found


def deciding_rules(gate: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the rules that decide a gate's verdict, without `about` and `harmless`, with plain spaces."""
    # a field that an earlier version did not have had its default
    whole = {**GateFile().model_dump(mode="json"), **gate}
    return {name: _normalized(value) for name, value in whole.items() if name not in {"about", "harmless"}}


def _normalized(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _normalized(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_normalized(each) for each in value]
    return re.sub(r"\s+", " ", value.strip()) if isinstance(value, str) else value
