"""Responses from a file: what becomes of each row, what fails, what is refused, what the identity holds."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, UsageError
from assay.core.protocols import Kit
from assay.core.records import Fault, Hit, Item, Passage, Query, Response
from assay.core.registry import SYSTEMS, Registry
from assay.kinds.answers.systems.responses import Responses, read_responses


def document(pair: str, condition: str, *questions: str) -> Passage:
    about = {"pair": pair, "condition": condition, "site": "S1", "questions": list(questions)}
    return Passage(f"{pair}/{condition}", f"text of {pair}", metadata=about)


CORPUS = Corpus([document(pair, condition, "q1", "q2") for pair in ("P2", "P1") for condition in ("A", "B")])
DATASET = Dataset("d", CORPUS, [Item(each, f"{each}?") for each in ("q1", "q2", "q3")])


def row(question_id: str, condition: str = "A", model_id: str = "m", **more: Any) -> dict[str, Any]:
    given = {"question_id": question_id, "condition": condition, "model_id": model_id}
    return {**given, **({} if "error" in more else {"response": f"{question_id} by {model_id}"}), **more}


def write(folder: Path, *rows: dict[str, Any] | str) -> Kit:
    lines = [each if isinstance(each, str) else json.dumps(each) for each in rows]
    (folder / "r.jsonl").write_text("\n".join(lines) + "\n")
    return Kit(root=folder)


def answers(kit: Kit, path: str = "r.jsonl", model: str = "m") -> dict[str, Response]:
    session = Responses(path, "A", model).build(CORPUS, 0, kit).session()
    return {item.item_id: session.answer(item.query, []) for item in DATASET.items}


def problems_of(kit: Kit, **how: Any) -> list[str]:
    system = Responses(**{"path": "r.jsonl", "condition": "A", "model": "m", **how})
    return [str(each).replace(f"{kit.root}/", "") for each in system.problems(DATASET, kit)]


def test_a_row_is_answered_with_the_documents_of_its_condition(tmp_path: Path) -> None:
    counts = {"input_token_count": 900, "output_token_count": 7, "cost": 0.5, "seconds": 1.5}
    kit = write(tmp_path, row("q1", **counts), row("q1", "B", response="other"), row("q1", model_id="n"))
    found = answers(kit)["q1"]
    assert (found.answer, found.hits) == ("q1 by m", [Hit("P2/A", 2.0), Hit("P1/A", 1.0)])
    assert (found.observed.tokens, found.observed.seconds) == (7, {"total": 1.5})
    assert found.observed.cost is None  # it was paid for elsewhere
    kept = read_responses(kit.path("r.jsonl")).of("A", "m")[0].row
    assert (kept.input_token_count, kept.cost) == (900, 0.5)


def test_what_was_not_collected_fails_and_silence_is_an_answer(tmp_path: Path) -> None:
    kit = write(tmp_path, row("q1", error="timed out"), row("q2", response=""))
    found = answers(kit)
    assert found["q1"].error == Fault("error", "timed out")
    assert found["q1"].answer is None
    assert (found["q2"].error, found["q2"].answer) == (None, "")
    assert found["q3"].error is not None
    assert found["q3"].error.kind == "absent"


def test_a_file_may_be_csv_and_gzipped(tmp_path: Path) -> None:
    text = (
        "question_id,model_id,condition,response,error,output_token_count,seconds,note\n"
        'q1,m,A,"two\nlines",,12,0.5,x\n'
        "q2,m,A,,refused,,,\n"
        "q3,m,A,,,,,\n"
    )
    (tmp_path / "r.csv.gz").write_bytes(gzip.compress(text.encode()))
    found = answers(Kit(root=tmp_path), "r.csv.gz")
    assert (found["q1"].answer, found["q1"].observed.tokens) == ("two\nlines", 12)
    assert found["q1"].observed.seconds == {"total": 0.5}
    assert found["q2"].error == Fault("error", "refused")
    assert found["q3"].answer == ""
    (tmp_path / "s.jsonl.gz").write_bytes(gzip.compress(json.dumps(row("q1")).encode()))
    assert answers(Kit(root=tmp_path), "s.jsonl.gz")["q1"].answer == "q1 by m"


def test_content_is_no_hit_where_the_corpus_has_none(tmp_path: Path) -> None:
    kit = write(tmp_path, row("q1"))
    session = Responses("r.jsonl", "A", "m").build(Corpus(()), 0, kit).session()
    assert session.answer(Query("q1", "?"), []) == Response(answer="q1 by m")


def test_every_problem_has_its_line_and_they_come_in_its_order(tmp_path: Path) -> None:
    kit = write(
        tmp_path,
        row("q1"),
        "{",
        row("q2", "C"),
        row("q1"),
        row("q9"),
        row("q9", "B"),  # of another condition: a line of the file all the same
        row("q2", response=None),
        row("q3", input_token_count=-1),
        {"condition": "A", "response": "x"},
    )
    assert problems_of(kit) == [
        "r.jsonl:2: not JSON: Input data was truncated. Write one complete JSON object per line.",
        "r.jsonl:3: condition: 'C' is not a condition. Write A or B.",
        "r.jsonl:4: 'q1' under A by 'm' is on line 1 already. Keep the one that counts.",
        "r.jsonl:5: question_id: there is no item 'q9'. Correct the id, or take the row out.",
        "r.jsonl:6: question_id: there is no item 'q9'. Correct the id, or take the row out.",
        (
            "r.jsonl:7: response: there is neither a response nor an error. "
            'Write what the model answered, "" if it said nothing, or an error.'
        ),
        "r.jsonl:8: input_token_count: expected int >= 0. Correct the value.",
        "r.jsonl:9: question_id: the field is missing. Add 'question_id'.",
    ]
    with pytest.raises(DataError, match="not JSON"):
        Responses("r.jsonl", "A", "m").build(CORPUS, 0, kit)


def test_a_model_or_condition_without_rows_is_reported(tmp_path: Path) -> None:
    kit = write(tmp_path, row("q1"), row("q1", "B", "small-8b"))
    assert problems_of(kit, model="small-8B") == [
        "r.jsonl: it has no row of the model 'small-8B'. Did you mean 'small-8b'?"
    ]
    assert "it has rows of 2 models, and none is chosen" in problems_of(kit, model="")[0]
    assert "no row of the model 'm' under the condition B" in problems_of(kit, condition="B")[0]
    assert problems_of(write(tmp_path, row("q1")), model="") == []
    assert problems_of(write(tmp_path, "")) == [
        "r.jsonl: there is no response in it. Write one row per response."
    ]
    assert problems_of(kit, path="gone.jsonl") == ["gone.jsonl: there is no such file. Check the path."]
    assert "neither JSON lines nor CSV" in problems_of(kit, path="r.xlsx")[0]


def test_csv_without_its_columns_is_reported(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("question_id,conditon,response\nq1,A,x\n")
    assert problems_of(Kit(root=tmp_path), path="r.csv") == [
        "r.csv:1: condition: the column is missing. Did you mean 'conditon'?"
    ]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "r.csv:1: there are no names of columns. Begin with question_id,condition,response."),
        (
            b"question_id;condition;response\nq1;A;x\n",
            "r.csv:1: columns are separated by semicolons. Save the file with commas between columns.",
        ),
        (
            b"question_id\tcondition\tresponse\nq1\tA\tx\n",
            "r.csv:1: columns are separated by tabs. Save the file with commas between columns.",
        ),
        (
            b"question_id,condition,response,response\nq1,A,x,y\n",
            "r.csv:1: response: the column occurs 2 times. Keep one, or rename the others.",
        ),
        (
            b"question_id,condition,response\nq1,A,x\nq2,A,\xe9t\xe9\n",
            "r.csv:3: not UTF-8 (byte 0xe9). Save the file as UTF-8.",
        ),
    ],
)
def test_csv_of_another_make_is_reported_once_and_by_its_cause(
    tmp_path: Path, content: bytes, what: str
) -> None:
    (tmp_path / "r.csv").write_bytes(content)
    assert problems_of(Kit(root=tmp_path), path="r.csv", model="") == [what]


def test_csv_may_have_blanks_around_its_cells_and_very_long_ones(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(f"question_id,condition,response\n q1 , A , {'long ' * 40_000}\n")
    kit = Kit(root=tmp_path)
    assert problems_of(kit, path="r.csv", model="") == []
    assert answers(kit, "r.csv", "")["q1"].answer == f" {'long ' * 40_000}"  # a response stays as it is


def test_a_list_is_reported_once_and_not_for_each_of_its_lines(tmp_path: Path) -> None:
    kit = write(tmp_path, json.dumps([row("q1"), row("q2")], indent=1))
    assert problems_of(kit) == [
        "r.jsonl: it is one JSON list. Write one object per line, without brackets and commas between."
    ]


def test_content_that_was_cut_off_is_warned_of(tmp_path: Path) -> None:
    long = [Item(each, "?") for each in ("q1", "q2", "q3")]
    content = [document(f"P{number}", "A", "q1", "q2", "q3") for number in range(100)]  # 1,400 characters
    counts = {"q1": 180, "q2": 40, "q3": None}
    kit = write(tmp_path, *(row(each, input_token_count=count) for each, count in counts.items()))
    (warning,) = Responses("r.jsonl", "A", "m").warnings(Dataset("d", Corpus(content), long), kit)
    assert warning == (
        "r.jsonl: input_token_count is too small for the content under condition A and model m "
        "in 1 of 3 rows (q2): was it cut off before the model saw it, or are these the tokens of "
        "something else?"
    )


def test_questions_without_a_row_are_warned_of(tmp_path: Path) -> None:
    kit = write(tmp_path, row("q2"))
    (warning,) = Responses("r.jsonl", "A", "m").warnings(DATASET, kit)
    assert warning == "r.jsonl has no row under condition A and model m for 2 of 3 items (q1, q3)"
    assert Responses("r.jsonl", "A", "m").problems(DATASET, kit) == []
    assert Responses("r.jsonl", "A").warnings(Dataset("d", CORPUS, [Item("q2", "?")]), kit) == []


def test_its_identity_is_that_of_its_own_rows(tmp_path: Path) -> None:
    system = Responses("r.jsonl", "A", "m")
    first = system.identity(write(tmp_path, row("q1"), row("q2")))
    other = row("q1", "B"), row("q1", model_id="n")
    assert system.identity(write(tmp_path, *other, row("q2"), row("q1"))) == first
    assert system.identity(write(tmp_path, row("q1"), row("q2", response="changed"))) != first


def test_a_study_names_it() -> None:
    made = Registry().create(SYSTEMS, "responses(path=r.jsonl, condition=B)")
    assert made == Responses("r.jsonl", "B")
    with pytest.raises(UsageError, match="condition: there is no 'b'"):
        Responses("r.jsonl", "b")
