"""Reports written out: section by section, each cause mentioned here by name and there without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from random import Random
from typing import NamedTuple

from assay_worlds.incidents.report import Cause, Report
from assay_worlds.incidents.section import Section, sections
from assay_worlds.incidents.slots import pools, slots
from assay_worlds.incidents.theme import themes
from assay_worlds.incidents.wording import Decks, ReportSentence, Wording

KEYWORD, PARAPHRASE = "keyword", "paraphrase"
SHORTEST, LONGEST = 62, 120  # words a passage is filled up to; its last sentence may go beyond
UNUSED = 2  # templates of a pool that a passage leaves unused, so that no two use them all
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
    """A passage of a report: its text, and how it mentions each theme."""

    section: Section
    text: str
    themes: Mapping[str, str]  # theme -> keyword or paraphrase


class ThemeMention(NamedTuple):
    """What a passage says about a cause, in a sentence or a few; or one that only sounds like it."""

    sentences: list[ReportSentence]
    theme: str = ""
    how: str = ""


@dataclass
class Sheet:
    """A passage that is being written."""

    section: Section
    turn: int
    mentions: list[ThemeMention] = field(default_factory=list)


class Writer:
    """Writes reports one after the other, from decks that all of them share."""

    def __init__(self, rng: Random) -> None:
        self.rng, self.decks = rng, Decks(rng)

    def write(self, report: Report, other: Report) -> Iterator[WrittenPassage]:
        """The passages of a report, which may recall another."""
        wording = Wording(self.rng, report.model.kind, slots(self.rng, report, other))
        sheets = self._sheets(report)
        for rank, cause in enumerate(report.causes):
            self._spread(sheets, rank, cause, wording)
        self._mislead(sheets, report, wording)
        for sheet in sheets:
            yield self._finish(sheet, report, wording)

    def _sheets(self, report: Report) -> list[Sheet]:
        sheets = []
        for section in sections(self.rng, report):
            chances = [1.0, SECOND.get(section.key, 0), THIRD.get(section.key, 0)]
            count = sum(self.rng.random() < chance for chance in chances)
            sheets += [Sheet(section, turn) for turn in range(count)]
        return sheets

    def _spread(self, sheets: Sequence[Sheet], rank: int, cause: Cause, wording: Wording) -> None:
        """Speaks of a cause in its home and in the sections that weigh causes of its rank."""
        present = {sheet.section.key for sheet in sheets}
        homes = [key for key in cause.theme.homes if key in present] or ["analysis"]
        places = [homes[0], *(key for key, chance in MENTIONS[rank].items() if self.rng.random() < chance)]
        for key in places:
            sheet = self.rng.choice([sheet for sheet in sheets if sheet.section.key == key])
            sheet.mentions.append(self._mention(cause, key, wording))

    def _mention(self, cause: Cause, key: str, wording: Wording) -> ThemeMention:
        """A few sentences on a cause; where one of them names it, the others need not."""
        theme, advice = cause.theme, key == "recommendations"
        named, unnamed = theme.keyword, theme.paraphrase
        if advice:
            named, unnamed = theme.advice_keyword, theme.advice_paraphrase
        count = self.rng.choice(SENTENCES.get(key, (1,)))
        if self.rng.random() >= cause.candour:
            return ThemeMention(self._say(unnamed, wording, count), theme.key, PARAPHRASE)
        first = self._say(named, wording, 1)
        return ThemeMention(first + self._say(unnamed, wording, count - 1), theme.key, KEYWORD)

    def _mislead(self, sheets: Sequence[Sheet], report: Report, wording: Wording) -> None:
        """Puts keywords of absent themes, in another sense, into plain passages."""
        absent = [theme for theme in themes().values() if not report.has(theme.key)]
        plain = [sheet for sheet in sheets if sheet.section.key in PLAIN]
        for theme in self.rng.sample(absent, OTHER_SENSES):
            template = self.decks.deal(theme.other_sense, wording.kind, 1)[0]
            self.rng.choice(plain).mentions.append(ThemeMention([wording.say(template)]))

    def _finish(self, sheet: Sheet, report: Report, wording: Wording) -> WrittenPassage:
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

    def _sentences(self, sheet: Sheet, report: Report, wording: Wording) -> list[ReportSentence]:
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

    def _cause(self, mentions: Sequence[list[ReportSentence]], wording: Wording) -> list[ReportSentence]:
        """The cause first, then what contributed, in the order of their weight."""
        opening = self._say(pools()["cause_open"], wording, 1)
        for number, mention in enumerate(mentions):
            link = self._say(pools()["cause_link"], wording, 1) if number else []
            opening += [*link, *mention]
        return opening + self._filled(pools()["cause"], wording, [], opening)

    def _say(self, pool: Sequence[str], wording: Wording, count: int) -> list[ReportSentence]:
        return [wording.say(template) for template in self.decks.deal(pool, wording.kind, count)]

    def _in_order(
        self, pool: Sequence[str], wording: Wording, mentions: Sequence[list[ReportSentence]]
    ) -> list[ReportSentence]:
        """The mentions among sentences of the pool that keep its order."""
        background = self._background(pool, wording, list(chain(*mentions)))
        parts = [[background[template]] for template in sorted(background, key=pool.index)]
        for mention in mentions:
            parts.insert(self.rng.randint(1, len(parts)), mention)
        return list(chain(*parts))

    def _filled(
        self,
        pool: Sequence[str],
        wording: Wording,
        mentions: Sequence[list[ReportSentence]],
        before: Sequence[ReportSentence] = (),
    ) -> list[ReportSentence]:
        """The mentions among sentences of the pool, in any order; each mention stays together."""
        background = self._background(pool, wording, list(chain(before, *mentions)))
        parts = [*mentions, *([sentence] for sentence in background.values())]
        self.rng.shuffle(parts)
        return list(chain(*parts))

    def _background(
        self, pool: Sequence[str], wording: Wording, beside: Sequence[ReportSentence]
    ) -> dict[str, ReportSentence]:
        """As many sentences of the pool as make, with those beside them, a passage of a chance length."""
        goal = self.rng.randint(SHORTEST, LONGEST)
        words = sum(len(sentence.text.split()) for sentence in beside)
        said: dict[str, ReportSentence] = {}
        while words < goal and len(said) < len(pool) - UNUSED:
            template = self.decks.deal(pool, wording.kind, 1)[0]
            if template not in said:
                said[template] = wording.say(template)
                words += len(said[template].text.split())
        return said
