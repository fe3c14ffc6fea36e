"""Sections that insights add, in every format: charts, tables with pictures, words, groups, details."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

import assay
from assay.core.results import Results
from assay.core.section import (
    BlockGroup,
    Chart,
    ChartPoint,
    ChartSeries,
    Detail,
    Picture,
    Section,
    SectionBlock,
    Table,
    TableCell,
    TableColumn,
    Text,
)
from assay.report.charts import Axis, chart_svg, fine_ticks
from assay.report.formats import JsonReport
from assay.report.html import HtmlReport
from assay.report.markdown import MarkdownReport
from assay.report.section_page import SectionPage
from assay.report.text import render_text
from fake_results import build_results

PLANT = "</section><script>window.hit=1</script>\"><img src=x onerror=window.hit=2>'"
SMALL = build_results(n=12)


def with_section(*blocks: SectionBlock, **fields: object) -> Results:
    made = Section("own", "Own", "What is it?", "It is this.", "systems", blocks, **fields)  # type: ignore[arg-type]
    return dataclasses.replace(SMALL, sections=[made])


def page_of(results: Results) -> str:
    return HtmlReport().render(results).decode()


def printed(results: Results, *, every_item: bool = False) -> str:
    out = io.StringIO()
    render_text(results, Console(file=out, width=100), every_item=every_item)
    return out.getvalue()


def table_of(values: list[float | None], drawn: str, **cell: float) -> Table:
    columns = [TableColumn("Site", figure=False), TableColumn("%", drawn=drawn)]  # type: ignore[arg-type]
    rows = [
        [TableCell(f"row {at}"), TableCell(str(value), value=value, **cell)]
        for at, value in enumerate(values)
    ]
    return Table(columns, rows, name="Values")


def drawings(table: Table) -> list[str]:
    return [str(row[1]) for row in SectionPage(SMALL).plots(table)]


# -------------------------------------------------------------------------------------- charts


def test_points_of_a_strip_stand_above_each_other_where_they_would_hide() -> None:
    points = [ChartPoint(x, text=name) for name, x in (("a", -40), ("b", -40), ("c", 20))]
    drawn = chart_svg(SMALL, Chart("strip", [ChartSeries("dense", points, "dense")], target=-40))
    heights = re.findall(r'cy="([\d.]+)"', drawn)
    assert heights[0] != heights[1]  # two at -40
    assert heights[0] == heights[2]
    assert drawn.count('class="target"') == 1


def test_a_wide_picture_has_finer_ticks() -> None:
    assert Axis(-5200, 3000).ticks == [-5000, 0]
    fine = fine_ticks(Axis(-5200, 3000))
    assert [tick for tick, _ in fine] == [-5000, -4000, -3000, -2000, -1000, 0, 1000, 2000, 3000]
    assert [tick for tick, between in fine if not between] == [-5000, 0]


@pytest.mark.parametrize("form", ["lines", "scatter", "strip"])
def test_a_chart_without_points_is_no_error(form: str) -> None:
    assert chart_svg(SMALL, Chart(form, [ChartSeries("none", [])])) == ""  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------- tables


def test_bars_on_both_sides_of_zero_begin_at_it() -> None:
    # the axis is -50 to 50 and 6 percent of air on each side, over 4 to 96 percent of the width
    saved, more = drawings(table_of([-50.0, 50.0], "bar"))
    half = 92 * 50 / 112
    assert f'x="{50 - half:.2f}%" width="{half:.2f}%"' in saved
    assert f'x="50.00%" width="{half:.2f}%"' in more


def test_bars_above_zero_begin_at_the_edge() -> None:
    assert [
        re.findall(r'x="0.00%" width="([\d.]+)%"', each) for each in drawings(table_of([5, 20], "bar"))
    ] == [
        ["25.00"],
        ["100.00"],
    ]


def test_what_has_no_value_or_no_threshold_is_not_drawn() -> None:
    for drawn in ("bar", "interval", "margin"):
        assert drawings(table_of([None], drawn)) == [""]
    assert drawings(table_of([0.7], "margin")) == [""]
    (holds,) = drawings(table_of([0.7], "margin", threshold=0.6))
    assert 'class="go"' in holds
    (fails,) = drawings(table_of([0.5], "margin", threshold=0.6))
    assert 'class="no-go"' in fails


# ----------------------------------------------------------------------------------- in formats


def test_a_section_stands_where_it_belongs_and_is_linked() -> None:
    for place, before, after in (
        ("verdict", "</header>", 'id="systems"'),
        ("systems", 'id="systems"', 'id="slices"'),
        ("items", 'id="changes"', 'id="items"'),
    ):
        (made,) = with_section(Text(["Words."])).sections
        moved = msgspec.structs.replace(made, place=place)
        page = page_of(dataclasses.replace(SMALL, sections=[moved]))
        assert page.index(before) < page.index('<section id="own"') < page.index(after)
        assert '<a href="#own">Own</a>' in page


def test_without_a_brief_words_and_tables_are_printed() -> None:
    table = Table([TableColumn("system"), TableColumn("n")], [[TableCell("dense"), TableCell("7")]])
    blocks = [Text(["Words."], "quiet"), BlockGroup("A group", [table, Picture("<svg/>", "a picture")])]
    told = with_section(*blocks)
    assert re.search(r"What is it\?\nIt is this\.\nWords\.\nA group\nsystem +n *\ndense +7", printed(told))
    text = MarkdownReport().render(told).decode()
    assert "## What is it?\n\nIt is this.\n\nWords.\n\nA group\n\n| system | n |" in text
    (loaded,) = json.loads(JsonReport().render(told))["sections"]
    assert [block["block"] for block in loaded["blocks"]] == ["text", "text", "table"]
    brief = with_section(*blocks, brief=[Text(["Just this."])])
    assert "Words." not in printed(brief)
    assert "Just this." in printed(brief)


def test_an_alarm_comes_first_everywhere() -> None:
    alarmed = with_section(Text(["Words."]), alarm="The seal is broken: run assay x.")
    page = page_of(alarmed)
    assert page.index('<a href="#own">The seal is broken') < page.index("</header>")
    section = page[page.index('<section id="own"') :]
    assert section.index("The seal is broken") < section.index("It is this.")
    assert "What is it?\nThe seal is broken" in printed(alarmed)
    assert "## What is it?\n\n**The seal is broken" in MarkdownReport().render(alarmed).decode()


def test_commands_are_shown_as_code_and_stay_whole() -> None:
    command = f"assay review serve {'a' * 120}"
    told = with_section(Text([f"Score a part again: {command}"], "empty"))
    assert f"Score a part again: <code>{command}</code>" in page_of(told)
    assert f"Score a part again: {command}\n" in printed(told)


def test_a_detail_opens_with_its_item_and_prints_a_line() -> None:
    item = SMALL.items[2].item_id
    detail = Detail(item, "dense", "a -> b", [Text(["The way."])])
    told = with_section(details=[detail], legend="How to read it.")
    page = page_of(told)
    opened = page[page.index('<template data-item="2">') :].partition("</template>")[0]
    assert "How to read it." in opened
    assert "The way." in opened
    assert f'<a href="#item={item}">{item}</a>' in page
    lines = printed(told, every_item=True).splitlines()
    assert next(line for line in lines if line.startswith(f"{item} ") and "a -> b" in line)


def test_measures_of_a_section_do_not_stand_twice() -> None:
    told = with_section(Text(["Words."]), measures=["nDCG@10", "R@10"], drawn=["nDCG@10"])
    assert not re.search(r"^bm25 +0\.\d+ \[.* n 12", printed(told).split("Success@3")[0], re.MULTILINE)
    folded = page_of(told).split('<details class="panel folded">')[1].split("</details>")[0]
    assert "In the section Own, here with differences: nDCG@10" in folded
    assert "<h3>R@10" not in folded


def test_nothing_that_a_section_says_is_markup() -> None:
    cell = TableCell(PLANT, PLANT, 0.5, 0.1, 0.9, 0.4, "go", system=PLANT)
    columns = [
        TableColumn(PLANT, PLANT, drawn=drawn, picture=PLANT) for drawn in ("", "bar", "interval", "margin")
    ]
    table = Table(columns, [[cell] * 4], PLANT, PLANT, PLANT, [PLANT])
    points = [ChartPoint(x, 1.0, 0.5, 1.5, PLANT, ringed=True) for x in (1.0, 2.0)]
    charts = [
        Chart(form, [ChartSeries(PLANT, points, PLANT), ChartSeries("b", points)], PLANT, PLANT)
        for form in ("lines", "scatter", "strip")
    ]
    tones = ("plain", "quiet", "caution", "empty", "list", "legend")
    texts = [Text([PLANT], tone, [PLANT]) for tone in tones]  # type: ignore[arg-type]
    picture = Picture("<svg></svg>", PLANT, explored=PLANT)
    group = BlockGroup(
        PLANT, [table, *charts, *texts, picture], folds=True, outcome="go", system=PLANT, beside=PLANT,
        code=PLANT, one_of=PLANT,
    )  # fmt: skip
    detail = Detail(SMALL.items[0].item_id, "dense", PLANT, [group])
    section = Section(
        "own", PLANT, PLANT, PLANT, "items", [group], details=[detail], legend=PLANT, alarm=PLANT
    )
    page = page_of(dataclasses.replace(SMALL, sections=[section]))
    assert "<script>window" not in page
    assert "<img" not in page
    assert page.count("</section>") == page.count("<section ")


def test_the_style_of_a_picture_stands_once_and_only_where_it_is_needed() -> None:
    picture = Picture("<svg></svg>", "a picture", ".mine { fill: red; }")
    detail = Detail(SMALL.items[0].item_id, "dense", blocks=[BlockGroup("", [picture])])
    assert page_of(with_section(picture, picture, details=[detail])).count(".mine {") == 1
    assert ".mine" not in page_of(SMALL)


def test_style_sheets_of_pictures_have_no_outside_parts() -> None:
    sheets = [path.read_text() for path in Path(assay.__file__).parent.glob("kinds/*/report/*.css")]
    assert len(sheets) >= 2
    for style in sheets:
        assert "url(" not in style
        assert "@import" not in style


def test_a_row_of_one_cell_goes_across() -> None:
    columns = [TableColumn("system"), TableColumn("share", drawn="bar"), TableColumn("n")]
    rows = [[TableCell("one"), TableCell("50 %", value=0.5), TableCell("7")], [TableCell("2 more")]]
    told = with_section(Table(columns, rows, name="Shares"))
    assert '<td colspan="4">2 more</td>' in page_of(told)
    assert re.search(r"^one +50 % +7 *\n2 more *$", printed(told), re.MULTILINE)
    assert "| 2 more |  |  |" in MarkdownReport().render(told).decode()
