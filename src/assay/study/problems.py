"""Finds the problems of a study file that concern several fields. Each has its line and a correction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from assay.core.errors import AssayError, DataError, MissingVariable, Problem, UsageError, did_you_mean
from assay.core.records import Arm
from assay.core.registry import CONTROLS, DATASETS, RENDERERS, kind_packages
from assay.core.spec import WrongParameter
from assay.core.yaml_lines import Loc
from assay.measures.declaration import cutoff_of

if TYPE_CHECKING:
    from assay.core.protocols import Judge, Measure
    from assay.core.records import Factors
    from assay.study.study import Study


def study_problems(study: Study, unreadable: set[str]) -> list[Problem]:
    """Returns the problems that need the whole study: unknown plugins, measures, factors, and names in gates.

    Fields in `unreadable` hold placeholders. Their problems were reported before, so they are not checked
    again.
    """
    parts = {
        "kind": _kind_problems,
        "data": _data_problems,
        "chunk": _chunk_problems,
        "systems": _system_problems,
        "measures": _measure_problems,
        "judges": _judge_problems,
        "baseline": _baseline_problems,
        "steps": _step_problems,
        "gates": _gate_problems,
        "recommend": _recommend_problems,
        "figures": _figure_problems,
        "reports": _report_problems,
        "limits": limit_problems,
        "factors": _factor_problems,
        "sweep": _sweep_problems,
    }
    needs = {
        "baseline": {"systems"},
        "steps": {"gates"},
        "gates": {"systems"},
        "recommend": {"gates"},
        "figures": {"systems"},
        "limits": {"systems", "measures"},
        "factors": {"data", "systems"},
        "sweep": {"data", "systems", "measures", "chunk", "factors"},
    }
    spoils = {"data": {"factors"}, "systems": {"factors", "limits"}, "measures": {"limits"}}
    found, broken = list[Problem](), set(unreadable)
    for field, check in parts.items():
        if not broken & {field, *needs.get(field, ())}:
            found += (problems := list(check(study)))
            broken |= {"sweep", *spoils.get(field, ())} if problems else set()
    return found


def _kind_problems(study: Study) -> Iterator[Problem]:
    """Yields a problem if the kind of the study is the name of a known kind with one letter wrong.

    Any other word is accepted.
    """
    from rapidfuzz.distance import OSA

    kind, known = study.file.kind, kind_packages()
    near = [name for name in known if OSA.distance(kind.lower(), name) <= 1]
    if kind and near and kind not in known:
        yield study.lines.problem(("kind",), f"there is no kind {kind!r}", did_you_mean(kind, near))


def _data_problems(study: Study) -> Iterator[Problem]:
    def make_dataset() -> None:
        spec, given = study.data_spec, study.file.data
        names = study.registry.names(DATASETS)
        if spec.name not in names and not spec.params and isinstance(given, str):
            raise UsageError(
                f"there is neither a folder {study.kit.path(given)} nor a dataset named {spec.name!r}. "
                + did_you_mean(spec.name, names)
            )
        study.registry.create(DATASETS, study.with_factors(DATASETS, spec, _first_values(study)))

    yield from _problems_of(study, ("data",), make_dataset)


def _chunk_problems(study: Study) -> Iterator[Problem]:
    """Yields the problems of chunkings.

    They are chunkings that cannot be made, names that no factor chooses, and chosen names that do not exist.
    """
    named, chosen = study.file.chunkings, study.file.factors.get("chunk", [])
    if named and not chosen:
        fix = f"Add factors: {{chunk: [{', '.join(named)}]}}."
        yield study.lines.problem(("chunk",), "several chunkings, and no factor to choose one", fix)
    for name in named:
        yield from _problems_of(study, ("chunk", name), partial(study.chunker, {"chunk": name}))
    for value in [each for each in chosen if each not in named]:
        found = list(_problems_of(study, ("factors", "chunk"), partial(study.chunker, {"chunk": value})))
        if found and named and "(" not in value:
            what = f"there is no chunking {value!r}"
            found = [study.lines.problem(("factors", "chunk"), what, did_you_mean(value, named))]
        yield from found
    if study.file.chunk is not None and not named:
        yield from _problems_of(study, ("chunk",), partial(study.chunker, {}))


def _system_problems(study: Study) -> Iterator[Problem]:

    for name in study.file.systems:
        found = list(_problems_of(study, ("systems", name), partial(study.system, Arm(name))))
        # a parameter is not missing if a factor sets it
        with_factors = partial(study.system, Arm(name, _first_values(study)))
        yield from found if list(_problems_of(study, ("systems", name), with_factors)) else ()


def _first_values(study: Study) -> Factors:
    return {factor: values[0] for factor, values in study.file.factors.items() if values}


def _measure_problems(study: Study) -> Iterator[Problem]:
    from assay.measures.parse import parse_measure

    seen: dict[str, str] = {}
    for index, text in enumerate(study.file.measures):
        loc = ("measures", index)
        try:
            measure = parse_measure(text, study.registry)
        except AssayError as error:
            yield study.lines.problem(loc, str(error))
            continue
        if (first := seen.get(measure.name)) is not None:
            what = "it is listed twice" if first == text else f"this is {first!r} again"
            yield study.lines.problem(loc, what, "Keep one of the two.")
        seen[measure.name] = text
        yield from missing_budget(study, loc, measure)


def missing_budget(study: Study, loc: Loc, measure: Measure) -> Iterator[Problem]:
    """Yields a problem if a measure reads contexts under a token budget that the study does not have.

    All its scores would be missing.
    """
    cutoff = cutoff_of(measure)
    if measure.at == "tokens" and cutoff not in study.budgets:
        what = f"{measure.name} reads a context that budgets does not ask for"
        yield study.lines.problem(loc, what, f"Add {cutoff or 'inf'} to budgets.")


def _judge_problems(study: Study) -> Iterator[Problem]:
    taken: set[str] = set()
    for index, judge in enumerate(study.file.judges):
        yield from _problems_of(study, ("judges", index), partial(_check_judge, study, judge, taken))


def _check_judge(study: Study, given: str | dict[str, Any], taken: set[str]) -> None:
    judge: Judge = study.judge(given)
    if doubled := taken.intersection(judge.names):
        what = f"another judge is named {min(doubled)!r} too"
        raise UsageError(f"{what}. Names decide whose judgments come first: give each judge its own name.")
    taken.update(judge.names)


def _baseline_problems(study: Study) -> Iterator[Problem]:
    baseline, systems = study.file.baseline, study.file.systems
    if baseline is not None and baseline not in systems:
        what = f"there is no system {baseline!r}"
        yield study.lines.problem(["baseline"], what, did_you_mean(baseline, systems))


def _report_problems(study: Study) -> Iterator[Problem]:
    known = study.registry.names(RENDERERS)
    for index, name in enumerate(study.file.reports):
        if name not in known:
            what = f"there is no format {name!r}"
            yield study.lines.problem(["reports", index], what, did_you_mean(name, known))


def _step_problems(study: Study) -> Iterator[Problem]:
    for index, step in enumerate(study.file.steps):
        if step not in study.file.gates:
            fix = did_you_mean(step, study.file.gates) or "Declare it under gates."
            yield study.lines.problem(["steps", index], f"there is no gate {step!r}", fix)


def _gate_problems(study: Study) -> Iterator[Problem]:
    from assay.gates.gate import Gate, measures_of

    controls = study.registry.names(CONTROLS)
    for name, gate in study.file.gates.items():
        for control in (each for each in gate.harmless if each.partition(" (")[0] not in controls):
            what, fix = f"there is no control {control!r}", did_you_mean(control, controls)
            yield study.lines.problem(("gates", name, "harmless", control), what, fix)
        found = [
            study.lines.problem(loc, what)
            for role in ("first", "go", "kill")
            for loc, clause in _clauses(getattr(gate, role), ("gates", name, role))
            for what in _clause_problems(clause, study, gate.on)
        ]
        # problems of the whole gate are reported only if its clauses can be read
        found = found or list(_problems_of(study, ("gates", name), partial(Gate.from_file, name, gate)))
        yield from found
        for measure in [] if found else measures_of([Gate.from_file(name, gate)], study):
            yield from missing_budget(study, ("gates", name), measure)


def _recommend_problems(study: Study) -> Iterator[Problem]:
    """Yields the problems of recommendations that depend on unknown gates."""
    for say, when in study.file.recommend.items():
        for gate in when:
            if gate not in study.file.gates:
                fix = did_you_mean(gate, study.file.gates) or "Declare it under gates."
                yield study.lines.problem(("recommend", say, gate), f"there is no gate {gate!r}", fix)


def _clauses(given: Any, loc: Loc) -> Iterator[tuple[Loc, Any]]:
    """Yields every clause of a gate's field with its place, also inside lists, `any` and `all`."""
    if isinstance(given, list | dict):
        for key, part in enumerate(given) if isinstance(given, list) else given.items():
            yield from _clauses(part, (*loc, key))
    elif given is not None:
        yield loc, given


