"""Compares models side by side (readings, slices, people's marks, time), and two models query by query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.kinds.models.benchmark.columns import RATES
from assay.kinds.models.dashboard.charts import (
    ModelStyle,
    bars_in_words,
    bounded_number,
    escape,
    grouped_bars,
    latency_ranges,
    number_with_interval,
    outcome_bars,
    pair_scatter,
    tag_words,
)
from assay.kinds.models.dashboard.overview import NEXT_STEPS
from assay.kinds.models.dashboard.tables import TIE, BenchmarkTables, top_results
from assay.report import wording as say
from assay.report.markdown import table

if TYPE_CHECKING:
    import polars as pl

READINGS = {
    "automated": "automated,\nall queries",
    "automated_where_reviewed": "automated,\nreview queries",
    "human_adjusted": "human-adjusted,\nreview queries",
    "mixed": "mixed,\nall queries",
}
TIMES = {
    f"{kind}_{stage}latency_ms": f"{title}, {kind}"
    for stage, title in (("", "in all"), ("embed_", "embedding"), ("search_", "search"))
    for kind in ("mean", "p50", "p95")
}
COUNTS = ("keyword_matches", "semantic_matches", "false_positives", "unjudged", "total")


def show_readings(tables: BenchmarkTables, look: ModelStyle) -> None:
    """Shows one measure in each reading: by rules, by people's marks, and mixed."""
    import streamlit as st

    st.subheader("Do people's judgments change the picture?", anchor=False)
    measures = list(dict.fromkeys(name for model in tables.models for name in _measured(tables, model)))
    if not measures:
        st.info("These files hold no combined_metrics.json, so only the automated values above are known.")
        return
    first = measures.index("mrr") if "mrr" in measures else 0
    measure = st.selectbox("Measure", measures, index=first, key="measure")
    rows: list[dict[str, Any]] = []
    cells: list[list[str]] = []
    for name, title in READINGS.items():
        found = {model: _reading(tables, model, name, measure) for model in tables.models}
        cells.append([escape(title), *(number_with_interval(one) for one in found.values())])
        rows += [_bar(title, model, one) for model, one in found.items() if one]
    if rows and all(0 <= row["value"] <= 1 for row in rows):
        st.altair_chart(grouped_bars(rows, look, measure), width="stretch", alt=bars_in_words(rows))
    st.markdown(table([escape(measure), *map(escape, tables.models)], cells))
    if not any(tables.reading(model, "human_adjusted") for model in tables.models):
        st.info("There are no human-adjusted values: nobody has judged yet. Next:\n\n" + NEXT_STEPS)
    elif not any(_reading(tables, model, "human_adjusted", measure) for model in tables.models):
        st.caption("This measure is not among the human-adjusted values.")


def _measured(tables: BenchmarkTables, model: str) -> list[str]:
    return [name for name, one in tables.reading(model, "automated").items() if one.get("value") is not None]


def _reading(tables: BenchmarkTables, model: str, reading: str, measure: str) -> dict[str, Any]:
    """Returns the reading of a measure, or an empty dict. A bound on all queries bounds reviewed ones too."""
    found = tables.reading(model, reading).get(measure, {})
    if found.get("value") is None:
        return {}
    bound = tables.reading(model, "automated").get(measure, {}).get("lower_bound", False)
    return {**found, "lower_bound": bound and reading.startswith("automated")}


def _bar(group: str, model: str, found: dict[str, Any]) -> dict[str, Any]:
    bound = bool(found.get("lower_bound"))
    ends = {name: found.get(name) for name in ("value", "low", "high")}
    label = f"{model} {bounded_number(found['value'], bound=bound)}"
    return {"group": group, "model": model, **ends, "label": label, "bound": bound}


