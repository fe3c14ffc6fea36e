"""Two models query by query: who is ahead, where, and what each returned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.kinds.models.dashboard.charts import outcome_bars, pair_scatter
from assay.kinds.models.dashboard.look import Look, plain, spaced
from assay.kinds.models.dashboard.tables import TIE, Tables, top_results
from assay.report import wording as say

if TYPE_CHECKING:
    import polars as pl

UNKNOWN = "not scored"
SHOWN = 10
RELEVANCE = {
    "relevant_by_rule": "✔ relevant by rule",
    "relevant_by_model": "✔ relevant by a model's grade",
    "relevant_by_person": "✔ relevant by a person",
    "not_relevant": "✖ not relevant",
    "must_not_come_back": "✖ must not come back",
    "not_judged": "? not judged",
}
TOLD = {True: "✔ relevant", False: "✖ not relevant", None: "? not judged"}  # of files without a status


def choose_pair(tables: Tables) -> tuple[str, str] | None:
    """The pair to look at; asked for where there are several."""
    import streamlit as st

    pairs = tables.pairs
    if len(pairs) < 2:
        return pairs[0] if pairs else None
    chosen: tuple[str, str] = st.selectbox(
        "Models to compare", pairs, format_func=" against ".join, key="pair"
    )
    return chosen


def show_pair(tables: Tables, pair: tuple[str, str], look: Look) -> None:
    """The scatter of both models, and wins, ties and losses beside it."""
    import streamlit as st

    a, b = pair
    queries = tables.of_pair(a, b)
    counts = outcomes(queries, a, b)
    title = f"Queries won: {plain(a)} {counts[a]}, {plain(b)} {counts[b]}; tied: {counts[TIE]}"
    st.subheader(title, anchor=False)
    left, right = st.columns(2, gap="large")
    with left:
        if queries.drop_nulls(["a_mrr", "b_mrr"]).is_empty():
            st.info("No query has a reciprocal rank for both models.")
        else:
            words = f"Reciprocal rank of {a} against {b}, a point a query."
            st.altair_chart(pair_scatter(queries, a, b, look), width="stretch", alt=words)
            st.caption("Points on the same place are moved apart a little. Point at one to read its query.")
    with right:
        grey = look.soft
        colours = [look.colours[look.models.index(a)], grey, look.colours[look.models.index(b)], grey]
        titles = {f"{a} ahead": counts[a], "tie": counts[TIE], f"{b} ahead": counts[b]}
        titles |= {UNKNOWN: counts[UNKNOWN]} if counts[UNKNOWN] else {}
        words = ", ".join(f"{name}: {count}" for name, count in titles.items())
        st.altair_chart(outcome_bars(titles, colours[: len(titles)], look), width="stretch", alt=words)
        _show_difference(tables, a, b, queries)


def outcomes(queries: pl.DataFrame, a: str, b: str) -> dict[str, int]:
    """How often each is ahead, ties, and queries that cannot be compared."""
    winners = queries["winner"].fill_null(UNKNOWN).to_list()
    return {name: winners.count(name) for name in (a, TIE, b, UNKNOWN)}


def _show_difference(tables: Tables, a: str, b: str, queries: pl.DataFrame) -> None:
    """The difference with its interval and tests, where the files have them."""
    import streamlit as st

    pairs = tables.comparison.get("pairs", [])
    found = [pair for pair in pairs if (pair.get("a"), pair.get("b")) == (a, b)]
    facts = found[0].get("overall", {}).get("mrr") if found else None
    names = f"{plain(a)} − {plain(b)}"
    if not facts or facts.get("difference") is None:
        mean = queries["mrr_diff"].mean()
        known = say.number(float(mean) if isinstance(mean, int | float) else None, signed=True)
        st.markdown(f"MRR, {names}: **{plain(known)}**. No test is in the files.")
        return
    value = say.with_interval(facts["difference"], facts["low"], facts["high"], signed=True)
    lines = [f"MRR, {names}: **{plain(value)}**, n = {facts['n']}"]
    tests = {"p": "p", "p_adjusted": "adjusted p", "p_wilcoxon": "Wilcoxon p"}
    told = [
        f"{title} {say.p_value(facts[name])}" for name, title in tests.items() if facts.get(name) is not None
    ]
    if told:
        lines.append(plain(", ".join(told)))
    if facts.get("effect") is not None:
        lines.append(
            plain(f"{facts.get('effect_name') or 'effect'} {say.number(facts['effect'], signed=True)}")
        )
    ahead = {"better": a, "worse": b}.get(facts.get("shown", ""))
    lines.append(f"{plain(ahead)} is shown to be better." if ahead else "Neither is shown to be better.")
    st.markdown("  \n".join(lines))


def show_queries(tables: Tables, pair: tuple[str, str], look: Look) -> None:
    """The queries of a pair, filtered, and one of them in full."""
    import streamlit as st

    a, b = pair
    st.subheader("Query by query", anchor=False)
    found = _filtered(tables.of_pair(a, b), pair).sort("mrr_diff", nulls_last=True)
    st.caption(f"{say.quantity(len(found), 'row')}, those first where {plain(a)} falls behind most.")
    if found.is_empty():
        st.info("No query is like that. Take a filter away.")
        return
    titles = {
        "query_id": "id", "query_text": "query", "category": "category", "difficulty": "difficulty",
        "a_mrr": f"{a} MRR", "b_mrr": f"{b} MRR", "mrr_diff": "difference", "winner": "ahead",
    }  # fmt: skip
    figure = st.column_config.NumberColumn(format="%.3g")
    config: dict[str, Any] = {titles[name]: figure for name in ("a_mrr", "b_mrr", "mrr_diff")}
    config["query"] = st.column_config.TextColumn(width="large")
    shown = found.select(*titles).rename(titles)
    st.dataframe(
        shown, hide_index=True, column_config=config, height=330, alt="Queries with both models' MRR"
    )
    texts = dict(found.select("query_id", "query_text").iter_rows())
    chosen = st.selectbox(
        "One query in full",
        list(texts),
        format_func=lambda query_id: f"{query_id}: {say.shorten(texts[query_id] or '', 90)}",
        key="query",
    )
    _show_query(tables, pair, found.row(list(texts).index(chosen), named=True), look)


def _filtered(queries: pl.DataFrame, pair: tuple[str, str]) -> pl.DataFrame:
    import polars as pl
    import streamlit as st

    queries = queries.with_columns(winner=pl.col("winner").fill_null(UNKNOWN))
    wanted: dict[str, list[str]] = {}
    for place, (name, title) in zip(
        st.columns(3),
        (("category", "Category"), ("difficulty", "Difficulty"), ("winner", "Ahead")),
        strict=True,
    ):
        there = queries[name].drop_nulls().unique(maintain_order=True).to_list()
        if name == "winner":
            there = [each for each in (*pair, TIE, UNKNOWN) if each in there]
        wanted[name] = place.multiselect(title, there, key=name, format_func=spaced, placeholder="all")
    return queries.filter(*(pl.col(name).is_in(values) for name, values in wanted.items() if values))


def _show_query(tables: Tables, pair: tuple[str, str], row: dict[str, Any], look: Look) -> None:
    import streamlit as st

    st.markdown("#### " + plain(f"{row['query_id']}: {row['query_text'] or ''}"))
    for place, model, mrr in zip(st.columns(2), pair, (row["a_mrr"], row["b_mrr"]), strict=True):
        with place:
            st.html(f'<div style="font-weight:600">{look.name(model)}, MRR {say.number(mrr)}</div>')
            path = tables.results_path(model)
            if path is None:
                st.info("These files do not hold what the model returned.")
                continue
            found = top_results(path, row["query_id"])
            if found.get("error"):
                st.error(plain(found["error"]))
            for hit in found.get("top_results", [])[:SHOWN]:
                _show_hit(hit)
            if not found.get("top_results"):
                st.info("Nothing came back.")


def _show_hit(hit: dict[str, Any]) -> None:
    import streamlit as st

    with st.container(border=True, gap="xxsmall"):
        mark = RELEVANCE.get(hit.get("status", ""), TOLD.get(hit.get("relevant"), ""))
        if hit.get("rule_match") and hit.get("status") in ("relevant_by_person", "not_relevant"):
            mark += "; a rule finds it too"
        score = "" if hit.get("score") is None else f", score {say.number(hit['score'])}"
        st.markdown(f"**{hit.get('rank', '')}. {plain(hit.get('chunk_id', ''))}**  \n{mark}{score}")
        if hit.get("text"):
            st.text(say.printable(str(hit["text"])))
