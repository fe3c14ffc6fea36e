"""The looks that were taken at the gates of a study: kept in its run folder, and carried by its baselines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from assay.core.dataset import digest
from assay.core.records import Arm
from assay.gates.looks import Look, LookBook
from assay.gates.verdict import systems_of
from assay.pipeline.outdated import deciding_rules
from assay.store.journal import JournalWriter, read_lines
from assay.store.keys import AnswerBasis
from assay.store.run_store import Store
from assay.study.study import Study

FOLDER = "looks"  # of a run, and of a baseline


def look_book(study: Study, store: Store, bases: Mapping[str, AnswerBasis]) -> LookBook:
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
    return LookBook(looks, question, lambda look: _write_look(store.root / FOLDER, look), imported)


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
