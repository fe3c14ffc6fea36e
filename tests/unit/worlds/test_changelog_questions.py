"""Questions on release notes: evidence at its place, one answer, other words than the entry."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from assay.core.dataset import Corpus
from assay.core.protocols import Kit
from assay.datasets.evidence import find_misplaced
from assay_worlds.sources.changelog import Changelog
from assay_worlds.sources.source import passages_of
from assay_worlds.suites.real.changelog_entries import Rivals, by_request, entries, summarize_change
from assay_worlds.suites.real.changelog_questions import questions
from assay_worlds.suites.real.question import QuestionDraft

PUMP = (
    "Fixed the rotary pump plugin corrupting water meters on detach of shared valves when the main is shut."
)
NOTES = f"""# v1.20.1

## Changes by Kind

### Bug or Regression

- {PUMP} (#97013, @ann) [SIG Storage]
- Added a boiler metric called heat_total by zone for every reading. (#97014, @bob) [SIG Node and Testing]
- Kubeadm now installs pipes. (#97015, @ann) [SIG Node and Storage]

## Dependencies

### Changed
- x.org/lib: v0.1.0 → v0.2.0

# v1.20.0

## Changes by Kind

### Feature

- Added a boiler metric called heat_total by zone for every reading. (#97014, @bob) [SIG Node and Testing]

## Dependencies

### Changed
- x.org/lib: v0.0.9 → v0.1.0
"""


def drafted(folder: Path, notes: str = NOTES, seed: int = 3) -> tuple[list[QuestionDraft], Corpus]:
    (folder / "CHANGELOG-1.20.md").write_text(notes)
    pages = list(Changelog(str(folder), product="Kubernetes").pages(Kit()))
    passages = {page.document.doc_id: passages_of(page) for page in pages}
    corpus = Corpus(
        [each for found in passages.values() for each in found],
        {page.document.doc_id: page.document for page in pages},
    )
    return list(questions(pages, passages, Random(seed))), corpus


def of_kind(found: list[QuestionDraft], kind: str) -> list[QuestionDraft]:
    return [each for each in found if each.kind == kind]


def test_evidence_is_where_it_says_and_a_seed_decides(tmp_path: Path) -> None:
    found, corpus = drafted(tmp_path)
    assert not find_misplaced([unit for each in found for unit in each.units], corpus)
    assert found == drafted(tmp_path)[0]


def test_a_change_is_asked_for_in_fewer_words(tmp_path: Path) -> None:
    found, _ = drafted(tmp_path)
    pump = [each for each in found if "rotary pump" in each.text]
    assert pump
    assert not any("when the main is shut" in each.text for each in pump)
    single = [each for each in pump if each.kind != "changelog_release"]
    assert {each.answer for each in single} <= {"#97013", "@ann", "SIG Storage"}
    assert single[0].units[0]["text"] == f"- {PUMP} (#97013, @ann) [SIG Storage]"


def test_other_places_of_an_entry_count_as_well(tmp_path: Path) -> None:
    boiler = next(each for each in drafted(tmp_path)[0] if "boiler" in each.text)
    assert [unit["source"] for unit in boiler.units[0]["also"]] == ["changelog/CHANGELOG-1.20/v1.20.0"]


def test_only_a_change_of_one_release_is_asked_for_its_release(tmp_path: Path) -> None:
    releases = of_kind(drafted(tmp_path)[0], "changelog_release")
    assert [each.answer for each in releases] == ["v1.20.1"]  # the boiler metric is in two
    line, title = releases[0].units
    assert title["text"] == "Kubernetes v1.20.1 release notes"
    assert {unit["text"] for unit in title["also"]} == {"Bug or Regression (v1.20.1)", "Changed (v1.20.1)"}
    assert line["text"].startswith("- Fixed the rotary pump")


def test_versions_of_dependencies(tmp_path: Path) -> None:
    found, _ = drafted(tmp_path)
    moved = {each.text: each.answer for each in of_kind(found, "changelog_dependency")}
    assert moved == {
        "To which version did Kubernetes move its dependency x.org/lib from v0.1.0?": "v0.2.0",
        "To which version did Kubernetes move its dependency x.org/lib from v0.0.9?": "v0.1.0",
    }
    (two,) = of_kind(found, "changelog_two_releases")
    assert two.answer == ["v0.2.0", "v0.1.0"]
    assert len(two.units) == 4  # a line and the name of its release, twice


def test_two_entries_are_joined_by_author_and_group(tmp_path: Path) -> None:
    found, _ = drafted(tmp_path)
    (other,) = of_kind(found, "changelog_same_author")
    assert {other.text.split()[6], other.answer} == {"#97013", "#97015"}  # both by @ann, who has no third
    (shared,) = of_kind(found, "changelog_shared_group")
    assert shared.answer == "SIG Node"  # {Node, Testing} and {Node, Storage}


def test_a_release_that_is_named_nowhere_is_not_there(tmp_path: Path) -> None:
    absent = of_kind(drafted(tmp_path)[0], "changelog_absent")
    assert absent
    assert all(each.impossible == "out_of_kb" and not each.units for each in absent)
    assert not any("v1.20.1" in each.text or "v1.20.0?" in each.text for each in absent)


def test_a_long_list_is_too_much(tmp_path: Path) -> None:
    lines = [
        f"- Added part {number} of the heating plan, with a description that goes on for a while so that it"
        f" takes room. (#{98000 + number}, @u{number}) [SIG Node]"
        for number in range(25)
    ]
    notes = "# v1.21.0\n\n## Changes by Kind\n\n### Feature\n\n" + "\n".join(lines) + "\n"
    (every,) = of_kind(drafted(tmp_path, notes)[0], "changelog_list")
    assert every.impossible == "aggregation"
    assert every.answer == [f"#{98000 + number}" for number in range(25)]
    # A line that names the group in a form that is not read leaves the list incomplete: no question.
    notes += "- Part 26, without a number [SIG Node]\n"
    assert not of_kind(drafted(tmp_path, notes)[0], "changelog_list")


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (PUMP, ("fixed", "the rotary pump plugin corrupting water meters on detach of shared valves")),
        (
            "Kubeadm: remove the CoreDNS check for known image digests when applying the addon",
            ("removed", "the CoreDNS check for known image digests (in kubeadm)"),
        ),
        ("Kubernetes is now built with go 1.23.6", None),
        ("Fix a bug", None),
    ],
)
def test_descriptions(what: str, expected: tuple[str, str] | None) -> None:
    assert summarize_change(what) == expected


def test_a_description_that_fits_two_entries_is_not_used(tmp_path: Path) -> None:
    text = "# v1.20.1\n\n## Feature\n\n- Added a red pump valve meter. (#10001, @a)\n"
    (tmp_path / "CHANGELOG.md").write_text(text + "- Added a blue pump valve meter. (#10002, @b)\n")
    pages = list(Changelog(str(tmp_path)).pages(Kit()))
    rivals = Rivals(by_request(list(entries(pages))))
    # "pump valve meter" is all of the other's words but the colour: 3 of 4 are too many, 3 of 5 are not.
    assert not rivals.lacks("red pump valve meter", "#10001")
    assert rivals.lacks("red pump valve meter gasket", "#10001")
