"""Cross-links over names: where they lead, what they weigh, what is published, what false ones do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from assay.core.dataset import Corpus
from assay.core.errors import UsageError
from assay.core.parts import Floats, Ints, LinkBuilder, LinkedPassage, Ranking
from assay.core.protocols import Kit
from assay.core.records import Passage
from assay.core.registry import LINKS, Registry, identity
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
