"""Routing summaries without a model: what tells a node apart, what it lacks, and sentences."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from assay.core.errors import DataError, UsageError
from assay.core.protocols import Kit
from assay.core.records import Passage
from assay.core.registry import Registry
from assay.kinds.hierarchy.systems.keywords import Keywords, LabelContrast, LabelCounts
from assay.kinds.hierarchy.systems.tree import (
    SUMMARIES,
    ChildLists,
    QuotedSentence,
    Summariser,
    Summary,
    Tree,
    read_summaries,
    save_summaries,
)

BREAD = ["Bakers knead dough for bread.", "The baker's bread dough rises slowly.", "Bread ovens bake dough."]
SAILS = ["Sailors mend torn sails.", "A sail is mended by sailors.", "Torn sails slow the sailors down."]
WOOD = ["Carpenters plane oak boards.", "Oak boards warp.", "A carpenter planes boards of oak."]


def passages_of(*texts: str, **fields: Any) -> list[Passage]:
    return [Passage(f"d{number}", text, **fields) for number, text in enumerate(texts)]


def vectors_of(count: int) -> np.ndarray:
    return np.tile(np.array([[1.0, 0.0]], np.float32), (count, 1))  # all alike: corpus order decides


def leaves_of(*leaves: list[int]) -> Tree:
    """The root, and leaves with these passages."""
    return Tree((ChildLists.of_lists([range(len(leaves))]), ChildLists.of_lists(leaves)))


def summaries_of(tree: Tree, passages: list[Passage], **how: Any) -> list[list[Summary]]:
    return Keywords(**how).summarise(tree, passages, vectors_of(len(passages)), Kit())


# --------------------------------------------------------------------------------------- weights


def contrast(*rows: list[float]) -> LabelContrast:
    """Nodes told apart from all of them together."""
    return LabelContrast(csr_array(np.array(rows)), np.array(rows).sum(axis=0))


def test_a_weight_is_the_share_here_times_the_log_of_how_much_larger_it_is() -> None:
    found = contrast([3.0, 1.0, 0.0], [1.0, 1.0, 2.0])
    labels, weights = found.weights(0)
    # shares here 3/4, 1/4; of 8 in all: 4/8, 2/8
    assert labels.tolist() == [0, 1]
    assert weights == pytest.approx([0.75 * math.log(0.75 / 0.5), 0.25 * math.log(0.25 / 0.25)])
    _, weights = found.weights(1)
    expected = [0.25 * math.log(0.25 / 0.5), 0.25 * math.log(0.25 / 0.25), 0.5 * math.log(0.5 / 0.25)]
    assert weights == pytest.approx(expected)
    assert found.strongest(1, 5) == [2]  # what is as common elsewhere tells nothing apart


def test_the_commonest_stand_in_where_there_is_nothing_else_to_tell_apart() -> None:
    assert contrast([2.0, 5.0, 2.0]).strongest(0, 2) == [1, 0]  # equal ones by their letters


def test_a_node_lacks_what_it_has_less_than_a_quarter_of_the_share_of() -> None:
    found = contrast([1.0, 15.0], [7.0, 9.0])  # 8 of 32 are of label 0: a quarter; of 16 here, 4 expected
    assert not found.lacks(0, 0)  # 1 is a quarter of 4, not less
    assert contrast([1.0, 15.0], [8.0, 8.0]).lacks(0, 0)  # 9 / 32 × 16 = 4.5; 1 < 1.125
    assert contrast([0.0, 15.0], [1.0, 30.0]).lacks(0, 0)


def test_a_table_counts_labels_in_the_order_of_their_letters() -> None:
    table = LabelCounts.of([["b", "a", "b"], [], ["c"]])
    assert table.labels == ["a", "b", "c"]
    assert table.counts.toarray().tolist() == [[1, 2, 0], [0, 0, 0], [0, 0, 1]]
    assert LabelCounts.of([[], []]).counts.shape == (2, 0)


# ------------------------------------------------------------------------------- terms and names


def test_terms_are_words_of_one_stem_in_the_form_that_is_commonest_there() -> None:
    tree = leaves_of([0, 1, 2], [3, 4, 5])
    ((bread, sails),) = summaries_of(tree, passages_of(*BREAD, *SAILS), terms=3, quotes=0)
    # bread 3, dough 3, bake 1, baker 2 (bakers, baker's): of the first two, equal, by their letters
    assert bread.key_terms == ["bread", "dough", "baker"]
    # sail 3 (sails 2, sail 1), sailor 3, mend 2, torn 2
    assert sails.key_terms == ["sails", "sailors", "mend"]
    assert bread.theme == "bread, dough, baker"


def test_a_contrastive_summary_leaves_out_what_the_siblings_share() -> None:
    """Level 2 under one parent shares "sails"; a generic summary is full of it, a contrastive one is not."""
    texts = ["Sails of red linen.", "Linen sails, red.", "Sails of blue hemp.", "Hemp sails, blue.", *BREAD]
    tree = Tree(
        (
            ChildLists.of_lists([[0, 1]]),
            ChildLists.of_lists([[0, 1], [2]]),
            ChildLists.of_lists([[0, 1], [2, 3], [4, 5, 6]]),
        )
    )
    told = {
        style: summaries_of(tree, passages_of(*texts), style=style, quotes=0)
        for style in ("generic", "contrastive")
    }
    linen, hemp, bread = told["contrastive"][1]
    # linen: 2 of 6 terms here against 2 of 12 in the family; sails: 2 of 6 against 4 of 12
    assert linen.key_terms == ["linen", "red"]
    assert linen.excludes == ["blue", "hemp"]
    assert hemp.excludes == ["linen", "red"]
    assert (bread.excludes, bread.key_terms[:2]) == ([], ["bread", "dough"])  # an only child
    generic = told["generic"][1][0]
    assert generic.key_terms == ["linen", "red", "sails"]
    assert generic.excludes == []


def test_what_is_excluded_is_the_best_of_every_sibling_before_the_second_best_of_any() -> None:
    tree = leaves_of([0, 1, 2], [3, 4, 5], [6, 7, 8])
    ((bread, *_),) = summaries_of(tree, passages_of(*BREAD, *SAILS, *WOOD), terms=2, quotes=0)
    assert bread.excludes == ["boards", "sails"]  # 3 of 10 terms, 3 of 11; then oak and sailors


def test_names_are_weighed_as_terms_are() -> None:
    texts = ["They asked Simon Traethsen about INC-2041.", "Simon Traethsen met Ada Roe.", "We know Ada Roe."]
    ((first, second),) = summaries_of(leaves_of([0, 1], [2]), passages_of(*texts), quotes=0)
    # of 4 mentions here Simon Traethsen has 2 (2 of 5 in all), INC-2041 1 (1 of 5), Ada Roe 1 (2 of 5)
    assert first.key_entities == ["simon traethsen", "inc-2041"]
    assert second.key_entities == ["ada roe"]
    ((first, _),) = summaries_of(leaves_of([0, 1], [2]), passages_of(*texts), quotes=0, entities=1)
    assert first.key_entities == ["simon traethsen"]


def test_a_title_that_a_quarter_of_the_members_share_names_the_theme() -> None:
    titles = ["Oven", "Oven", "Yeast", "Rye", "Yard", "Yard"]
    passages = [
        Passage(f"d{n}", text, title=title, section="Notes")
        for n, (text, title) in enumerate(zip([*BREAD, BREAD[0], *SAILS[:2]], titles, strict=True))
    ]
    ((bread, sails),) = summaries_of(leaves_of([0, 1, 2, 3], [4, 5]), passages, quotes=0)
    assert bread.includes == ["Oven"]  # Notes is everywhere, Yeast and Rye are of one member each
    assert bread.theme.startswith("Oven: bread, dough")
    assert sails.includes == ["Yard"]


# ------------------------------------------------------------------------------------- sentences


def test_sentences_stand_word_for_word_and_no_two_are_alike() -> None:
    texts = [
        "Filler says little about any matter. Bakers knead the sour rye dough daily.",
        "Bakers knead the sour rye dough weekly.",
        "Rye dough rises in warm baskets overnight.",
        *SAILS,
    ]
    passages = passages_of(*texts)
    ((bread, _),) = summaries_of(leaves_of([0, 1, 2], [3, 4, 5]), passages, quotes=2)
    # the second differs from the first by one word: 5 terms of 7 are the same
    assert [quoted.position for quoted in bread.sentences] == [0, 2]
    assert bread.sentences[0] == QuotedSentence(0, 37, 75, "Bakers knead the sour rye dough daily.")
    for position, start, end, text in bread.sentences:
        assert passages[position].text[start:end] == text


def test_only_the_twenty_members_nearest_to_the_centroid_are_quoted() -> None:
    texts = [f"Plain words about number {n} stand here now." for n in range(25)]
    texts[24] = "Zebra quagga okapi giraffe antelope."  # the strongest sentence, and the farthest
    vectors = np.array([[1.0, 0.0]] * 24 + [[0.0, 1.0]], np.float32)
    (found,) = Keywords(quotes=5).summarise(leaves_of(list(range(25))), passages_of(*texts), vectors, Kit())
    assert found[0].sentences
    assert 24 not in {quoted.position for quoted in found[0].sentences}


# -------------------------------------------------------------------------------------- the whole


def test_numbers_of_nodes_and_the_order_of_passages_change_nothing() -> None:
    one = summaries_of(leaves_of([0, 1, 2], [3, 4, 5]), passages_of(*BREAD, *SAILS))
    other = summaries_of(leaves_of([0, 1, 2], [3, 4, 5]), passages_of(*SAILS, *BREAD))
    plain = [[each.theme, each.key_terms, each.excludes] for each in one[0]]
    assert plain == [[each.theme, each.key_terms, each.excludes] for each in reversed(other[0])]
    assert one == summaries_of(leaves_of([0, 1, 2], [3, 4, 5]), passages_of(*BREAD, *SAILS))


def test_many_parents_make_one_family_of_all_their_children() -> None:
    """Node 1 has both parents: its siblings are all the others; node 0 is told apart from node 1 alone."""
    tree = Tree(
        (
            ChildLists.of_lists([[0, 1]]),
            ChildLists.of_lists([[0, 1], [1, 2]]),
            ChildLists.of_lists([[0, 1, 2], [3, 4, 5], [6, 7, 8]]),
        )
    )
    bread, sails, wood = summaries_of(tree, passages_of(*BREAD, *SAILS, *WOOD), terms=2, quotes=0)[1]
    assert bread.excludes == ["sails", "sailors"]
    assert sails.excludes == ["boards", "bread"]
    assert wood.excludes == ["sails", "sailors"]


@pytest.mark.parametrize("texts", [["", "  "], ["…", "of the"], ["12 34", "5"]])
@pytest.mark.parametrize("style", ["generic", "contrastive"])
def test_texts_without_a_word_give_empty_summaries(texts: list[str], style: str) -> None:
    assert summaries_of(leaves_of([0], [1]), passages_of(*texts), style=style) == [[Summary("")] * 2]


def test_the_text_is_all_but_what_is_excluded() -> None:
    summary = Summary(
        "Bread", ["ovens", "rye"], ["sails"], ["ada roe"], ["dough"], [QuotedSentence(3, 0, 4, "Rye.")]
    )
    assert summary.text == "Bread\novens, rye\nada roe\ndough\nRye."
    assert (Summary("x").text, Summary("").text) == ("x", "")


def test_summaries_are_read_as_they_were_saved(tmp_path: Path) -> None:
    summaries = [
        [Summary("Bread", ["ovens"], [], ["ada roe"], ["dough"], [QuotedSentence(3, 0, 4, "Rye.")])],
        [],
    ]
    save_summaries(tmp_path, summaries)
    assert read_summaries(tmp_path) == summaries
    (tmp_path / "summaries.json").write_text("{")
    with pytest.raises(DataError, match="damaged"):
        read_summaries(tmp_path)


def test_the_part_is_found_by_name_and_says_what_it_does_not_take() -> None:
    made = Registry().create(SUMMARIES, "keywords(style=generic, terms=4)")
    assert made == Keywords("generic", 4)
    assert isinstance(made, Summariser)
    with pytest.raises(UsageError, match=r"terms is 0\. It must be 1 or more"):
        Keywords(terms=0)
    with pytest.raises(UsageError, match=r"quotes is -1\. It must be 0 or more"):
        Keywords(quotes=-1)


def test_it_tells_how_far_it_has_come() -> None:
    heard: list[tuple[str, int, int]] = []
    kit = Kit(progress=lambda *told: heard.append(told))
    Keywords().summarise(leaves_of([0, 1]), passages_of(*BREAD[:2]), vectors_of(2), kit)
    assert heard == [("summarising", 1, 1)]
