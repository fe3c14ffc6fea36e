"""The store: sealing, compaction, forgetting, and damage to what lies on disk."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from assay.core.errors import DataError, UsageError
from assay.core.records import Edge, Fault, Hit, Judgment, Node, Response, Span, Structure
from assay.store import journal
from assay.store.journal import (
    Answer,
    AnswersEntry,
    CostEntry,
    IndexEntry,
    JournalWriter,
    JudgmentEntry,
    answer_columns,
    select_by_key,
)
from assay.store.run_store import Store

KEYS = ["k0", "k1", "k2"]
TREE = Structure([Node("root"), Node("leaf")], [Edge("root", "leaf")])
MARK = Judgment("q0", "relevance", 1.0, "ann", target="d1")


def answer(key: str, *, score: float = 1.0, failed: bool = False) -> Answer:
    hits = [] if failed else [Hit("d1", score)]
    error = Fault("ValueError", "broke") if failed else None
    return Answer(key, f"item of {key}", Response(hits=hits, error=error))


def append(store: Store, *answers: Answer, generation: int = 0) -> None:
    with store.writer() as writer:
        writer.append(AnswersEntry("arm", 0, list(answers), generation))


def first_scores(store: Store) -> dict[str, float | None]:
    frame = store.answers().with_columns(first=pl.col("scores").list.first())
    return dict(frame.select("key", "first").iter_rows())


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "run")


def test_the_first_success_wins_and_without_one_the_last_failure(store: Store) -> None:
    append(store, answer("k0", failed=True), answer("k1", score=5.0))
    append(store, answer("k0", score=2.0), answer("k1", score=6.0), answer("k2", failed=True))
    append(store, answer("k0", failed=True), answer("k0", score=3.0), answer("k1", failed=True))
    assert first_scores(store) == {"k0": 2.0, "k1": 5.0, "k2": None}
    assert store.outcomes() == {"k0": True, "k1": True, "k2": False}


def test_sealing_moves_an_arm_from_journal_to_parquet_and_changes_nothing(store: Store) -> None:
    append(store, answer("other"))
    append(store, answer("k2", score=0.25))
    append(store, answer("k0", score=1 / 3), answer("k1"))
    before = first_scores(store)
    store.seal({("arm", 0): KEYS})
    assert first_scores(store) == before
    assert store.outcomes() == dict.fromkeys([*KEYS, "other"], True)
    (sealed,) = store.sealed.iterdir()
    assert pl.read_parquet(sealed)["key"].to_list() == KEYS
    (segment,) = store.journal.iterdir()
    assert b"other" in segment.read_bytes()
    assert b"k2" not in segment.read_bytes()


def test_an_arm_that_grew_is_sealed_again_and_its_smaller_file_is_removed(store: Store) -> None:
    append(store, *map(answer, KEYS))
    store.seal({("arm", 0): KEYS})
    append(store, answer("k3"))
    store.seal({("arm", 0): [*KEYS, "k3"]})
    (sealed,) = store.sealed.iterdir()
    assert pl.read_parquet(sealed)["key"].to_list() == [*KEYS, "k3"]
    store.seal({("arm", 0): KEYS})  # shrunk again: all of it is held already
    assert list(store.sealed.iterdir()) == [sealed]


def test_a_draft_of_a_killed_process_is_removed(store: Store) -> None:
    store.sealed.mkdir(parents=True)
    (store.sealed / ".arm.0.12345678.parquet.99.tmp").write_bytes(b"half")
    append(store, *map(answer, KEYS))
    store.seal({("arm", 0): KEYS})
    assert [path.suffix for path in store.sealed.iterdir()] == [".parquet"]


def test_arms_whose_names_read_alike_as_files_do_not_overwrite_each_other(store: Store) -> None:
    append(store, answer("k0"), answer("k1"))
    store.seal({("a[x=1/2]", 0): ["k0"], ("a[x=1:2]", 0): ["k1"]})
    assert len(list(store.sealed.iterdir())) == 2
    assert set(store.outcomes()) == {"k0", "k1"}


def test_a_kill_between_sealing_and_compaction_counts_nothing_twice(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(store, *map(answer, KEYS))
    monkeypatch.setattr(Store, "_drop_lines", lambda *_: None)  # the kill
    store.seal({("arm", 0): KEYS})
    monkeypatch.undo()
    assert store.answers().height == 3
    store.seal({("arm", 0): KEYS})  # the next run tidies up
    assert [path.stat().st_size for path in store.journal.iterdir()] == []


def test_a_kill_between_sealing_and_removing_the_smaller_file_is_repaired(store: Store) -> None:
    append(store, *map(answer, KEYS))
    store.seal({("arm", 0): KEYS})
    (smaller,) = store.sealed.iterdir()
    content = smaller.read_bytes()
    append(store, answer("k3"))
    store.seal({("arm", 0): [*KEYS, "k3"]})
    smaller.write_bytes(content)  # as if the kill had come before it went
    store.seal({("arm", 0): [*KEYS, "k3"]})
    assert smaller not in store.sealed.iterdir()
    assert set(store.outcomes()) == {*KEYS, "k3"}


def test_the_newest_generation_that_succeeded_wins_wherever_it_lies(store: Store) -> None:
    append(store, answer("k0", score=1.0), answer("k1", score=1.0), answer("k2", failed=True))
    append(store, answer("k0", score=2.0), answer("k1", failed=True), answer("k2", failed=True), generation=2)
    append(store, answer("k0", score=3.0), generation=1)
    assert first_scores(store) == {"k0": 2.0, "k1": 1.0, "k2": None}
    assert store.generation() == 2


def test_sealing_again_replaces_older_answers_by_newer_ones(store: Store) -> None:
    append(store, *map(answer, KEYS))
    store.seal({("arm", 0): KEYS})
    append(store, answer("k0", score=9.0), answer("k1", failed=True), generation=1)
    before = first_scores(store)
    assert before == {"k0": 9.0, "k1": 1.0, "k2": 1.0}
    store.seal({("arm", 0): KEYS})
    assert first_scores(store) == before
    assert len(list(store.sealed.iterdir())) == 1
    assert list(store.journal.iterdir()) == []  # the failure says nothing where there is an answer
    assert store.generation() == 1


def test_compacting_leaves_newer_answers_than_the_sealed_ones(store: Store) -> None:
    append(store, answer("k0"), answer("other"))
    append(store, answer("k0", score=9.0), answer("k1"), generation=1)
    store.seal({("arm", 0): ["other"]})
    assert first_scores(store)["k0"] == 9.0  # the rewritten line of the older one comes after it


@pytest.mark.parametrize("name", ["a" * 260, "é" * 260, "a/b" * 90])
def test_an_arm_may_have_a_long_name(store: Store, name: str) -> None:
    append(store, *map(answer, KEYS))
    store.seal({(name, 0): KEYS, (name + "b", 0): ["k0"]})
    assert set(store.outcomes()) == set(KEYS)
    assert list(store.journal.iterdir()) == []


def test_costs_survive_sealing_and_are_added_up(store: Store) -> None:
    for cost in (0.25, 0.5):
        with JournalWriter(store.spending) as writer:
            writer.append(CostEntry("arm", 0, cost))
    append(store, *map(answer, KEYS))
    store.seal({("arm", 0): KEYS})
    with store.writer() as desk:
        desk.append(JudgmentEntry(MARK, cost=0.125))
    assert store.cost() == 0.875  # 0.25 + 0.5 + 0.125


def test_a_kill_between_rewriting_and_dropping_segments_loses_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(store, *map(answer, KEYS), answer("left"))

    real = Path.unlink

    def killed(path: Path, missing_ok: bool = False) -> None:
        if path.suffix == ".jsonl":
            raise KeyboardInterrupt
        real(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", killed)
    with pytest.raises(KeyboardInterrupt):
        store.seal({("arm", 0): KEYS})
    monkeypatch.undo()
    assert sorted(store.answers()["key"]) == [*KEYS, "left"]


def test_compaction_keeps_one_entry_per_index_and_every_judgment(store: Store) -> None:
    for number in range(3):
        with store.writer() as writer:
            writer.append(IndexEntry("index", "arm", 0, float(number), TREE))
            writer.append(AnswersEntry("arm", 0, [answer(KEYS[number])]))
    with store.writer() as desk:
        desk.append(JudgmentEntry(MARK), now=True)
    store.seal({("arm", 0): KEYS})
    assert store.structures() == {"index": TREE}
    assert store.judgments() == [MARK]
    lines = [line for path in store.journal.iterdir() for line in path.read_bytes().splitlines()]
    assert len(lines) == 2


def test_a_desk_may_write_while_an_arm_is_sealed(store: Store) -> None:
    append(store, *map(answer, KEYS))
    with store.writer() as desk:
        store.seal({("arm", 0): KEYS})
        desk.append(JudgmentEntry(MARK), now=True)
    assert store.judgments() == [MARK]
    assert set(store.outcomes()) == set(KEYS)


@pytest.mark.parametrize("damage", [lambda data: data[: len(data) // 2], lambda _: b"garbage", lambda _: b""])
def test_a_damaged_sealed_file_is_named_with_what_to_do(store: Store, damage: object) -> None:
    append(store, *map(answer, KEYS))
    store.seal({("arm", 0): KEYS})
    (sealed,) = store.sealed.iterdir()
    sealed.write_bytes(damage(sealed.read_bytes()))  # type: ignore[operator]
    for read in (store.outcomes, store.answers):
        with pytest.raises(DataError, match=rf"{sealed.name}: cannot be read.*Remove the file and run again"):
            read()
    sealed.unlink()
    assert store.outcomes() == {}


def test_a_sealed_file_without_our_columns_is_named(store: Store) -> None:
    store.sealed.mkdir(parents=True)
    pl.DataFrame({"other": [1]}).write_parquet(store.sealed / "arm.0.parquet")
    with pytest.raises(DataError, match=r"arm\.0\.parquet: cannot be read"):
        store.answers()


def test_a_store_of_another_form_is_refused(store: Store) -> None:
    store.write_manifest({"schema": "assay/run/1"})
    with pytest.raises(DataError, match=r"manifest\.json: .*'assay/run/1'.*Update Assay"):
        store.manifest()
    for read in (store.answers, store.outcomes):
        with pytest.raises(DataError, match="'assay/run/1'"):
            read()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\x00",
        b"null",
        b"[]",
        b"{}",
        b'{"schema": 2}',
        b'{"schema": "assay/run/2"}',
        b'{"schema": "assay/run/2", "arms": [1]}',
    ],
)
def test_a_damaged_manifest_counts_as_missing(store: Store, content: bytes) -> None:
    store.write_manifest({"schema": "assay/run/2", "arms": {}})
    assert store.manifest() == {"schema": "assay/run/2", "arms": {}}
    (store.root / "manifest.json").write_bytes(content)
    assert store.manifest() == {}
    assert "manifest.json is missing or damaged" in store.warnings()[0]


def test_a_sealed_file_that_lacks_answers_is_named(store: Store) -> None:
    append(store, *map(answer, KEYS))
    store.seal({("arm", 0): KEYS})
    (sealed,) = store.sealed.iterdir()
    pl.read_parquet(sealed)[:-1].write_parquet(sealed)
    with pytest.raises(
        DataError, match=rf"{sealed.name}: cannot be read: it is not the file that was sealed"
    ):
        store.answers()


def test_a_sealed_file_of_an_older_version_is_read(store: Store) -> None:
    append(store, *map(answer, KEYS))
    store.seal({("arm", 0): KEYS})
    (sealed,) = store.sealed.iterdir()
    sealed.rename(sealed.with_name("arm.0.0123abcd.parquet"))
    assert store.answers()["key"].to_list() == KEYS


def test_only_one_process_can_run_a_study(store: Store) -> None:
    with (
        store.locked(),
        pytest.raises(UsageError, match=r"Another process \(pid \d+\) is running"),
        store.locked(),
    ):
        pass
    with store.locked():  # free again
        pass


def test_a_lock_file_that_nobody_holds_does_not_block(store: Store) -> None:
    store.root.mkdir()
    (store.root / "lock").write_text("4194305")
    with store.locked():
        assert (store.root / "lock").read_text() != "4194305"


def test_hits_keep_span_and_text(store: Store) -> None:
    rich = Response(hits=[Hit("d1", 1.0, Span(0, 4), "text"), Hit("d2", 0.5)])
    with store.writer() as writer:
        writer.append(AnswersEntry("arm", 0, [Answer("k0", "q0", rich)]))
    (rest,) = store.answers()["rest"]
    assert b'"text"' in rest


def test_columns_do_not_depend_on_the_chunk_size(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [answer(f"k{number}", score=number / 7, failed=number % 3 == 0) for number in range(10)]
    whole = answer_columns(given)
    monkeypatch.setattr(journal, "CHUNK", 3)
    assert answer_columns(given).equals(whole)
    assert select_by_key(whole, ["k4", "none", "k1"])["failed"].to_list() == [False, None, False]
