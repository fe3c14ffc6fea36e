"""The gate grammar: what clauses mean, what the five designs ask for, and what mistakes say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.gates.grammar import MOST_ATOMS, parse_clause
from assay.gates.syntax import (
    RESERVED,
    Arithmetic,
    Call,
    Clause,
    Condition,
    Expression,
    ForEach,
    ItemTest,
    Negation,
    Number,
)


def system(name: str) -> Call:
    return Call(name)


def of(name: str, at: int | str, *systems: str) -> Call:
    return Call(name, at=at, args=tuple(map(system, systems)))


# ---------------------------------------------------------------------------------- meaning


def test_a_comparison_of_two_systems_on_a_slice() -> None:
    clause = parse_clause("A@400(race) >= A@400(flat) + 0.08 where feasible=yes")
    assert clause == Clause(
        of("A", 400, "race"),
        ">=",
        Arithmetic("+", of("A", 400, "flat"), Number(0.08)),
        (Condition("feasible", True, ("yes",)),),
    )


def test_products_bind_before_sums_and_both_from_the_left() -> None:
    one, two, three = Number(1.0), Number(2.0), Number(3.0)
    assert parse_clause("1 - 2 - 3 > 1").left == Arithmetic("-", Arithmetic("-", one, two), three)
    assert parse_clause("1 / 2 * 3 > 1").left == Arithmetic("*", Arithmetic("/", one, two), three)
    assert parse_clause("1 + 2 * 3 > 1").left == Arithmetic("+", one, Arithmetic("*", two, three))
    assert parse_clause("(1 + 2) * 3 > 1").left == Arithmetic("*", Arithmetic("+", one, two), three)
    assert parse_clause("-2 * 3 > 1").left == Arithmetic("*", Negation(two), three)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("80%", 0.8),
        ("80 %", 0.8),
        ("99.9%", 0.999),
        ("0.5%", 0.005),
        ("400", 400.0),
        ("5.", 5.0),
        (".5", 0.5),
        ("1e-3", 0.001),
    ],
)
def test_numbers(text: str, value: float) -> None:
    assert parse_clause(f"x > {text}").right == Number(value)


def test_parameters_stand_before_the_cut_and_arguments_after() -> None:
    clause = parse_clause("P(rel=2)@5(new) > kappa(weights=quadratic, adjust=true, shift=-.5)(accuracy)")
    assert clause.left == Call("P", (("rel", 2),), 5, (system("new"),))
    params = (("weights", "quadratic"), ("adjust", True), ("shift", -0.5))
    assert clause.right == Call("kappa", params, args=(system("accuracy"),))


def test_the_head_of_a_call_is_the_name_of_its_measure() -> None:
    left = parse_clause("P( rel = 2 ) @5 (new)[language=en] > 0").left
    assert isinstance(left, Call)
    assert left.head == "P(rel=2)@5"
    assert str(left) == "P(rel=2)@5(new)[language=en]"


def test_a_parameter_in_quotes_stays_text() -> None:
    assert parse_clause("P(rel='2')@5(new) > 0").left == Call("P", (("rel", "2"),), 5, (system("new"),))


@pytest.mark.parametrize(("text", "at"), [("inf", "inf"), ("L1", "L1"), ("level", "level"), ("10", 10)])
def test_what_follows_the_at_sign(text: str, at: int | str) -> None:
    assert parse_clause(f"eps@{text}(race) < 1").left == of("eps", at, "race")


@pytest.mark.parametrize(
    "value", ["50k", "L1", "entity-spanning", "2.5", "yes", "en-US", "*", "2024-01-31", "a/b:c", "-1", "for"]
)
def test_values_that_need_no_quotes(value: str) -> None:
    assert parse_clause(f"x > 1 where tag={value}").where == (Condition("tag", True, (value,)),)
    assert str(Condition("tag", True, (value,))) == f"tag={value}"


def test_values_in_quotes_hold_any_sign() -> None:
    clause = parse_clause('x["query type"=\'it\'\'s a, b|c\'] > 1 where a=\'\'|"say ""x"""')
    assert clause.left == Call("x", where=(Condition("query type", True, ("it's a, b|c",)),))
    assert clause.where == (Condition("a", True, ("", 'say "x"')),)


def test_conditions_join_by_comma_and_their_values_by_bar() -> None:
    clause = parse_clause("RR@10(new) > 0.5 where category=direct|emotional, language!=hi")
    assert clause.where == (
        Condition("category", True, ("direct", "emotional")),
        Condition("language", False, ("hi",)),
    )


