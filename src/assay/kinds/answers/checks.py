"""What can be wrong with a study whose responses people score, before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass

from assay.core.errors import Problem
from assay.kinds.answers.panel import find_panel
from assay.study.study import Study


@dataclass(frozen=True)
class TwoConditions:
    """Systems that a panel would compare although both give the same condition."""

    def of(self, study: Study) -> tuple[list[Problem], list[str]]:
        problems = list[Problem]()
        first: dict[str, str] = {}  # by condition: the system that gives it
        systems = {arm.system: arm for arm in study.arms} if find_panel(study) else {}
        for name, arm in systems.items():
            condition = getattr(study.system(arm, secrets=False), "condition", name)
            if (other := first.setdefault(condition, name)) != name:
                what = f"it gives condition {condition}, as {other} does: nothing would be compared"
                fix = "Give it the other condition."
                problems.append(study.lines.problem(["systems", name], what, fix))
        return problems, []
