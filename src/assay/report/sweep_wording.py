"""Puts a sweep into words: the answer, whether the winner holds on other items, and what parameters do."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.records import Comparison, Estimate
from assay.core.results import GO, INCONCLUSIVE
from assay.core.sweep_results import Fold, Parameter, Setting, Sweep
from assay.report import wording

BETTER, STAYS, OPEN, NONE = "better", "stays", "open", "none"
TITLES = {
    BETTER: "A better setting",
    STAYS: "Nothing beats the reference",
    OPEN: "No clear winner",
    NONE: "Nothing can be ranked yet",
}
SHAPES = {BETTER: GO, STAYS: None, OPEN: INCONCLUSIVE, NONE: None}
HALVES = (
    "Items are split at random into two halves. The best setting of one half was partly lucky there; "
    "the other half shows what is left of its gain."
)


def outcome(sweep: Sweep) -> str:
    """Returns the outcome of a sweep.

    It is `BETTER` if the best setting wins on all items, and also on items that did not choose it.
    """
    if sweep.best is None:
        return NONE
    if sweep.best.reference:
        return STAYS
    holds = is_better(sweep.best.difference)
    confirmed = any(is_better(fold.checked) for fold in sweep.folds)
    return BETTER if holds and confirmed else OPEN


def is_better(difference: Comparison | None) -> bool:
    """Whether a difference is shown and is an improvement."""
    return difference is not None and difference.shown == "better"


def answer(sweep: Sweep) -> str:
    """Returns a sentence about the best setting, its difference from the reference, and whether it holds."""
    best, reference, measure = sweep.best, sweep.reference, sweep.measure
    if best is None:
        why = note(reference) or "no item has a value"
        return f"{measure.name} ranks no setting: {reference.name}: {why}."
    mean = best.estimates[0]
    figure = f"{wording.with_interval(mean.value, mean.low, mean.high)}, n {wording.sample_size(mean)}"
    if best.reference:
        others = wording.quantity(len(sweep.settings) - 1, "other setting")
        return f"{best.name}, the reference, has the best {measure.name} ({figure}); {others} do no better."
    return f"{best.name} has the best {measure.name} ({figure}): {_against(best, sweep)}."


def _against(best: Setting, sweep: Sweep) -> str:
    one, name = best.difference, sweep.reference.name
    if one is None or one.difference is None:
        return f"it is not compared with {name} ({one.refused if one else 'no comparison'})"
    difference = wording.with_interval(one.difference, one.low, one.high, signed=True)
    holds = "holds" if is_better(one) else "does not hold"
    family = wording.quantity(len(sweep.settings) - 1, "comparison")
    p = wording.p_value(one.p_adjusted)
    return f"{difference} against {name}, which {holds}, corrected over {family} (p {p})"


def fold_sentence(fold: Fold) -> str:
    """Returns a sentence about the choice of one half.

    Example: `X is best on half A (+0.06); on half B it is +0.01 [-0.05, +0.07]: not confirmed`.
    """
    if fold.setting is None:
        return f"On half {fold.chosen_on} no setting can be ranked."
    if fold.chosen is None:
        return f"On half {fold.chosen_on} nothing beats {fold.setting}, the reference: nothing to confirm."
    chosen = wording.number(fold.chosen.difference, signed=True)
    start = f"{fold.setting} is best on half {fold.chosen_on} ({chosen}); on half {fold.checked_on} it"
    one = fold.checked
    if one is None or one.difference is None:
        return f"{start} is not compared ({one.refused if one else 'no item'})."
    difference = wording.with_interval(one.difference, one.low, one.high, signed=True)
    return f"{start} is {difference}: {verdict(fold)}."


def verdict(fold: Fold) -> str:
    """Returns whether the other half confirms a choice, in words."""
    if fold.checked is None or fold.checked.difference is None:
        return "nothing to confirm" if fold.setting and fold.chosen is None else "not compared"
    return "confirmed" if is_better(fold.checked) else "not confirmed"


def optimism(sweep: Sweep) -> str:
    """Returns a sentence: how far the winner is ahead on the items that chose it, and on the other items.

    Both numbers are means over the two halves.
    """
    pairs = [
        (fold.chosen.difference, fold.checked.difference)
        for fold in sweep.folds
        if fold.chosen and fold.checked
        if fold.chosen.difference is not None and fold.checked.difference is not None
    ]
    if not pairs:
        return ""
    here, there = (sum(side) / len(pairs) for side in zip(*pairs, strict=True))
    return (
        f"On the items it was chosen on, the best setting differs from the reference by "
        f"{wording.number(here, signed=True)}; on the others by {wording.number(there, signed=True)}."
    )


def subject(sweep: Sweep) -> str:
    """Returns what was swept.

    Example: `hybrid: 27 settings of fuse, depth; 60 items where language=en; ranked by RR@10`. For a sweep of
    changes: `race: 6 changes, one at a time; 60 items; measured by A@400`.
    """
    parts = ", ".join(name for name, values in sweep.grid.items() if len(values) > 1)
    chosen = ", ".join(f"{name}={'|'.join(values)}" for name, values in sweep.where.items())
    items = wording.quantity(sweep.items, "item") + (f" where {chosen}" if chosen else "")
    if sweep.changes:
        changes = wording.quantity(sum(not one.reference for one in sweep.settings), "change")
        return f"{sweep.system}: {changes}, one at a time; {items}; measured by {sweep.measure.name}"
    settings = wording.quantity(len(sweep.settings), "setting")
    return f"{sweep.system}: {settings} of {parts}; {items}; ranked by {sweep.measure.name}"


def holding(sweep: Sweep) -> str:
    """Returns a sentence about the settings that clearly differ from the reference."""
    found = [one for one in sweep.settings if one.difference and wording.is_shown(one.difference)]
    better = [one.name for one in found if is_better(one.difference)]
    worse = [one.name for one in found if one.name not in better]
    if not found:
        return f"No difference from {sweep.reference.name} holds, corrected over the whole grid."
    counts = [f"{len(names)} {word}" for names, word in ((better, "better"), (worse, "worse")) if names]
    return f"Against {sweep.reference.name}, corrected over the whole grid: {', '.join(counts)} for sure."


def parameter_answer(parameter: Parameter) -> str:
    """Returns what a parameter does, as the title of its picture."""
    reference = next(effect.value for effect in parameter.effects if effect.reference)
    clear = [one for one in parameter.effects if one.difference and wording.is_shown(one.difference)]
    better = [one.value for one in clear if is_better(one.difference)]
    worse = [one.value for one in clear if one.value not in better]
    found = [
        f"{' and '.join(names)} {word}" for names, word in ((better, "better"), (worse, "worse")) if names
    ]
    return f"{'; '.join(found)} than {reference}" if found else f"no value clearly differs from {reference}"


def applying(sweep: Sweep) -> list[int]:
    """Returns the positions of the slices to which the measure applies for at least one setting."""
    slices = range(len(sweep.settings[0].slices))
    return [place for place in slices if any(each.slices[place].n_expected for each in sweep.settings)]


def open_counts(estimate: Estimate) -> str:
    """Returns the numbers of items without a value, in words.

    Items to which the measure does not apply are not counted.
    """
    return wording.absence_text({**estimate.counts, "not_applicable": 0})


def note(setting: Setting) -> str:
    """Returns what is missing from a setting's values, and why the setting is not compared."""
    found = [open_counts(setting.estimates[0])]
    if setting.difference is not None and setting.difference.refused:
        found.append(f"not compared: {setting.difference.refused}")
    return "; ".join(filter(None, found))