def test_for_each_and_for_some() -> None:
    each = parse_clause("A@400(race) >= A@400(flat) for each stage=50k|200k").each
    some = parse_clause("A@400(race) >= 0.5 where x=1 for 2 of tag=entity|dpi|multi_hop").each
    assert each == ForEach(None, Condition("stage", True, ("50k", "200k")))
    assert some == ForEach(2, Condition("tag", True, ("entity", "dpi", "multi_hop")))
    assert parse_clause("x > 1 for 3 of tag=*").each == ForEach(3, Condition("tag", True, ("*",)))


def test_a_hyphen_belongs_to_a_name_only_before_a_letter() -> None:
    assert parse_clause("nDCG@10(bge-m3) > 0").left == of("nDCG", 10, "bge-m3")
    assert parse_clause("x-0.1 > 0").left == Arithmetic("-", system("x"), Number(0.1))
    assert parse_clause("x - y > 0").left == Arithmetic("-", system("x"), system("y"))
    assert parse_clause("A@5(x)-A@5(y) > 0").left == Arithmetic("-", of("A", 5, "x"), of("A", 5, "y"))


def test_a_call_knows_its_column_and_a_clause_its_text() -> None:
    clause = parse_clause("  max(a, b) > 1 ")
    assert isinstance(clause.left, Call)
    assert [clause.left.column, *(arg.column for arg in clause.left.args if isinstance(arg, Call))] == [
        3,
        7,
        10,
    ]
    assert clause.text == "max(a, b) > 1"


# ------------------------------------------------------------------------- the five designs

DESIGNS = [
    # hierarchy: H1a
    "A@400(race) >= A@400(flat_strong) + 0.08 where feasible=yes",
    "A@400(race) >= A@inf(flat_strong) - 0.02 where feasible=yes",
    "parity(A, race, flat_strong, 0.02) <= 400 where feasible=yes",
    "A@400(race) < A@400(flat_strong) + 0.03 where feasible=yes",
    "A@800(race) < A@inf(flat_strong) - 0.02 where feasible=yes",
    # hierarchy: H1b
    "A@400(race) >= max(A@400(beam), A@400(collapsed)) + 0.03",
    "A@400(race) >= max(A@400(beam), A@400(collapsed)) + 3% for 2 of tag=entity-spanning|dpi|multi_hop",
    "A@400(race) >= A@400(flat_strong) for each stage=50k|200k",
    "A@400(race) <= max(A@400(beam), A@400(collapsed)) + 0.01",
    # hierarchy: H1c
    "eps@level(race) <= 0.02 where branch=single, stage=50k for each level=L1|L2|L3",
    "eps@level(race) <= 0.03 where branch=cross, stage=50k for each level=L1|L2|L3",
    "spearman(Survival(race), A@400(race)) >= 0.6 where feasible=yes",
    "A@400(race) - A@400(race_no_links) >= 0.10 where tag=entity-spanning",
    "eps@L1(race) > 0.05 where split=dev",
    "spearman(Survival(race), A@400(race)) < 0.3",
    "A@400(race) - A@400(race_no_links) < 0.03 where tag=entity-spanning",
    # hierarchy: abstention
    "AbstainPrecision(race) >= 0.80 for each reason=aggregation|ood",
    "AbstainRecall(race) >= 0.70",
    "AbstainPrecision(race) < 0.65",
    "AbstainRecall(race) < 0.50",
    # search
    "Success@3(hybrid) >= 80%",
    "Success@3(hybrid) >= 95% where category=direct",
    "Success@3(hybrid)[category=dark_night] >= 60%",
    "Route(hybrid) >= 100% where category=technique-boundary",
    "Route(hybrid) >= 100% where category=adversarial",
    # answers
    "kappa(weights=linear)(label) >= 0.6 for each label=accuracy|citation",
    "kappa(completeness) >= 0.6",
    # models
    "RR@10(mika) - RR@10(minilm) > 0.10",
    "RR@10(mika) - RR@10(minilm) < 0.05",
    "wins(RR@10(mika), RR@10(minilm)) > 50%",
    # memory
    "EvidenceHit(new) >= EvidenceHit(baseline) - 2%",
    "PathHit(new) >= PathHit(baseline) - 0.02",
    "Seconds(new) / Seconds(baseline) <= 1.20",
    "EvidenceHit(embedding) >= EvidenceHit(lexical)",
    "alpha(evidence) >= 0.85",
    "EvidenceHit(new) / EvidenceHit(baseline) - 1 >= 15%",
]


@pytest.mark.parametrize("text", DESIGNS)
def test_every_threshold_of_the_designs_can_be_written(text: str) -> None:
    clause = parse_clause(text)
    assert parse_clause(str(clause)) == clause


def test_clauses_of_the_designs_print_as_they_were_written() -> None:
    assert [str(parse_clause(text)) for text in DESIGNS[:3]] == DESIGNS[:3]
    assert str(parse_clause("Success@3(hybrid)>=80 %")) == "Success@3(hybrid) >= 0.8"


