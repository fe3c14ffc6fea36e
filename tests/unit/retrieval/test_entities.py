"""Names in passages: what is one, where each stands, and what is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.core.dataset import Corpus
from assay.core.errors import DataError
from assay.core.parts import Ints
from assay.core.protocols import Kit
from assay.core.records import Passage
from assay.retrieval import entities
from assay.retrieval.entities import (
    Entities,
    NameLookup,
    contains_name,
    find_names,
    find_title_names,
    split_words,
)

PASSAGES = [
    Passage("mill", "The mill belongs to Ada Finch. It stands by the Tane.", title="Mill"),
    Passage("ada", "Ada Finch has her desk in room 4. She dislikes the tane.", title="Who is who: Ada Finch"),
    Passage("ops", "On-call is served by maequyng-archive. Yesterday Ada Finch reset it.", title="Duties"),
    Passage("dark", "Operators of Maequyng-archive sleep badly."),
    Passage("bare", ""),
]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("It was built by Ada Finch.", ["ada finch"]),
        ("He sat in the House of Lords in June.", ["house of lords", "june"]),
        ("We buy from Goadrurson & Sons.", ["goadrurson sons"]),
        ("The Baltic Works Board met.", ["baltic works board"]),
        ("At the Galway office", ["galway"]),  # what says nothing is taken off the front
        ("Ada's room is Élodie O'Neill's.", ["élodie o'neill"]),  # the genitive goes, "Ada" begins a sentence
        ("Rain fell. Nobody came.\n- Dogs bark. Title: Words", []),  # each begins a sentence, an item, a line
        ("INC-2041 hit maequyng-archive, see REF-7.", ["inc-2041", "ref-7", "maequyng-archive"]),
        ("Ada Finch met Ada Finch and Bo Lind.", ["ada finch", "bo lind"]),  # "and" stands between two
        ("The", []),
        ("", []),
    ],
)
def test_names_are_told_by_their_letters(text: str, names: list[str]) -> None:
    assert set(find_names(text)) == set(names)
    assert len(find_names(text)) == len(set(find_names(text)))


def test_a_word_that_begins_a_title_may_be_a_name() -> None:
    assert find_names("Soflafurk in brief") == []
    assert find_title_names("Soflafurk in brief") == ["soflafurk"]
    assert find_title_names("The") == []


def test_names_are_held_as_whole_words_however_written() -> None:
    assert contains_name("The SOFLAFURK is 16 minutes.", "soflafurk")
    assert contains_name("Ask ada finch's deputy.", "ada finch")
    assert not contains_name("Ask Ada. Finch is away.", "finch ada")
    assert not contains_name("Adam Finch", "ada finch")
    assert split_words("AT&T's maequyng-archive, O’Neill") == ["at&t", "maequyng-archive", "o’neill"]


def test_the_longest_name_is_found_and_those_inside_only_where_asked_for() -> None:
    lookup = NameLookup(["ada", "ada finch", "finch mill", "status of ada finch"])
    assert lookup.found(split_words("Ada Finch mill")) == {1}
    assert lookup.found(split_words("ada and the finch mill")) == {0, 2}
    assert lookup.found(split_words("Status of Ada Finch")) == {3}
    assert lookup.found(split_words("Status of Ada Finch"), inside=True) == {0, 1, 3}


def built() -> Entities:
    return Entities.build(PASSAGES)


def named(entities: Entities, position: int) -> list[list[str]]:
    return [[entities.names[number] for number in each] for each in entities.of_sentences(position)]


def test_a_name_needs_a_title_or_two_passages() -> None:
    # "Tane" is a name in one passage and stands in another in small letters; "yesterday ada finch" is once
    assert set(built().names) >= {"ada finch", "maequyng-archive", "tane", "mill", "duties"}
    assert "on-call" not in built().names
    assert "yesterday ada finch" not in built().names


def test_mentions_are_by_sentence_whatever_the_case() -> None:
    found = built()
    assert named(found, 0) == [["ada finch", "mill"], ["tane"]]
    assert named(found, 1) == [["ada finch"], ["tane"]]
    assert named(found, 2) == [["maequyng-archive"], ["ada finch"]]
    assert named(found, 3) == [["maequyng-archive"]]
    assert named(found, 4) == []


def test_mentions_by_passage_agree_with_sentences_and_leave_them_as_they_are() -> None:
    found = built()
    before = [named(found, position) for position in range(len(PASSAGES))]
    matrix = found.mentions.toarray()
    assert matrix.shape == (5, len(found.names))
    assert matrix[0, found.names.index("ada finch")] == 1
    assert matrix[:, found.names.index("tane")].tolist() == [1, 1, 0, 0, 0]
    assert [named(found, position) for position in range(len(PASSAGES))] == before


def test_homes_are_the_passages_whose_title_has_the_name() -> None:
    found = built()
    rows = {name: found.homes[[number]].indices.tolist() for number, name in enumerate(found.names)}
    assert (rows["ada finch"], rows["mill"], rows["tane"]) == ([1], [0], [])


def test_any_text_can_be_looked_through() -> None:
    found = built()
    numbers = found.mentions_of("did ADA FINCH see the Tane?")
    assert {found.names[number] for number in numbers} == {"ada finch", "tane"}


def test_no_passages_no_names() -> None:
    found = Entities.build([])
    assert (list(found.names), found.mentions.shape, found.mentions_of("Ada")) == ([], (0, 0), set())


# what a part of the kept names may come to be, so that it does not fit to the others
CHANGES: list[tuple[str, Callable[[Ints], tuple[Ints | int, ...]]]] = [
    ("starts", lambda starts: (starts[1:],)),
    ("ends", lambda ends: (0, ends[-1] + 1, ends[2:])),
    ("numbers", lambda numbers: (10**6, numbers[1:])),
    ("home_ends", lambda ends: (ends[::-1],)),
    ("home_positions", lambda homes: (-1, homes[1:])),
]


def test_large_corpora_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entities, "WORTH_KEEPING", 1)
    told: list[tuple[str, int, int]] = []
    kit = Kit(cache=tmp_path, progress=lambda *what: told.append(what))
    corpus = Corpus(PASSAGES)
    first = Entities.of(corpus, kit)
    assert ("finding names", 5, 5) in told
    told.clear()
    again = Entities.of(corpus, kit)
    assert told == []
    assert list(again.names) == list(first.names) == list(built().names)
    assert [named(again, position) for position in range(5)] == [named(built(), each) for each in range(5)]
    assert (again.homes != built().homes).nnz == 0
    for name, change in CHANGES:
        (kept,) = tmp_path.glob(f"entities/*/{name}.npy")
        whole = np.load(kept)
        np.save(kept, np.hstack(change(whole)))
        with pytest.raises(DataError, match="an index is damaged"):
            Entities.read(kept.parent)
        assert list(Entities.of(corpus, kit).names) == list(first.names)  # made again
        assert np.array_equal(np.load(kept), whole)
    (kept,) = tmp_path.glob("entities/*/names.json")
    kept.write_text("{")
    told.clear()
    assert list(Entities.of(corpus, kit).names) == list(first.names)
    assert ("finding names", 5, 5) in told