# ----------------------------------------------------------------------------------------------

LOSES, GAINS, UNCORRECTED, UNCLEAR, NOT_COMPARED = "loses", "gains", "uncorrected", "unclear", "not compared"
MATTERS, NOTHING_SHOWN = "matters", "open"
CHANGE_SHAPES = {MATTERS: None, NOTHING_SHOWN: INCONCLUSIVE, NONE: None}
AS_IT_IS = "as it is"


def change_effect(one: Comparison | None) -> str:
    """Returns the effect of a change, as far as its difference shows it."""
    if one is None or one.difference is None:
        return NOT_COMPARED
    if wording.is_shown(one):
        return GAINS if is_better(one) else LOSES
    beyond = one.low is not None and one.high is not None and (one.low > 0 or one.high < 0)
    return UNCORRECTED if beyond else UNCLEAR


def change_words(setting: Setting) -> str:
    """Returns the effect of a change in words, for the place beside its picture."""
    if setting.reference:
        return AS_IT_IS
    one = setting.difference
    found = change_effect(one)
    if found in {LOSES, GAINS, NOT_COMPARED}:
        return found
    shown = "not shown to matter"
    if found == UNCORRECTED:
        return f"{shown}: the interval leaves 0 out, but not after correction"
    return f"{shown}; {could}" if one and (could := wording.comparison_note(one)) else shown


def change_outcome(sweep: Sweep) -> str:
    """Returns the outcome of a sweep of changes."""
    found = {change_effect(one.difference) for one in _changes(sweep)}
    if found & {LOSES, GAINS}:
        return MATTERS
    return NOTHING_SHOWN if found & {UNCLEAR, UNCORRECTED} else NONE


def change_title(sweep: Sweep) -> str:
    """Returns a title such as `2 of 6 changes matter`."""
    changes = _changes(sweep)
    if (found := change_outcome(sweep)) == MATTERS:
        clear = [one for one in changes if change_effect(one.difference) in {LOSES, GAINS}]
        verb = "matters" if len(clear) == 1 else "matter"
        return f"{len(clear)} of {wording.quantity(len(changes), 'change')} {verb}"
    return "No change is shown to matter" if found == NOTHING_SHOWN else "Nothing can be compared yet"


def change_answer(sweep: Sweep) -> str:
    """Returns which changes lose and gain, which are not shown to matter, and what would have been found."""
    found: dict[str, list[Setting]] = {}
    for one in _changes(sweep):
        found.setdefault(change_effect(one.difference), []).append(one)
    if found.keys() <= {NOT_COMPARED}:
        return f"No change is compared with {sweep.reference.name}{_why(sweep)}."
    clear = [
        f"{_measured(found[each])} {_verb(each, found[each])}" for each in (LOSES, GAINS) if each in found
    ]
    family = wording.quantity(len(_changes(sweep)), "change")
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
    """Returns a list of names, each with its difference."""
    pairs = [(one.name, one.difference.difference) for one in settings if one.difference]
    return wording.name_list(
        [f"{name} ({wording.number(difference, signed=True)})" for name, difference in pairs]
    )


def _named(settings: Sequence[Setting]) -> str:
    return wording.name_list([setting.name for setting in settings])


def _unclear(settings: Sequence[Setting]) -> str:
    """Returns the changes without a shown effect, and the difference that would have been found."""
    found = [one.difference.mde for one in settings if one.difference and one.difference.mde is not None]
    ends = list(dict.fromkeys(wording.number(each) for each in (min(found), max(found)))) if found else []
    could = f"; a difference of {' to '.join(ends)} would have been found, four times in five" if ends else ""
    return f"Not shown to matter: {_named(settings)}{could}."


def _why(sweep: Sweep) -> str:
    why = note(sweep.reference) or next(filter(None, map(note, sweep.settings)), "")
    return f" ({why})" if why else ""