# ------------------------------------------------------------------------------- round trip

names = st.sampled_from(["race", "flat_strong", "bge-m3", "v1.5", "ε", "each", "of", "inf", "e9"])
texts = st.one_of(names, st.sampled_from(["50k", "en-US", "*", "2.5", "", "it's", 'a "b"', "a|b"]), st.text())
params = st.one_of(
    st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.just("2"), texts
)
conditions = st.builds(Condition, texts, st.booleans(), st.lists(texts, min_size=1, max_size=3).map(tuple))
numbers = st.builds(
    Number, st.floats(min_value=0, allow_infinity=False).map(abs), st.sampled_from(["", "", "s"])
)
bounds = st.builds(
    lambda name, value, sign: Condition(name, True, (str(value),), sign),
    texts,
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([">=", ">", "<=", "<"]),
)


slices = st.lists(st.one_of(conditions, bounds), max_size=2).map(tuple)


def calls(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Call]:
    tests = st.builds(ItemTest, inner, st.sampled_from([">=", ">", "<=", "<", "=", "!="]), inner)
    return st.builds(
        Call,
        st.one_of(texts, st.sampled_from(sorted(RESERVED))),
        st.dictionaries(texts, params, max_size=2).map(lambda given: tuple(given.items())),
        st.one_of(st.none(), st.integers(min_value=0), names, st.just("inf")),
        st.lists(st.one_of(inner, tests), max_size=2).map(tuple),
        slices,
    )


expressions: st.SearchStrategy[Expression] = st.recursive(
    st.one_of(numbers, names.map(Call)),
    lambda inner: st.one_of(
        st.builds(Negation, inner), st.builds(Arithmetic, st.sampled_from("+-*/"), inner, inner), calls(inner)
    ),
    max_leaves=8,
)


@st.composite
def clauses(draw: st.DrawFn) -> Clause:
    condition = draw(conditions)
    need = draw(st.one_of(st.none(), st.integers(1, len(condition.values))))
    band = draw(st.one_of(st.none(), numbers.filter(lambda number: number.value > 0)))
    on = draw(st.sampled_from([None, "estimate", "interval"]))
    return Clause(
        draw(expressions),
        draw(st.sampled_from([">=", ">", "<=", "<"])) if band is None else "within",
        draw(expressions),
        draw(slices),
        draw(st.one_of(st.none(), st.just(ForEach(need, condition)))),
        on,
        band,
        None if on == "estimate" else draw(st.sampled_from([None, 0.99, 0.999, 0.9])),
    )


@given(clauses())
def test_what_is_printed_parses_to_the_same_tree(clause: Clause) -> None:
    again = parse_clause(str(clause))
    assert again == clause
    assert str(again) == str(clause)
    for left, right in zip(parameters(again.left), parameters(clause.left), strict=True):
        assert type(left) is type(right)  # True equals 1, so that equality alone would not tell


def parameters(expression: Expression) -> list[object]:
    if isinstance(expression, Call):
        return [value for _, value in expression.params]
    return []


@given(st.text())
def test_any_text_that_is_no_clause_is_refused_with_a_column(text: str) -> None:
    with pytest.raises(UsageError, match=r"^column \d+: "):
        parse_clause(f"{text} >")  # nothing ends in a comparison


# --------------------------------------------------------------------------------- mistakes