def show_slices(tables: BenchmarkTables, look: ModelStyle) -> None:
    """Shows MRR by category and by difficulty, with n. Lower bounds are marked."""
    import streamlit as st

    st.subheader("Where is each model good?", anchor=False)
    there = {
        tag: frame for tag, frame in tables.slices.items() if "mrr" in frame.columns and not frame.is_empty()
    }
    if not there:
        st.info("The study makes no slices. Name `category` or `difficulty` under `by:` in study.yaml.")
        return
    for place, (tag, frame) in zip(st.tabs([f"By {tag}" for tag in there]), there.items(), strict=True):
        rows = [_slice_bar(tag, row) for row in frame.iter_rows(named=True)]
        with place:
            st.altair_chart(grouped_bars(rows, look, "MRR"), width="stretch", alt=bars_in_words(rows))
            if any(row["bound"] for row in rows):
                st.caption("Dashed bars and ≥: a lower bound, as people have yet to judge these queries.")
            with st.expander("As a table"):
                st.markdown(_slice_table(tag, frame))


def _slice_bar(tag: str, row: dict[str, Any]) -> dict[str, Any]:
    n = row.get("n_mrr", row.get("count"))
    few = ", few" if n is not None and n < say.FEW else ""
    group = tag_words(row[tag]) + (f"\nn = {n}{few}" if n is not None else "")
    ends = {"value": row["mrr"], "low": row.get("low_mrr"), "high": row.get("high_mrr")}
    return _bar(group, row["model"], {**ends, "lower_bound": row.get("lower_bound")})


def _slice_table(tag: str, frame: Any) -> str:
    rows: list[list[str]] = []
    for row in frame.iter_rows(named=True):
        ends = {"value": row["mrr"], "low": row.get("low_mrr"), "high": row.get("high_mrr")}
        found = {**ends, "n": row.get("n_mrr", row.get("count")), "lower_bound": row.get("lower_bound")}
        others = [say.number(row.get(name)) for name in ("hit_at_10", "ndcg_at_10", "total_latency_ms")]
        rows.append(
            [
                escape(tag_words(row[tag])),
                escape(row["model"]),
                number_with_interval(found),
                *others,
            ]
        )
    return table([tag, "model", "MRR", "Hit@10", "nDCG@10", "latency, ms"], rows, texts=2)


def show_review(tables: BenchmarkTables, look: ModelStyle) -> None:
    """Shows what the models find that keywords miss, or how to let people judge it."""
    import streamlit as st

    lifts = {model: _rate(tables, model, "semantic_lift") for model in tables.models}
    known = {model: one["value"] for model, one in lifts.items() if one.get("value") is not None}
    if not known:
        st.subheader("How much do they find that keywords miss?", anchor=False)
        why = "Nobody was asked" if tables.review is None else "No query is judged for every model yet"
        st.info(f"{why}, so semantic lift is not known. Next:\n\n{NEXT_STEPS}")
    else:
        shares = [f"{escape(model)} {say.number(100 * value)}" for model, value in known.items()]
        title = f"Relevant results in 100 that keywords miss: {', '.join(shares)}"
        st.subheader(title, anchor=False)
        rows = [
            _bar(
                f"{tag_words(rate)}\nn = {one['n']}" if one.get("n") is not None else tag_words(rate),
                model,
                one,
            )
            for rate in RATES
            for model in tables.models
            if (one := _rate(tables, model, rate)).get("value") is not None
        ]
        st.altair_chart(
            grouped_bars(rows, look, "share of results"), width="stretch", alt=bars_in_words(rows)
        )
        st.caption("On queries that people judged for every model. A high false positive rate is bad.")
    _show_marks(tables)


def _rate(tables: BenchmarkTables, model: str, rate: str) -> dict[str, Any]:
    """Returns a rate over queries judged for every model. It is averaged here if the files lack the mean."""
    import polars as pl

    row = tables.aggregates.row(by_predicate=pl.col("model") == model, named=True)
    if row.get(rate) is not None:
        return {"value": row[rate], **{end: row.get(f"{end}_{rate}") for end in ("low", "high", "n")}}
    if tables.review is None or rate not in tables.review.columns:
        return {}
    mine = pl.col("model").str.to_lowercase() == model.lower()
    values = tables.review.filter(mine)[rate].drop_nulls()
    return {"value": values.mean(), "n": len(values)} if len(values) else {}


