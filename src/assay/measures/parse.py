"""Measures as text: `Name(param=value, …)@cutoff`, the grammar of ir_measures.

    nDCG@10    P(rel=2)@5    nDCG(dcg='exp-log2')@10    RR@inf    AP    A@400    eps@L1

The meaning of the number after `@` depends on the measure; the type of its field `cutoff` says what is
allowed. `inf` means that rankings are not cut.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from assay.core.errors import PluginError, UsageError, did_you_mean
from assay.core.registry import MEASURES, Registry
from assay.core.spec import Spec, make_plugin, parse_spec

if TYPE_CHECKING:
    from assay.core.protocols import Measure

ALIASES = {"Hit": "Success", "MRR": "RR", "MAP": "AP", "NDCG": "nDCG"}
REFUSED = {
    "Recall": "'Recall' names two measures. Write R@{k} for the fraction of the relevant that was found, "
    "or Success@{k} for any hit within {k}.",
    "Precision": "'Precision' is written P@{k} here: the share of the first {k} that is relevant.",
}

_MEASURE = re.compile(r"\s*(?P<head>.+?)\s*(?:@\s*(?P<cutoff>[A-Za-z_]\w*|\d+(?:\.\d+)?))?\s*")


def parse_measure(text: str, registry: Registry | None = None) -> Measure:
    """Returns the measure that a text names."""
    found = _MEASURE.fullmatch(text)
    if found is None:
        raise UsageError("A measure has no name here. Write one such as nDCG@10, P(rel=2)@5 or AP.")
    try:
        spec = parse_spec(found["head"])
    except UsageError as error:
        raise UsageError(
            f"{text!r} is not a measure: {error}. Write Name(param=value)@cutoff, such as nDCG@10."
        ) from error
    return make_measure(spec.name, spec.params, found["cutoff"], registry)


def make_measure(
    family: str, params: Mapping[str, Any], cutoff: int | str | None, registry: Registry | None = None
) -> Measure:
    """Makes a measure from its parts.

    `cutoff` is the text or number after the @; "inf" means that nothing is cut. None: there is no @.
    """
    registry = registry or Registry()
    names = registry.names(MEASURES)
    if family not in names:
        spellings = {name.casefold(): name for name in (*ALIASES, *names)}
        family = ALIASES.get(found := spellings.get(family.casefold(), family), found)
    if family not in names:
        return _elsewhere(family, params, cutoff, names)
    cls = registry.load(MEASURES, family)
    given = dict(params)
    if cutoff is not None:
        if not any(field.name == "cutoff" for field in dataclasses.fields(cls)):
            raise PluginError(f"{family} takes no cut-off. Write {family} instead of {family}@{cutoff}.")
        given["cutoff"] = None if cutoff == "inf" else cutoff
    return cast("Measure", make_plugin(cls, Spec(family, given)))


def has_parameter(family: str, name: str, registry: Registry) -> bool:
    """Whether a measure has a parameter of this name. The measure's name may have any accepted spelling."""
    spelt = {each.casefold(): each for each in registry.names(MEASURES)}
    found = spelt.get(ALIASES.get(family, family).casefold())
    return found is not None and any(
        field.name == name for field in dataclasses.fields(registry.load(MEASURES, found))
    )


def _elsewhere(family: str, params: Mapping[str, Any], cutoff: int | str | None, names: list[str]) -> Measure:
    """Returns a measure of ir_measures that Assay does not compute. Any other name is an error."""
    if family in REFUSED:
        raise PluginError(REFUSED[family].format(k="k" if cutoff is None else cutoff))
    from assay.measures.fallback import FAMILIES, make_ir_measure

    if family not in FAMILIES:
        raise PluginError(
            f"There is no measure {family!r}. {did_you_mean(family, {*names, *FAMILIES, *ALIASES})}"
        )
    return make_ir_measure(_spell(family, params, "" if cutoff is None else f"@{cutoff}"))


def measure_name(measure: Any, uncut: str = "") -> str:
    """Returns the name of a measure: its family, the parameters that are not at their default, its cut-off.

    `uncut` is printed if there is no cut-off.
    """
    params = {
        field.name: value
        for field in dataclasses.fields(measure)
        if field.name != "cutoff" and (value := getattr(measure, field.name)) != field.default
    }
    cutoff = getattr(measure, "cutoff", None)
    return _spell(measure.family, params, uncut if cutoff is None else f"@{cutoff}")


def _spell(family: str, params: Mapping[str, Any], cut: str) -> str:
    inner = ", ".join(f"{name}={value!r}" for name, value in params.items())
    return f"{family}({inner}){cut}" if inner else f"{family}{cut}"
