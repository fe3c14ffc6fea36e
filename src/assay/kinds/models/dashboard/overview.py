"""The answer and its evidence: the recommendation, the verdict, one card per model, and the provenance."""

from __future__ import annotations

from typing import Any

import msgspec

from assay.core.records import Verdict
from assay.kinds.models.dashboard.charts import ModelStyle, bounded_number, escape
from assay.kinds.models.dashboard.tables import BenchmarkTables
from assay.report import wording as say
from assay.report.markdown import code
from assay.report.verdicts import clause_words, supports_go

VERDICT_SIGNS = {"go": "✔", "no-go": "✖", "inconclusive": "◐"}
LONGEST_TITLE = 80
CARDS_A_ROW = 3
NEXT_STEPS = """\
1. `assay review export STUDY` writes forms.
2. People fill them in.
3. `assay review import STUDY` takes them in.
4. `assay report STUDY --format benchmark` writes these files again."""
# The numbers of a card: the title, the column of the mean, the stem of its interval, the name by rules.
CARD = (
    ("MRR", "mean_mrr", "mrr", "mrr"),
    ("Hit@10", "mean_hit_at_10", "hit_at_10", "hit_at_10"),
    ("Latency in ms", "mean_latency_ms", "latency_ms", ""),
    ("Semantic lift", "semantic_lift", "semantic_lift", ""),
)


def show_answer(tables: BenchmarkTables) -> None:
    """Shows the recommendation, the verdict, the state of the review, and the clauses."""
    import streamlit as st

    decision = tables.combined.get("decision", {})
    verdict = decision.get("verdict")
    told = tables.recommendation or "none"
    if len(told) > LONGEST_TITLE:
        st.title("Recommendation", anchor=False)
        st.markdown(f"**{escape(told)}**")
    else:
        st.title(f"Recommendation: {escape(told)}", anchor=False)
    if verdict is not None:
        st.markdown(f"**Verdict: {VERDICT_SIGNS.get(verdict, '')} {say.TITLES.get(verdict, verdict)}**")
    review = tables.combined.get("review") or {}
    if review.get("partial"):
        done = review.get("queries_reviewed_for_every_model")
        state = f"The review is not finished: {done} of {review.get('queries_to_review')} queries are judged"
        outlook = f"; {review['outlook']}" if review.get("outlook") else ""
        st.markdown(escape(f"{state} for every model{outlook}."))
    _show_clauses(tables.combined.get("verdicts", []))


def _show_clauses(raw: list[dict[str, Any]]) -> None:
    """Shows each gate with its clauses. Gates that only inform come last."""
    import streamlit as st

    verdicts = sorted(msgspec.convert(raw, list[Verdict]), key=lambda one: not one.deciding)
    clauses = [clause for one in verdicts if one.deciding for clause in one.clauses]
    if not clauses:
        return
    counts = [f"{sum(supports_go(clause) is kind for clause in clauses)} {word}" for kind, word in _KINDS]
    with st.expander(f"What the verdict rests on: {', '.join(counts)}"):
        for one in verdicts:
            informs = "" if one.deciding else " (informs, does not decide)"
            st.markdown(f"**{escape(one.gate)}: {say.TITLES[one.verdict]}**{informs}")
            unique = {clause.text: clause for clause in one.clauses}
            st.markdown("\n".join(f"- {_clause(clause)}" for clause in unique.values()))


_KINDS = ((True, "for"), (False, "against"), (None, "open"))


def _clause(clause: Any) -> str:
    words = clause_words(clause)
    told = escape(words.sentence) + (f" ({escape(words.why)})" if words.why else "")
    return f"{code(words.text)}: **{words.state}**. {told}"


def show_cards(tables: BenchmarkTables, look: ModelStyle) -> None:
    """Shows one card per model: how good it is, how fast, and how much it finds beyond keywords."""
    import streamlit as st

    models = tables.models
    bounded = False
    for start in range(0, len(models), CARDS_A_ROW):
        row = models[start : start + CARDS_A_ROW]
        for place, model in zip(st.columns(len(row)), row, strict=True):
            with place, st.container(border=True):
                st.html(f'<div style="font-size:1.25rem;font-weight:600">{look.name(model)}</div>')
                bounded = _show_card(tables, model) or bounded
    if bounded:
        st.caption(
            f"≥ marks a lower bound: only rules judged {_of_review(tables)}, and people may find more. "
            "Brackets hold 95 % intervals."
        )


def _of_review(tables: BenchmarkTables) -> str:
    asked = (tables.combined.get("review") or {}).get("queries_to_review")
    return (
        "queries that need a person's eye" if asked is None else f"{asked} queries that need a person's eye"
    )


def _show_card(tables: BenchmarkTables, model: str) -> bool:
    """Shows a model's card, and returns whether a number on the card is a lower bound."""
    import streamlit as st

    found = tables.aggregates.row(by_predicate=_is_model(model), named=True)
    bounded = False
    for half in (CARD[:2], CARD[2:]):
        with st.container(horizontal=True, gap="small"):
            for title, column, stem, name in half:
                bound = bool(tables.reading(model, "automated").get(name, {}).get("lower_bound"))
                bounded |= bound
                n, value = found.get(f"n_{stem}"), found.get(column)
                behind = say.interval(found.get(f"low_{stem}"), found.get(f"high_{stem}"))
                if value is None:
                    behind = "not reviewed" if column == "semantic_lift" else "not measured"
                st.metric(
                    f"{title}, n = {n}" if n else title,
                    bounded_number(value, bound=bound),
                    behind or None,
                    delta_color="off",
                    delta_arrow="off",
                )
    return bounded


def _is_model(model: str) -> Any:
    import polars as pl

    return pl.col("model") == model


def show_trust(tables: BenchmarkTables) -> None:
    """Shows the warnings and the provenance."""
    import streamlit as st

    st.subheader("Where this comes from", anchor=False)
    for warning in tables.combined.get("warnings", []):
        st.warning(escape(warning))
    facts = {
        "study": tables.combined.get("study"),
        "time": tables.combined.get("timestamp"),
        **tables.combined.get("provenance", {}),
        "files": tables.folder,
    }
    lines = [f"- {escape(name)}: {code(str(value))}" for name, value in facts.items() if value is not None]
    st.markdown("\n".join(lines))
