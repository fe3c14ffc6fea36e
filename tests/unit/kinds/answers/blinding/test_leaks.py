"""Leaks planted one by one into a clean pack: each is found by the check that is meant for it."""

from __future__ import annotations

import csv
import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from blind_pack import Made, made, written

from assay.kinds.answers.blinding.ids import blind_order
from assay.kinds.answers.blinding.masks import Masker
from assay.kinds.answers.blinding.pack import ACTS, MAP, MARKS, PACK, read_pack, write_pack
from assay.kinds.answers.leaks.search import Leak, find_leaks
from assay.kinds.answers.scoring.marks import Mark, score_book

LISTED = "who is listed, or in which order, goes with the condition"
ONE = made()
A = frozenset(each for each, condition in ONE.conditions.items() if condition == "A")


def found(folder: Path, one: Made = ONE, **more: Any) -> list[Leak]:
    return find_leaks(folder, one.pack, one.sealed, one.words, **more)


def changed(folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The pack's file with something done to it that the program itself would not do."""
    content = json.loads((folder / PACK).read_text())
    change(content)
    (folder / PACK).write_text(json.dumps(content))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "blind", ONE)


def per_response(name: str, value: Callable[[str], object]) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        for each in content["responses"]:
            each[name] = value(each["response_id"])

    return change


def renamed(one: Made, name: Callable[[str, str, int], str]) -> Made:
    """The pack with other ids: of an id, its condition and its place."""
    new = {each: name(each, condition, at) for at, (each, condition) in enumerate(one.conditions.items())}
    rename = lambda each: msgspec.structs.replace(each, response_id=new[each.response_id])  # noqa: E731
    pack = msgspec.structs.replace(
        one.pack,
        responses=sorted(map(rename, one.pack.responses), key=lambda each: each.response_id),
        drawn=sorted(new[each] for each in one.pack.drawn),
    )
    sealed = msgspec.structs.replace(one.sealed, originals=list(map(rename, one.sealed.originals)))
    return Made(pack, sealed, one.key)


def test_a_clean_pack_has_no_leak(folder: Path) -> None:
    assert found(folder) == []


def test_a_clean_pack_at_work_has_none_either(folder: Path) -> None:
    """Marks that favour a condition are what the study is for, and acts have times."""
    book = score_book(folder / MARKS)
    for number, each in enumerate(blind_order(ONE.pack, "anna", "accuracy", list(ONE.conditions))):
        grade = 3 if each in A else 1
        book.add(
            Mark(f"m{number:08d}", "anna", each, "accuracy", grade, note="A good one", time=float(number))
        )
    book.close()
    (folder / ACTS).write_text('{"act":"blinded","by":"A","time":1.0,"detail":"","previous":""}\n')
    ids = blind_order(ONE.pack, "ben", "accuracy", ONE.pack.drawn)
    view = {"step": "accuracy", "tasks": [{"task_id": each, "done": False} for each in ids]}
    task = {
        "task_id": ids[0],
        "number": 1,
        "blocks": [
            {"role": "source", "title": "Source", "text": "condition: A, see A[0]", "markable": False}
        ],
        "mark": {"grade": 3, "time": 7.0},
    }
    served = {
        "view": json.dumps(view),
        "task": json.dumps(task),
        "page": "<html><p>Score a response.</p></html>",
    }
    assert found(folder, served=served) == []


# ---------------------------------------------------------------------- one leak after the other


def test_ids_that_encode_the_condition(tmp_path: Path) -> None:
    names: list[Callable[[str, str, int], str]] = [
        lambda _, condition, at: f"R{at:03d}-{condition}-Q{at:03d}",
        lambda _, condition, at: f"X{'01234'[at % 5] if condition == 'A' else '56789'[at % 5]}{at:03d}",
        lambda _, condition, at: f"K{at if condition == 'A' else 500 + at}",
    ]
    for number, name in enumerate(names):
        one = renamed(ONE, name)
        assert "ids" in {leak.check for leak in found(written(tmp_path / str(number), one), one)}