def _clause_problems(given: Any, study: Study, on: Literal["estimate", "interval"] | None) -> Iterator[str]:
    from assay.gates.checks import clause_problems
    from assay.gates.grammar import parse_clause

    if not isinstance(given, str):
        yield f"expected a clause, found {given!r}. Write one such as nDCG@10(new) >= 0.4"
        return
    try:
        clause = parse_clause(given)
    except AssayError as error:
        yield str(error)
        return
    yield from clause_problems(clause, study, on)


def _factor_problems(study: Study) -> Iterator[Problem]:
    for factor, values in study.file.factors.items():
        loc = ("factors", factor)
        concerned = [arm for arm in study.arms if factor in arm.factors]
        if not values:
            yield study.lines.problem(loc, "it has no values", "List some, or remove it.")
        elif not concerned:
            what = "neither the dataset nor any system has such a parameter"
            yield study.lines.problem(loc, what, "A factor sets a parameter of that name.")
        elif rivals := study.systems_with_parameter(factor):
            what = f"the dataset ({study.data_spec.name}) and {', '.join(rivals)} both have such a parameter"
            fix = f"Write data.{factor} for the dataset's; for a system's, list a system for each value."
            yield study.lines.problem(loc, what, fix)
            continue
        reported: set[str] = set()
        for arm in concerned:
            for problem in _problems_of(study, loc, partial(study.system, arm)):
                if problem.what not in reported:
                    reported.add(problem.what)
                    yield problem


