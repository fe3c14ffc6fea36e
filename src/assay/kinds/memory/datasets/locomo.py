"""LoCoMo: questions about dialogues of two people over many sessions, with the turns that answer them.

Maharana et al., "Evaluating very long-term conversational memory of LLM agents", ACL 2024. The file is the
official JSON array of dialogues, plain or gzipped. A turn becomes the passage `SAMPLE_ID/DIA_ID`, such as
conv-26/D1:3. A session becomes a passage such as conv-26/D1. The scope of an item is its own dialogue.

The numbers of the categories do not follow the order of the paper. The authors' evaluation splits answers
into parts only for category 1, and wants a refusal for category 5. It prints the categories as 4, 1, 2, 3, 5,
where the tables of the paper have single-hop, multi-hop, temporal, open-domain, adversarial.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

from assay.core.dataset import Corpus, Dataset, Place
from assay.core.errors import Problem
from assay.core.protocols import Kit
from assay.core.records import Item, Passage
from assay.datasets.public.release import read_release, release_doubts
from assay.kinds.memory.datasets.longmemeval import LABELS, PACK, counted_warning

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5
UNPROVEN = (
    "types of edges, shapes of paths, roles and contradictions: its labels only name turns",
    "what an earlier question leaves behind in a memory: its questions have no order",
)
_SESSION = re.compile(r"session_([1-9][0-9]{0,8})")
_OF_A_SESSION = re.compile(rf"{_SESSION.pattern}(_date_time)?")
_SEVERAL = re.compile(r"D\d+:\d+(?:[;,\s]+D\d+:\d+)+")  # several well-formed ids in one string
_ID = re.compile(r"D\d+:\d+")
_DATE = "%I:%M %p on %d %B, %Y"


class _DialogueTurn(msgspec.Struct, frozen=True):
    speaker: str
    dia_id: str
    text: str
    blip_caption: str | None = None  # what a photo in the message shows

    @property
    def said(self) -> str:
        photo = f" [photo: {self.blip_caption}]" if self.blip_caption else ""
        return f"{self.speaker}: {self.text}{photo}"


class _DialogueQuestion(msgspec.Struct, frozen=True):
    question: Annotated[str, msgspec.Meta(min_length=1)]
    category: Annotated[int, msgspec.Meta(ge=1, le=5)]
    evidence: list[str] = []
    answer: str | int | float | None = None
    adversarial_answer: str | int | float | None = None


class _Dialogue(msgspec.Struct, frozen=True):
    sample_id: str
    conversation: dict[str, str | list[_DialogueTurn]]
    qa: list[_DialogueQuestion]

    def sessions(self) -> Iterator[tuple[int, str, list[_DialogueTurn]]]:
        """Yields the number, the date and the turns of each session, in order."""
        numbers = sorted(int(found[1]) for key in self.conversation if (found := _SESSION.fullmatch(key)))
        for number in numbers:
            turns = self.conversation[f"session_{number}"]
            date = self.conversation.get(f"session_{number}_date_time", "")
            if isinstance(turns, list):
                yield number, date if isinstance(date, str) else "", turns


@dataclass
class _EvidenceFaults:
    """The faults in the evidence of all questions."""

    lost: list[str] = field(default_factory=list)  # strings that name no turn
    split: list[str] = field(default_factory=list)  # strings of several ids, which were split
    none: list[str] = field(default_factory=list)  # questions without any evidence

    def warnings(self) -> list[str]:
        faults = (
            ("evidence strings name no turn of their dialogue and are left out", self.lost),
            ("evidence strings held several ids and were split", self.split),
            ("questions have no evidence to be scored by", self.none),
        )
        return [counted_warning(what, names) for what, names in faults if names]


@dataclass(frozen=True)
class LoCoMo:
    """LoCoMo, with turns or sessions as passages. `limit` counts questions.

    As released, some evidence strings hold several well-formed ids and so name no turn. `repair=True` splits
    them.
    """

    path: str
    unit: Literal["turn", "session"] = "turn"
    repair: bool = False
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None

    def load(self, kit: Kit) -> Dataset:
        passages: list[Passage] = []
        items: list[Item] = []
        places: dict[str, Place] = {}
        evidence = _EvidenceFaults()
        path = kit.path(self.path)
        for place, dialogue in read_release(path, _Dialogue, _sample_id_of, check=_wrong):
            if len(items) == self.limit:
                break
            cut, units = self._cut(dialogue)
            passages += cut
            scope = [passage.doc_id for passage in cut]
            left = None if self.limit is None else self.limit - len(items)
            for number, asked in enumerate(dialogue.qa[:left], 1):
                item_id = f"{dialogue.sample_id}/q{number}"
                relevant, whole = self._relevant(item_id, asked, units, evidence)
                held = "none" if not relevant else "whole" if whole else "partial"
                tags = {**_tags(asked), "evidence": [held], "dialogue": [dialogue.sample_id]}
                gold = _gold(asked, relevant)
                items.append(Item(item_id, asked.question, tags=tags, gold=gold, scope=scope))
                places[item_id] = place
        return Dataset(
            "locomo",
            Corpus(passages),
            items,
            LABELS,
            evidence.warnings(),
            places=places,
            layer="public",
            unproven=(*release_doubts(path), *UNPROVEN),
        )

    def _cut(self, dialogue: _Dialogue) -> tuple[list[Passage], dict[str, str]]:
        """Returns the passages of a dialogue, and the id of the passage that holds each turn."""
        passages: list[Passage] = []
        units: dict[str, str] = {}
        for number, date, turns in dialogue.sessions():
            metadata = {"pack": PACK, "session": number, **({"date": _moment(date)} if date else {})}
            if self.unit == "turn":
                texts = {f"{dialogue.sample_id}/{turn.dia_id}": turn.said for turn in turns}
                units.update((turn.dia_id, f"{dialogue.sample_id}/{turn.dia_id}") for turn in turns)
            else:
                session = f"{dialogue.sample_id}/D{number}"
                texts = {session: "\n".join(turn.said for turn in turns)} if turns else {}
                units.update((turn.dia_id, session) for turn in turns)
            section = f"session_{number}"
            passages += [
                Passage(doc_id, text, source=dialogue.sample_id, section=section, metadata=metadata)
                for doc_id, text in texts.items()
            ]
        return passages, units

    def _relevant(
        self, item_id: str, asked: _DialogueQuestion, units: Mapping[str, str], evidence: _EvidenceFaults
    ) -> tuple[dict[str, float], bool]:
        """Returns the passages that hold the evidence, and whether every evidence string names a turn."""
        named: list[str] = []
        lost = [text for text in asked.evidence if text not in units]
        for text in asked.evidence:
            parts = _ID.findall(text) if self.repair and _SEVERAL.fullmatch(text.strip()) else []
            if text in units:
                named.append(text)
            elif parts and all(part in units for part in parts):
                named += parts
                lost.remove(text)
                evidence.split.append(f"{item_id}: {text!r}")
        evidence.lost += (f"{item_id}: {text!r}" for text in lost)
        if not named:
            evidence.none.append(item_id)
        return dict.fromkeys((units[each] for each in named), 1.0), not lost


def _sample_id_of(dialogue: _Dialogue) -> str:
    return dialogue.sample_id


def _wrong(dialogue: _Dialogue) -> list[Problem]:
    """Returns the faults of a dialogue: sessions with odd names, turns that share an id, or no turns."""
    if strange := [*_strange(dialogue)]:
        return strange
    seen: set[str] = set()
    doubled = []
    for _, _, turns in dialogue.sessions():
        for turn in turns:
            if turn.dia_id in seen:
                doubled.append(turn.dia_id)
            seen.add(turn.dia_id)
    field_ = "conversation"
    if not seen:
        fix = 'Write its turns as "session_1": [{…}].'
        return [Problem(f"{dialogue.sample_id!r} has no turn", field=field_, fix=fix)]
    return [
        Problem(
            f"{dialogue.sample_id!r} has the turn {each!r} twice", field=field_, fix="Ids must be unique."
        )
        for each in doubled
    ]


def _strange(dialogue: _Dialogue) -> Iterator[Problem]:
    """Yields a problem for each key that looks like a session but is none, and so would be ignored."""
    for key, content in dialogue.conversation.items():
        if not key.startswith("session_"):
            continue
        found, fix = _OF_A_SESSION.fullmatch(key), "Write session_1, and session_1_date_time."
        if found is None:
            what = f"{dialogue.sample_id!r} has the session {reprlib.repr(key)}, which has no plain number"
            yield Problem(what, field="conversation", fix=fix)
        elif isinstance(content, list) == bool(found[2]):
            what = f"{dialogue.sample_id!r} has no {'date' if found[2] else 'list of turns'} as {key!r}"
            yield Problem(what, field="conversation", fix=fix)


def _tags(asked: _DialogueQuestion) -> dict[str, list[str]]:
    return {
        "category": [CATEGORIES[asked.category]],
        "category_number": [str(asked.category)],
        "adversarial": ["yes" if asked.category == ADVERSARIAL else "no"],
        "multi_hop": ["yes" if CATEGORIES[asked.category] == "multi-hop" else "no"],
        "dataset": ["locomo"],
    }


def _gold(asked: _DialogueQuestion, relevant: dict[str, float]) -> dict[str, Any]:
    gold: dict[str, Any] = {"relevant": relevant}
    if asked.answer is not None:
        gold["answers"] = [str(asked.answer)]
    if asked.adversarial_answer is not None:  # the answer of a model that falls for the question
        gold["adversarial_answer"] = str(asked.adversarial_answer)
    return gold


def _moment(date: str) -> str:
    """Returns a date such as `1:56 pm on 8 May, 2023` as 2023-05-08T13:56; other forms stay unchanged."""
    try:
        return datetime.strptime(date, _DATE).isoformat(timespec="minutes")
    except ValueError:
        return date
