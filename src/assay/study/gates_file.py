"""Gates that stand in a file of their own, so that several studies can share them.

A study names the file: `gates: gates.yaml`, or `gates: {from: gates.yaml, use: [H1a]}` for some of them. From
there on they are the study's gates as if it had written them itself; only what is wrong with one is told in
the lines of that file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from assay.core.errors import DataError, Problem, did_you_mean
from assay.core.yaml_lines import Lines, Word, Words, read_yaml
from assay.study.problems import field_problem

GATES = "gates"  # the field


class GatesReference(BaseModel, extra="forbid", frozen=True):
    """Which file to take gates from, and which of them."""

    file: Word = Field(alias="from", min_length=1, description="a file of gates, relative to the study")
    use: Annotated[Words, Field(min_length=1)] = Field([], description="only these; default: all of them")


@dataclass(kw_only=True)
class SharedLines(Lines):
    """The lines of a study whose gates stand in another file: a gate's problems are told in that one's."""

    gates: Lines

    def problem(self, loc: Sequence[str | int], what: str, fix: str = "") -> Problem:
        """A problem at that field, wherever it stands."""
        if len(loc) > 1 and loc[0] == GATES:
            return self.gates.problem(loc[1:], what, fix)
        return super().problem(loc, what, fix)

    def at_home(self, problem: Problem) -> Problem:
        """A problem of a gate as a whole, which was told where the study names the file."""
        field, _, name = problem.field.partition(".")
        named = problem.where == self.where and field == GATES and (name,) in self.gates.at
        return self.gates.problem((name,), problem.what, problem.fix) if named else problem


def include_gates(content: dict[str, Any], lines: Lines) -> tuple[dict[str, Any], Lines, list[Problem]]:
    """A study's content with the gates that it takes from a file; without any where these do not read."""
    given = content.get(GATES)
    if isinstance(given, str):
        given = {"from": given}
    if not isinstance(given, dict) or isinstance(given.get("from", {}), dict):
        return content, lines, []  # written out, if need be one that is called `from`
    rest = {name: value for name, value in content.items() if name != GATES}
    try:
        wanted = GatesReference.model_validate(given)
        gates, places = _read(wanted, lines)
    except ValidationError as error:
        found = error.errors()
        for each in found:
            each["loc"] = (GATES, *each["loc"])
        return rest, lines, [field_problem(each, lines, lambda _: ["from", "use"]) for each in found]
    except DataError as error:
        return rest, lines, list(error.problems)
    unknown = [
        lines.problem((GATES, "use", index), f"{wanted.file} has no gate {name!r}", did_you_mean(name, gates))
        for index, name in enumerate(wanted.use)
        if name not in gates
    ]
    taken = {name: gate for name, gate in gates.items() if name in wanted.use or not wanted.use}
    return {**rest, GATES: taken}, SharedLines(lines.where, lines.at, gates=places), unknown


def _read(wanted: GatesReference, lines: Lines) -> tuple[dict[str, Any], Lines]:
    """What the file says, gate by gate."""
    path = Path(lines.where).parent / wanted.file
    if not path.is_file():
        fix = "Give a file, relative to the study."
        raise DataError(lines.problem((GATES, "from"), f"there is no file {wanted.file}", fix))
    content, places = read_yaml(path)
    if not isinstance(content, dict):
        fix = "Write them as in a study: docs/gates.md."
        raise DataError(Problem("a file of gates is a mapping of names to gates", str(path), 1, fix=fix))
    return content, places


def unreadable_fields(problems: Iterable[Problem], lines: Lines) -> set[str]:
    """The fields of a study that did not read; what is told in another file is about its gates."""
    return {
        problem.field.partition(".")[0] if problem.where == lines.where else GATES for problem in problems
    }


def sort_problems(problems: Iterable[Problem], lines: Lines) -> list[Problem]:
    """Problems by their lines, the study's own first, each told where it stands."""
    told = [lines.at_home(each) if isinstance(lines, SharedLines) else each for each in problems]
    return sorted(told, key=lambda problem: (problem.where != lines.where, problem.line or 0))
