"""How far a run is: what is answered, what failed, what is still to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from assay.store.columns import select_by_key
from assay.store.keys import keys_by_item, plan_tasks
from assay.store.run_store import Store
from assay.study.study import Study


@dataclass(frozen=True)
class ArmStatus:
    """One arm and seed."""

    arm: str
    seed: int
    answered: int
    failed: int
    pending: int  # not asked yet, or left out by every run so far
    changed: list[str]  # what is no longer as it was when it was run: system, corpus, budgets


@dataclass(frozen=True)
class RunStatus:
    """All arms, and what to do next."""

    arms: list[ArmStatus]
    next_step: str

    def as_json(self) -> dict[str, Any]:
        return {"schema": "assay/status/1", **asdict(self)}


def study_status(study: Study) -> RunStatus:
    """Counts from the store; nothing is run."""
    store = Store(study.run_folder)
    stored, bases = store.answers(), store.bases(study)
    arms = []
    for arm in study.arms:
        dataset, basis = study.dataset(arm), bases.get(arm.name)
        changed = [] if basis is None else basis.changes(study, arm, dataset)
        for seed in study.seeds_of(arm):
            units = [] if basis is None else plan_tasks(basis, seed, dataset)
            failed = select_by_key(stored, keys_by_item(units, len(dataset.items)))["failed"]
            counts = int((~failed).sum()), int(failed.sum()), failed.null_count()
            arms.append(ArmStatus(arm.name, seed, *counts, changed))
    return RunStatus(arms, _next(study, arms))


def merge_arms(arms: Sequence[ArmStatus]) -> ArmStatus:
    """All arms as one: while responses are scored blind, what failed is not shown by condition."""
    answered, failed, pending = (
        sum(getattr(arm, name) for arm in arms) for name in ("answered", "failed", "pending")
    )
    changed = dict.fromkeys(what for arm in arms for what in arm.changed)
    return ArmStatus("all, until unblinded", 0, answered, failed, pending, list(changed))


def command_path(study: Study) -> str:
    """A study as commands name it."""
    planned = (study.folder / "plan.yaml").is_file()  # then the folder names the plan
    alone = study.lines.where.endswith("study.yaml") and not planned
    return str(study.folder) if alone else study.lines.where


def _next(study: Study, arms: list[ArmStatus]) -> str:
    """What to run next; nothing where every item was answered."""
    place = command_path(study)
    if pending := sum(arm.pending for arm in arms):
        begun = any(arm.answered or arm.failed for arm in arms)
        return f"assay run {place}" + (f" (asks the {pending} not asked yet)" if begun else "")
    if any(arm.changed for arm in arms):
        return f"assay run {place} (asks again what has changed)"
    if failed := sum(arm.failed for arm in arms):
        return f"assay run {place} (asks the {failed} failed again)"
    return ""