def _show_marks(tables: BenchmarkTables) -> None:
    import polars as pl
    import streamlit as st

    found = tables.review
    there = [name for name in COUNTS if found is not None and name in found.columns]
    if found is None or not there or found.is_empty():
        return
    sums = {row["model"]: row for row in found.group_by("model").agg(pl.col(there).sum()).to_dicts()}
    titles = {name: "open" if name == "unjudged" else tag_words(name) for name in there}
    models = list(dict.fromkeys(found["model"].to_list()))
    rows = [[titles[name], *(str(sums[model][name]) for model in models)] for name in there]
    bounds = [tables.reading(model, "human_review_bounds").get("semantic_lift") for model in models]
    if any(bounds):
        spans = [
            f"{say.number(ends[0])} to {say.number(ends[1])}" if ends else say.NOTHING for ends in bounds
        ]
        rows.append(["semantic lift, whatever is open", *spans])
    st.markdown(table(["results", *map(escape, models)], rows))


def show_latency(tables: BenchmarkTables, look: ModelStyle) -> None:
    """Shows how long an answer usually takes, and how long it takes at the slow end."""
    import streamlit as st

    rows = [_latency_row(row) for row in tables.aggregates.iter_rows(named=True)]
    rows = [row for row in rows if row["usual"] is not None]
    if not rows:
        st.subheader("How fast are they?", anchor=False)
        st.info("No time was measured. Add the measure `Seconds` to study.yaml.")
        return
    told = ", ".join(f"{escape(row['model'])} {say.number(row['usual'])} ms" for row in rows)
    st.subheader(f"A usual answer takes: {told}", anchor=False)
    st.altair_chart(latency_ranges(rows, look), width="stretch", alt=told)
    cells = [
        [title, *(say.number(value) for value in tables.aggregates[name].to_list())]
        for name, title in TIMES.items()
        if name in tables.aggregates.columns
    ]
    with st.expander("As a table"):
        st.markdown(table(["milliseconds", *map(escape, tables.models)], cells))


def _latency_row(row: dict[str, Any]) -> dict[str, Any]:
    """Returns the median with the slow end, or only the mean if the files have no median."""
    median, slow = row.get("p50_latency_ms"), row.get("p95_latency_ms")
    if median is None:
        mean = row.get("mean_latency_ms")
        return {"model": row["model"], "usual": mean, "slow": None, "label": f"mean {say.number(mean)}"}
    label = f"{say.number(median)}, p95 {say.number(slow)}"
    return {"model": row["model"], "usual": median, "slow": slow, "label": label}


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


def choose_pair(tables: BenchmarkTables) -> tuple[str, str] | None:
    """Returns the pair to show. The user chooses it if there are several."""
    import streamlit as st

    pairs = tables.pairs
    if len(pairs) < 2:
        return pairs[0] if pairs else None
    chosen: tuple[str, str] = st.selectbox(
        "Models to compare", pairs, format_func=" against ".join, key="pair"
    )
    return chosen


def show_pair(tables: BenchmarkTables, pair: tuple[str, str], look: ModelStyle) -> None:
    """Shows the scatter of both models, with wins, ties and losses beside it."""
    import streamlit as st

    a, b = pair
    queries = tables.of_pair(a, b)
    counts = count_outcomes(queries, a, b)
    title = f"Queries won: {escape(a)} {counts[a]}, {escape(b)} {counts[b]}; tied: {counts[TIE]}"
    st.subheader(title, anchor=False)
    left, right = st.columns(2, gap="large")
    with left:
        if queries.drop_nulls(["a_mrr", "b_mrr"]).is_empty():
            st.info("No query has a reciprocal rank for both models.")
        else:
            words = f"Reciprocal rank of {a} against {b}, one point per query."
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


def count_outcomes(queries: pl.DataFrame, a: str, b: str) -> dict[str, int]:
    """Counts the queries that each model wins, that are ties, and that cannot be compared."""
    winners = queries["winner"].fill_null(UNKNOWN).to_list()
    return {name: winners.count(name) for name in (a, TIE, b, UNKNOWN)}


