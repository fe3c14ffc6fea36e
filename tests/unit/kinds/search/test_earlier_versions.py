"""Golden sets frozen, and compared with a git revision."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import AssayError, DataError, UsageError
from assay.core.records import Arm
from assay.kinds.search.golden.check import check_golden, freeze_golden
from assay.kinds.search.golden.study import GoldenStudy, open_golden
from assay.study.study import open_study
from small_golden import APPLES, STUDY, english, entry, expected, spanish, write_golden, write_set


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_golden(tmp_path / "repo/study")


def lock_of(folder: Path) -> Any:
    return json.loads((folder / "golden.lock.json").read_text())


# -------------------------------------------------------------------------------------- freezing


def test_a_lock_holds_who_each_item_is_and_no_query(folder: Path) -> None:
    frozen = freeze_golden(open_golden(folder))
    assert (frozen.path.name, frozen.version, frozen.items, len(frozen.new)) == ("golden.lock.json", 1, 8, 8)
    lock = lock_of(folder)
    assert (lock["schema"], lock["version"]) == ("assay/golden-lock/1", 1)
    one = lock["items"]["en-boundary-001"]
    assert {key: one[key] for key in ("language", "category", "routing", "since")} == {
        "language": "en",
        "category": "boundary",
        "routing": "practice_bridge",
        "since": 1,
    }
    assert "breathe" not in (folder / "golden.lock.json").read_text()


def test_freezing_again_without_news_leaves_the_file_alone(folder: Path) -> None:
    freeze_golden(open_golden(folder))
    before = (folder / "golden.lock.json").read_bytes()
    again = freeze_golden(open_golden(folder))
    assert (again.version, again.new, again.changed) == (1, [], [])
    assert (folder / "golden.lock.json").read_bytes() == before


def test_a_second_version_knows_since_when_each_item_is_there(folder: Path) -> None:
    freeze_golden(open_golden(folder))
    items = [*english(), entry("en-odd-002", "stock market", expected_routing="no_results")]
    items[0]["expected_passages"].append(expected(APPLES, 1, "partial"))
    write_set(folder, items)
    frozen = freeze_golden(open_golden(folder))
    assert (frozen.version, frozen.new, frozen.changed) == (2, ["en-odd-002"], ["en-direct-001"])
    since = {item_id: each["since"] for item_id, each in lock_of(folder)["items"].items()}
    assert (since["en-odd-002"], since["en-direct-001"], since["es-direct-001"]) == (2, 1, 1)


def test_a_golden_set_that_fails_its_check_is_not_frozen(folder: Path) -> None:
    freeze_golden(open_golden(folder))
    before = (folder / "golden.lock.json").read_bytes()
    write_set(folder, english()[:4])
    with pytest.raises(DataError) as caught:
        freeze_golden(open_golden(folder))
    assert "en-odd-001: the item is gone; golden.lock.json, version 1 has it" in str(caught.value)
    assert (folder / "golden.lock.json").read_bytes() == before


# ------------------------------------------------------------------------- a run after freezing


def warnings(folder: Path, study: str = "study.yaml") -> list[str]:
    """What loading the data says since the set was frozen."""
    return open_study(folder / study).dataset(Arm("words")).warnings


def test_a_run_is_told_what_is_no_longer_as_it_was_frozen(folder: Path) -> None:
    freeze_golden(open_golden(folder))
    assert warnings(folder) == []
    items = english()
    write_set(
        folder, [items[0], {**items[3], "retrieval_intent": "meet_first"}, {**items[4], "query": "rain"}]
    )
    write_set(folder, spanish()[:2], "es")
    gone = "3 items of golden.lock.json are gone now: en-direct-002, en-boundary-001, es-night-001"
    told = [
        gone,
        "1 item of golden.lock.json stands for something else now: en-odd-001",
        "1 item of golden.lock.json expects something else now: en-night-001",
    ]
    assert warnings(folder) == [f"{each}. See: assay golden check" for each in told]
    write_set(folder, items[:1])
    gone = "5 items of golden.lock.json are gone now: en-direct-002, en-boundary-001, en-night-001 and 2 more"
    assert warnings(folder) == [f"{gone}. See: assay golden check"]


def test_what_is_new_is_no_reason_to_warn(folder: Path) -> None:
    freeze_golden(open_golden(folder))
    write_set(folder, [*english(), entry("en-odd-002", "stock market", expected_routing="no_results")])
    assert warnings(folder) == []


def test_a_study_that_names_a_language_is_asked_about_that_one(folder: Path) -> None:
    freeze_golden(open_golden(folder))
    (folder / "one.yaml").write_text(STUDY.replace("golden-set-*.json", "golden-set-en.json"))
    assert warnings(folder, "one.yaml") == []
    write_set(folder, english()[:4])
    assert warnings(folder, "one.yaml") == [
        "1 item of golden.lock.json is gone now: en-odd-001. See: assay golden check"
    ]


def test_a_lock_of_other_sets_says_nothing(folder: Path) -> None:
    freeze_golden(open_golden(folder))
    lock = lock_of(folder)
    lock["items"] = {f"x{name}": each for name, each in lock["items"].items()}
    (folder / "golden.lock.json").rename(folder / "study.golden.lock.json")
    (folder / "study.golden.lock.json").write_text(json.dumps(lock))
    assert warnings(folder) == []


def test_a_damaged_lock_is_a_problem_of_the_data(folder: Path) -> None:
    (folder / "golden.lock.json").write_text("{}")
    with pytest.raises(DataError, match="this is not a lock of a golden set"):
        warnings(folder)


def test_a_study_of_another_name_has_a_lock_of_its_own(folder: Path) -> None:
    (folder / "other.yaml").write_text(STUDY)
    assert freeze_golden(open_golden(folder / "other.yaml")).path == folder / "other.golden.lock.json"


# ------------------------------------------------------------------------------------------- git


def git(folder: Path, *args: str) -> str:
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    names = {f"GIT_{who}_{what}": f"x@{who}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", "-C", str(folder), *args],
        env={"PATH": os.environ["PATH"], **own, **names},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture
def committed(folder: Path) -> Path:
    """A study below the top of a repository; its first commit has no Spanish set."""
    repository = folder.parent
    git(repository, "init", "-q", "-b", "main")
    (repository / "README").write_text("x")
    git(repository, "add", "README")
    git(repository, "commit", "-q", "-m", "empty")
    git(repository, "tag", "empty")
    git(repository, "add", "study/golden-set-en.json", "study/study.yaml")
    git(repository, "commit", "-q", "-m", "english")
    return folder


def against(folder: Path, revision: str) -> tuple[list[str], list[str]]:
    found = check_golden(open_golden(folder), revision)
    return [str(each).replace(f"{folder}/", "") for each in found.problems], found.new


def test_a_revision_without_changes(committed: Path) -> None:
    problems, new = against(committed, "HEAD")
    assert problems == []
    assert new == ["es-direct-001", "es-boundary-001", "es-night-001"]  # a file that was not there yet


def test_an_item_that_is_gone_since_a_revision(committed: Path) -> None:
    items = english()
    items[1]["query"] = "apples nobody picked"
    write_set(committed, items[:4])
    problems, _ = against(committed, "main")
    assert problems[0].startswith("golden-set-en.json: en-odd-001: the item is gone; main has it")
    assert "en-direct-002.query: the query changed; it was 'apples nobody gathered'" in problems[1]
    assert len(problems) == 2


def test_a_whole_file_that_is_gone_since_a_revision(committed: Path) -> None:
    git(committed, "add", "golden-set-es.json")
    git(committed, "commit", "-q", "-m", "spanish")
    (committed / "golden-set-es.json").unlink()
    problems, _ = against(committed, "HEAD")
    assert [each.split(": ")[0] for each in problems] == [item["id"] for item in spanish()]
    assert all("the item is gone; HEAD has it" in each for each in problems)


def test_sets_that_are_listed_or_lie_elsewhere(committed: Path) -> None:
    text = STUDY.replace("golden-set-*.json", "[golden-set-en.json, ../study/golden-set-es.json]")
    (committed / "study.yaml").write_text(text)
    assert against(committed, "HEAD")[0] == []


def refused(opened: GoldenStudy, revision: str) -> AssayError:
    with pytest.raises(AssayError) as caught:
        check_golden(opened, revision)
    return caught.value


def test_revisions_that_do_not_serve(committed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open_golden(committed)
    error = refused(opened, "no-such-branch")
    assert isinstance(error, UsageError)
    assert str(error).startswith("'no-such-branch' is neither a file nor a git revision.")
    assert "no golden set was there at 'empty'" in str(refused(opened, "empty"))
    assert "is neither a file nor a git revision" in str(refused(opened, "--output=x"))
    assert "is a folder. Name a lock or a golden-set file" in str(refused(opened, str(committed)))
    monkeypatch.setenv("PATH", str(committed))
    assert "git is not installed" in str(refused(opened, "HEAD"))


def test_a_set_that_was_damaged_at_the_revision(committed: Path) -> None:
    (committed / "golden-set-en.json").write_text("[\n{]")
    git(committed, "commit", "-q", "-a", "-m", "damaged")
    write_set(committed, english())
    error = refused(open_golden(committed), "HEAD")
    assert str(error).startswith("HEAD:study/golden-set-en.json:2: this is not JSON")


def test_a_study_outside_any_repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent.parent))
    error = refused(open_golden(folder), "HEAD")
    assert "'HEAD' is not a file, and" in str(error)
    assert "git finds no repository at" in str(error)
    assert "not a git repository" in str(error)  # in git's own words
