"""Gates: from clauses that pass, fail or are undecided to go, no-go and inconclusive."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.core.records import Judgment, Verdict
from assay.gates.checks import clause_problems
from assay.gates.evaluator import Evaluator
from assay.gates.expansion import ClauseGroup
from assay.gates.gate import Gate, measures_of
from assay.gates.grammar import parse_clause
from assay.gates.verdict import decide_gates, overall_verdict
from assay.report.verdicts import verdict_sentence
from score_rows import REGISTRY, gate, rows_of

TRUTH = (True, False, None)
YES, NO, OPEN = "M(a) >= 0.4", "M(a) >= 0.6", "M(a) >= M(b)"  # eight rows leave the last open
WAITING = "E(a) <= 0.5"  # no figures at all: an item is pending
CLAUSE: dict[bool | None, str] = {True: YES, False: NO, None: OPEN}
ROWS = rows_of({("a", "M"): [0.5] * 8, ("a", "E"): [0.1] * 7 + ["pending"], ("b", "M"): [0.5] * 8})
EVALUATOR = Evaluator(ROWS, REGISTRY, resamples=200)


def verdict(**file: Any) -> Verdict:
    return decide_gates([gate(**file)], EVALUATOR)[0]


def test_the_three_clauses_of_these_tests() -> None:
    results = verdict(go=[YES, NO, OPEN]).clauses
    assert [result.holds for result in results] == [True, False, None]


# ----------------------------------------------------------------------------------------- groups


def kleene(every: bool, values: list[bool | None]) -> bool | None:
    """Strong three-valued logic with open as one half: all is the minimum, any the maximum."""
    number = {True: 1.0, None: 0.5, False: 0.0}
    found = (min if every else max)(number[value] for value in values)
    return {1.0: True, 0.5: None, 0.0: False}[found]


@pytest.mark.parametrize("every", [True, False])
def test_truth_tables_of_up_to_three_clauses(every: bool) -> None:
    clauses = [parse_clause(f"M(a) >= {number}") for number in (1, 2, 3)]
    for size in (1, 2, 3):
        for values in itertools.product(TRUTH, repeat=size):
            decided = dict(zip(clauses, values, strict=False))
            group = ClauseGroup(size if every else 1, tuple(clauses[:size]))
            assert group.holds(decided) is kleene(every, list(values))


Nested = st.recursive(
    st.sampled_from(TRUTH),
    lambda inner: st.tuples(st.sampled_from(["any", "all"]), st.lists(inner, min_size=1, max_size=3)),
    max_leaves=8,
)


@given(Nested.filter(lambda given: isinstance(given, tuple)))
def test_nested_groups(nested: Any) -> None:
    def written(part: Any) -> Any:
        return {part[0]: [written(each) for each in part[1]]} if isinstance(part, tuple) else CLAUSE[part]

    def worth(part: Any) -> bool | None:
        return (
            kleene(part[0] == "all", [worth(each) for each in part[1]]) if isinstance(part, tuple) else part
        )

    parsed = gate(go=written(nested)).go
    assert parsed is not None
    decided = {parse_clause(text): holds for holds, text in CLAUSE.items()}
    assert parsed.holds(decided) is worth(nested)


def test_a_nested_list_means_all() -> None:
    assert verdict(go={"any": [[YES, NO], [YES, YES]]}).verdict == "go"
    assert verdict(go={"any": [[YES, NO], NO]}).verdict == "no-go"


@pytest.mark.parametrize(
    "file",
    [
        {},
        {"first": [YES]},
        {"go": []},
        {"go": {"some": [YES]}},
        {"go": {"any": [YES], "all": [YES]}},
        {"go": {"any": []}},
        {"go": [3]},
        {"kill": [YES, NO]},
        {"go": ["M(a) >="]},
    ],
)
def test_gates_that_make_no_sense(file: Any) -> None:
    with pytest.raises(UsageError):
        gate(**file)


# ------------------------------------------------------------------------------------- conclusions


def expected(first: Any, go: Any, kill: Any, otherwise: str | None) -> str:
    """The rule as the design words it; "absent" where the gate declares none."""
    if first not in {"absent", True}:
        return "inconclusive"
    if kill is True:
        return "no-go"
    if go in {"absent", True} and kill in {"absent", False}:
        return "go"
    if otherwise is not None:
        return otherwise
    return "no-go" if go is False and kill == "absent" else "inconclusive"


ROLES = ("absent", *TRUTH)
COMBINATIONS = [
    (first, go, kill, otherwise)
    for first, go, kill in itertools.product(ROLES, repeat=3)
    for otherwise in (None, "inconclusive", "no-go")
    if (go, kill) != ("absent", "absent")
]


@pytest.mark.parametrize(("first", "go", "kill", "otherwise"), COMBINATIONS)
def test_every_combination(first: Any, go: Any, kill: Any, otherwise: str | None) -> None:
    given = {"first": first, "go": go, "kill": kill}
    file = {role: [CLAUSE[holds]] for role, holds in given.items() if holds != "absent"}
    found = verdict(**file, otherwise=otherwise)
    assert found.verdict == expected(first, go, kill, otherwise)
    assert found.reason
    assert [clause.role for clause in found.clauses] == list(file)


def test_no_declared_outcome_stands_in_for_rows_that_are_not_there() -> None:
    assert verdict(go=[OPEN], otherwise="no-go").verdict == "no-go"
    assert verdict(go=[WAITING], otherwise="no-go").verdict == "inconclusive"
    assert verdict(go=[YES, WAITING], kill=[NO], otherwise="no-go").verdict == "inconclusive"


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ({"kill": [NO]}, "no kill condition is met (not guarded)"),
        ({"go": [YES]}, "the clause passes (not guarded)"),
        (
            {"go": [YES, YES], "kill": [NO]},
            "the clause passes (not guarded), no kill condition is met (not guarded)",
        ),
        ({"go": {"any": [YES, NO]}}, "1 of 2 clauses passes (not guarded)"),
        ({"kill": [OPEN]}, "a kill condition is undecided"),
        ({"go": [OPEN]}, "a go clause is undecided"),
        ({"go": [NO], "kill": [NO]}, "a go clause fails, no kill condition is met"),
        ({"go": [NO], "kill": [OPEN]}, "a go clause fails, a kill condition is undecided"),
        ({"go": [YES], "kill": [OPEN]}, "a kill condition is undecided"),
        ({"go": [YES], "first": [NO]}, "what must hold first does not hold, so nothing else is decided"),
    ],
)
def test_reasons(file: Any, reason: str) -> None:
    assert verdict(**file).reason == reason


def test_kill_by_any_and_by_all() -> None:
    assert verdict(kill={"any": [NO, YES]}).verdict == "no-go"
    assert verdict(kill={"all": [NO, YES]}).verdict == "go"
    assert verdict(kill={"any": [NO, OPEN]}).verdict == "inconclusive"
    assert verdict(kill={"all": [NO, OPEN]}).verdict == "go"
    assert verdict(go=[YES], kill={"any": [YES, OPEN]}).verdict == "no-go"


def test_a_clause_named_twice_is_shown_in_both_roles() -> None:
    found = verdict(first=[YES], go=[YES, "M(a)   >= 0.4"])
    assert [(clause.role, clause.holds) for clause in found.clauses] == [
        ("first", True),
        ("go", True),
        ("go", True),
    ]


def test_agreement_first() -> None:
    def said(second: list[int]) -> list[Judgment]:
        both = ([1, 1, 1, 1, 0, 0, 0, 0], second)
        return [
            Judgment(f"i{i}", "accuracy", g, f"r{r}")
            for r, grades in enumerate(both)
            for i, g in enumerate(grades)
        ]

    agreeing, arguing = said([1, 1, 1, 1, 0, 0, 0, 0]), said([1, 1, 0, 0, 1, 1, 0, 0])
    declared = gate(first=["kappa(accuracy) >= 0.6"], go=[YES])
    words = {
        name: decide_gates([declared], Evaluator(ROWS, REGISTRY, judgments, 200))[0].verdict
        for name, judgments in (("agreeing", agreeing), ("arguing", arguing), ("none", []))
    }
    assert words == {"agreeing": "go", "arguing": "inconclusive", "none": "inconclusive"}


# ------------------------------------------------------------------------------------------- steps


def test_steps_stop_at_a_no_go() -> None:
    gates = [
        gate("last", go=[YES]),
        gate("aside", go=[YES]),
        gate("second", kill=[YES]),
        gate("first", go=[OPEN]),
    ]
    found = decide_gates(gates, EVALUATOR, ["first", "second", "last"])
    assert [(one.gate, one.verdict) for one in found] == [
        ("first", "inconclusive"),
        ("second", "no-go"),
        ("last", "inconclusive"),
        ("aside", "go"),
    ]
    assert found[2].reason == "not reached: second is no-go"
    assert found[2].clauses == []


def test_one_word_over_all_gates() -> None:
    for words, word in (
        (["go", "go"], "go"),
        (["go", "inconclusive"], "inconclusive"),
        (["inconclusive", "no-go", "go"], "no-go"),
        ([], None),
    ):
        assert overall_verdict([Verdict("g", each, []) for each in words]) == word


# -------------------------------------------------------------------------------------- validation

STUDY: Any = SimpleNamespace(system_names=["new", "old"], registry=REGISTRY)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("M(new) >= M(odl)", "column 13: there is no system 'odl'. Did you mean 'old'?"),
        ("nDGC@10(new) >= 0.4", "column 1: There is no measure 'nDGC'. Did you mean 'nDCG'"),
        ("0.3 <= p955(M(new))", "column 8: there is no measure or statistic 'p955'. Did you mean 'p95'"),
        (
            "gain(M(new), M(old)) >= 0",
            "column 1: there is no measure or statistic 'gain'. Known: alpha",
        ),
        (
            "medians(M(new)) >= 0",
            "column 1: there is no measure or statistic 'medians'. Did you mean 'median'?",
        ),
        (
            "loss(M(new), M(old)) <= 0.1",
            "column 1: there is no measure or statistic 'loss'. Did you mean 'losses'?",
        ),
        (
            "maximum(M(new), M(old)) >= 1",
            "column 1: there is no measure or statistic 'maximum'. Did you mean 'max'?",
        ),
        ("M >= 0.4", "column 1: M needs one system, as in M(new)"),
        ("M(new, old) >= 0.4", "column 1: M needs one system"),
        ("M(0.4) >= 0.4", "column 1: M needs one system"),
        ("M(new[language=en]) >= 0.4", "column 3: new is a system: write its slice after the call"),
        ("p95(0.3) >= 0.4", "column 1: p95 takes measures or a label, no numbers and no @"),
        ("p95@5(M(new)) >= 0.4", "column 1: p95 takes measures or a label, no numbers and no @"),
        ("p95 >= 0.4", "column 1: p95 takes 1 measure, not 0"),
        ("p0(M(new)) >= 0.4", "column 1: p0 is not a percentile."),
        ("spearman(M(new)) >= 0.4", "column 1: spearman takes 2 measures, not 1"),
        ("share(M(new)) >= 0.4", "column 1: share takes one test of each item, as in share(nDCG@10(new)"),
        ("count(p50(M(new)) < 1) >= 4", "column 1: count tests measures of systems, not statistics"),
        ("p95(p50(M(new))) >= 0.4", "column 1: p95 takes measures, not statistics of them"),
        ("p95(share=0.3)(M(new)) >= 0.4", "column 1:"),
        ("kappa(accuracy, style) >= 0.4", "column 1: kappa takes one label, as in kappa(accuracy)"),
        ("kappa(accuracy@5) >= 0.4", "column 1: kappa takes one label"),
        ("max >= 0.4", "column 1: max takes only values"),
        ("max(M(new), M(old))[language=en] >= 0.4", "column 1: max takes only values"),
        ("1 >= 0.4", "a clause is about a measure of a system, and this one has only numbers"),
        (
            "E@level(new) <= 0.1 for each level=*",
            "column 1: write out the values that `for` puts after the @",
        ),
    ],
)
def test_what_a_clause_names_must_exist(text: str, says: str) -> None:
    (problem,) = clause_problems(parse_clause(text), STUDY)
    assert problem.startswith(f"{text}: {says}")


@pytest.mark.parametrize(
    "text",
    [
        "M(new) >= max(M(old), 0.3) where language=en",
        "M(new) >= 0.3 for each language=*",
        "E@level(new) <= 0.1 for each level=L1|L2",
        "spearman(M(new), E(new)[language=en]) >= 0.2",
        "kappa(weights=linear)(accuracy) >= 0.6",
    ],
)
def test_clauses_that_are_in_order(text: str) -> None:
    assert list(clause_problems(parse_clause(text), STUDY)) == []


def test_every_measure_that_a_gate_reads_is_scored() -> None:
    gates: list[Gate] = [
        gate("one", go=["M(new) >= max(M(old), E@L1(new))"], first=["kappa(accuracy) >= 0.6"]),
        gate("two", kill=["p95(T(new)) > 3"], go=["E@level(new) <= 0.1 for each level=L1|L2"]),
    ]
    assert [measure.name for measure in measures_of(gates, STUDY)] == ["M", "E@L1", "E@L2", "T"]


def test_a_clause_says_which_ways_to_go_it_belongs_to() -> None:
    found = verdict(go={"any": [{"all": [NO, OPEN]}, {"all": [NO, YES]}]}, otherwise="no-go")
    assert [clause.ways for clause in found.clauses] == [[1, 2], [1], [1, 2], [2]]
    assert found.reason == "none of the 2 ways to go is shown, and for that the gate says no-go"
    assert [clause.ways for clause in verdict(go=[YES, NO]).clauses] == [[], []]


def test_a_gate_that_something_else_settles_stops_later_steps() -> None:
    gates = [gate(name="pre", go=[WAITING]), gate(name="ship", go=[YES])]

    def settled(found: Verdict) -> Verdict:
        return Verdict(found.gate, "no-go", found.clauses) if found.gate == "pre" else found

    open_, later = decide_gates(gates, EVALUATOR, ["pre", "ship"])
    assert (open_.verdict, later.verdict) == ("inconclusive", "go")
    _, later = decide_gates(gates, EVALUATOR, ["pre", "ship"], settled)
    assert (later.verdict, later.reason) == ("inconclusive", "not reached: pre is no-go")


# ------------------------------------------------------------------------------- more items as advice

SLIGHT = rows_of({("a", "M"): [0.52, 0.3, 0.7, 0.5] * 5, ("b", "M"): [0.4, 0.4, 0.6, 0.5] * 5})
WANTS_ITEMS, HOLDS, FAILS = "M(a) >= M(b) on interval", "M(a) >= 0.4", "M(a) >= 0.9"


@pytest.mark.parametrize(
    ("file", "helps"),
    [
        ({"go": [WANTS_ITEMS]}, True),
        ({"first": [WANTS_ITEMS], "go": [HOLDS]}, True),
        ({"first": [HOLDS], "go": [WANTS_ITEMS]}, True),
        ({"go": [HOLDS, WANTS_ITEMS], "otherwise": "no-go"}, True),
        ({"go": [FAILS], "kill": [WANTS_ITEMS]}, True),  # no-go, or as inconclusive as now
        ({"go": {"any": [FAILS, WANTS_ITEMS]}}, True),
        ({"first": {"any": [FAILS, HOLDS]}, "go": [WANTS_ITEMS]}, True),
        ({"first": [FAILS], "go": [WANTS_ITEMS]}, False),
        ({"first": [FAILS, WANTS_ITEMS], "go": [HOLDS]}, False),
        ({"first": [FAILS], "go": [HOLDS], "kill": [WANTS_ITEMS]}, False),
        ({"go": [WANTS_ITEMS], "kill": [HOLDS]}, False),  # the kill is met
        ({"go": [FAILS, WANTS_ITEMS]}, False),
        ({"go": [FAILS, WANTS_ITEMS], "kill": [FAILS]}, False),
        ({"go": {"any": [HOLDS, WANTS_ITEMS]}}, False),
        ({"go": {"any": [{"all": [FAILS, WANTS_ITEMS]}, "M(a) >= M(b) + 0.001"]}}, False),
        ({"go": ["M(a) >= M(b)"], "on": "estimate"}, False),
    ],
)
def test_more_items_are_advised_only_where_they_can_change_the_verdict(file: Any, helps: bool) -> None:
    (found,) = decide_gates([gate(**file)], Evaluator(SLIGHT, REGISTRY, resamples=200))
    advised = [each for each in found.clauses if each.text == WANTS_ITEMS and each.advice]
    assert bool(advised) is helps
    if not any(each.advice for each in found.clauses):
        assert "more item" not in verdict_sentence(found)


def test_a_first_clause_that_fails_is_what_the_verdict_reports() -> None:
    judgments = [
        Judgment(f"i{place}", "accuracy", grade, rater)
        for rater, grades in (("anna", [0, 1, 2, 3]), ("ben", [1, 0, 3, 2]))
        for place, grade in enumerate([float(each) for each in grades] * 5)
    ]
    (found,) = decide_gates(
        [gate(first=["kappa(accuracy) >= 0.7"], go=[WANTS_ITEMS])],
        Evaluator(SLIGHT, REGISTRY, judgments, resamples=200),
    )
    assert found.verdict == "inconclusive"
    sentence = verdict_sentence(found)
    why = "what must hold first does not hold, so nothing else is decided"
    assert sentence.startswith(f"{why}: kappa(accuracy) is -0.333; it needs at least 0.7;")
    assert "raters have to agree first" in sentence
    assert "would settle" not in sentence
    assert "M(a)" not in sentence


def test_a_first_clause_that_is_not_about_raters_asks_nothing_of_them() -> None:
    (found,) = decide_gates(
        [gate(first=[FAILS], go=[WANTS_ITEMS])], Evaluator(SLIGHT, REGISTRY, resamples=200)
    )
    assert "M(a) is 0.505; it needs at least 0.9" in verdict_sentence(found)
    assert "raters" not in verdict_sentence(found)


def test_a_first_clause_that_waits_is_what_the_verdict_reports() -> None:
    found = verdict(first=[WAITING], go=[OPEN])
    assert verdict_sentence(found).startswith("E(a) <= 0.5")
