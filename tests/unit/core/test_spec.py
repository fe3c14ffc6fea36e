"""Spec strings: what they parse to, how they print, and what a mistake is told."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.core.spec import Spec, parse_spec


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("bm25", Spec("bm25")),
        (" bm25 ( ) ", Spec("bm25")),
        ("bm25(k1=0.9, stem=english)", Spec("bm25", {"k1": 0.9, "stem": "english"})),
        ("a(n=-3, x=1e3, y=.5)", Spec("a", {"n": -3, "x": 1000.0, "y": 0.5})),
        ("a(on=true, off=False, no=null)", Spec("a", {"on": True, "off": False, "no": None})),
        ("a(version='10')", Spec("a", {"version": "10"})),
        ("a(path='a b/(c), d')", Spec("a", {"path": "a b/(c), d"})),
        ("a(path=../runs/old.run)", Spec("a", {"path": "../runs/old.run"})),
        ("a(url=http://localhost:9200/x)", Spec("a", {"url": "http://localhost:9200/x"})),
        ("a(words=[the, 'of the', 3])", Spec("a", {"words": ["the", "of the", 3]})),
        ("a(none=[])", Spec("a", {"none": []})),
        ("a(model=b(dims=256), k=5)", Spec("a", {"model": Spec("b", {"dims": 256}), "k": 5})),
        ("ir_datasets:beir/scifact/test", Spec("ir_datasets", {"": "beir/scifact/test"})),
    ],
)
def test_a_text_is_parsed_as_a_spec(text: str, spec: Spec) -> None:
    assert parse_spec(text) == spec


def test_the_mapping_form_says_the_same() -> None:
    mapping = {"use": "a(k=1)", "model": {"use": "b", "dims": 256}, "words": [{"use": "c"}, "d"]}
    expected = Spec("a", {"k": 1, "model": Spec("b", {"dims": 256}), "words": [Spec("c"), "d"]})
    assert parse_spec(mapping) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected a name at column 1 of ''"),
        ("(k=1)", "expected a name at column 1"),
        ("a b", "expected the end at column 3"),
        ("a(k)", "expected 'parameter=value' or ')' at column 4"),
        ("a(k=)", "expected a value at column 5"),
        ("a(k=1", "expected ',' or ')' at column 6"),
        ("a(k=1 j=2)", "expected ',' or ')' at column 7"),
        ("a(k=[1, 2)", "expected ',' or ']' at column 10"),
        ("a(k='x)", "this quote is never closed at column 5"),
        ("a(k=1, k=2)", "'k' is given twice"),
    ],
)
def test_a_mistake_has_its_column(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=r".") as caught:
        parse_spec(text)
    assert told in str(caught.value)


@pytest.mark.parametrize("given", [{}, {"k": 1}, {"use": 3}, {"use": None}])
def test_a_mapping_without_use_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="names no plugin"):
        parse_spec(given)


NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.\-]{0,8}", fullmatch=True)
SCALARS = (
    st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | st.none()
    | st.text(st.characters(exclude_characters="'\"\\", exclude_categories=["C"]), max_size=8)
)
SPECS = st.recursive(
    st.builds(Spec, NAMES, st.dictionaries(NAMES, SCALARS | st.lists(SCALARS, max_size=3), max_size=3)),
    lambda inner: st.builds(Spec, NAMES, st.dictionaries(NAMES, inner | SCALARS, min_size=1, max_size=3)),
    max_leaves=5,
)


@given(SPECS)
def test_a_spec_prints_in_a_form_that_reads_back(spec: Spec) -> None:
    again = parse_spec(str(spec))
    assert str(again) == str(spec)
    assert again.name == spec.name
    assert again.params.keys() == spec.params.keys()


@given(st.dictionaries(NAMES, SCALARS | st.lists(SCALARS, max_size=3), max_size=4))
@example({"A": "𝟎"})
def test_parameters_read_back_as_they_were(params: dict[str, Any]) -> None:
    assert parse_spec(str(Spec("a", params))).params == params


@given(st.text(max_size=40))
def test_any_text_is_a_spec_or_a_usage_error(text: str) -> None:
    with contextlib.suppress(UsageError):
        parse_spec(text)


def test_parameters_print_in_one_order() -> None:
    assert str(parse_spec("a(z=1, b='x y')")) == str(parse_spec({"use": "a", "b": "x y", "z": 1}))
