"""Anchors in a whole book: every one resolves however it is cut, and who returns their passages scores."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from assay.core.block import Block, Labels
from assay.core.dataset import Corpus, Dataset
from assay.core.protocols import Kit
from assay.core.records import Arm, Document, Hit, Item, Response
from assay.judges.labels import resolve
from assay.kinds.search.anchor_index import AnchorIndex, anchors_of
from assay.kinds.search.anchors import Anchors
from assay.measures.parse import parse_measure
from assay.measures.score import score_block
from assay.retrieval.chunk import TokenWindows, WholeDocuments, rechunk
from assay.store.journal import Answer, answer_columns, select_by_key

BOOK = "autobiography-of-a-yogi"
CUTS = [(size, overlap) for size in (200, 300, 500) for overlap in (0, 50)]

# Chapter and text, as somebody would type it from a printed copy: on one line, with typographic quotes and
# dashes, italics in lower case where the source has capitals. The source has straight quotes, a hyphen or two
# for a dash, and lines of some 65 characters.
ANCHORS = [
    (1, "His intense joy of God—communion is slightly revealed in a somewhat enigmatic smile"),
    (1, "This noble Sanskrit poem, which occurs as part of the Mahabharata epic, is the Hindu Bible"),
    (2, "a silver amulet materialized between my palms, even as the sadhu had promised"),
    (3, "When Emerson’s poem Brahma appeared in the Atlantic Monthly in 1857, most the readers were"),
    (4, "“‘I started for the Himalayas in a buoyant spiritual mood,’ he explained."),
    (5, "Self-scrutiny, relentless observance of one’s thoughts, is a stark and shattering experience."),
    (6, "A furless, fangless man daring to challenge a claw-armed, sturdy-limbed tiger!"),
    (7, "They are discovering India anew, with a better sense of direction than Columbus!"),
    (8, "points of contact emerging, between the realms of the living and the non–living"),
    (9, "that the Beloved’s name sounds sweet from all lips, ignorant or wise?”"),
    (10, "Puranas are literally “ancient” allegories; tantras literally mean “rites” or “rituals”"),
    (11, "Joy was within me as I boarded the train, but this was Jitendra’s day for tears."),
    (12, "Gratefully I accept your authority in every detail of my life — on one condition."),
    (13, "Dostoevski’s observation: “A man who bows down to nothing can never bear the burden of himself.”"),
    (14, "like storms which lashed the ocean of light into waves of material forms—earth, sky, human beings"),
    (15, "The Sanskrit word for musician is bhagavathar, “he who sings the praises of God.”"),
    (16, "“You may as well be resigned to your fate,” my brother Ananta had remarked."),
    (17, "sank into silence, his unwinking eyes half-open, their vision fled to another world"),
    (18, "But such astrally‐produced objects are structurally evanescent; they cannot be long retained."),
    (19, "I shall be preceded by a fellow passenger — a little boy carrying a silver jug.”"),
    (20, "“You selfish young man,” he shouted, quivering with wrath, “what a preposterous idea!"),
    (
        21,
        "“English strawberries for sale,” cried an old woman, squatting in a picturesque open market place.",
    ),
    (23, "The judgment passed by my fellow students was expressed in their nickname for me—“Mad Monk.”"),
    (24, "In Plato’s Timaeus story of Atlantis, he tells of the inhabitants’ advanced state of scientific"),
    (25, "I sheltered myself behind the pillow of my new brother-in-law and grinned at him"),
    (26, "“Outward ritual cannot destroy ignorance, because they are not mutually contradictory,” wrote"),
    (27, "He added, “God is the Honey, organizations are the hives; both are necessary."),
    (28, "I hoped to receive response from him in the concentration-tuned radio of my heart."),
    (
        29,
        "international university, “Viswa-Bharati,” where scholars of all lands have found an ideal setting",
    ),
    (30, "proof of the light–essence of atoms and of the inescapable duality of nature"),
    (31, "For days together he would sit on top of the water, or remain hidden for very long periods"),
    (33, "Its chains had been dissolved forever by the Persian seer through his self-realization."),
    (35, "Here the give-up, the negation of the lower passions, synchronizes with a take-up"),
    (36, "in the silence was that of my Ganges-drenched cloth, swish-swashing with every step"),
    (38, "I cried after reading the definition, “your very name is now a synonym for goodness!”"),
    (40, "even the sun eluded the clouds to add a sudden blaze of glory"),
    (43, "Adjective of mantra, chanted seed-sounds discharged by the mental gun of concentration."),
    (44, "I could not kill a cobra without violating two of my vows—fearlessness, and non-killing."),
    (46, "We like to see our food, to smell it, to taste it – the Hindu likes also to touch it!”"),
    (48, "Man is a soul, not an institution; his inner reforms alone can lend permanence to outer ones."),
]
JUDGE = Anchors()  # it keeps the book as it is compared from one test to the next
MEASURES = ["Success(rel=2)@3", "RR@10", "R@10"]


@pytest.fixture(scope="module")
def book(shared_data: Callable[[str], Path]) -> Dataset:
    """The book's chapters as documents, nothing cut yet, and an item for each anchor."""
    raw = gzip.decompress((shared_data("yogi") / "7452.txt.gz").read_bytes()).decode("ascii")
    text = raw.replace("\r\n", "\n").partition("\nEnd of Project Gutenberg")[0]
    _, *parts = re.split(r"^CHAPTER: (\d+)$", text, flags=re.MULTILINE)
    documents = {
        f"en/{BOOK}/{int(number):02d}": Document(
            f"en/{BOOK}/{int(number):02d}",
            chapter.strip(),
            metadata={"book": BOOK, "chapter": int(number), "language": "en"},
        )
        for number, chapter in zip(parts[::2], parts[1::2], strict=True)
    }
    items = [
        Item(
            f"en-direct-{place:03d}",
            "a query",
            "en",
            gold={"anchors": [{"book": BOOK, "chapter": chapter, "text": wanted, "relevance": "high"}]},
        )
        for place, (chapter, wanted) in enumerate(ANCHORS, 1)
    ]
    return Dataset("book", Corpus((), documents), items)


