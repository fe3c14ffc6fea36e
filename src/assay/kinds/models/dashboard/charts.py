"""The charts, and the colours and shapes of models. Every mark is named in words, not only by its colour."""

from __future__ import annotations

import html
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.report import wording as say
from assay.report.markdown import escaped

if TYPE_CHECKING:
    import polars as pl

# Okabe-Ito as in the report: yellow and black are darkened, or brightened, to be seen on the page.
LIGHT = ("#0072b2", "#e69f00", "#cc79a7", "#56b4e9", "#009e73", "#d55e00", "#8a8f00", "#6b7680")
DARK = ("#2a92d0", "#e69f00", "#cc79a7", "#56b4e9", "#009e73", "#d55e00", "#f0e442", "#c3cbd1")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-left", "stroke")
SIGNS = ("●", "■", "▲", "◆", "✚", "▼", "◀", "━")
AT_LEAST = "≥ "


@dataclass(frozen=True)
class ModelStyle:
    """The colours and shapes of models. A model has the same everywhere, by its place in the files."""

    models: tuple[str, ...]
    dark: bool = False

    @property
    def ink(self) -> str:
        return "#d8dce1" if self.dark else "#31333f"

    @property
    def soft(self) -> str:
        return "#8b929b" if self.dark else "#767c86"

    @property
    def palette(self) -> tuple[str, ...]:
        return DARK if self.dark else LIGHT

    @property
    def colours(self) -> list[str]:
        return _cycled(self.palette, 0, len(self.models))

    @property
    def shapes(self) -> list[str]:
        return _cycled(SHAPES, 0, len(self.models))

    def others(self, count: int) -> tuple[list[str], list[str]]:
        """Returns colours and shapes for things that are not models. Colours that no model has come first."""
        start = len(self.models)
        return _cycled(self.palette, start, count), _cycled(SHAPES, 0, count)

    def name(self, model: str) -> str:
        """Returns a model's name as HTML, after the model's symbol in its colour."""
        place = self.models.index(model)
        colour, sign = self.colours[place], _cycled(SIGNS, place, 1)[0]
        return f'<span style="color:{colour}" aria-hidden="true">{sign}</span> {html.escape(model)}'


def _cycled(choices: tuple[str, ...], start: int, count: int) -> list[str]:
    return [choices[(start + place) % len(choices)] for place in range(count)]


def escape(text: Any) -> str:
    """Returns text of a file as literal Markdown, in which nothing becomes a link, picture or markup."""
    return escaped(str(text)).replace(":", "\\:")


def tag_words(text: str | None) -> str:
    """Returns a tag's value in words."""
    return "none" if text is None else text.replace("_", " ")


def bounded_number(value: float | None, *, bound: bool) -> str:
    """Returns a number in words, marked ≥ if it is a lower bound."""
    return (AT_LEAST if bound and value is not None else "") + say.number(value)


def number_with_interval(found: dict[str, Any]) -> str:
    """Returns a number with its interval and count: `≥ 0.650 [0.529, 0.767], n = 49`."""
    value = found.get("value")
    if value is None:
        return say.NOTHING
    span = say.interval(found.get("low"), found.get("high"))
    n = "" if found.get("n") is None else f", n = {found['n']}"
    return f"{bounded_number(value, bound=bool(found.get('lower_bound')))} {span}".strip() + n


GOLDEN = math.pi * (3 - math.sqrt(5))
APART = 0.012  # how far points that fall on one place are moved, in units of the measure