def _show_difference(tables: BenchmarkTables, a: str, b: str, queries: pl.DataFrame) -> None:
    """Shows the difference with its interval and tests, if the files have them."""
    import streamlit as st

    pairs = tables.comparison.get("pairs", [])
    found = [pair for pair in pairs if (pair.get("a"), pair.get("b")) == (a, b)]
    facts = found[0].get("overall", {}).get("mrr") if found else None
    names = f"{escape(a)} − {escape(b)}"
    if not facts or facts.get("difference") is None:
        mean = queries["mrr_diff"].mean()
        known = say.number(float(mean) if isinstance(mean, int | float) else None, signed=True)
        st.markdown(f"MRR, {names}: **{escape(known)}**. No test is in the files.")
        return
    value = say.with_interval(facts["difference"], facts["low"], facts["high"], signed=True)
    lines = [f"MRR, {names}: **{escape(value)}**, n = {facts['n']}"]
    tests = {"p": "p", "p_adjusted": "adjusted p", "p_wilcoxon": "Wilcoxon p"}
    told = [
        f"{title} {say.p_value(facts[name])}" for name, title in tests.items() if facts.get(name) is not None
    ]
    if told:
        lines.append(escape(", ".join(told)))
    if facts.get("effect") is not None:
        lines.append(
            escape(f"{facts.get('effect_name') or 'effect'} {say.number(facts['effect'], signed=True)}")
        )
    ahead = {"better": escape(a), "worse": escape(b)}.get(facts.get("shown", ""), "Neither")
    lines.append(f"{ahead} is shown to be better.")
    st.markdown("  \n".join(lines))


def show_queries(tables: BenchmarkTables, pair: tuple[str, str], look: ModelStyle) -> None:
    """Shows the filtered queries of a pair, and one of these queries in full."""
    import streamlit as st

    a, b = pair
    st.subheader("Query by query", anchor=False)
    found = _filter_queries(tables.of_pair(a, b), pair).sort("mrr_diff", nulls_last=True)
    st.caption(f"{say.quantity(len(found), 'row')}, those first where {escape(a)} falls behind most.")
    if found.is_empty():
        st.info("No query is like that. Take a filter away.")
        return
    titles = {
        "query_id": "id", "query_text": "query", "category": "category", "difficulty": "difficulty",
        "a_mrr": f"{a} MRR", "b_mrr": f"{b} MRR", "mrr_diff": "difference", "winner": "ahead",
    }  # fmt: skip
    number = st.column_config.NumberColumn(format="%.3g")
    config: dict[str, Any] = {titles[name]: number for name in ("a_mrr", "b_mrr", "mrr_diff")}
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


def _filter_queries(queries: pl.DataFrame, pair: tuple[str, str]) -> pl.DataFrame:
    import polars as pl
    import streamlit as st

    queries = queries.with_columns(winner=pl.col("winner").fill_null(UNKNOWN))
    wanted: dict[str, list[str]] = {}
    filters = (("category", "Category"), ("difficulty", "Difficulty"), ("winner", "Ahead"))
    for place, (name, title) in zip(st.columns(3), filters, strict=True):
        there = queries[name].drop_nulls().unique(maintain_order=True).to_list()
        if name == "winner":
            there = [each for each in (*pair, TIE, UNKNOWN) if each in there]
        wanted[name] = place.multiselect(title, there, key=name, format_func=tag_words, placeholder="all")
    return queries.filter(*(pl.col(name).is_in(values) for name, values in wanted.items() if values))


def _show_query(
    tables: BenchmarkTables, pair: tuple[str, str], row: dict[str, Any], look: ModelStyle
) -> None:
    import streamlit as st

    st.markdown("#### " + escape(f"{row['query_id']}: {row['query_text'] or ''}"))
    for place, model, mrr in zip(st.columns(2), pair, (row["a_mrr"], row["b_mrr"]), strict=True):
        with place:
            st.html(f'<div style="font-weight:600">{look.name(model)}, MRR {say.number(mrr)}</div>')
            path = tables.results_path(model)
            if path is None:
                st.info("These files do not hold what the model returned.")
                continue
            found = top_results(path, row["query_id"])
            if found.get("error"):
                st.error(escape(found["error"]))
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
        st.markdown(f"**{hit.get('rank', '')}. {escape(hit.get('chunk_id', ''))}**  \n{mark}{score}")
        if hit.get("text"):
            st.text(say.printable(str(hit["text"])))
