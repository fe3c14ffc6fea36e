"""What was done with the seal, and that nobody can undo it unseen."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from assay.core.errors import UsageError
from assay.kinds.answers.blinding.acts import Act, append_act, read_acts, record_unblinding
from assay.kinds.answers.blinding.pack import ACTS, MARKS

HEAD = "blind.acts"
NOON = 1_772_020_800.0  # 2026-02-25 12:00 UTC


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "blind"
    append_act(folder, Act("blinded", "otto", NOON), tmp_path / HEAD)
    append_act(folder, Act("checked", "otto", NOON + 60, "no leak"), tmp_path / HEAD)
    return folder


def head(folder: Path) -> Path:
    return folder.parent / HEAD


def unblind(folder: Path, missing: str = "", *, force: bool = False, by: str = "otto") -> tuple[Act, bool]:
    return record_unblinding(
        folder, Act("unblinded", by, NOON + 120), missing=missing, force=force, head=head(folder)
    )


def test_acts_are_kept_in_order_and_chained(folder: Path) -> None:
    acts = read_acts(folder, head(folder))
    assert (acts.state, acts.intact) == ("blinded", True)
    assert acts.sentences == [
        "2026-02-25 12:00 UTC: blinded by otto",
        "2026-02-25 12:01 UTC: checked by otto (no leak)",
    ]
    assert acts.acts[0].previous == ""
    assert len(acts.acts[1].previous) == 64


def test_nothing_done_is_no_problem(tmp_path: Path) -> None:
    acts = read_acts(tmp_path)
    assert (acts.state, acts.intact, acts.opened) == ("open", True, None)
    with pytest.raises(UsageError, match="There is nothing to unblind"):
        unblind(tmp_path / "blind")


def test_unblinding_is_one_act(folder: Path) -> None:
    act, now = unblind(folder)
    assert (act.act, now) == ("unblinded", True)
    again, now = unblind(folder, by="eve")
    assert (str(again), now) == ("2026-02-25 12:02 UTC: unblinded by otto", False)
    assert len(read_acts(folder, head(folder)).acts) == 3
    assert read_acts(folder, head(folder)).state == "unblinded"


def test_early_unblinding_is_refused_and_forced_stays_forced(folder: Path) -> None:
    with pytest.raises(UsageError, match="Scoring is not finished: 12 marks of anna are missing"):
        unblind(folder, "12 marks of anna are missing")
    assert read_acts(folder, head(folder)).state == "blinded"
    act, now = unblind(folder, "12 marks of anna are missing", force=True)
    assert (act.act, act.detail, now) == ("forced", "12 marks of anna are missing", True)
    unblind(folder)  # complete by now: nothing changes
    append_act(folder, Act("unblinded", "otto", NOON), head(folder))
    append_act(folder, Act("blinded", "otto", NOON), head(folder))
    acts = read_acts(folder, head(folder))
    assert (acts.state, acts.intact) == ("forced", True)
    assert "unblinded early, by force by otto" in acts.sentences[2]


def test_force_without_need_is_a_plain_unblinding(folder: Path) -> None:
    assert unblind(folder, force=True)[0].act == "unblinded"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lines: [lines[0].replace("otto", "anna"), *lines[1:]], "line 2 .* does not follow"),
        (lambda lines: [lines[0], lines[2]], "line 2 .* does not follow"),
        (lambda lines: [lines[0], lines[2], lines[1]], "line 2 .* does not follow"),
        (lambda lines: [*lines[:2], "{}"], "line 3 .* cannot be read"),
        (lambda lines: lines[:2], "cut off or rewritten"),
        (lambda lines: lines[:1], "cut off or rewritten"),
        (lambda lines: [*lines[:2], lines[2].replace("forced", "unblinded")], "cut off or rewritten"),
    ],
)
def test_a_record_that_was_changed_is_reported(folder: Path, change: object, said: str) -> None:
    unblind(folder, "much", force=True)
    lines = (folder / ACTS).read_text().splitlines()
    (folder / ACTS).write_text("".join(f"{line}\n" for line in change(lines)))  # type: ignore[operator]
    acts = read_acts(folder, head(folder))
    assert not acts.intact
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(acts.sentences[-1])


def test_a_missing_record_is_reported_where_one_is_known(folder: Path) -> None:
    (folder / ACTS).unlink()
    assert "is gone, though 2 acts were recorded" in read_acts(folder, head(folder)).problem
    (folder / MARKS).mkdir()
    (folder / MARKS / "000001.jsonl").write_text("{}\n")
    assert "is gone, though marks were made" in read_acts(folder).problem


def test_a_broken_record_goes_on_and_stays_broken(folder: Path) -> None:
    path = folder / ACTS
    path.write_text(path.read_text().replace("no leak", "no leaks"))
    unblind(folder)
    acts = read_acts(folder, head(folder))
    assert (acts.state, acts.intact) == ("unblinded", False)
    assert "ended differently before" in acts.acts[-1].detail


def test_an_act_torn_by_a_crash_was_not_done(folder: Path) -> None:
    with (folder / ACTS).open("ab") as file:
        file.write(b'{"act":"forced","by":"ot')
    assert read_acts(folder, head(folder)).state == "blinded"
    unblind(folder)
    acts = read_acts(folder, head(folder))
    assert (acts.state, acts.intact, len(acts.acts)) == ("unblinded", True, 3)


def test_a_crash_between_act_and_head_breaks_nothing(folder: Path) -> None:
    before = head(folder).read_bytes()
    unblind(folder)
    head(folder).write_bytes(before)
    assert read_acts(folder, head(folder)).intact


def test_a_pack_put_back_from_a_copy_does_not_forget_the_force(folder: Path) -> None:
    before = (folder / ACTS).read_bytes()
    unblind(folder, "much", force=True)
    (folder / ACTS).write_bytes(before)
    acts = read_acts(folder, head(folder))
    assert (acts.state, acts.intact, acts.opened) == ("forced", False, None)
    unblind(folder)  # complete at last
    assert read_acts(folder, head(folder)).state == "forced"
    (folder / ACTS).unlink()
    assert read_acts(folder, head(folder)).state == "forced"


def test_a_missing_head_is_reported_once_it_must_have_been_there(folder: Path) -> None:
    head(folder).unlink()
    assert "blind.acts is gone" in read_acts(folder, head(folder)).problem
    lines = (folder / ACTS).read_text().splitlines(keepends=True)
    (folder / ACTS).write_text(lines[0])  # as after a crash at the very first act
    assert read_acts(folder, head(folder)).intact
    unblind(folder)
    assert read_acts(folder, head(folder)).intact
    head(folder).unlink()
    (folder / ACTS).write_text(lines[0])
    (folder / MARKS).mkdir()
    (folder / MARKS / "000001.jsonl").write_text("{}\n")
    assert "blind.acts is gone" in read_acts(folder, head(folder)).problem


def test_a_head_that_cannot_be_read_is_not_believed(folder: Path) -> None:
    head(folder).write_text("?")
    assert not read_acts(folder, head(folder)).intact


def test_an_act_reads_back_as_it_was_written(folder: Path) -> None:
    act = Act("checked", "Ünal", NOON, "a\nb")
    kept = append_act(folder, act)
    assert msgspec.structs.replace(kept, previous="") == act
    assert read_acts(folder).acts[-1] == kept
