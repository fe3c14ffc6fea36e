"""Measures as text: reading, printing, refusing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import PluginError, UsageError
from assay.core.registry import MEASURES, Registry
from assay.measures import fallback
from assay.measures.fallback import IrMeasure
from assay.measures.observed import Abstain, Seconds
from assay.measures.parse import make_measure, measure_name, parse_measure
from assay.measures.ranking import AP, NDCG, RR, Judged, P, R, Rprec, Success

REGISTRY = Registry()


@dataclass(frozen=True)
class Routed:
    """A measure whose cut-off is a name."""

    family: ClassVar[str] = "eps"
    cutoff: str


@dataclass(frozen=True)
class Budgeted:
    """A measure whose cut-off must be given, unbounded or not."""

    family: ClassVar[str] = "A"
    cutoff: int | None

    @property
    def name(self) -> str:
        return measure_name(self, uncut="@inf")


OTHERS = Registry({MEASURES: {"eps": Routed, "A": Budgeted}})


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("nDCG@10", NDCG(10)),
        (" nDCG( dcg = 'exp-log2' ) @ 10 ", NDCG(10, "exp-log2")),
        ("P(rel=2)@5", P(5, 2)),
        ("RR@10", RR(10)),
        ("RR@inf", RR()),
        ("RR", RR()),
        ("AP", AP()),
        ("Rprec(rel=2)", Rprec(2)),
        ("Hit@3", Success(3)),
        ("MRR@10", RR(10)),
        ("MAP", AP()),
        ("NDCG@5", NDCG(5)),
        ("Seconds", Seconds()),
        ("Seconds(stage='retrieve')", Seconds("retrieve")),
        ("Abstain", Abstain()),
    ],
)
def test_reading(text: str, measure: object) -> None:
    assert parse_measure(text, REGISTRY) == measure


def test_a_cut_off_is_of_the_type_its_measure_declares() -> None:
    assert parse_measure("eps@L1", OTHERS) == Routed("L1")
    assert parse_measure("A@400", OTHERS) == Budgeted(400)
    unbounded = parse_measure("A@inf", OTHERS)
    assert unbounded == Budgeted(None)
    assert unbounded.name == "A@inf"
    with pytest.raises(PluginError, match=r"needs .*cutoff"):
        parse_measure("A", OTHERS)
    with pytest.raises(PluginError, match="cutoff"):
        parse_measure("nDCG@L1", REGISTRY)


def test_the_pieces_make_the_same_measure_as_the_text() -> None:
    assert make_measure("P", {"rel": 2}, 5, REGISTRY) == parse_measure("P(rel=2)@5", REGISTRY)
    assert make_measure("RR", {}, "inf", REGISTRY) == RR()
    assert make_measure("MRR", {}, None, REGISTRY) == RR()


def test_reciprocal_rank_always_prints_its_cut() -> None:
    assert (RR().name, RR(10).name, RR(rel=2).name) == ("RR@inf", "RR@10", "RR(rel=2)@inf")
    assert (NDCG().name, AP(rel=2).name, NDCG(10, "exp-log2").name) == (
        "nDCG",
        "AP(rel=2)",
        "nDCG(dcg='exp-log2')@10",
    )


cutoffs = st.none() | st.integers(1, 5000)
levels = st.integers(1, 9)
measures = st.one_of(
    *(st.builds(family, cutoffs, levels) for family in (RR, P, R, AP, Success)),
    st.builds(NDCG, cutoffs, st.sampled_from(["log2", "exp-log2"])),
    st.builds(Judged, cutoffs),
    st.builds(Rprec, levels),
    st.builds(
        Seconds, st.text(min_size=1).filter(lambda text: text.isprintable() and not set(text) & {*"'\"\\"})
    ),
)


@given(measures)
def test_what_is_printed_reads_back_as_the_same_measure(measure: Any) -> None:
    assert parse_measure(measure.name, REGISTRY) == measure


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Recall@10", r"R@10 .*Success@10"),
        ("Precision@10", "P@10"),
        ("Precision", "P@k"),
        ("nDGC@10", "Did you mean .*'nDCG'"),
        ("Wibble", "There is no measure 'Wibble'"),
        ("Rprec@5", "Rprec takes no cut-off"),
        ("P(depth=5)", "no parameter 'depth'"),
        ("ERR(foo=1)@3", "foo"),
    ],
)
def test_a_measure_that_is_not_there_is_refused_with_a_way_out(text: str, says: str) -> None:
    with pytest.raises(PluginError, match=says):
        parse_measure(text, REGISTRY)


@pytest.mark.parametrize("text", ["", "  ", "@10", "P(rel=2", "nDCG@10@5", "P(rel=2)@-5", "10", "nDCG 10"])
def test_what_is_no_measure_at_all_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse_measure(text, REGISTRY)


def test_families_of_ir_measures_stand_in_for_what_is_not_native() -> None:
    assert parse_measure("SetF", REGISTRY) == IrMeasure("SetF")
    assert parse_measure("RBP(p=0.5, rel=1)@10", REGISTRY).name == "RBP(p=0.5,rel=1)@10"
    assert parse_measure("IPrec@0.1", REGISTRY).name == "IPrec@0.1"
    assert parse_measure("SetF", REGISTRY).high == 1.0
    assert parse_measure("NumRet", REGISTRY).high is None


@pytest.mark.parametrize("text", ["SetF", "SetF(beta=2.0)", "ERR@20", "RBP(p=0.5,rel=1)@10", "infAP"])
def test_a_fallback_reads_back_too(text: str) -> None:
    measure = parse_measure(text, REGISTRY)
    assert parse_measure(measure.name, REGISTRY) == measure


def test_without_ir_measures_the_way_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ir_measures", None)
    with pytest.raises(PluginError, match=r"pip install 'retrieval-assay\[measures\]'"):
        fallback.make_ir_measure("ERR@10")
