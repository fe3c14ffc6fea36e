"""Whether the stored answers are older than what they are to decide: the gates, the study or its data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from assay.core.block import Block
from assay.core.dataset import digest
from assay.core.records import Arm
from assay.gates.gate_file import GateFile
from assay.gates.looks import Look, LookHistory
from assay.gates.verdict import systems_of
from assay.store.journal import GateDeclaration, JournalWriter, read_lines
from assay.store.keys import AnswerBasis
from assay.store.run_store import Store
from assay.study.study import Study

# What decides a verdict besides gates, data and systems; the rest of a study is how it is asked and shown.
DECIDING = ("factors", "seeds", "judges", "measures", "cluster", "compare", "steps", "limits")


def list_changes_since_run(
    study: Study, store: Store, arms: Sequence[Arm], bases: Mapping[str, AnswerBasis]
) -> list[str]:
    """What of the study and its data is no longer as it was when it was run."""
    manifest, now = store.manifest(), study.file.model_dump(mode="json")
    then, run = manifest.get("study_file", {}), manifest.get("arms", {})
    changed, other = list[str](), list[str]()
    for arm in arms:
        dataset = study.dataset(arm)
        if what := bases[arm.name].changes(study, arm, dataset):
            changed.append(f"{arm.name} ({', '.join(what)})")
        if "corpus" not in what and run.get(arm.name, {}).get("data", dataset.hash) != dataset.hash:
            other.append(arm.name)
    changed += [field for field in DECIDING if field in then and then[field] != now[field]]
    said = [f"the study has changed since this run: {', '.join(changed)}; run again"] if changed else []
    return said + ([f"the data of {', '.join(other)} has changed since this run; run again"] if other else [])


def list_changed_gates(
    study: Study, declared: Sequence[GateDeclaration], blocks: Sequence[Block]
) -> list[str]:
    """Gates that are not what they were when the oldest answers were stored: a decision taken twice."""
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
    """What a gate decides by: words about it or its controls and the spaces between words decide nothing."""
    # a field that came with a later version was then what it is by default
    whole = {**GateFile().model_dump(mode="json"), **gate}
    return {name: _normalized(value) for name, value in whole.items() if name not in {"about", "harmless"}}


def _normalized(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _normalized(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_normalized(each) for each in value]
    return re.sub(r"\s+", " ", value.strip()) if isinstance(value, str) else value


FOLDER = "looks"  # of a run, and of a baseline


def look_book(study: Study, store: Store, bases: Mapping[str, AnswerBasis]) -> LookHistory:
    """Every look at the gates of a study; a new one is written to the run folder."""
    gates = {gate.name: gate for gate in study.gates}

    def question(name: str, files: bool = False) -> str:
        versions = {
            arm.name: bases[arm.name].identity if files or not study.imported(arm) else "imported"
            for arm in arms(name)
        }
        encode = msgspec.json.Encoder(order="sorted").encode
        return digest([encode(deciding_rules(gates[name].rules.model_dump(mode="json"))), encode(versions)])

    def arms(name: str) -> list[Arm]:
        systems = systems_of([gates[name]], study)
        return [arm for arm in study.arms if arm.system in systems and arm.name in bases]

    def imported(name: str) -> bool:
        return any(map(study.imported, arms(name)))

    # looks taken when a file's content was part of the question
    renamed = {question(name, files=True): question(name) for name in gates}
    looks = [
        msgspec.structs.replace(look, question=renamed.get(look.question, look.question))
        for look in stored_looks(study, store)
    ]
    return LookHistory(looks, question, lambda look: _write_look(store.root / FOLDER, look), imported)


def stored_looks(study: Study, store: Store) -> list[Look]:
    """The looks that a study's baselines carry and those of its run, oldest first, each once."""
    folders = [path / FOLDER for path in sorted(baselines_folder(study).glob("*")) if path.is_dir()]
    every = [look for folder in (*folders, store.root / FOLDER) for look in read_lines(folder, Look)]
    return list({(look.question, tuple(look.evidence)): look for look in reversed(every)}.values())[::-1]


def baselines_folder(study: Study) -> Path:
    """Where the study says; else beside the run folder: `baselines`, or `NAME.baselines` for another file."""
    if study.file.baselines is not None:
        return study.kit.path(study.filled(study.file.baselines))
    return study.run_folder.with_name(study.run_folder.name.removesuffix("run") + "baselines")


def _write_look(folder: Path, look: Look) -> None:
    with JournalWriter(folder) as writer:
        writer.append(look, now=True)
