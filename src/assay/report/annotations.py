"""What GitHub shows beside the lines of a file: gates that do not pass, and items that got worse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from assay.core.dataset import Place
from assay.core.records import ClauseResult, Verdict
from assay.core.results import GO, INCONCLUSIVE, NO_GO, ItemChange, ItemView, Results
from assay.report.github_text import expected_text, returned_text
from assay.report.verdict_words import clause_words
from assay.report.wording import (
    VARIES,
    number,
    printable,
    relevant_clauses,
    shorten,
    supports_go,
)
from assay.study.study import Study

SHOWN = 10  # annotations of each kind that GitHub shows of a step
TEXT = 300  # characters of a text


class Annotation(NamedTuple):
    """A remark at a place of the repository: an error where it stops, a warning where it does not."""

    kind: str
    title: str
    text: str
    place: Place | None = None


def annotation_commands(
    results: Results, study: Study, workspace: Path, first: Sequence[Annotation] = ()
) -> list[str]:
    """Commands that show what went wrong where it is written: gates first, then items that got worse."""
    found = [*first, *_gates(results, study), *_regressions(results, study)]
    commands = []
    for kind in ("error", "warning"):
        those = [one for one in found if one.kind == kind]
        if len(those) > SHOWN:
            more = f"{len(those) - SHOWN + 1} more, in the report"
            those = [*those[: SHOWN - 1], Annotation(kind, "assay", more)]
        commands += [_command(one, workspace) for one in those]
    return commands


def _command(one: Annotation, workspace: Path) -> str:
    """A command for the runner, in which no text can begin another."""
    properties = {**_position(one.place, workspace), "title": one.title}
    pairs = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{one.kind} {pairs}::{_data(one.text)}"


def _data(text: str) -> str:
    return printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _position(place: Place | None, workspace: Path) -> dict[str, str]:
    """File and line as the repository knows them; nothing for what lies outside it."""
    path = None if place is None else Path(place.file).resolve()
    if place is None or path is None or not path.is_relative_to(workspace):
        return {}
    line = {} if place.line is None else {"line": str(place.line)}
    return {"file": path.relative_to(workspace).as_posix(), **line}


def _gates(results: Results, study: Study) -> Iterator[Annotation]:
    """Clauses that keep a gate from saying go; an error where that decides against shipping."""
    for gate in results.verdicts:
        if gate.verdict == GO:
            continue
        decides = gate.deciding and gate.verdict == NO_GO
        at = study.lines.problem(["gates", gate.gate], "")  # a gate may stand in a file of its own
        place = Place(at.where, at.line)
        clauses = [one for one in relevant_clauses(gate) if _speaks(gate, one)]
        title = f"{gate.gate}: {gate.verdict}" + ("" if gate.deciding else ", informs")
        for text in [_sentence(one) for one in clauses] or [gate.reason]:
            yield Annotation("error" if decides else "warning", title, shorten(text, 2 * TEXT), place)


def _speaks(gate: Verdict, clause: ClauseResult) -> bool:
    """Whether a clause is why a gate says what it says."""
    return supports_go(clause) is False or (gate.verdict == INCONCLUSIVE and supports_go(clause) is None)


def _sentence(clause: ClauseResult) -> str:
    words = clause_words(clause)
    return words.sentence + (f" ({words.why})" if words.why else "")


def _regressions(results: Results, study: Study) -> Iterator[Annotation]:
    """Items that got worse, where they stand; errors only if the loss is a no-go and they do not vary."""
    against = results.against
    if against is None:
        return
    gate = f"against {against.baseline}"
    lost = any(each.gate == gate and each.verdict == NO_GO for each in results.verdicts)
    places, items = _places(results, study), {item.item_id: item for item in results.items}
    for name, turns in _by_item(against.regressions).items():
        text = _turned(turns, items.get(name))
        title = f"worse than {against.baseline}: {name}"
        stable = not all(turn.varies for turn in turns)
        yield Annotation("error" if lost and stable else "warning", title, text, places.get(name))


def _by_item(turns: Sequence[ItemChange]) -> dict[str, list[ItemChange]]:
    found: dict[str, list[ItemChange]] = {}
    for turn in turns:
        found.setdefault(turn.item_id, []).append(turn)
    return found


def _turned(turns: Sequence[ItemChange], item: ItemView | None) -> str:
    """What was asked, how the figures fell, and what came back instead of what."""
    first = turns[0]
    figures = [
        f"{one.measure}({one.arm}) {number(one.before)} → {number(one.after)}"
        + (f" ({VARIES})" if one.varies else "")
        for one in turns
    ]
    parts = [shorten(first.text, TEXT), ", ".join(figures)]
    if item is not None:
        parts.append(f"expected: {shorten(expected_text(item), TEXT)}")
        parts.append(f"came back first: {shorten(returned_text(item, first.arm), TEXT)}")
    return "\n".join(parts)


def _places(results: Results, study: Study) -> dict[str, Place]:
    """Where each item stands, as far as its dataset knows."""
    datasets = [study.dataset(arm) for arm in study.arms if arm.name in results.arms]
    return {name: place for dataset in reversed(datasets) for name, place in dataset.places.items()}
