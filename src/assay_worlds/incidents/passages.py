"""Writes reports section by section. A passage mentions a cause with its keywords or in other words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from random import Random
from typing import NamedTuple

from assay_worlds.incidents.lexicon import region, themes, vehicles
from assay_worlds.incidents.report import AccidentReport, Cause, ReportSection, sections
from assay_worlds.template import capital, expand, render
from assay_worlds.texts import read_texts

KEYWORD, PARAPHRASE = "keyword", "paraphrase"
SHORTEST, LONGEST = 62, 120  # a passage is filled up to this many words; its last sentence may go beyond
UNUSED = 2  # templates of a pool that a passage leaves unused, so that passages differ
OTHER_SENSES = 3  # sentences per report in which a keyword means something else
# Where a cause of each rank is mentioned, besides its home, and how likely.
MENTIONS: tuple[Mapping[str, float], ...] = (
    {"synopsis": 0.5, "history": 0.4, "analysis": 1, "findings": 0.9, "cause": 1, "recommendations": 0.8},
    {"history": 0.2, "analysis": 1, "findings": 0.6, "cause": 1, "recommendations": 0.5},
    {"analysis": 0.6, "findings": 0.4, "recommendations": 0.3},
)
# How many sentences it is given there: one where nothing else is said.
SENTENCES = {
    **dict.fromkeys(("personnel", "vehicle", "weather", "recorders", "wreckage"), (2, 2, 3)),
    **dict.fromkeys(("survival", "tests", "organisation", "analysis"), (2, 2, 3)),
    **dict.fromkeys(("history", "cause", "recommendations"), (1, 2)),
}
SECOND = {
    "history": 1.0,
    "analysis": 1.0,
    "vehicle": 0.2,
    "survival": 0.2,
    "personnel": 0.2,
}  # a second passage
THIRD = {"analysis": 0.4}
PLAIN = (
    "personnel",
    "vehicle",
    "weather",
    "recorders",
    "wreckage",
    "survival",
    "tests",
    "organisation",
    "analysis",
)
# What a figure shows in a report that has the theme: a clock time at night, a sight of a few metres.
TELLING = {"clock": "night", "visibility": "fog"}


@dataclass(frozen=True)
class WrittenPassage:
    """The text of a passage, and how it mentions each theme."""

    section: ReportSection
    text: str
    themes: Mapping[str, str]  # theme -> keyword or paraphrase


class ThemeMention(NamedTuple):
    """Sentences about a cause. If `theme` is empty, the sentence only sounds like a mention."""

    sentences: list[ReportSentence]
    theme: str = ""
    how: str = ""


@dataclass
class PassageDraft:
    """A passage before its sentences are put in order."""

    section: ReportSection
    turn: int
    mentions: list[ThemeMention] = field(default_factory=list)


class ReportWriter:
    """Writes reports. All reports use the same decks of sentences, so that no sentence returns soon."""

    def __init__(self, rng: Random) -> None:
        self.rng, self.decks = rng, Decks(rng)

    def write(self, report: AccidentReport, other: AccidentReport) -> Iterator[WrittenPassage]:
        """Yields the passages of a report. Sentences may mention the report `other`."""
        wording = SentenceFiller(self.rng, report.model.kind, slots(self.rng, report, other))
        sheets = self._sheets(report)
        for rank, cause in enumerate(report.causes):
            self._spread(sheets, rank, cause, wording)
        self._mislead(sheets, report, wording)
        for sheet in sheets:
            yield self._finish(sheet, report, wording)

    def _sheets(self, report: AccidentReport) -> list[PassageDraft]:
        sheets = []
        for section in sections(self.rng, report):
            chances = [1.0, SECOND.get(section.key, 0), THIRD.get(section.key, 0)]
            count = sum(self.rng.random() < chance for chance in chances)
            sheets += [PassageDraft(section, turn) for turn in range(count)]
        return sheets

    def _spread(
        self, sheets: Sequence[PassageDraft], rank: int, cause: Cause, wording: SentenceFiller
    ) -> None:
        """Adds mentions of a cause to its home section, and by its rank also to other sections."""
        present = {sheet.section.key for sheet in sheets}
        homes = [key for key in cause.theme.homes if key in present] or ["analysis"]
        places = [homes[0], *(key for key, chance in MENTIONS[rank].items() if self.rng.random() < chance)]
        for key in places:
            sheet = self.rng.choice([sheet for sheet in sheets if sheet.section.key == key])
            sheet.mentions.append(self._mention(cause, key, wording))

    def _mention(self, cause: Cause, key: str, wording: SentenceFiller) -> ThemeMention:
        """Writes a few sentences on a cause. At most the first one contains its keywords."""
        theme, advice = cause.theme, key == "recommendations"
        named, unnamed = theme.keyword, theme.paraphrase
        if advice:
            named, unnamed = theme.advice_keyword, theme.advice_paraphrase
        count = self.rng.choice(SENTENCES.get(key, (1,)))
        if self.rng.random() >= cause.candour:
            return ThemeMention(self._say(unnamed, wording, count), theme.key, PARAPHRASE)
        first = self._say(named, wording, 1)
        return ThemeMention(first + self._say(unnamed, wording, count - 1), theme.key, KEYWORD)

    def _mislead(
        self, sheets: Sequence[PassageDraft], report: AccidentReport, wording: SentenceFiller
    ) -> None:
        """Puts keywords of absent themes, in another sense, into passages of plain sections."""
        absent = [theme for theme in themes().values() if not report.has(theme.key)]
        plain = [sheet for sheet in sheets if sheet.section.key in PLAIN]
        for theme in self.rng.sample(absent, OTHER_SENSES):
            template = self.decks.deal(theme.other_sense, wording.kind, 1)[0]
            self.rng.choice(plain).mentions.append(ThemeMention([wording.say(template)]))

    def _finish(self, sheet: PassageDraft, report: AccidentReport, wording: SentenceFiller) -> WrittenPassage:
        sentences = self._sentences(sheet, report, wording)
        if sheet.section.key == "findings":
            text = " ".join(f"{number}. {sentence.text}" for number, sentence in enumerate(sentences, 1))
        else:
            text = " ".join(sentence.text for sentence in sentences)
        used = {slot for sentence in sentences for slot in sentence.slots}
        found = {theme: PARAPHRASE for slot, theme in TELLING.items() if slot in used and report.has(theme)}
        for mention in sorted(sheet.mentions, key=lambda mention: mention.how == KEYWORD):
            if mention.theme:
                found[mention.theme] = mention.how
        return WrittenPassage(sheet.section, text, found)

    # ------------------------------------------------------------------- by section

    def _sentences(
        self, sheet: PassageDraft, report: AccidentReport, wording: SentenceFiller
    ) -> list[ReportSentence]:
        mentions, pool = [mention.sentences for mention in sheet.mentions], pools()
        match sheet.section.key:
            case "history":
                half = pool["history_end" if sheet.turn else "history_start"]
                return self._in_order(half, wording, mentions)
            case "fire":
                first = self._say(pool["fire" if report.fire else "no_fire"], wording, 3)
                return first + self._filled(pool["fire_anyway"], wording, mentions, first)
            case "cause":
                return self._cause(mentions, wording)
            case "synopsis" | "recommendations" as key:
                opening = self._say(pool[f"{key}_open"], wording, 1)
                return opening + self._filled(pool[key], wording, mentions, opening)
            case key:
                return self._filled(pool[key], wording, mentions)

    def _cause(
        self, mentions: Sequence[list[ReportSentence]], wording: SentenceFiller
    ) -> list[ReportSentence]:
        """Puts the main cause first, and then the contributing causes in the order of their weight."""
        opening = self._say(pools()["cause_open"], wording, 1)
        for number, mention in enumerate(mentions):
            link = self._say(pools()["cause_link"], wording, 1) if number else []
            opening += [*link, *mention]
        return opening + self._filled(pools()["cause"], wording, [], opening)

    def _say(self, pool: Sequence[str], wording: SentenceFiller, count: int) -> list[ReportSentence]:
        return [wording.say(template) for template in self.decks.deal(pool, wording.kind, count)]

    def _in_order(
        self, pool: Sequence[str], wording: SentenceFiller, mentions: Sequence[list[ReportSentence]]
    ) -> list[ReportSentence]:
        """Mixes the mentions into background sentences. These sentences stay in the order of the pool."""
        background = self._background(pool, wording, list(chain(*mentions)))
        parts = [[background[template]] for template in sorted(background, key=pool.index)]
        for mention in mentions:
            parts.insert(self.rng.randint(1, len(parts)), mention)
        return list(chain(*parts))

    def _filled(
        self,
        pool: Sequence[str],
        wording: SentenceFiller,
        mentions: Sequence[list[ReportSentence]],
        before: Sequence[ReportSentence] = (),
    ) -> list[ReportSentence]:
        """Mixes mentions and background sentences at random. The sentences of a mention stay together."""
        background = self._background(pool, wording, list(chain(before, *mentions)))
        parts = [*mentions, *([sentence] for sentence in background.values())]
        self.rng.shuffle(parts)
        return list(chain(*parts))

    def _background(
        self, pool: Sequence[str], wording: SentenceFiller, beside: Sequence[ReportSentence]
    ) -> dict[str, ReportSentence]:
        """Draws background sentences until the passage reaches a random length."""
        goal = self.rng.randint(SHORTEST, LONGEST)
        words = sum(len(sentence.text.split()) for sentence in beside)
        said: dict[str, ReportSentence] = {}
        while words < goal and len(said) < len(pool) - UNUSED:
            template = self.decks.deal(pool, wording.kind, 1)[0]
            if template not in said:
                said[template] = wording.say(template)
                words += len(said[template].text.split())
        return said


_KINDS = re.compile(r"((?:air|water|rail|rope)(?:,(?:air|water|rail|rope))*): ")
_ARTICLE = re.compile(r"\b([Aa]) (?=[AEIO])")


class ReportSentence(NamedTuple):
    """A finished sentence, and the names of the slots in its template."""

    text: str
    slots: frozenset[str]


class SentenceFiller:
    """Fills templates with the names and numbers of one report.

    A template may begin with `air:`, `water:`, `rail:`, `rope:`, or several of these with commas. It then
    suits only vehicles of these kinds.
    """

    def __init__(self, rng: Random, kind: str, slots: Mapping[str, str | Sequence[str]]) -> None:
        self.rng, self.kind, self.slots = rng, kind, slots
        self._used: set[str] = set()

    def say(self, template: str) -> ReportSentence:
        """Returns one random wording of a template."""
        self._used.clear()
        text = _KINDS.sub("", template, count=1) if suits(template, self.kind) else template
        text = _ARTICLE.sub(r"\1n ", render(text, self.rng, self))
        return ReportSentence(capital(text), frozenset(self._used))

    def __getitem__(self, slot: str) -> str:
        self._used.add(slot)
        words = self.slots[slot]
        return expand(words if isinstance(words, str) else self.rng.choice(words), self.rng)


class Decks:
    """Deals templates like cards. A template returns only after all others of its pool were used."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._left: dict[tuple[Sequence[str], str], list[str]] = {}

    def deal(self, pool: Sequence[str], kind: str, count: int) -> list[str]:
        """Draws `count` different templates that suit the kind of vehicle."""
        cards = [template for template in pool if suits(template, kind)]
        left = self._left.setdefault((pool, kind), [])
        dealt: list[str] = []
        while len(dealt) < min(count, len(cards)):
            if not left:
                left += self._rng.sample(cards, len(cards))
            card = left.pop()
            if card not in dealt:
                dealt.append(card)
        return dealt