@pytest.fixture(scope="module", params=CUTS, ids=lambda cut: f"{cut[0]}-{cut[1]}")
def cut(request: pytest.FixtureRequest, book: Dataset) -> Dataset:
    return rechunk(book, TokenWindows(*request.param), Kit())


@pytest.fixture(scope="module")
def theirs(book: Dataset) -> Dataset:
    """The book as another server cuts it."""
    return rechunk(book, TokenWindows(size=170, overlap=30), Kit())


def figures(dataset: Dataset, answers: Sequence[Sequence[Hit]]) -> dict[str, float]:
    """The means of all measures for what a system returned, by the judgments of anchors alone."""
    ids = [item.item_id for item in dataset.items]
    responses = [Answer(each, each, Response(list(hits))) for each, hits in zip(ids, answers, strict=True)]
    stored = select_by_key(answer_columns(responses), ids)
    unlabelled = Block(Arm("a"), 0, dataset.items, stored, Labels.none(), corpus=dataset.corpus)
    said = JUDGE.judge(dataset, [unlabelled], Kit())
    labels = resolve(said, JUDGE.names, JUDGE.closed_labels)
    block = Block(Arm("a"), 0, dataset.items, stored, labels, said, corpus=dataset.corpus)
    return {name: float(score_block(parse_measure(name), block)[0].mean()) for name in MEASURES}


def found(dataset: Dataset) -> list[list[str]]:
    """The passages that count as each item's anchor."""
    said: dict[str, list[str]] = {item.item_id: [] for item in dataset.items}
    for judgment in JUDGE.judge(dataset, [], Kit()):
        said[judgment.item_id].append(judgment.target or "")
    return list(said.values())


def text_of(dataset: Dataset, doc_id: str) -> str:
    return dataset.corpus.text_of(doc_id) or ""


