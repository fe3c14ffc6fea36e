"""Token efficiency of pairs, with a tokenizer that can be counted by hand: a word is a token."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError
from assay.core.records import Passage, Span
from assay.kinds.answers.content_pairs import (
    DeltaDistribution,
    delta_distributions,
    folder_pairs,
    pair_tokens,
    site_tokens,
)
from assay.kinds.answers.results import PairTokens, SiteTokens

LONG = "word " * 20


class Words:
    """Counts words, or, doubled, twice as many."""

    def __init__(self, name: str = "words", times: int = 1) -> None:
        self.name, self._times = name, times

    def counts(self, texts: Sequence[str]) -> list[int]:
        return [self._times * len(text.split()) for text in texts]

    def spans(self, text: str) -> list[Span]:
        raise NotImplementedError


def side(pair: str, condition: str, words: int, site: str = "S1") -> Passage:
    about = {"pair": pair, "condition": condition, "site": site, "questions": []}
    return Passage(f"{pair}/{condition}", "word " * words, metadata=about)


def dataset(*sizes: tuple[str, str, int, int]) -> Dataset:
    sides = [
        side(pair, condition, words, site)
        for pair, site, *both in sizes
        for condition, words in zip("AB", both, strict=True)
    ]
    return Dataset("d", Corpus(sides), [])


DATA = dataset(("P1", "S1", 10, 4), ("P2", "S1", 20, 20), ("P3", "S1", 60, 30), ("P4", "S2", 8, 10))


def test_a_pair_is_counted_under_each_tokenizer() -> None:
    found = pair_tokens(DATA, [Words(), Words("double", 2)])
    # 4 - 10 = -6, which is 60 % of 10
    assert found[0] == PairTokens("P1", "S1", "words", 10, 4, -6, -60.0)
    assert found[3] == PairTokens("P4", "S2", "words", 8, 10, 2, 25.0)
    assert found[4] == PairTokens("P1", "S1", "double", 20, 8, -12, -60.0)
    assert len(found) == 8


def test_sites_have_means_medians_and_the_delta_of_the_means() -> None:
    first, second = site_tokens(pair_tokens(DATA, [Words()]))
    # A: (10 + 20 + 60) / 3 = 30, middle 20; B: (4 + 20 + 30) / 3 = 18, middle 20; -12 of 30 are -40 %
    assert first == SiteTokens("S1", "words", 3, 30.0, 18.0, 20.0, 20.0, -12.0, -40.0)
    assert second == SiteTokens("S2", "words", 1, 8.0, 10.0, 8.0, 10.0, 2.0, 25.0)


def test_the_distribution_is_over_sites() -> None:
    sites = [
        SiteTokens(f"S{n}", "words", 1, 100, 0, 100, 0, d, d) for n, d in enumerate([-40, 25, 0, -20, 5])
    ]
    # in order -40, -20, 0, 5, 25: quartiles are the second and fourth; two of five are below 0
    assert delta_distributions(sites) == [DeltaDistribution("words", 5, -40.0, -20.0, 0.0, 5.0, 25.0, 0.4)]
    # of two, a quartile lies a quarter of the way from one to the other: -40 + 65 / 4
    (two,) = delta_distributions(sites[:2])
    assert (two.first_quartile, two.median, two.third_quartile) == (-23.75, -7.5, 8.75)


def test_a_pair_that_lacks_a_side_is_none_and_data_without_pairs_is_reported() -> None:
    half = Dataset("d", Corpus([side("P1", "A", 3), Passage("x", "no pair")]), [])
    with pytest.raises(DataError, match=r"d: there is no content pair\. Add content-pairs\.json"):
        pair_tokens(half, [Words()])


def test_pages_of_a_folder_are_paired_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    names = {"one": "one.md", "two": "two.html.md", "three": "three-commonmark.md", "alone": "aloneness.md"}
    for name, markdown in names.items():
        (folder / f"{name}.html").write_text(f"<nav>away away</nav><main>{name} {LONG}</main>")
        (folder / markdown).write_text(f"# {name}\n\n{LONG}")
    found = folder_pairs(folder)
    assert found.warnings == ["alone.html has no Markdown beside it"]
    counted = pair_tokens(found, [Words()])
    assert [(each.content_pair_id, each.site_id) for each in counted] == [
        ("one", "site"),
        ("three", "site"),
        ("two", "site"),
    ]
    # the name and 20 words; the sign of the heading besides
    assert {(each.condition_a_tokens, each.condition_b_tokens) for each in counted} == {(21, 22)}
    # all that is shown has the two words of the nav too
    visible = pair_tokens(folder_pairs(folder, "visible"), [Words()])
    assert visible[0].condition_a_tokens == 23


def test_pages_that_cannot_be_paired_are_reported(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no page with its Markdown"):
        folder_pairs(tmp_path)
    for name in ("one.html", "one.md", "one.html.md", "two.html", "two.md"):
        (tmp_path / name).write_text("short" if name == "two.md" else LONG)
    with pytest.raises(DataError) as caught:
        folder_pairs(tmp_path)
    assert [problem.what for problem in caught.value.problems] == [
        "one.html.md and one.md could both be its Markdown",
        "the page gives 5 characters of text, fewer than 50",
    ]
