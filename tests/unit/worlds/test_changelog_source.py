"""Release notes as a source: a page a release, headings, what is left out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay_worlds.sources.changelog import Changelog
from assay_worlds.sources.source import SourcePage, TextSource, passages_of

NOTES = """- [v1.2.1](#v121)
  - [Downloads for v1.2.1](#downloads)

# v1.2.1

## Downloads for v1.2.1

filename | sha512 hash
-------- | -----------
[a.tar.gz](https://x.org/a.tar.gz) | `ebfe49552bbda028`

### Client Binaries

filename | sha512 hash
-------- | -----------
[b.tar.gz](https://x.org/b.tar.gz) | `0000`

## Changes by Kind

### Bug or Regression

- Fixed the *pump*. ([#97013](https://x.org/pull/97013), [@ann](https://x.org/ann)) [SIG Storage]

## Dependencies

### Added
_Nothing has changed._

### Changed
- x.org/lib: [v0.1.0 → v0.2.0](https://x.org/compare)

# v1.2.0

API Version: v9

# Breaking change

Read this.
"""


def pages(path: Path, **settings: str) -> list[SourcePage]:
    return list(Changelog(str(path), **settings).pages(Kit()))


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "CHANGELOG-1.2.md").write_text(NOTES)
    (tmp_path / "SOURCE.md").write_text("# v0.0.1\n\nWhere it is from.\n")
    (tmp_path / "python-client-CHANGELOG.md.gz").write_bytes(gzip.compress(b"# v10.0.0\n\n- One\n"))
    return tmp_path


def test_a_page_is_a_release(notes: Path) -> None:
    found = pages(notes, product="Kubernetes")
    assert [page.document.title for page in found] == [
        "Kubernetes v1.2.1 release notes",
        "Kubernetes v1.2.0 release notes",
        "Kubernetes python client v10.0.0 release notes",
    ]
    assert [page.document.doc_id for page in found][:2] == [
        "changelog/CHANGELOG-1.2/v1.2.1",
        "changelog/CHANGELOG-1.2/v1.2.0",
    ]
    assert found[0].document.metadata["version"] == "v1.2.1"
    assert isinstance(Changelog("x"), TextSource)


def test_headings_name_the_release_and_downloads_are_left_out(notes: Path) -> None:
    page = pages(notes, product="Kubernetes")[0]
    assert page.document.text == (
        "Kubernetes v1.2.1 release notes\n\n"
        "Bug or Regression (v1.2.1)\n\n"
        "- Fixed the pump. (#97013, @ann) [SIG Storage]\n\n"
        "Changed (v1.2.1)\n\n"
        "- x.org/lib: v0.1.0 → v0.2.0"
    )
    assert [section.heading for section in page.sections] == [
        "Changes by Kind > Bug or Regression",
        "Dependencies > Changed",
    ]
    assert "".join(passage.text.replace("\n", "") for passage in passages_of(page)) == (
        page.document.text.replace("\n", "")
    )


def test_a_first_level_heading_that_is_no_version_stays_in_its_release(notes: Path) -> None:
    page = pages(notes, product="Kubernetes")[1]
    assert [section.heading for section in page.sections] == [
        "Kubernetes v1.2.0 release notes",
        "Breaking change",
    ]
    assert page.document.text.endswith("API Version: v9\n\nBreaking change (v1.2.0)\n\nRead this.")


def test_another_product_is_named(notes: Path) -> None:
    titles = [page.document.title for page in pages(notes / "CHANGELOG-1.2.md", product="Pumps")]
    assert titles[0] == "Pumps v1.2.1 release notes"


KEPT = """# Changelog

All notable changes are listed here.

## [Unreleased]

- Not yet out

## [1.2.0] - 2024-03-01

### Added

- A valve

#### 2.0.0 of the hose

- Comes with it

## [1.1.0] - 2024-01-15

- A pump

# License

Free for all.
"""


def test_releases_begin_at_the_highest_level_that_has_versions(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text(KEPT)
    first, second = pages(tmp_path, product="Pumps")
    assert first.document.doc_id == f"changelog/{tmp_path.name}/CHANGELOG/1.2.0"
    assert first.document.text == (
        "Pumps 1.2.0 release notes\n\nAdded (1.2.0)\n\n- A valve\n\n"
        "2.0.0 of the hose (1.2.0)\n\n- Comes with it"
    )
    assert second.document.text == "Pumps 1.1.0 release notes\n\n- A pump"  # the licence is of no release


@pytest.mark.parametrize(
    ("file", "heading", "product"),
    [
        ("CHANGELOG.md", "# Changelog for Rotary Pumps", "Rotary Pumps"),
        ("CHANGELOG.md", "# jQuery - Release Notes", "jQuery"),
        ("python-client-CHANGELOG.md", "# Changelog", "Python client"),
        ("CHANGELOG-1.2.md", "# Change Log", "Water works"),
        ("CHANGELOG-1.2.md", "", "Water works"),
        ("CHANGELOG.md", "## [Unreleased]", "Water works"),
    ],
)
def test_a_product_is_called_as_its_notes_their_file_or_folder_say(
    tmp_path: Path, file: str, heading: str, product: str
) -> None:
    folder = tmp_path / "water_works-changelog"
    folder.mkdir()
    (folder / file).write_text(f"{heading}\n\n## 1.2.0\n\n- A valve\n")
    (page,) = pages(folder)
    assert page.document.metadata["product"] == product
    assert page.document.title == f"{product} 1.2.0 release notes"


def test_a_pin_that_is_no_hash_is_told_from_changed_content(notes: Path) -> None:
    with pytest.raises(DataError, match="'abc' is not a sha256, which has 64 digits") as raised:
        pages(notes, sha256="abc")
    (problem,) = raised.value.problems
    assert problem.field == "sha256"
    right = problem.fix.split()[1].rstrip(",")  # the message gives the hash to write
    assert len(pages(notes, sha256=right)) == len(pages(notes, sha256=right.upper())) == 3


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file or folder"):
        pages(tmp_path / "absent")
    with pytest.raises(DataError, match="no Markdown file"):
        pages(tmp_path)
    (tmp_path / "CHANGELOG.md").write_text("# News\n\nNothing.\n")
    with pytest.raises(DataError, match="there is no release in it"):
        pages(tmp_path)
    with pytest.raises(DataError, match="the content has changed"):
        pages(tmp_path, sha256="0" * 64)
    (tmp_path / "CHANGELOG.md.gz").write_bytes(b"no gzip")
    with pytest.raises(DataError, match="cannot be unpacked"):
        pages(tmp_path)


@pytest.mark.parametrize("whole", [True, False], ids=["folders", "files"])
def test_files_of_one_name_in_several_folders_are_told_apart(tmp_path: Path, whole: bool) -> None:
    found = []
    for folder in ("pump", "valve"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "CHANGELOG.md").write_text("## 1.0.0\n\n- Out\n")
        found += pages(tmp_path / folder / ("" if whole else "CHANGELOG.md"))
    assert [page.document.doc_id for page in found] == [
        "changelog/pump/CHANGELOG/1.0.0",
        "changelog/valve/CHANGELOG/1.0.0",
    ]
    together = [page.document.doc_id for page in pages(tmp_path)]
    assert together == [page.document.doc_id for page in found]