def test_the_book_has_all_its_chapters(book: Dataset) -> None:
    assert len(book.corpus.documents) == 48
    assert sum(len(each.text) for each in book.corpus.documents.values()) > 900_000
    assert len(ANCHORS) == 40
    assert all(10 <= len(text.split()) <= 40 for _, text in ANCHORS)


def test_every_anchor_stands_at_one_place_of_its_chapter(book: Dataset) -> None:
    index = AnchorIndex(book.corpus)
    places = [index.places(anchor) for item in book.items for anchor in anchors_of(item)]
    assert [len(each) for each in places] == [1] * 40
    broken = sum("\n" in place.text for (place,) in places)
    assert broken >= 25  # most cross the end of a line


def test_every_anchor_resolves_in_every_cut(cut: Dataset) -> None:
    assert JUDGE.examine(cut, Kit()) == ([], [])
    assert all(found(cut))


def test_who_returns_what_was_anchored_is_perfect_in_every_cut(cut: Dataset) -> None:
    perfect = [[Hit(doc_id, 1.0 / rank) for rank, doc_id in enumerate(each, 1)] for each in found(cut)]
    assert figures(cut, perfect) == {"Success(rel=2)@3": 1.0, "RR@10": 1.0, "R@10": 1.0}


def test_other_ids_and_a_tidied_text_change_nothing(cut: Dataset) -> None:
    """As a server shows passages: ids of its own, on one line, with typographic quotes."""
    tidied = [
        [
            Hit(
                f"{rank}~x", 1.0 / rank, text=re.sub(r'"(\w)', r"“\1", " ".join(text_of(cut, doc_id).split()))
            )
            for rank, doc_id in enumerate(each, 1)
        ]
        for each in found(cut)
    ]
    assert figures(cut, tidied) == {"Success(rel=2)@3": 1.0, "RR@10": 1.0, "R@10": 1.0}


def test_a_server_that_cuts_otherwise_is_found_right_by_its_text(theirs: Dataset, cut: Dataset) -> None:
    """Its passages have no counterpart here; what is only found here is still counted as not found."""
    hits = [
        [Hit(f"{doc_id}~x", 1.0, text=text_of(theirs, doc_id)) for doc_id in each] for each in found(theirs)
    ]
    seen = figures(cut, hits)
    assert (seen["Success(rel=2)@3"], seen["RR@10"]) == (1.0, 1.0)
    assert seen["R@10"] < 1


def test_a_wrong_passage_of_the_right_chapter_is_wrong(cut: Dataset) -> None:
    right = found(cut)
    wrong = [
        next(
            passage.doc_id
            for passage in cut.corpus.passages
            if passage.metadata["chapter"] == chapter and passage.doc_id not in named
        )
        for (chapter, _), named in zip(ANCHORS, right, strict=True)
    ]
    assert set(figures(cut, [[Hit(each, 1.0)] for each in wrong]).values()) == {0.0}
    by_text = [[Hit(f"{each}~x", 1.0, text=text_of(cut, each))] for each in wrong]
    assert set(figures(cut, by_text).values()) == {0.0}


def chapters() -> list[str]:
    return [f"en/{BOOK}/{chapter:02d}" for chapter, _ in ANCHORS]


def test_whole_chapters_do_not_score(book: Dataset, cut: Dataset) -> None:
    """Each holds its anchor, but by its size alone."""
    hits = [[Hit(each, 1.0, text=book.corpus.documents[each].text)] for each in chapters()]
    assert set(figures(cut, hits).values()) == {0.0}


def test_whole_chapters_do_not_score_as_passages_either(book: Dataset) -> None:
    whole = rechunk(book, WholeDocuments(), Kit())
    assert JUDGE.judge(whole, [], Kit()) == []
    named = {passage.source: passage.doc_id for passage in whole.corpus.passages}
    assert set(figures(whole, [[Hit(named[each], 1.0)] for each in chapters()]).values()) == {0.0}
    problems, warnings = JUDGE.examine(whole, Kit())
    assert (len(problems), len(warnings)) == (0, 40)  # each says that nothing counts as it
