"""How changes to a system read: which lose, which gain, and which are not shown to matter."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.records import Comparison
from assay.core.results import INCONCLUSIVE
from assay.core.sweep_results import Setting, Sweep
from assay.report import wording as say
from assay.report.sweep_wording import is_better, note

LOSES, GAINS, UNCORRECTED, UNCLEAR, NOT_COMPARED = "loses", "gains", "uncorrected", "unclear", "not compared"
MATTERS, NOTHING_SHOWN, NONE = "matters", "open", "none"
SHAPES = {MATTERS: None, NOTHING_SHOWN: INCONCLUSIVE, NONE: None}
AS_IT_IS = "as it is"


def effect(one: Comparison | None) -> str:
    """What a change does, as far as its difference shows."""
    if one is None or one.difference is None:
        return NOT_COMPARED
    if say.is_shown(one):
        return GAINS if is_better(one) else LOSES
    beyond = one.low is not None and one.high is not None and (one.low > 0 or one.high < 0)
    return UNCORRECTED if beyond else UNCLEAR


def words(setting: Setting) -> str:
    """What a change does, in words that stand beside its picture."""
    if setting.reference:
        return AS_IT_IS
    one = setting.difference
    found = effect(one)
    if found in {LOSES, GAINS, NOT_COMPARED}:
        return found
    shown = "not shown to matter"
    if found == UNCORRECTED:
        return f"{shown}: the interval leaves 0 out, but not after correction"
    return f"{shown}; {could}" if one and (could := say.comparison_note(one)) else shown


def outcome(sweep: Sweep) -> str:
    """What a sweep of changes comes to."""
    found = {effect(one.difference) for one in _changes(sweep)}
    if found & {LOSES, GAINS}:
        return MATTERS
    return NOTHING_SHOWN if found & {UNCLEAR, UNCORRECTED} else NONE


def title(sweep: Sweep) -> str:
    """`2 of 6 changes matter`."""
    changes = _changes(sweep)
    if (found := outcome(sweep)) == MATTERS:
        clear = [one for one in changes if effect(one.difference) in {LOSES, GAINS}]
        verb = "matters" if len(clear) == 1 else "matter"
        return f"{len(clear)} of {say.quantity(len(changes), 'change')} {verb}"
    return "No change is shown to matter" if found == NOTHING_SHOWN else "Nothing can be compared yet"


def answer(sweep: Sweep) -> str:
    """Which changes lose and gain, which are not shown to matter, and what would have been found."""
    found: dict[str, list[Setting]] = {}
    for one in _changes(sweep):
        found.setdefault(effect(one.difference), []).append(one)
    if found.keys() <= {NOT_COMPARED}:
        return f"No change is compared with {sweep.reference.name}{_why(sweep)}."
    clear = [
        f"{_measured(found[each])} {_verb(each, found[each])}" for each in (LOSES, GAINS) if each in found
    ]
    family = say.quantity(len(_changes(sweep)), "change")
    start = f"Against {sweep.reference.name} {AS_IT_IS}, corrected over {family}"
    sentences = [f"{start}: {'; '.join(clear) or 'none loses or gains'}."]
    if UNCORRECTED in found:
        sentences.append(f"Only before correction an interval leaves 0 out: {_measured(found[UNCORRECTED])}.")
    if UNCLEAR in found:
        sentences.append(_unclear(found[UNCLEAR]))
    if NOT_COMPARED in found:
        sentences.append(f"Not compared: {_named(found[NOT_COMPARED])}.")
    return " ".join(sentences)


def _changes(sweep: Sweep) -> list[Setting]:
    return [setting for setting in sweep.settings if not setting.reference]


def _verb(verb: str, settings: Sequence[Setting]) -> str:
    return verb if len(settings) == 1 else verb.removesuffix("s")


def _measured(settings: Sequence[Setting]) -> str:
    """Names in a row, each with its difference."""
    pairs = [(one.name, one.difference.difference) for one in settings if one.difference]
    return say.name_list([f"{name} ({say.number(difference, signed=True)})" for name, difference in pairs])


def _named(settings: Sequence[Setting]) -> str:
    return say.name_list([setting.name for setting in settings])


def _unclear(settings: Sequence[Setting]) -> str:
    """Those of which nothing is shown, and the difference that would have been."""
    found = [one.difference.mde for one in settings if one.difference and one.difference.mde is not None]
    ends = list(dict.fromkeys(say.number(each) for each in (min(found), max(found)))) if found else []
    could = f"; a difference of {' to '.join(ends)} would have been found, four times in five" if ends else ""
    return f"Not shown to matter: {_named(settings)}{could}."


def _why(sweep: Sweep) -> str:
    why = note(sweep.reference) or next(filter(None, map(note, sweep.settings)), "")
    return f" ({why})" if why else ""
