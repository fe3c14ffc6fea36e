"""What a handbook is said not to answer: no telling word of the question stands in it, and not too many."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from assay.core.protocols import Kit
from assay_worlds.sources.handbook import Handbook
from assay_worlds.suites.real.handbook_pairs import absences
from assay_worlds.suites.real.value import PageBook


def asked(folder: Path, text: str, others: int | None = None) -> list[str]:
    (folder / "acme").mkdir()
    (folder / "acme" / "page.md").write_text(f"# Rules\n\n{text}\n")
    pages = list(Handbook("acme").pages(Kit(root=folder)))
    return [draft.text for draft in absences(PageBook(pages, {}), pages, Random(7), others)]


def test_every_topic_is_asked_where_no_word_of_it_is_written(tmp_path: Path) -> None:
    # The words that any office uses do not count: a lobby is no harpsichord.
    found = asked(
        tmp_path, "Birds sing on the office roof; fruit is in the lobby; the cellar is for remote staff."
    )
    assert len(found) == 20
    assert not any("|" in text for text in found)


@pytest.mark.parametrize(
    ("written", "topic"),
    [
        ("A beehive may stand on the terrace.", "beehives"),
        ("Ask Ann about beekeeping.", "beehives"),
        ("Bee-hives are welcome.", "beehives"),
        ("We went sky diving.", "skydiving"),
        ("Skydivers are insured.", "skydiving"),
        ("Falcons nest here.", "falconry"),
        ("A SABBATICAL is three months long.", "sabbatical"),
        ("Fermented food is served.", "fermentation"),
    ],
)
def test_a_topic_is_left_out_where_a_telling_word_of_it_is_written(
    tmp_path: Path, written: str, topic: str
) -> None:
    found = asked(tmp_path, written)
    assert len(found) == 19
    assert not any(topic in text for text in found)


@pytest.mark.parametrize(("others", "count"), [(0, 3), (15, 3), (40, 10), (79, 19), (200, 20)])
def test_absences_are_at_most_a_fifth_of_all_drafts_or_three(tmp_path: Path, others: int, count: int) -> None:
    # 40 others and 10 absences: 10 / 50 is a fifth. There are 20 topics and no more.
    assert len(asked(tmp_path, "We like tea.", others)) == count
