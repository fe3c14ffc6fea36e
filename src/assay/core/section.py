"""A part of a report that an insight adds. Every format shows its blocks its own way, and no kind is known.

What a cell says is text, ready to be read; value and interval stand beside it for pictures and programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

Place = Literal["verdict", "systems", "items"]


class TableCell(msgspec.Struct, frozen=True, omit_defaults=True):
    """One place of a table."""

    text: str
    beneath: str = ""  # a second, smaller line
    value: float | None = None
    low: float | None = None
    high: float | None = None
    threshold: float | None = None  # what the value is compared with, where its column draws it
    outcome: str | None = None  # go, no-go or inconclusive: shown by its sign
    strong: bool = False
    system: str = ""  # the arm that it is about, which has a colour


class TableColumn(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one column reads. One that is drawn has a picture of its values beside the figures."""

    head: str
    about: str = ""  # what the head means, where it is short
    figure: bool = True  # numbers; false: words
    drawn: Literal["", "interval", "margin", "bar"] = ""
    picture: str = ""  # what heads the picture; without it, the scale
    system: str = ""  # the arm whose colour pictures and head have
    code: bool = False  # ids


class Table(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="block", tag="table"):
    """Rows of cells; the first column names them.

    A row of one cell goes across the table: it heads the rows beneath it, or says how many are left out.
    """

    columns: list[TableColumn]
    rows: list[list[TableCell]]
    title: str = ""
    about: str = ""  # a sentence beneath the title
    name: str = ""  # what it is, for a screen reader, where there is no title
    notes: list[str] = []

    @property
    def texts(self) -> list[list[str]]:
        """What its cells say, as many in each row as there are columns."""
        return [[*(cell.text for cell in row), *[""] * (len(self.columns) - len(row))] for row in self.rows]


class ChartPoint(msgspec.Struct, frozen=True, omit_defaults=True):
    """One mark of a chart."""

    x: float | None  # None: without a limit
    y: float = 0.0
    low: float | None = None
    high: float | None = None
    text: str = ""
    ringed: bool = False


class ChartSeries(msgspec.Struct, frozen=True, omit_defaults=True):
    """Marks that belong together, in the colour of a system or in one of their own."""

    name: str
    points: list[ChartPoint]
    system: str = ""


class Chart(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="block", tag="chart"):
    """Data that a renderer draws: lines over x, points over x and y, or a strip of points along x."""

    form: Literal["lines", "scatter", "strip"]
    series: list[ChartSeries]
    title: str = ""
    about: str = ""
    target: float | None = None  # a dashed line: across of lines, upright in a strip
    breaks: list[float | None] = []  # the places along x that have a figure; empty: round numbers


class Picture(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="block", tag="picture"):
    """A drawing of the kind's own, as SVG that is safe to stand in a page, with the style it needs.

    In one that can be explored, elements of the class `cell` hold a title that is read out as a reader points
    at them or goes from one to the next by arrow keys; their `data-row` says in which row they stand.
    """

    svg: str
    label: str  # what it shows, in words
    style: str = ""
    explored: str = ""  # how to explore it, in words; empty: it cannot be


class Text(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="block", tag="text"):
    """Words: plain, quiet, a caution, what is still to be done, a list, or the legend of a picture."""

    lines: list[str]
    tone: Literal["plain", "quiet", "caution", "empty", "list", "legend"] = "plain"
    classes: list[str] = []  # of a legend: the class of the picture's style that each line is about


class BlockGroup(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="block", tag="group"):
    """Blocks under a title, in a part of the page that can be folded or stands open for good."""

    title: str
    blocks: Sequence[Table | Chart | Picture | Text | BlockGroup]
    folds: bool = False
    opened: bool = False
    side_by_side: bool = False
    small: bool = False  # a line of text with its details, not a heading
    outcome: str | None = None
    system: str = ""
    beside: str = ""  # quiet words beside the title
    code: str = ""  # an id beside the title
    one_of: str = ""  # of the groups with the same word here one is open at a time


SectionBlock = Table | Chart | Picture | Text | BlockGroup


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a kind adds to one item's page for one arm: a line for terminals, blocks for pages."""

    item_id: str
    arm: str
    line: str = ""
    blocks: Sequence[SectionBlock] = ()


class Section(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a report. `lead` says in a sentence what it shows."""

    key: str
    name: str  # one word, for links
    title: str
    lead: str
    place: Place  # after the verdict, the systems or the items
    blocks: Sequence[SectionBlock] = ()
    brief: Sequence[Table | Text] = ()  # what formats without pictures print; empty: its words and tables
    details: list[Detail] = []
    legend: str = ""  # how to read the pictures of details
    alarm: str = ""  # what must be read before the verdict is relied on: every format begins with it
    cautions: list[str] = []  # what belongs among the warnings of the whole report
    measures: list[str] = []  # what it shows, so that it need not stand in the tables of measures too
    tested: list[
        tuple[str, str]
    ] = []  # measure and arm: overall differences that it tests in place of others
    drawn: list[str] = []  # and of these what its charts draw: on pages it folds in the tables of measures
    data: Any = None  # for programs: anything that becomes JSON

    @property
    def printed(self) -> list[Table | Text]:
        """What formats without pictures print below the title."""
        if self.brief or not self.blocks:
            return list(self.brief)
        return [*([Text([self.lead])] if self.lead else []), *_words_and_tables(self.blocks)]

    def as_json(self) -> Mapping[str, Any]:
        """Words, tables and data; pictures are for pages, and details are those of single items."""
        return {
            "key": self.key,
            "title": self.title,
            "lead": self.lead,
            "place": self.place,
            "alarm": self.alarm,
            "blocks": msgspec.to_builtins(list(_words_and_tables(self.brief or self.blocks))),
            "data": msgspec.to_builtins(self.data),
        }


def _words_and_tables(blocks: Iterable[SectionBlock]) -> Iterator[Table | Text]:
    """The blocks that need no picture, in their order; the title of a group is words too."""
    for block in blocks:
        if isinstance(block, BlockGroup):
            if block.title:
                yield Text([block.title])
            yield from _words_and_tables(block.blocks)
        elif isinstance(block, Table) or (isinstance(block, Text) and block.tone != "legend"):
            yield block