def test_the_condition_in_a_field(folder: Path) -> None:
    changed(folder, per_response("condition", lambda each: "A" if each in A else "B"))
    assert Leak("words", "there is a field 'condition'", PACK) in found(folder)


def test_a_word_in_a_field_of_any_name(folder: Path) -> None:
    changed(folder, per_response("batch", lambda _: "small-8b"))
    assert Leak("words", "the field 'batch' holds 'small-8b'", PACK) in found(folder)


def test_a_field_that_no_pack_has(folder: Path) -> None:
    changed(folder, lambda content: content.update(remark="x"))
    assert found(folder) == [Leak("words", "there is a field 'remark', which no pack has", PACK)]


def test_an_arm_in_what_is_served(folder: Path) -> None:
    task = {
        "task_id": ONE.pack.responses[0].response_id,
        "blocks": [{"role": "fact", "text": "of A[model=small-8b]"}],
    }
    assert found(folder, served={"task": json.dumps(task)}) == [
        Leak("words", "it holds 'A[model=small-8b]'", "task")
    ]
    page = '<li data-condition="B">'
    assert found(folder, served={"page": page}) == [
        Leak("words", "it names 'B' as somebody's condition", "page")
    ]


@pytest.mark.parametrize(
    "name", ["responses_B.txt", "B/notes.txt", "export-small-8b.txt", "llms-extract.txt"]
)
def test_names_of_files(folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("nothing")
    assert {leak.check for leak in found(folder)} == {"names"}


def test_names_of_files_of_single_responses(folder: Path) -> None:
    for each, condition in ONE.conditions.items():
        (folder / condition).mkdir(exist_ok=True)
        (folder / condition / f"{each}.txt").write_text("x")
        os.utime(folder / condition / f"{each}.txt", (1.7e9, 1.7e9))
    where = "the files of single responses"
    assert found(folder) == [  # and no id, since the name would say whose it is
        Leak("names", "the name of the file holds 'a'", "A/*.txt"),
        Leak("names", "the name of the file holds 'b'", "B/*.txt"),
        Leak("names", "the values of 'name' go with the condition", where),
    ]


def test_endings_of_files_of_single_responses(folder: Path) -> None:
    for each in ONE.conditions:
        path = folder / f"{each}.{'one' if each in A else 'two'}"
        path.write_text("x")
        os.utime(path, (1.7e9, 1.7e9))
    where = "the files of single responses"
    assert found(folder) == [Leak("names", "the values of 'name' go with the condition", where)]


def test_an_order_that_groups_conditions(folder: Path) -> None:
    ids = sorted(ONE.conditions, key=lambda each: each not in A)
    view = json.dumps({"tasks": [{"task_id": each} for each in ids]})
    assert Leak("order", LISTED, "view") in found(folder, served={"view": view})
    # strictly in turn tells as much: whoever knows one knows all
    turn = [each for pair in zip(ids[:60], ids[60:], strict=True) for each in pair]
    plain = "\n".join(turn)
    assert "order" in {leak.check for leak in found(folder, served={"list": plain})}


def test_the_file_itself_sorted_by_condition(folder: Path) -> None:
    changed(folder, lambda content: content["responses"].sort(key=lambda each: each["response_id"] not in A))
    assert Leak("order", LISTED, PACK) in found(folder)


def test_a_draw_that_favours_a_condition(tmp_path: Path) -> None:
    """Of 60 drawn, 41 of A: their order is as good as any, that they are there tells."""
    rng = random.Random(0)
    ids = [*rng.sample(sorted(A), 41), *rng.sample(sorted(set(ONE.conditions) - A), 19)]
    one = ONE._replace(pack=msgspec.structs.replace(ONE.pack, drawn=sorted(ids)))
    what = "who is drawn goes with the condition"
    assert found(written(tmp_path / "blind", one), one) == [Leak("order", what, PACK)]


def test_many_short_lists_with_the_same_condition_first(folder: Path) -> None:
    pairs = zip(sorted(A), sorted(set(ONE.conditions) - A), strict=True)
    (folder / "twins.json").write_text(json.dumps([list(pair) for pair in pairs]))
    assert found(folder) == [Leak("order", LISTED, "twins.json")]


def test_answers_to_one_question_side_by_side(folder: Path) -> None:
    question = {each.response_id: each.question_id for each in ONE.pack.responses}
    ids = sorted(ONE.conditions, key=lambda each: (question[each], each))
    view = json.dumps({"tasks": [{"task_id": each} for each in ids]})
    # 30 questions with 4 responses each: 3 of 4 follow one to the same question
    what = "90 responses follow another one to the same question"
    assert Leak("neighbours", what, "view") in found(folder, served={"view": view})


def test_one_question_alone_cannot_be_parted(tmp_path: Path) -> None:
    one = made(questions=1)
    said = [leak.what for leak in found(written(tmp_path / "blind", one), one)]
    assert (
        "3 responses follow another one to the same question: no order of so few questions can separate them"
        in said
    )


@pytest.mark.parametrize("name", ["input_token_count", "content_chars", "content_length", "size_kb"])
def test_sizes_of_what_the_models_were_given(folder: Path, name: str) -> None:
    changed(folder, per_response(name, lambda _: 4821))
    assert Leak("sizes", f"there is a field {name!r}", PACK) in found(folder)


def test_numbers_under_any_name_that_go_with_the_condition(folder: Path) -> None:
    rows = [(each, (5000 if each in A else 2000) + 7 * at) for at, each in enumerate(ONE.conditions)]
    with (folder / "extra.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "weight"), *rows])
    assert found(folder) == [Leak("sizes", "the values of 'weight' go with the condition", "extra.csv")]


def test_codes_that_stand_for_the_condition(folder: Path) -> None:
    task = {each: json.dumps({"task_id": each, "hint": "x" if each in A else "y"}) for each in ONE.conditions}
    assert [leak.what for leak in found(folder, served=task)] == [
        "the values of 'hint' go with the condition"
    ]


def test_lines_of_plain_text_that_stand_for_the_condition(folder: Path) -> None:
    lines = [f"{each} {'old' if each in A else 'new'}" for each in ONE.conditions]
    (folder / "notes.txt").write_text("\n".join(lines))
    assert found(folder) == [Leak("sizes", "the values of 'line' go with the condition", "notes.txt")]


def test_what_models_wrote_or_suggested_may_go_with_the_condition(tmp_path: Path) -> None:
    """Few different answers, or a model's guess at their grades: the effect itself is no leak."""
    said = [
        msgspec.structs.replace(each, text="Ten." if each.response_id in A else "I do not know.")
        for each in ONE.pack.responses
    ]
    one = ONE._replace(pack=msgspec.structs.replace(ONE.pack, responses=said))
    folder = written(tmp_path / "blind", one)
    (folder / "suggestions").mkdir()
    lines = [
        {"response_id": each, "step": "accuracy", "value": "3" if each in A else "0", "by": "a judge"}
        for each in sorted(ONE.conditions)
    ]
    (folder / "suggestions" / "1.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    assert found(folder, one) == []


def test_times_that_go_with_the_condition(folder: Path) -> None:
    stamp = lambda each: f"2026-02-{1 if each in A else 2:02d}T10:00:00"  # noqa: E731
    ids = blind_order(ONE.pack, "anna", "accuracy", list(ONE.conditions))
    served = {"list": json.dumps([{"task_id": each, "collected": stamp(each)} for each in ids])}
    assert found(folder, served=served) == [
        Leak("times", "the values of 'collected' go with the condition", "list")
    ]
    changed(folder, per_response("created", lambda _: 1.0))
    assert Leak("times", "there is a field 'created', which no pack has", PACK) in found(folder)


def test_times_of_files(folder: Path) -> None:
    for number, each in enumerate(ONE.conditions):
        (folder / f"{each}.txt").write_text("x")
        late = 0 if each in A else 1000
        os.utime(folder / f"{each}.txt", (1.7e9 + number + late, 1.7e9 + number + late))
    where = "the files of single responses"
    assert found(folder) == [Leak("times", "the values of 'modified' go with the condition", where)]


def test_betraying_words_in_a_response(folder: Path) -> None:
    first = msgspec.structs.replace(ONE.pack.responses[0], text="As the Keys section of llms.txt says.")
    pack = msgspec.structs.replace(ONE.pack, responses=[first, *ONE.pack.responses[1:]])
    write_pack(folder, pack)
    leak = Leak("text", "1 responses hold what the rule 'curated index' masks", PACK)
    assert found(folder, ONE._replace(pack=pack)) == [leak]
    assert first.response_id not in str(leak)
    own = Masker(["ten regions"])
    telling = msgspec.structs.replace(first, text="Of ten regions.")
    pack = msgspec.structs.replace(ONE.pack, responses=[telling, *ONE.pack.responses[1:]])
    write_pack(folder, pack)
    assert [leak.check for leak in found(folder, ONE._replace(pack=pack), masker=own)] == ["text"]


@pytest.mark.parametrize("name", ["answers.txt", "answers.jsonl"])
def test_a_response_as_it_was_written(folder: Path, name: str) -> None:
    first, *rest = ONE.sealed.originals
    text = "As the Keys section of llms.txt says."
    first = msgspec.structs.replace(first, text=text, masks=[(22, 36, 22, 30)])
    one = ONE._replace(sealed=msgspec.structs.replace(ONE.sealed, originals=[first, *rest]))
    line = json.dumps({"id": first.response_id, "answer": text}) if name.endswith("jsonl") else f"- {text}"
    (folder / name).write_text(line + "\n")
    what = "it holds responses as they were written, without masks"
    assert found(folder, one) == [Leak("text", what, name)]


def test_a_source_of_its_own(folder: Path) -> None:
    first = msgspec.structs.replace(ONE.pack.responses[0], source="S000-Q001")
    pack = msgspec.structs.replace(ONE.pack, responses=[first, *ONE.pack.responses[1:]])
    assert first.question_id != "S000-Q001"
    write_pack(folder, pack)
    assert {leak.check for leak in found(folder, ONE._replace(pack=pack))} == {"sources"}


def test_a_source_of_its_own_on_the_screen(folder: Path) -> None:
    question = ONE.pack.responses[0].question_id
    twins = [each.response_id for each in ONE.pack.responses if each.question_id == question][:2]
    served = {
        each: json.dumps({"task_id": each, "blocks": [{"role": "source", "text": f"page {number}"}]})
        for number, each in enumerate(twins)
    }
    what = f"the responses to {question!r} are shown beside different sources"
    assert found(folder, served=served) == [Leak("sources", what, "what is served")]


def test_the_map_in_the_open(folder: Path) -> None:
    (folder / MAP).write_bytes(msgspec.json.encode(ONE.sealed))
    assert Leak("map", "it is not encrypted", MAP) in found(folder)


def test_a_copy_of_the_map(folder: Path) -> None:
    (folder / "extra.json").write_bytes(msgspec.json.encode(ONE.sealed.originals))
    assert Leak("map", "it says which response is whose", "extra.json") in found(folder)


def test_the_key_beside_the_map(folder: Path) -> None:
    (folder / "notes.txt").write_text(ONE.key.hex() + "\n")
    assert found(folder) == [Leak("map", "it is a key, which must not lie with the pack", "notes.txt")]


def test_ids_that_lean_to_one_side(tmp_path: Path) -> None:
    """No sign tells for sure, but the third sign is of the first half four times of five for A alone."""
    one = made(questions=100)

    def leaning(each: str, condition: str, at: int) -> str:
        signs = "0123456789ABCDEF" if (condition == "A") == (at % 5 > 0) else "GHJKMNPQRSTVWXYZ"
        return each[:4] + signs[at % 16] + each[5:]

    one = renamed(one, leaning)
    assert {leak.check for leak in found(written(tmp_path / "blind", one), one)} >= {"guess"}


def test_no_finding_says_whose_a_response_is(folder: Path) -> None:
    changed(folder, per_response("condition", lambda each: "A" if each in A else "B"))
    changed(folder, per_response("tokens", lambda each: 1 if each in A else 2))
    (folder / "copy.json").write_bytes(msgspec.json.encode(ONE.sealed))
    said = " ".join(map(str, found(folder)))
    assert not any(each in said for each in ONE.conditions)


# ------------------------------------------- exports, blanks at an end, the order of fields


def test_scores_in_an_export_may_favour_a_condition(folder: Path) -> None:
    """A check after scoring must neither take the effect for a leak nor tell that there is one."""
    rows = [
        {
            "response_id": each,
            "factual_accuracy": "1" if each in A else "3",
            **({"hallucination_categories": "H-FAB"} if each in A else {}),
            "completeness": "0" if each in A else "1",
            "scoring_notes": "condition: A would be my guess",
            "scoring_date": "2026-03-01" if each in A else "2026-03-02",
        }
        for each in ONE.conditions
    ]
    claim = {"category": "H-FAB", "model_text_span": "keys", "claim": "keys", "note": "none are named"}
    claims = {each: [claim] if each in A else [] for each in sorted(ONE.conditions)}
    details = {
        each: {"hallucination_count": len(some), "hallucinations": some} for each, some in claims.items()
    }
    exported = {"raw-data.csv": json.dumps(rows), "hallucination-details.json": json.dumps(details)}
    assert found(folder, exported=exported) == []


@pytest.mark.parametrize("keyed", [True, False])
def test_the_order_of_fields_in_an_export(folder: Path, keyed: bool) -> None:
    about = {each: {"site_id": "S001", "complexity": "single-fact"} for each in ONE.conditions}
    turned = {each: dict(reversed(row.items())) if each in A else row for each, row in about.items()}
    content = turned if keyed else [{"response_id": each, **row} for each, row in turned.items()]
    what = "which fields there are, or their order, goes with the condition"
    assert Leak("words", what, "export.json") in found(folder, exported={"export.json": json.dumps(content)})


def test_a_field_that_only_some_have(folder: Path) -> None:
    rows = [{"response_id": each, **({"seen": 1} if each in A else {})} for each in ONE.conditions]
    assert "words" in {leak.check for leak in found(folder, exported={"export.json": json.dumps(rows)})}


@pytest.mark.parametrize("blank", [" ", "\n", "\u00a0", "\u200b"])
def test_blanks_at_the_end_of_a_response(folder: Path, blank: str) -> None:
    one = ONE._replace(
        pack=msgspec.structs.replace(
            ONE.pack,
            responses=[
                msgspec.structs.replace(each, text=each.text + blank) if each.response_id in A else each
                for each in ONE.pack.responses
            ],
        )
    )
    what = "60 responses hold what the rule 'blanks at an end' masks"
    assert Leak("text", what, PACK) in found(folder, one)


def test_a_plain_text_of_responses_as_shown_is_no_leak(folder: Path) -> None:
    first = ONE.pack.responses[0]
    originals = [
        msgspec.structs.replace(
            each, text=each.text + "\n", masks=[(len(each.text),) * 3 + (len(each.text) + 1,)]
        )
        for each in ONE.sealed.originals
    ]
    one = ONE._replace(sealed=msgspec.structs.replace(ONE.sealed, originals=originals))
    (folder / "sample.txt").write_text(f"{first.text}\nwas the first\n")
    assert found(folder, one) == []


# -------------------------------------------------------------------------------------- at large


@pytest.mark.slow
def test_two_thousand_responses_are_quick(tmp_path: Path) -> None:
    one = made(questions=500)
    folder = written(tmp_path / "blind", one)
    begin = time.process_time()
    assert found(folder, one) == []
    assert time.process_time() - begin < 3.0  # about 1 on an idle core
    assert read_pack(folder) == one.pack


@pytest.mark.slow
def test_two_hundred_clean_packs_give_no_alarm(tmp_path: Path) -> None:
    alarms = 0
    for seed in range(200):
        one = made(seed, (20, 30, 40, 60)[seed % 4], ("ben", "cleo")[: seed % 3])
        alarms += bool(found(written(tmp_path / str(seed), one), one))
    assert alarms <= 1  # 2 would be 1 %