def grouped_bars(rows: list[dict[str, Any]], look: ModelStyle, title: str) -> Any:
    """Draws bars of all models in groups. Each row has group, model, value, low, high, label and bound."""
    import altair as alt
    import polars as pl

    order = list(dict.fromkeys(row["group"] for row in rows))
    kinds = {"value": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    data = pl.DataFrame(rows, schema_overrides=kinds, infer_schema_length=None)
    data = data.with_columns(end=pl.max_horizontal("value", "high").fill_null(0))
    scale = alt.Scale(domain=[0, 1.65], nice=False)
    axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], title=title, format=".2~f")
    lines = alt.Axis(labelExpr="split(datum.label, '\\n')", title=None, labelLimit=170, ticks=False)
    base = alt.Chart(data).encode(
        y=alt.Y("group:N", sort=order, axis=lines, scale=alt.Scale(paddingInner=0.25)),
        yOffset=alt.YOffset("model:N", sort=list(look.models)),
        tooltip=_tooltips(
            data, {"group": "", "model": "model", "value": title, "low": "low", "high": "high"}
        ),
    )
    hues = alt.Scale(domain=list(look.models), range=look.colours)
    colour = alt.Color("model:N", scale=hues, legend=None)
    bars = base.mark_bar(strokeWidth=1.5).encode(
        x=alt.X("value:Q", scale=scale, axis=axis),
        color=colour,
        stroke=alt.Stroke("model:N", scale=hues, legend=None),
        fillOpacity=alt.condition("datum.bound", alt.value(0.3), alt.value(0.8)),
        strokeDash=alt.condition("datum.bound", alt.value([4, 3]), alt.value([1, 0])),
    )
    whiskers = base.mark_rule(color=look.ink, strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
    words = base.mark_text(align="left", dx=6, color=look.ink, fontSize=12).encode(x="end:Q", text="label:N")
    height = 60 + len(order) * (22 * len(look.models) + 16)
    return (bars + whiskers + words).properties(height=height)


def pair_scatter(queries: pl.DataFrame, a: str, b: str, look: ModelStyle) -> Any:
    """Draws both models' reciprocal ranks, one point per query. Above the diagonal, the first is ahead."""
    import altair as alt
    import polars as pl

    data = pl.DataFrame(separate_points(queries.drop_nulls(["a_mrr", "b_mrr"]).to_dicts()))
    tags = sorted(set(data["tag"].to_list()))
    colours, shapes = look.others(len(tags))
    legend = alt.Legend(title=None, orient="bottom", columns=2, labelFontSize=11, labelLimit=125)
    axis: dict[str, Any] = {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".2~f"}
    scale = alt.Scale(domain=[-0.08, 1.08], nice=False)
    points = (
        alt.Chart(data)
        .mark_point(filled=True, size=75, opacity=0.9)
        .encode(
            x=alt.X("x:Q", scale=scale, axis=alt.Axis(title=f"MRR of {b}", **axis)),
            y=alt.Y("y:Q", scale=scale, axis=alt.Axis(title=f"MRR of {a}", **axis)),
            color=alt.Color("tag:N", scale=alt.Scale(domain=tags, range=colours), legend=legend),
            shape=alt.Shape("tag:N", scale=alt.Scale(domain=tags, range=shapes), legend=legend),
            tooltip=_tooltips(
                data, {"query_id": "id", "query_text": "query", "tag": "category", "a_mrr": a, "b_mrr": b}
            ),
        )
    )
    ends = alt.Chart(pl.DataFrame({"x": [0.0, 1.0], "y": [0.0, 1.0]}))
    diagonal = ends.mark_line(color=look.soft, strokeDash=[5, 4]).encode(x="x:Q", y="y:Q")
    corners = pl.DataFrame({"x": [0.02, 0.98], "y": [0.62, 0.38], "words": [f"{a} ahead", f"{b} ahead"]})
    sides = alt.Chart(corners).encode(x="x:Q", y="y:Q", text="words:N")
    upper = sides.transform_filter("datum.x < 0.5").mark_text(align="left", color=look.soft)
    lower = sides.transform_filter("datum.x > 0.5").mark_text(align="right", color=look.soft)
    return (diagonal + upper + lower + points).properties(height=540)


def separate_points(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the position of each point. Points at one place are spread in a spiral, to be visible."""
    seen: Counter[tuple[float, float]] = Counter()
    placed: list[dict[str, Any]] = []
    for row in rows:
        place = (row["b_mrr"], row["a_mrr"])
        radius, turn = APART * math.sqrt(seen[place]), GOLDEN * seen[place]
        seen[place] += 1
        here = {"x": place[0] + radius * math.cos(turn), "y": place[1] + radius * math.sin(turn)}
        placed.append({**row, **here, "tag": tag_words(row["category"])})
    return placed


def outcome_bars(counts: dict[str, int], colours: list[str], look: ModelStyle) -> Any:
    """Draws how often each model is ahead: one bar per outcome, with the count beside the bar."""
    import altair as alt
    import polars as pl

    data = pl.DataFrame({"outcome": list(counts), "queries": list(counts.values())})
    top = max([1, *counts.values()]) * 1.15
    base = alt.Chart(data).encode(
        y=alt.Y("outcome:N", sort=list(counts), axis=alt.Axis(title=None, ticks=False, labelLimit=170)),
        x=alt.X("queries:Q", scale=alt.Scale(domain=[0, top], nice=False), axis=None),
        tooltip=["outcome:N", "queries:Q"],
    )
    scale = alt.Scale(domain=list(counts), range=colours)
    bars = base.mark_bar(height=26).encode(color=alt.Color("outcome:N", scale=scale, legend=None))
    words = base.mark_text(align="left", dx=6, color=look.ink, fontSize=13).encode(text="queries:Q")
    return (bars + words).properties(height=44 * len(counts))


def latency_ranges(rows: list[dict[str, Any]], look: ModelStyle) -> Any:
    """Draws the usual time of each model, with a line to its slow end.

    Each row has model, usual, slow and label.
    """
    import altair as alt
    import polars as pl

    data = pl.DataFrame(rows, schema_overrides={"usual": pl.Float64, "slow": pl.Float64})
    data = data.with_columns(end=pl.max_horizontal("usual", "slow"))
    most = data["end"].max()
    top = (float(most) if isinstance(most, int | float) else 1.0) * 1.8
    base = alt.Chart(data).encode(
        y=alt.Y("model:N", sort=list(look.models), axis=alt.Axis(title=None, ticks=False, labelLimit=170)),
        tooltip=_tooltips(data, {"model": "model", "usual": "median or mean, ms", "slow": "p95, ms"}),
    )
    scale = alt.Scale(domain=[0, top], nice=False)
    hues = alt.Scale(domain=list(look.models), range=look.colours)
    colour = alt.Color("model:N", scale=hues, legend=None)
    x = alt.X("usual:Q", scale=scale, axis=alt.Axis(title="milliseconds", tickCount=5, format=".3~g"))
    lines = base.mark_rule(strokeWidth=3).encode(x=x, x2="slow:Q", color=colour)
    ends = base.mark_tick(thickness=3, size=16).encode(x="slow:Q", color=colour)
    shapes = alt.Scale(domain=list(look.models), range=look.shapes)
    points = base.mark_point(filled=True, size=130, opacity=1).encode(
        x=x, color=colour, shape=alt.Shape("model:N", scale=shapes, legend=None)
    )
    words = base.mark_text(align="left", dx=10, color=look.ink, fontSize=12).encode(x="end:Q", text="label:N")
    return (lines + ends + points + words).properties(height=60 + 44 * len(rows))


def _tooltips(data: pl.DataFrame, titles: dict[str, str]) -> list[Any]:
    """Returns the fields that appear under the pointer. Numbers have three significant digits."""
    import altair as alt
    from polars import selectors

    numeric = set(data.select(selectors.numeric()).columns)
    return [
        alt.Tooltip(f"{name}:Q", title=title or name, format=".3~g")
        if name in numeric
        else alt.Tooltip(f"{name}:N", title=title or name)
        for name, title in titles.items()
        if name in data.columns
    ]


def bars_in_words(rows: list[dict[str, Any]]) -> str:
    """Returns the bars of a chart in words, for readers who cannot see the chart."""
    return "; ".join(
        f"{row['group'].partition(chr(10))[0]}, {row['model']}: {say.number(row['value'])}" for row in rows
    )
