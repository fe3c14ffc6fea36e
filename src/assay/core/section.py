"""The parts of a report that insights add. Every format of reports shows the blocks of a part in its own way.

The text of a cell is what readers see. The value and interval of a cell are for pictures and programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

Place = Literal["verdict", "systems", "items"]


class TableCell(msgspec.Struct, frozen=True, omit_defaults=True):
    """One cell of a table."""

    text: str
    beneath: str = ""  # a second, smaller line
    value: float | None = None
    low: float | None = None
    high: float | None = None
    threshold: float | None = None  # what the value is compared with, if its column draws it
    outcome: str | None = None  # go, no-go or inconclusive: shown by its symbol
    strong: bool = False
    system: str = ""  # the arm whose colour the cell has


class TableColumn(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one column is shown. A drawn column shows a picture of its values beside the numbers."""

    head: str
    about: str = ""  # the meaning of a short head
    figure: bool = True  # True: numbers; False: words
    drawn: Literal["", "interval", "margin", "bar"] = ""
    picture: str = ""  # the head of the picture; default: the scale
    system: str = ""  # the arm whose colour the pictures and the head have
    code: bool = False  # True: the texts are ids


class Table(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="block", tag="table"):
    """Rows of cells. The first cell of a row names the row.

    A row with only one cell spans the table. It is a heading for the rows below, or a note on rows left out.
    """

    columns: list[TableColumn]
    rows: list[list[TableCell]]
    title: str = ""
    about: str = ""  # a sentence beneath the title
    name: str = ""  # for screen readers, if there is no title
    notes: list[str] = []

    @property
    def texts(self) -> list[list[str]]:
        """The texts of all cells. Each row is filled up with empty texts to the number of columns."""
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
    """Marks of a chart that belong together. They have the colour of a system, or a colour of their own."""

    name: str
    points: list[ChartPoint]
    system: str = ""


class Chart(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="block", tag="chart"):
    """Data that a renderer draws as lines over x, as points over x and y, or as a strip of points along x."""

    form: Literal["lines", "scatter", "strip"]
    series: list[ChartSeries]
    title: str = ""
    about: str = ""
    target: float | None = None  # a dashed line: horizontal for lines, vertical in a strip
    breaks: list[float | None] = []  # the positions along x with a number; empty: round numbers


class Picture(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="block", tag="picture"):
    """A drawing that a kind of study makes, with its style. The SVG is safe inside a page.

    In a picture that can be explored, elements of the class `cell` have a title. The title is read out when a
    reader points at the element or moves to it with arrow keys. `data-row` is the row of the element.
    """

    svg: str
    label: str  # what it shows, in words
    style: str = ""
    explored: str = ""  # how to explore it, in words; empty: not possible


class Text(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="block", tag="text"):
    """Words of a report.

    `tone` says whether they are plain or quiet, a caution, work still to do, a list or a legend.
    """

    lines: list[str]
    tone: Literal["plain", "quiet", "caution", "empty", "list", "legend"] = "plain"
    classes: list[str] = []  # for a legend: the class of the picture's style for each line


class BlockGroup(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="block", tag="group"):
    """Blocks under a common title. A page may let the reader fold them."""

    title: str
    blocks: Sequence[Table | Chart | Picture | Text | BlockGroup]
    folds: bool = False
    opened: bool = False
    side_by_side: bool = False
    small: bool = False  # True: a line of text with details, without a heading
    outcome: str | None = None
    system: str = ""
    beside: str = ""  # quiet words beside the title
    code: str = ""  # an id beside the title
    one_of: str = ""  # of groups with the same word here, only one is open at a time


SectionBlock = Table | Chart | Picture | Text | BlockGroup


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a kind of study adds to the page of one item for one arm.

    `line` is for terminals, and `blocks` are for pages.
    """

    item_id: str
    arm: str
    line: str = ""
    blocks: Sequence[SectionBlock] = ()


class Section(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a report. `lead` is a sentence that says what the part shows."""

    key: str
    name: str  # one word, for links
    title: str
    lead: str
    place: Place  # after the verdict, the systems or the items
    blocks: Sequence[SectionBlock] = ()
    brief: Sequence[Table | Text] = ()  # for formats without pictures; empty: words and tables of `blocks`
    details: list[Detail] = []
    legend: str = ""  # how to read the pictures of details
    alarm: str = ""  # must be read before anybody relies on the verdict: every format begins with it
    cautions: list[str] = []  # warnings for the whole report
    measures: list[str] = []  # measures shown here, which the tables of measures can leave out
    tested: list[tuple[str, str]] = []  # overall differences that the section tests: measure and arm
    drawn: list[str] = []  # the measures that its charts draw: pages fold them in the tables of measures
    data: Any = None  # data for programs: any value that can become JSON

    @property
    def printed(self) -> list[Table | Text]:
        """The blocks that formats without pictures print below the title."""
        if self.brief or not self.blocks:
            return list(self.brief)
        return [*([Text([self.lead])] if self.lead else []), *_words_and_tables(self.blocks)]

    def as_json(self) -> Mapping[str, Any]:
        """Returns the JSON form: words, tables and data, without pictures and without details of items."""
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
    """Yields the blocks that are words or tables, in order. The title of a group becomes a block of words."""
    for block in blocks:
        if isinstance(block, BlockGroup):
            if block.title:
                yield Text([block.title])
            yield from _words_and_tables(block.blocks)
        elif isinstance(block, Table) or (isinstance(block, Text) and block.tone != "legend"):
            yield block
