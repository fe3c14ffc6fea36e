"""Cross-links over names: where they lead, what they weigh, what is published, what false ones do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from assay.core.dataset import Corpus
from assay.core.errors import DataError, UsageError
from assay.core.parts import Floats, Ints, LinkBuilder, LinkedPassage, Ranking
from assay.core.protocols import Kit
from assay.core.records import Passage
from assay.core.registry import LINKS, Registry, identity
from assay.retrieval import entities
from assay.retrieval.entities import (
    Entities,
    NameLookup,
    contains_name,
    find_names,
    find_title_names,
    split_words,
)
from assay.retrieval.links import NameLinks, SharedNames

CORPUS = Corpus(
    [
        Passage("mill", "The sponsor of the mill is Ada Finch. Rain fell on it.", title="The mill in brief"),
        Passage("ada", "Ada Finch reports to Bo Lind. She likes Ivo Marsh.", title="Who is who: Ada Finch"),
        Passage("bo", "Bo Lind sits in room C2-24.", title="Who is who: Bo Lind"),
        Passage("zorn", "The zorn of the dam is 4 minutes.", title="Notice"),
        Passage("word", "By Zorn the house means a pause.", title="Glossary"),
        Passage("ivo", "Ivo Marsh keeps bees.", title="Who is who: Ivo Marsh"),
        Passage("else", "Nothing is said here.", title="Notice"),
    ]
)
MILL, ADA, BO, ZORN, WORD, IVO, ELSE = range(7)
ASKED = "where is the desk of the manager of the sponsor of the mill?"


def links(rule: SharedNames | None = None) -> NameLinks:
    return (rule or SharedNames()).build(CORPUS, Kit())


def ranking(*positions: int) -> Ranking:
    return Ranking(np.array(positions, np.int64), np.linspace(1.0, 0.5, len(positions)))


def followed(
    rule: SharedNames, first: Sequence[int], query: str = ASKED, **own: float
) -> list[LinkedPassage]:
    at = {"mill": MILL, "ada": ADA, "bo": BO}

    def scores_of(positions: Ints) -> Floats:
        return np.array(
            [{at[name]: score for name, score in own.items()}.get(each, 0.0) for each in positions]
        )

    return links(rule).follow(query, ranking(*first), scores_of)


def test_a_name_leads_to_the_passage_about_it_and_on_from_there() -> None:
    rule = SharedNames(seeds=1, sentences=1, decay=0.5, base=0.4)
    found = followed(rule, [MILL], mill=2.0, ada=1.0, bo=0.5)
    # hop 1: 0.5 × (0.4 + 0.6 × 1/2) = 0.35; hop 2: 0.25 × (0.4 + 0.6 × 0.5/2) = 0.1375
    assert [each[:5] for each in found] == [
        (ADA, MILL, "ada finch", 1, 0.5),
        (BO, ADA, "bo lind", 2, 0.25),
    ]
    assert [each.score for each in found] == pytest.approx([0.35, 0.1375])


def test_a_second_hop_keeps_to_the_sentence_that_has_the_name() -> None:
    reached = {each.position for each in followed(SharedNames(seeds=1, sentences=1), [MILL])}
    assert reached == {ADA, BO}  # the sentence with Ivo Marsh says "She"


def test_hops_and_sentences_bound_the_way() -> None:
    assert {each.position for each in followed(SharedNames(seeds=1, hops=1), [MILL])} == {ADA}
    both = followed(SharedNames(seeds=1, hops=1), [ADA], "whom does she like, and to whom does she report?")
    assert {each.position for each in both} == {BO, IVO}
    near = followed(SharedNames(seeds=1, hops=1, sentences=1), [ADA], "reports to")
    assert {each.position for each in near} == {BO}


def test_seeds_bound_where_links_begin() -> None:
    assert {each.position for each in followed(SharedNames(seeds=1, hops=1), [ELSE, MILL])} == set()
    assert {each.position for each in followed(SharedNames(seeds=2, hops=1), [ELSE, MILL])} == {ADA}


def test_names_that_the_query_has_lead_nowhere() -> None:
    assert followed(SharedNames(seeds=1, hops=1), [MILL], "the mill of ada finch") == []


def test_a_name_without_a_title_leads_to_its_mentions_whatever_the_case() -> None:
    found = followed(SharedNames(seeds=1, hops=1), [WORD], "what pause is kept?")
    assert [(each.position, each.name) for each in found] == [(ZORN, "zorn")]


def test_a_name_that_too_many_have_leads_nowhere() -> None:
    many = Corpus([Passage(str(number), "We asked the Board there.") for number in range(4)])
    for most, led in ((3, 0), (4, 4)):
        assert SharedNames(most=most).build(many, Kit()).leads.nnz == led


def test_the_best_sentence_gives_links_their_whole_weight_and_others_less() -> None:
    rule = SharedNames(seeds=2, hops=1, sentences=10, decay=1.0, base=1.0)
    # both seeds say the same, so what tells their links apart is the rank alone: 1/log2(3) of the first
    twins = Corpus(
        [
            Passage("one", "The lead is Ada Finch."),
            Passage("two", "The lead is Ada Finch. "),
            Passage("ada", "Here.", title="Ada Finch"),
            Passage("bo", "Here.", title="Bo Lind"),
            Passage("three", "The lead is Bo Lind."),
        ]
    )
    found = rule.build(twins, Kit()).follow("who is the lead?", ranking(0, 1), lambda at: np.ones(len(at)))
    assert [(each.position, each.source, each.score) for each in found] == [(2, 0, 1.0)]
    found = rule.build(twins, Kit()).follow("who is the lead?", ranking(4, 0), lambda at: np.ones(len(at)))
    assert {each.position for each in found} == {2, 3}
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert found[0].score == 1.0
    assert found[1].score < 1.0


def test_nothing_relevant_anywhere_leaves_the_base() -> None:
    found = followed(SharedNames(seeds=1, hops=1, decay=0.5, base=0.4), [MILL])  # every own score is 0
    assert [each.score for each in found] == pytest.approx([0.2])


def test_what_links_go_over_is_published() -> None:
    found = links()
    nodes = {node.node_id: node.role for node in found.nodes()}
    edges = {(edge.source, edge.target, edge.kind) for edge in found.edges()}
    assert nodes["entity:ada finch"] == "entity"
    assert ("passage:mill", "entity:ada finch", "mentions") in edges
    assert ("entity:ada finch", "passage:ada", "names") in edges
    assert ("passage:zorn", "entity:zorn", "mentions") in edges
    assert ("entity:zorn", "passage:word", "names") in edges
    ends = {end for edge in edges for end in edge[:2] if end.startswith("entity:")}
    assert ends <= set(nodes)
    assert Counter(kind for _, _, kind in edges)["names"] == found.leads.nnz


def test_false_links_are_as_many_as_said_and_always_the_same() -> None:
    corpus = Corpus([Passage(str(n), "Here.", title=f"Code Q-{n}") for n in range(400)])
    true, half, again, all_false = (
        SharedNames(fake=share).build(corpus, Kit()).stands_for for share in (0.0, 0.5, 0.5, 1.0)
    )
    leading = 800  # "code", which all titles have, leads nowhere; "code q-7" and "q-7" lead to one
    kept = int((true == half).sum()) - (len(true) - leading)
    assert true.tolist() == list(range(len(true)))
    assert 340 <= kept <= 460  # half of 800, give or take four standard deviations of 14
    assert np.array_equal(half, again)
    assert int((true == all_false).sum()) - (len(true) - leading) < 10


def test_a_false_link_shows_the_name_that_it_leads_by() -> None:
    true, false = (links(SharedNames(fake=share)) for share in (0.0, 1.0))
    where = {(edge.source, edge.target) for edge in true.edges() if edge.kind == "names"}
    fakes = {(edge.source, edge.target) for edge in false.edges() if edge.kind == "names"}
    assert where != fakes
    for each in false.follow("who leads the mill?", ranking(MILL), lambda at: np.ones(len(at))):
        number = false.entities.names.index(each.name)
        assert each.position in false._led_to(number)


def test_an_empty_corpus_has_no_links() -> None:
    found = SharedNames().build(Corpus([]), Kit())
    assert (list(found.nodes()), list(found.edges())) == ([], [])


@pytest.mark.parametrize(
    ("spec", "told"),
    [("names(hops=0)", "hops is 0"), ("names(fake=2)", "fake is 2"), ("names(decay=-1)", "decay is -1")],
)
def test_settings_that_make_no_sense_are_refused(spec: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Registry().create(LINKS, spec)


def test_a_study_names_them() -> None:
    made = Registry().create(LINKS, "names(hops=1, fake=0.25)")
    assert made == SharedNames(hops=1, fake=0.25)
    assert isinstance(made, LinkBuilder)
    assert identity(made) != identity(SharedNames())
    assert set(SharedNames().identity(Kit())) == {"names", "static"}


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