MISTAKES = [
    ("", 1, "the clause is empty"),
    ("   ", 4, "the clause is empty"),
    ("A@400(race)", 12, "expected '>=', '>', '<=' or '<', found the end"),
    ("A@400(race) ? 0.8", 13, "expected '>=', '>', '<=' or '<', found '?'"),
    ("A@400(race) = 0.8", 13, "expected '>=', '>', '<=' or '<', found '='"),
    ("A@400(race) == 0.8", 13, "expected '>=', '>', '<=' or '<', found '=='"),
    ("A@400(race) => 0.8", 13, "found '=>'. Write >="),
    ("A@400(race) ≥ 0.8", 13, "found '≥'. Write >="),
    ("A@400(race) ≤ 0.8", 13, "found '≤'. Write <="),
    ("A@400(race) > B − 1", 17, "found '−'. Write the plain minus sign"),
    ("A@∞(race) > 1", 3, "found '∞'. Write inf"),
    ("0.5 <= A@400(race) <= 0.8", 20, "a second comparison"),
    ("max(A@5(a), A@5(b) >= 1", 20, "expected ')' for the '(' of column 4, found '>='"),
    ("(1 + 2 > 1", 8, "expected ')' for the '(' of column 1, found '>'"),
    ("A[x=1 > 2", 7, "expected ']' for the '[' of column 2, found '>'"),
    ("A > 1 where x='y", 15, "this quote is never closed"),
    ("A > 1;", 6, "expected 'where', 'for', 'on', 'at' or the end of the clause, found ';'"),
    ("A > 1 and B > 2", 7, "found 'and'. Write each condition as a clause of its own"),
    ("A > 1 where x=y z", 17, "expected 'for', 'on', 'at' or the end of the clause, found 'z'"),
    ("A > 1 for each x=y where z=1", 20, "expected 'on', 'at' or the end of the clause, found 'where'"),
    ("A >", 4, "expected a number, '(' or the name of a measure, statistic or system, found the end"),
    ("A > where x=1", 5, "found 'where'"),
    ("A > 400px", 5, "expected a number such as 0.05, 5%, 400 or 300ms, found '400px'"),
    ("A within 0.02 B", 15, "expected 'of', as in: within 0.02 of"),
    ("A within B of C", 10, "expected a number such as 0.02, found 'B'"),
    ("A within 0 of B", 10, "a band of 0 is equality"),
    ("A within 2% of B", 10, "`A within 0.02 of B` for points, or `(A) / (B) within 0.02 of 1`"),
    ("A > 1 at 99", 10, "a level lies between 50% and 100%"),
    ("A > 1 on estimate at 99%", 22, "an estimate has no level"),
    ("A > 1 where freq > often", 18, "'often' is not a number, and '>' compares numbers"),
    ("A > 1 for each freq > 5", 11, "'for' repeats a clause for values. Write: where freq > 5"),
    ("min(A by x) + 1 > 2", 1, "min(… by x) is one whole side of a clause"),
    ("f(A by x) > 2", 3, "'by' stands once in a clause"),
    ("not A > 1", 1, "Write the turned sign: `A <= 1`"),
    ("A > 1.2.3", 5, "found '1.2.3'"),
    ("A > 1e999", 5, "this number is too large"),
    ("A@ > 1", 4, "expected a whole number, 'inf' or a name after '@', found '>'"),
    ("A@5k > 1", 3, "found '5k'"),
    ("A() > 1", 3, "found ')'"),
    ("P@5(rel=2)(new) > 1", 4, "parameters stand once, before '@'"),
    ("P(rel=2, rel=3)@5(new) > 1", 1, "a parameter is given twice"),
    ("P(rel=2, new) > 1", 13, "expected '='"),
    ("A > 1 where", 12, "expected the name of a tag or factor, found the end"),
    ("A > 1 where x", 14, "expected '=', '!=' or a sign such as '>', found the end"),
    ("A > 1 where x=", 15, "expected a value, found the end"),
    ("A > 1 where x=a|", 17, "expected a value, found the end"),
    ("A > 1 for x=1", 11, "expected 'each', or a number and 'of'"),
    ("A > 1 for 2 x=1", 13, "expected 'each', or a number and 'of'"),
    ("A > 1 for 3 of x=a|b", 11, "3 of 2 values cannot be asked for"),
    ("A > 1 for 0 of x=a|b", 11, "0 of 2 values cannot be asked for"),
]


@pytest.mark.parametrize(("text", "column", "says"), MISTAKES)
def test_a_mistake_names_its_column_and_what_was_expected(text: str, column: int, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_clause(text)
    message, shown, caret = str(caught.value).split("\n")
    assert message.startswith(f"column {column}: ")
    assert says in message
    assert shown == f"    {text.rstrip()}"
    assert caret.index("^") == 4 + column - 1


def test_the_caret_stands_under_its_sign_in_a_clause_of_several_lines() -> None:
    with pytest.raises(UsageError) as caught:
        parse_clause("A@400(race)\n\t= 0.8")
    assert str(caught.value).split("\n")[1:] == ["    A@400(race)  = 0.8", "                 ^"]


@pytest.mark.parametrize("deep", ["(" * 5000 + "1", "-" * 5000 + "1", "f(" * 5000 + "1", "1" + " + 1" * 5000])
def test_a_clause_of_absurd_size_is_refused_not_a_crash(deep: str) -> None:
    with pytest.raises(UsageError, match=f"more than {MOST_ATOMS} numbers, calls and parentheses"):
        parse_clause(f"{deep} > 1")


def test_the_largest_clause_still_prints_and_compares() -> None:
    nested = "f(" * (MOST_ATOMS - 2) + "1" + ")" * (MOST_ATOMS - 2) + " > 1"
    clause = parse_clause(nested)
    assert str(clause) == nested
    assert parse_clause(nested) == clause


def test_percentages_are_the_nearest_floats() -> None:
    for percent in range(101):
        decimal = f"{percent // 100}.{percent % 100:02}"
        assert parse_clause(f"x > {percent}%") == parse_clause(f"x > {decimal}")