def suits(template: str, kind: str) -> bool:
    """Whether a template is for every kind of vehicle, or is marked for this kind."""
    marked = _KINDS.match(template)
    return marked is None or kind in marked[1].split(",")


_HE = {"he": "he", "his": "his", "him": "him", "himself": "himself"}
_SHE = {"he": "she", "his": "her", "him": "her", "himself": "herself"}


@cache
def words() -> dict[str, str]:
    """Reads the templates that fill slots in the same way in every report."""
    return read_texts(dict[str, str], __package__, "words")


@cache
def pools() -> dict[str, tuple[str, ...]]:
    """Reads the sentence templates, by section."""
    return read_texts(dict[str, tuple[str, ...]], __package__, "sections")


def slots(rng: Random, report: AccidentReport, other: AccidentReport) -> dict[str, str | Sequence[str]]:
    """Draws the values for a report's slots. A value may contain alternatives."""
    model, day, known = report.model, report.happened, region()
    first, second, third = rng.sample(known.surnames, 3)
    aboard = rng.randint(*model.aboard)
    person = rng.choice((_HE, _SHE))
    return {
        **words(),
        **person,
        "He": person["he"].title(),
        "His": person["his"].title(),
        "board": known.board,
        "model": model.model,
        "maker": model.maker,
        "craft": model.craft,
        "lead": model.lead,
        "mate": model.mate,
        "deck": model.deck,
        "part": rng.choice(model.parts),
        "dispatcher": vehicles().dispatcher[model.kind],
        "name": report.name,
        "operator": report.operator,
        "region": report.region,
        "place": report.place,
        "bound": report.bound,
        "phase": vehicles().phases[model.kind][report.phase],
        "outcome": report.outcome,
        "toll": pools()[f"toll_{report.fatalities}"],
        "aboard": str(aboard),
        "seats": str(aboard - rng.randint(2, 5) if report.has("overload") else aboard + rng.randint(2, 20)),
        "date": f"{day.day} {day:%B %Y}",
        "adopted": f"{report.reported.day} {report.reported:%B %Y}",
        "landmark": rng.sample(known.landmarks, 3),
        "weekday": f"{day:%A}",
        "clock": [f"{report.hour:02d}:{minute:02d}" for minute in sorted(rng.sample(range(2, 58), 8))],
        "visibility": ("eighty metres", "less than two hundred metres")
        if report.has("fog")
        else ("more than twenty km", "some fifteen km", "thirty km and more"),
        "temperature": str(rng.randint(-5, -1) if report.has("icing") else rng.randint(6, 18)),
        "age": str(rng.randint(27, 61)),
        "person": known.surnames,
        "surname": first,
        "surname_2": second,
        "surname_3": third,
        "other": other.name,
        "earlier_year": str(report.reported.year - rng.randint(1, 6)),
        "report_year": str(other.reported.year),
    }
