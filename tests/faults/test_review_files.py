"""Review forms as people leave them: everything wrong at once, and no file brings more than a DataError."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from assay.core.dataset import Corpus
from assay.core.errors import DataError
from assay.core.records import Item, Passage
from assay.review.export import blind_forms, write_forms
from assay.review.forms import read_forms
from assay.review.pool import Candidate, Pool
from review_intake import take

CORPUS = Corpus([Passage(f"d{n}", f"Passage {n}: the rudder\nmoved.", section="A") for n in range(4)])
ITEM = Item("Q1", "a query", gold={"sql": "x LIKE '%y%'", "reports": ["R1"], "signals": ["y"]})
POOL = Pool(
    10,
    ("a",),
    [ITEM],
    [Candidate("Q1", f"d{n}", frozenset({"a"}), None if n else "KEYWORD_MATCH") for n in range(4)],
    {},
)


def good(folder: Path) -> str:
    (path,) = write_forms(blind_forms(POOL, CORPUS), folder)
    text = path.read_text("utf-8").replace('reviewer: ""', "reviewer: Ann")
    text = text.replace('judgment: ""', "judgment: SEMANTIC_MATCH", 1)
    path.unlink()
    return text


def problems(*paths: Path) -> list[str]:
    with pytest.raises(DataError) as caught:
        read_forms(paths)
    return [str(problem) for problem in caught.value.problems]


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_one_look_shows_every_problem_of_every_file(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", "metadata: {query_id: Q1}\n")
    write(
        tmp_path / "b.yml",
        "metadata: [x, y]\nresults:\n- d1\n- {judgment: TODO}\n- {chunk_id: d1, judgment: [a, b]}\n",
    )
    write(tmp_path / "c.yaml", "- a\n- b\n")
    write(tmp_path / "d.yaml", "metadata: {query_id: Q1\n")
    write(tmp_path / "e.yaml", "metadata: {query_id: Q1}\nresults: []\nresults: []\n")
    (tmp_path / "f.yaml").write_bytes(b"\xff\xfe\x00")
    write(tmp_path / "g.yaml", "")
    write(tmp_path / "h.yaml", 'metadata: {query_id: "\\U00110000"}\nresults: []\n')
    found = [each.replace(f"{tmp_path}/", "") for each in problems(tmp_path, tmp_path / "none.yaml")]
    unclosed = "while parsing a flow mapping, expected ',' or '}', but got '<stream end>'"
    assert [each.split(". ")[0] for each in found] == [
        "a.yaml:1: results: the list of results is missing",
        "b.yml:1: metadata: is not a mapping of fields",
        "b.yml:1: metadata.query_id: the field is missing or empty",
        "b.yml:3: results.0: is not a mapping of fields",
        "b.yml:4: results.1.chunk_id: the field is missing or empty",
        "b.yml:5: results.2.judgment: is not a text",
        "c.yaml:1: this is not a review form",
        f"d.yaml:2: this is not YAML: {unclosed}",
        "e.yaml:3: results: this field is already on line 2",
        "f.yaml:1: bytes that are not UTF-8",
        "g.yaml:1: this is not a review form",
        "h.yaml: this is not YAML: chr() arg not in range(0x110000)",
        "none.yaml: there is no such file",
    ]
    assert all(each.endswith((".", "?")) for each in found)


def test_a_folder_without_forms_is_named(tmp_path: Path) -> None:
    assert problems(tmp_path) == [
        f"{tmp_path}: the folder holds no YAML file. Name the folder that the forms were exported to."
    ]


def test_unknown_fields_are_let_through(tmp_path: Path) -> None:
    text = good(tmp_path) + "automated_metrics: {mrr: 0.5}\n"
    text = text.replace("metadata:\n", "metadata:\n  exported_from: elsewhere\n")
    text = text.replace("- chunk_id", "- rank: first\n  score: high\n  chunk_id")
    (form,) = read_forms([write(tmp_path / "a.yaml", text)])
    assert len(take([form], POOL, CORPUS, when=0.0, standing=[]).judgments) == 1


def _damaged(text: str, chance: random.Random) -> bytes:
    """The file after one to three accidents."""
    data = text.encode()
    for _ in range(chance.randint(1, 3)):
        lines = data.split(b"\n")
        at, place = chance.randrange(len(lines)), chance.randrange(len(data) + 1)
        words = (
            b"null",
            b"[1, 2]",
            b"{a: b}",
            b"1e999",
            b"*x",
            b"&x y",
            b'"\\Uffffffff"',
            b"!!set {a}",
            b"'",
            b"- -",
        )
        match chance.randrange(9):
            case 0:
                data = data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]
            case 1:
                data = b"\n".join(lines[:at] + lines[at + 1 :])
            case 2:
                data = b"\n".join(
                    [*lines[:at], b" " * chance.randrange(4) + lines[at].lstrip(), *lines[at + 1 :]]
                )
            case 3:
                key = lines[at].split(b":")[0]
                data = b"\n".join([*lines[:at], key + b": " + chance.choice(words), *lines[at + 1 :]])
            case 4:
                data = data[:place]
            case 5:
                data = b"\n".join([*lines[:at], lines[at], *lines[at:]])
            case 6:
                data = (
                    data[:place]
                    + chance.choice((b"\t", b"\x00", b"\x85", b"---\n", b"%", b"#", b'"'))
                    + data[place:]
                )
            case 7:
                data = data[:place] + b"[" * 400 + data[place:]
            case _:
                word = chance.choice(
                    (b"KM", b"Keyword-Match", b"?", b"9" * 5000, b"'FALSE positive'", b"yes")
                )
                data = data.replace(b'judgment: ""', b"judgment: " + word, 1)
        data = data or b"\n"
    return data


@pytest.mark.slow
def test_five_hundred_damaged_files_bring_a_data_error_or_are_fine(tmp_path: Path) -> None:
    text, chance = good(tmp_path), random.Random(5)
    path, fine, wrong = tmp_path / "form.yaml", 0, []
    for _ in range(500):
        path.write_bytes(_damaged(text, chance))
        try:
            take(read_forms([path]), POOL, CORPUS, when=0.0, standing=[])
            fine += 1
        except DataError as error:
            wrong.append(error.problems)
    assert min(fine, len(wrong)) > 50
    assert all(problem.fix for problems in wrong for problem in problems)


def test_a_folder_of_forms_taken_in_lies_beside_newer_ones(tmp_path: Path) -> None:
    """d1 is judged in the first form, and its text changes; the second form asks for it again."""
    text = good(tmp_path / "001")
    write(tmp_path / "001" / "review_Q1.yaml", text)
    first = take(read_forms([tmp_path]), POOL, CORPUS, when=0.0, standing=[])
    (judged,) = (each.target for each in first.judgments)
    corpus = Corpus(
        [
            Passage(f"d{n}", "A new text." if f"d{n}" == judged else f"Passage {n}: the rudder\nmoved.")
            for n in range(4)
        ]
    )
    (path,) = write_forms(blind_forms(POOL, corpus, only=[("Q1", str(judged))]), tmp_path / "002")
    write(
        path,
        path.read_text("utf-8")
        .replace('reviewer: ""', "reviewer: Ann")
        .replace('judgment: ""', "judgment: SEMANTIC_MATCH"),
    )
    second = take(read_forms([tmp_path]), POOL, corpus, when=1.0, standing=first.judgments)
    assert [(each.target, each.replaces) for each in second.judgments] == [
        (judged, first.judgments[0].judgment_id)
    ]
    said = [*first.judgments, *second.judgments]
    third = take(read_forms([tmp_path]), POOL, corpus, when=2.0, standing=said)
    assert (third.judgments, third.unchanged) == ([], 2)


def test_a_damaged_form_is_never_overwritten(tmp_path: Path) -> None:
    """Whatever happened to a file that a person filled in: an export leaves it, or nothing is lost."""
    text, chance = good(tmp_path), random.Random(6)
    path = tmp_path / "review_Q1.yaml"
    refused = 0
    for _ in range(100):
        path.write_bytes(_damaged(text, chance))
        before = path.read_bytes()
        try:
            write_forms(blind_forms(POOL, CORPUS), tmp_path)
        except DataError:
            refused += 1
            assert path.read_bytes() == before
        else:
            assert b"SEMANTIC_MATCH" not in before.split(b"results:")[-1] or b"Ann" not in before
    assert refused > 80
