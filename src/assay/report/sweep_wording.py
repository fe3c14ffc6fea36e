"""How a sweep reads: the answer, what is left of the winner on other items, what each parameter does."""

from __future__ import annotations

from assay.core.records import Comparison, Estimate
from assay.core.results import GO, INCONCLUSIVE
from assay.core.sweep_results import Fold, Parameter, Setting, Sweep
from assay.report import wording as say

BETTER, STAYS, OPEN, NONE = "better", "stays", "open", "none"
TITLES = {
    BETTER: "A better setting",
    STAYS: "Nothing beats the reference",
    OPEN: "No clear winner",
    NONE: "Nothing can be ranked yet",
}
SHAPES = {BETTER: GO, STAYS: None, OPEN: INCONCLUSIVE, NONE: None}
HALVES = (
    "Items are dealt into two halves. What is best on one half was partly lucky there; the other half tells "
    "what is left of it."
)


def outcome(sweep: Sweep) -> str:
    """What a sweep comes to; better: the best holds among all, and on items that did not choose it."""
    if sweep.best is None:
        return NONE
    if sweep.best.reference:
        return STAYS
    holds = is_better(sweep.best.difference)
    confirmed = any(is_better(fold.checked) for fold in sweep.folds)
    return BETTER if holds and confirmed else OPEN


def is_better(difference: Comparison | None) -> bool:
    """Whether a difference is shown, and an improvement."""
    return difference is not None and difference.shown == "better"


def answer(sweep: Sweep) -> str:
    """The best setting, its difference from the reference, and whether that holds, in one sentence."""
    best, reference, measure = sweep.best, sweep.reference, sweep.measure
    if best is None:
        why = note(reference) or "no item has a value"
        return f"{measure.name} ranks no setting: {reference.name}: {why}."
    mean = best.estimates[0]
    figure = f"{say.with_interval(mean.value, mean.low, mean.high)}, n {say.sample_size(mean)}"
    if best.reference:
        others = say.quantity(len(sweep.settings) - 1, "other setting")
        return f"{best.name}, the reference, has the best {measure.name} ({figure}); {others} do no better."
    return f"{best.name} has the best {measure.name} ({figure}): {_against(best, sweep)}."


def _against(best: Setting, sweep: Sweep) -> str:
    one, name = best.difference, sweep.reference.name
    if one is None or one.difference is None:
        return f"it is not compared with {name} ({one.refused if one else 'no comparison'})"
    difference = say.with_interval(one.difference, one.low, one.high, signed=True)
    holds = "holds" if is_better(one) else "does not hold"
    family = say.quantity(len(sweep.settings) - 1, "comparison")
    p = say.p_value(one.p_adjusted)
    return f"{difference} against {name}, which {holds}, corrected over {family} (p {p})"


def fold_sentence(fold: Fold) -> str:
    """`X is best on half A (+0.06); on half B it is +0.01 [-0.05, +0.07]: not confirmed`."""
    if fold.setting is None:
        return f"On half {fold.chosen_on} no setting can be ranked."
    if fold.chosen is None:
        return f"On half {fold.chosen_on} nothing beats {fold.setting}, the reference: nothing to confirm."
    chosen = say.number(fold.chosen.difference, signed=True)
    start = f"{fold.setting} is best on half {fold.chosen_on} ({chosen}); on half {fold.checked_on} it"
    one = fold.checked
    if one is None or one.difference is None:
        return f"{start} is not compared ({one.refused if one else 'no item'})."
    difference = say.with_interval(one.difference, one.low, one.high, signed=True)
    return f"{start} is {difference}: {verdict(fold)}."


def verdict(fold: Fold) -> str:
    """Whether the other half bears a choice out."""
    if fold.checked is None or fold.checked.difference is None:
        return "nothing to confirm" if fold.setting and fold.chosen is None else "not compared"
    return "confirmed" if is_better(fold.checked) else "not confirmed"


def optimism(sweep: Sweep) -> str:
    """How much better a winner looks on the items that chose it than on the others, over both halves."""
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
        f"{say.number(here, signed=True)}; on the others by {say.number(there, signed=True)}."
    )


def subject(sweep: Sweep) -> str:
    """What was swept: `hybrid: 27 settings of fuse, depth; 60 items where language=en; ranked by RR@10`.

    Or `race: 6 changes, one at a time; 60 items; measured by A@400`.
    """
    parts = ", ".join(name for name, values in sweep.grid.items() if len(values) > 1)
    chosen = ", ".join(f"{name}={'|'.join(values)}" for name, values in sweep.where.items())
    items = say.quantity(sweep.items, "item") + (f" where {chosen}" if chosen else "")
    if sweep.changes:
        changes = say.quantity(sum(not one.reference for one in sweep.settings), "change")
        return f"{sweep.system}: {changes}, one at a time; {items}; measured by {sweep.measure.name}"
    settings = say.quantity(len(sweep.settings), "setting")
    return f"{sweep.system}: {settings} of {parts}; {items}; ranked by {sweep.measure.name}"


def holding(sweep: Sweep) -> str:
    """Which settings differ from the reference for sure."""
    found = [one for one in sweep.settings if one.difference and say.is_shown(one.difference)]
    better = [one.name for one in found if is_better(one.difference)]
    worse = [one.name for one in found if one.name not in better]
    if not found:
        return f"No difference from {sweep.reference.name} holds, corrected over the whole grid."
    counts = [f"{len(names)} {word}" for names, word in ((better, "better"), (worse, "worse")) if names]
    return f"Against {sweep.reference.name}, corrected over the whole grid: {', '.join(counts)} for sure."


def parameter_answer(parameter: Parameter) -> str:
    """What a parameter does, as the title of its picture."""
    reference = next(effect.value for effect in parameter.effects if effect.reference)
    clear = [one for one in parameter.effects if one.difference and say.is_shown(one.difference)]
    better = [one.value for one in clear if is_better(one.difference)]
    worse = [one.value for one in clear if one.value not in better]
    found = [
        f"{' and '.join(names)} {word}" for names, word in ((better, "better"), (worse, "worse")) if names
    ]
    return f"{'; '.join(found)} than {reference}" if found else f"no value clearly differs from {reference}"


def applying(sweep: Sweep) -> list[int]:
    """The places among the slices to which the measure applies for any setting."""
    slices = range(len(sweep.settings[0].slices))
    return [place for place in slices if any(each.slices[place].n_expected for each in sweep.settings)]


def open_counts(estimate: Estimate) -> str:
    """The items without a value of their own, in words; those that the measure does not concern aside."""
    return say.absence_text({**estimate.counts, "not_applicable": 0})


def note(setting: Setting) -> str:
    """What is missing from a setting's figures, and why it is not compared."""
    found = [open_counts(setting.estimates[0])]
    if setting.difference is not None and setting.difference.refused:
        found.append(f"not compared: {setting.difference.refused}")
    return "; ".join(filter(None, found))