def _figure_problems(study: Study) -> Iterator[Problem]:
    """Yields the problems of figures that cannot be read, or that refer to what the study does not have."""
    from assay.gates.figures import measures_of_figure

    for name in study.file.figures:
        loc = ("figures", name)
        try:
            measures = measures_of_figure(study, name)
        except AssayError as error:
            yield study.lines.problem(loc, str(error))
            continue
        for measure in measures:
            yield from missing_budget(study, loc, measure)


def _sweep_problems(study: Study) -> Iterator[Problem]:
    if study.file.sweep is None:
        return
    from assay.study.sweep_study import sweep_problems

    yield from sweep_problems(study)


def _problems_of(study: Study, loc: Loc, act: Callable[[], object]) -> Iterator[Problem]:
    try:
        act()
    except DataError as error:
        yield from error.problems
    except MissingVariable as error:
        if loc[0] == "data":  # a report reads the data too, but needs no secrets of systems
            yield study.lines.problem(loc, str(error))
    except AssayError as error:
        inner = error.path if isinstance(error, WrongParameter) else ()
        line, field = study.lines.of((*loc, *inner)), ".".join(map(str, loc))
        yield Problem(str(error), study.lines.where, line, field)


def limit_problems(study: Study) -> Iterator[Problem]:
    """Yields the problems of the section `limits`.

    They are limits on measures that the study does not have, and limits on times without a reference system.
    """
    limits, problem, systems = study.file.limits, study.lines.problem, study.file.systems
    if limits is None:
        return
    listed = {measure.name for measure in study.measures}
    for name in limits.worse:
        loc = ("limits", "worse", name)
        if name.partition("(")[0] == "Seconds":
            yield problem(loc, "seconds of two runs do not compare", "Use latency and reference.")
        elif name not in {*listed, *study.file.measures}:
            what = f"{name} is not among the study's measures"
            yield problem(loc, what, f"{did_you_mean(name, listed)} A limit needs its measure listed.")
    if not limits.worse and limits.latency is None:
        yield problem(("limits",), "it limits nothing", "Add worse: {MEASURE: 0.02}, or latency: 1.2.")
    if limits.latency is not None and limits.reference is None:
        what = "seconds of two runs compare only beside those of a system that both ran"
        yield problem(("limits", "latency"), what, f"Add reference, one of: {', '.join(systems)}.")
    if limits.latency is not None and "Seconds" not in listed:
        what = "Seconds is not among the study's measures, so no baseline keeps times"
        yield problem(("limits", "latency"), what, "Add Seconds to measures.")
    if (reference := limits.reference) is None:
        return
    if reference not in systems:
        what = f"there is no system {reference!r}"
        yield problem(("limits", "reference"), what, did_you_mean(reference, systems))
    elif limits.latency is None:
        yield problem(("limits", "reference"), "there is no latency to limit beside it", "Add latency: 1.2.")
    elif study.is_imported(Arm(reference)):
        what = f"the seconds of {reference} were taken elsewhere, not in a run of this study"
        yield problem(("limits", "reference"), what, "Name a system that this study runs.")
