"""Wrong studies, files and commands: each is told what is wrong, where and what to do, and leaves nothing."""

from __future__ import annotations

import random
import re
from pathlib import Path

import polars as pl
import pytest

from small_study import STUDY, Done, assay, edited, write_study


def refused(folder: Path, *args: object, command: str = "run") -> Done:
    """A command that must not go ahead: a message and no traceback, nothing on stdout, nothing written."""
    before = sorted(folder.rglob("*")) if folder.is_dir() else []
    done = assay(command, folder, *args)
    assert done.code in {2, 3, 5}
    assert done.out == ""
    assert "Traceback" not in done.err
    assert (sorted(folder.rglob("*")) if folder.is_dir() else []) == before
    return done


def problems(tmp_path: Path, text: str | bytes) -> list[str]:
    """What a study is told, without the folder."""
    folder = write_study(tmp_path / "small", text)
    done = refused(folder)
    assert done.code == 3
    assert assay("validate", folder).err == done.err
    return done.err.replace(f"{folder}/", "").splitlines()


# ---------------------------------------------------------------------------------- study file

WRONG_FIELDS = {
    "unknown field": (
        edited("by:", "bye:"),
        ["study.yaml:8: bye: there is no such field. Did you mean 'by'?"],
    ),
    "unknown nested field": (
        STUDY + "run: {thread: 2}\n",
        ["study.yaml:13: run.thread: there is no such field. Did you mean 'threads'?"],
    ),
    "unknown field of a gate": (
        edited("    go:", "    goo:"),
        ["study.yaml:12: gates.ship.goo: there is no such field. Did you mean 'go'?"],
    ),
    "wrong type": (
        edited("by: [topic]", "by: {topic: 1}"),
        ["study.yaml:8: by: expected a list. Correct the value."],
    ),
    "number wanted": (
        STUDY + "run: {timeout: soon}\n",
        ["study.yaml:13: run.timeout: expected a number, found 'soon'. Correct the value."],
    ),
    "one of two words": (
        edited("resamples: 200", "against: everyone"),
        ["study.yaml:9: compare.against: expected 'baseline' or 'all', found 'everyone'. Correct the value."],
    ),
    "system is a number": (
        edited("lexical: bm25", "lexical: 25"),
        [
            (
                "study.yaml:4: systems.lexical: expected name(k=v) or {use: name, k: v}, found 25. "
                "Correct the value."
            )
        ],
    ),
    "duplicate key": (
        edited("by: [topic]", "by: [topic]\nby: [language]"),
        ["study.yaml:9: by: this field is already on line 8. Keep one of the two."],
    ),
    "no systems": (
        re.sub(r"systems:\n.*\n.*\nbaseline: old\n", "systems: {}\n", STUDY),
        ["study.yaml:3: systems: expected at least one, found nothing. Correct the value."],
    ),
    "systems left out": (
        re.sub(r"systems:\n.*\n.*\nbaseline: old\n", "", STUDY),
        ["study.yaml:1: systems: this field is required. Add it."],
    ),
    "no seeds": (
        STUDY + "seeds: 0\n",
        [
            (
                "study.yaml:13: seeds: expected a number of seeds from 1 to 10000, or a list of them, "
                "found 0. Correct the value."
            )
        ],
    ),
    "negative seeds": (
        STUDY + "seeds: -1\n",
        [
            (
                "study.yaml:13: seeds: expected a number of seeds from 1 to 10000, or a list of them, "
                "found -1. Correct the value."
            )
        ],
    ),
    "a seed twice": (
        STUDY + "seeds: [1, 1]\n",
        ["study.yaml:13: seeds: a value is listed twice. Correct the value."],
    ),
    "a budget of nothing": (
        STUDY + "budgets: [0, 100]\n",
        ["study.yaml:13: budgets.0: should be greater than 0, found 0. Correct the value."],
    ),
    "unknown system": (
        edited("lexical: bm25", "lexical: bm52"),
        ["study.yaml:4: systems.lexical: There is no system 'bm52'. Did you mean 'bm25'?"],
    ),
    "unknown measure": (
        edited("nDCG@10,", "nDGC@10,"),
        ["study.yaml:7: measures.0: There is no measure 'nDGC'. Did you mean 'nDCG'?"],
    ),
    "a measure twice": (
        edited("nDCG@10,", "MRR@5,"),
        ["study.yaml:7: measures.1: this is 'MRR@5' again. Keep one of the two."],
    ),
    "unknown judge": (
        STUDY + "judges: [idz]\n",
        ["study.yaml:13: judges.0: There is no judge 'idz'. Did you mean 'ids'?"],
    ),
    "unknown dataset": (
        edited("data: data", "data: bier(path=x)"),
        ["study.yaml:2: data: There is no dataset 'bier'. Did you mean 'beir'?"],
    ),
    "unknown baseline": (
        edited("baseline: old", "baseline: odl"),
        ["study.yaml:6: baseline: there is no system 'odl'. Did you mean 'old'?"],
    ),
    "unknown step": (
        STUDY + "steps: [shp]\n",
        ["study.yaml:13: steps.0: there is no gate 'shp'. Did you mean 'ship'?"],
    ),
    "unknown factor": (
        STUDY + "factors: {stage: [10k]}\n",
        [
            (
                "study.yaml:13: factors.stage: neither the dataset nor any system has such a parameter. "
                "A factor sets a parameter of that name."
            )
        ],
    ),
    "factor of a wrong type": (
        STUDY + "factors: {k: [few, many]}\n",
        ["study.yaml:13: factors.k: 'bm25': k: expected int, got str"],
    ),
    "unknown parameter": (
        edited("bm25", "bm25(langage=german)"),
        ["study.yaml:4: systems.lexical: 'bm25' has no parameter 'langage'. Did you mean 'language'?"],
    ),
    "parameter of a wrong type": (
        edited("bm25", "bm25(k=many)"),
        ["study.yaml:4: systems.lexical: 'bm25': k: expected int, got str"],
    ),
    "parameter left out": (
        edited("replay(path=old.run)", "replay"),
        ["study.yaml:5: systems.old: 'replay' needs more parameters. Write replay(path=…)."],
    ),
    "spec that does not read": (
        edited("bm25", "bm25(k=3"),
        ["study.yaml:4: systems.lexical: expected ',' or ')' at column 9 of 'bm25(k=3'"],
    ),
    "environment": (
        edited("replay(path=old.run)", "replay(path=${ASSAY_TEST_UNSET})"),
        [
            (
                "study.yaml:5: systems.old: The environment variable ASSAY_TEST_UNSET is not set. "
                "Set it, or remove what asks for it."
            )
        ],
    ),
    "gate syntax": (
        edited("RR@5(lexical) >=", "RR@5(lexical >="),
        [
            "study.yaml:12: gates.ship.go.0: column 14: expected ')' for the '(' of column 5, found '>='.",
            "    RR@5(lexical >= RR@5(old) + 0.2",
            "                 ^",
        ],
    ),
    "gate without clauses": (
        edited('    go: ["RR@5(lexical) >= RR@5(old) + 0.2"]', "    on: estimate"),
        ["study.yaml:11: gates.ship: a gate needs `go` or `kill` clauses"],
    ),
    "clause that is a number": (
        edited('["RR@5(lexical) >= RR@5(old) + 0.2"]', "[0.2]"),
        [
            (
                "study.yaml:12: gates.ship.go.0: expected a clause, found 0.2. "
                "Write one such as nDCG@10(new) >= 0.4"
            )
        ],
    ),
    "unknown split": (
        STUDY + "split: train\n",
        ["study.yaml:13: split: no item has the split 'train'. No item names a split: remove the field."],
    ),
    "unknown cluster": (
        STUDY + "cluster: tpic\n",
        ["study.yaml:13: cluster: no item has the tag 'tpic'. Did you mean 'topic'?"],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", WRONG_FIELDS)
def test_a_wrong_field(tmp_path: Path, case: str) -> None:
    text, told = WRONG_FIELDS[case]
    assert problems(tmp_path, text) == told


@pytest.mark.parametrize(
    ("clause", "told"),
    [
        (
            "RR@5(newer) > 0.5",
            "column 6: there is no system 'newer'. Known: lexical, old.",
        ),
        ("RRR@5(old) > 0.5", "There is no measure 'RRR'. Did you mean 'RR'"),
    ],
)
def test_a_gate_that_names_what_is_not_there(tmp_path: Path, clause: str, told: str) -> None:
    (line,) = problems(tmp_path, edited("RR@5(lexical) >= RR@5(old) + 0.2", clause))
    assert line.startswith("study.yaml:12: gates.ship.go.0: ")
    assert told in line


@pytest.mark.parametrize(
    ("condition", "fix"),
    [
        ("where topic=od", "Did you mean 'odd'?"),
        ("where tpic=odd", "Did you mean 'topic'?"),
        ("where tpic!=odd", "Did you mean 'topic'?"),
        ("for each tpic=odd|even", "Did you mean 'topic'?"),
    ],
)
def test_a_gate_that_names_a_slice_no_item_is_in(tmp_path: Path, condition: str, fix: str) -> None:
    lines = problems(tmp_path, edited('+ 0.2"', f'+ 0.2 {condition}"'))
    assert lines[0].startswith("study.yaml:11: gates.ship: no item has ")
    assert lines[0].endswith(fix)


def test_a_call_with_a_slice_no_item_is_in(tmp_path: Path) -> None:
    (line,) = problems(tmp_path, edited("RR@5(lexical)", "RR@5(lexical)[topic=odx]"))
    assert "no item has topic=odx" in line
    assert line.endswith("Did you mean 'odd'?")


def test_a_gate_repeated_for_cut_offs_is_no_slice(tmp_path: Path) -> None:
    text = edited("RR@5(lexical) >= RR@5(old) + 0.2", "RR@k(lexical) >= 0.2 for each k=1|5")
    assert assay("validate", write_study(tmp_path / "small", text)).code == 0


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    text = edited("lexical: bm25", "lexical: bm52")
    text = edited("nDCG@10,", "nDGC@10,", text)
    text = edited("by: [topic]", "bye: [topic]", text)
    text = edited("RR@5(old)", "RR@5(oldest)", text) + "seeds: none\njudges: [idz]\nbaselin: old\n"
    folder = write_study(tmp_path / "small", text)
    (folder / "data/items.jsonl").write_text('{"item_id": "q1"}\n')
    told = assay("validate", folder).err.replace(f"{folder}/", "").splitlines()
    assert [line.split(" ")[0] for line in told] == [
        "study.yaml:4:",  # systems.lexical
        "study.yaml:7:",  # measures.0
        "study.yaml:8:",  # bye
        "study.yaml:12:",  # gates.ship.go.0
        "study.yaml:13:",  # seeds
        "study.yaml:14:",  # judges.0
        "study.yaml:15:",  # baselin
        "data/items.jsonl:1:",
    ]


def test_more_problems_than_a_screen_holds_are_counted(tmp_path: Path) -> None:
    told = problems(tmp_path, edited("nDCG@10,", "".join(f"X{n}@1, " for n in range(30))))
    assert len(told) == 21
    assert told[-1] == "… and 10 more"


MALFORMED: dict[str, tuple[str | bytes, str]] = {
    "open bracket": (STUDY + "by: [\n", "study.yaml:14: this is not YAML: "),
    "tab": (edited("  lexical", "\tlexical"), "study.yaml:4: this is not YAML: "),
    "two documents": (STUDY + "---\n" + STUDY, "study.yaml:13: this is not YAML: "),
    "nul": (STUDY.encode() + b"name: a\0b\n", "study.yaml:13: this is not YAML: the character '\\x00' "),
    "not UTF-8": (STUDY.encode() + b"name: caf\xe9\n", "study.yaml:13: bytes that are not UTF-8. Save "),
    "alias in itself": (STUDY + "steps: &x [*x]\n", "study.yaml: this is not YAML: it is nested too deeply"),
    "nested too deeply": (
        STUDY + "steps: " + "[" * 1500,
        "study.yaml: this is not YAML: it is nested too deeply",
    ),
    "aliases of aliases": (
        "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(
            f"a{n}: &a{n} [{', '.join(['*a' + str(n - 1).replace('0', '')] * 10)}]\n" for n in range(1, 7)
        ),
        "study.yaml:",
    ),
    "a list": ("- a\n- b\n", "study.yaml:1: a study is a mapping of fields"),
    "a word": ("study\n", "study.yaml:1: a study is a mapping of fields"),
    "empty": ("", "study.yaml:1: a study is a mapping of fields"),
    "only a comment": ("# later\n", "study.yaml:1: a study is a mapping of fields"),
    "a number of 5000 digits": (
        STUDY + "seeds: " + "9" * 5000 + "\n",
        "study.yaml:13: seeds: expected a list",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", MALFORMED)
def test_a_file_that_is_no_study(tmp_path: Path, case: str) -> None:
    text, told = MALFORMED[case]
    assert problems(tmp_path, text)[0].startswith(told)


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    assert assay("validate", write_study(tmp_path / "small", b"\xef\xbb\xbf" + STUDY.encode())).code == 0


def test_words_that_yaml_takes_for_something_else(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small", STUDY + "name: 2024\nfactors: {k: [1, 10]}\n")
    assert assay("validate", folder).out.startswith("2024: ok, 12 items, 12 passages, 3 arms")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("nowhere", "there is no such study. Give a folder that holds study.yaml, or the file.\n"),
        ("empty", "there is no study.yaml in this folder. Begin one with `assay init KIND`.\n"),
    ],
)
@pytest.mark.parametrize("command", ["run", "validate", "gate", "report", "status"])
def test_a_study_that_is_not_there(tmp_path: Path, path: str, told: str, command: str) -> None:
    (tmp_path / "empty").mkdir()
    done = refused(tmp_path / path, command=command)
    assert (done.code, done.err) == (3, f"{tmp_path / path}: {told}")


# ---------------------------------------------------------------------------------------- data


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("nowhere", "data: there is neither a folder {}/nowhere nor a dataset named 'nowhere'. Known: "),
        ("no/where", "data: there is no folder {}/no/where. Check the path: it is relative to the study."),
        ("old.run", "data: {}/old.run is a file. Name its folder, or say what it is: trec("),
        (".", "data: no dataset lies in {}. The folder needs corpus.jsonl or items.jsonl."),
    ],
)
def test_data_that_is_not_there(tmp_path: Path, data: str, told: str) -> None:
    folder = write_study(tmp_path / "small", edited("data: data", f"data: {data}"))
    assert refused(folder).err.startswith(f"{folder}/study.yaml:2: {told.format(folder)}")


def test_every_problem_of_a_file_of_items(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small")
    items = folder / "data/items.jsonl"
    first = items.read_bytes().splitlines()[0]
    items.write_bytes(
        items.read_bytes()
        + b'{"item_id": "q20"\n'
        + b'{"item_id": "q21"}\n'
        + b'{"item_id": "q22", "text": "caf\xe9"}\n'
        + first
        + b"\n"
    )
    done = refused(folder)
    assert done.code == 3
    assert done.err.replace(f"{folder}/", "").splitlines() == [
        "data/items.jsonl:13: not JSON: Input data was truncated. Write one complete JSON object per line.",
        "data/items.jsonl:14: text: the field is missing. Add 'text'.",
        "data/items.jsonl:15: not UTF-8 (byte 0xe9). Save the file as UTF-8.",
        "data/items.jsonl:16: the item_id 'q0' stands on line 1 already. Ids must be unique.",
    ]


def test_gold_that_the_corpus_lacks(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small")
    items = folder / "data/items.jsonl"
    items.write_text(items.read_text().replace('"d3"', '"d33"'))
    told = f"{folder}/data/items.jsonl:4: gold.relevant: not in the corpus: 'd33'. "
    assert refused(folder).err == told + "Add them to the corpus, or take them out here.\n"


def test_a_parquet_file_that_is_none(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small")
    (folder / "data/passages.jsonl").unlink()
    (folder / "data/passages.parquet").write_bytes(b"PAR1 and nothing else")
    done = refused(folder)
    assert done.code == 3
    assert done.err.startswith(f"{folder}/data/passages.parquet: cannot be read as Parquet: ")
    pl.DataFrame({"doc_id": ["d0"], "txt": ["alpha"]}).write_parquet(folder / "data/passages.parquet")
    assert "passages.parquet: text: the column is missing. Did you mean 'txt'?" in refused(folder).err


def test_a_cut_off_as_deep_as_the_corpus_is_warned_of(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small", edited("nDCG@10,", "nDCG@12,"))
    done = assay("validate", folder)
    assert done.code == 0
    assert done.err == "warning: nDCG@12 looks as deep as the corpus is large (12 passages)\n"
    assert "warning: nDCG@12 looks as deep" in assay("run", folder).out


# ----------------------------------------------------------------------------------- run files

WRONG_RUNS: dict[str, tuple[bytes, str]] = {
    "not a number": (b"q0 Q0 d0 1 nan t\n", ":1: score: 'nan' is not a finite number"),
    "infinite": (b"q0 Q0 d0 1 2 t\nq1 Q0 d0 1 -inf t\n", ":2: score: '-inf' is not a finite number"),
    "empty": (b"", ": the file is empty. Check the path, or what wrote it."),
    "too few columns": (b"q0 d0 1\n", ":1: expected 6 columns, found 3"),
    "a document twice": (
        b"q0 Q0 d0 1 2 t\nq0 Q0 d0 2 1 t\n",
        ":2: document 'd0' of query 'q0' stands on line 1",
    ),
    "not UTF-8": (b"q0 Q0 d\xe9 1 2 t\n", ":1: not UTF-8 (byte 0xe9). Save the file as UTF-8."),
}


@pytest.mark.parametrize("case", WRONG_RUNS)
def test_a_wrong_run_in_a_study(tmp_path: Path, case: str) -> None:
    content, told = WRONG_RUNS[case]
    folder = write_study(tmp_path / "small")
    (folder / "old.run").write_bytes(content)
    done = refused(folder)
    assert done.code == 3
    assert done.err.startswith(f"{folder}/old.run{told}")


@pytest.mark.parametrize("case", WRONG_RUNS)
def test_a_wrong_run_on_its_own(tmp_path: Path, case: str) -> None:
    content, told = WRONG_RUNS[case]
    (tmp_path / "x.run").write_bytes(content)
    (tmp_path / "x.qrels").write_text("q0 0 d0 1\n")
    done = assay("score", tmp_path / "x.run", "--qrels", tmp_path / "x.qrels", "-m", "AP", "-m", "P@5")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(f"{tmp_path}/x.run{told}")


def test_a_run_that_is_not_there(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small", edited("old.run", "older.run"))
    done = refused(folder)
    assert (done.code, done.err) == (3, f"{folder}/older.run: there is no such file. Check the path.\n")


def test_a_replayed_run_of_other_documents(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small")
    (folder / "old.run").write_text("q0 Q0 x1 1 1 t\nq1 Q0 x2 1 1 t\n")
    done = refused(folder)
    assert done.code == 3
    assert "old.run: no doc_id of the dataset occurs here: here 'x1', there 'd0'. Check that run" in done.err


def test_a_replayed_run_of_other_queries(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small")
    (folder / "old.run").write_text("301 Q0 d1 1 1 t\n")
    done = refused(folder)
    assert done.code == 3
    assert (
        "old.run: no item_id of the dataset occurs here: here '301', there 'q0'. Check that run" in done.err
    )


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ("x0 Q0 d0 1 1 t\n", "no query id is also in"),
        ("q0 Q0 x0 1 1 t\n", "no document id is also in"),
    ],
)
def test_run_and_qrels_that_share_nothing(tmp_path: Path, run: str, told: str) -> None:
    (tmp_path / "x.run").write_text(run)
    (tmp_path / "x.qrels").write_text("q0 0 d0 1\n")
    done = assay("score", tmp_path / "x.run", "--qrels", tmp_path / "x.qrels", "-m", "AP", "--json")
    assert (done.code, done.out) == (3, "")
    assert told in done.err
    assert "Check that run and qrels belong together" in done.err


def test_every_problem_of_a_qrels_file(tmp_path: Path) -> None:
    (tmp_path / "x.run").write_text("q0 Q0 d0 1 1 t\n")
    (tmp_path / "x.qrels").write_text("q0 0 d0 high\nq0 0 d1\n")
    done = assay("score", tmp_path / "x.run", "--qrels", tmp_path / "x.qrels", "-m", "AP")
    assert done.err.replace(f"{tmp_path}/", "").splitlines() == [
        "x.qrels:1: grade: 'high' is not an integer. Write an integer.",
        "x.qrels:2: expected 4 columns, found 3. Write: item 0 doc grade.",
    ]


# ------------------------------------------------------------------------------------ newcomers


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (["--system", "lexcal"], 2, "There is no system 'lexcal'. Did you mean 'lexical'?"),
        (
            ["--where", "nonsense"],
            2,
            "--where 'nonsense' is not a condition. Write name=value, or name=one|other.",
        ),
        (
            ["--where", "tpic=odd"],
            2,
            "--where tpic: no factor and no tag is called that. Did you mean 'topic'?",
        ),
        (["--where", "topic=od"], 2, "--where topic=od selects nothing. Did you mean 'odd'?"),
        (["--stage", "10k"], 2, "--where stage: no factor and no tag is called that."),
        (["--limit", "0"], 2, "--limit"),
        (["--limit", "few"], 2, "--limit"),
        (["--engine", "loca"], 5, "There is no engine 'loca'. Did you mean 'local'?"),
        (["--engine", "loca", "--fresh"], 5, "There is no engine 'loca'."),
    ],
)
def test_a_slip_of_the_keyboard_runs_nothing(tmp_path: Path, args: list[str], code: int, told: str) -> None:
    done = refused(write_study(tmp_path / "small"), *args)
    assert done.code == code
    assert told in done.err


def test_a_slip_beside_fresh_forgets_nothing(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small")
    assay("run", folder)
    refused(folder, "--fresh", "--system", "lexcal")
    assert "24 reused" in assay("run", folder).err


def test_run_without_a_study() -> None:
    done = assay("run")
    assert (done.code, done.out) == (2, "")
    assert "Missing argument 'STUDY'" in done.err


def test_a_format_that_is_not_there(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small")
    assay("run", folder)
    done = refused(folder, "--format", "htlm", command="report")
    assert done.code == 5
    assert "Did you mean 'html'?" in done.err


def test_demo_where_a_file_stands(tmp_path: Path) -> None:
    (tmp_path / "demo").write_text("a file of mine\n")
    done = assay("demo", tmp_path / "demo")
    assert done.code == 3
    assert done.err.startswith(f"{tmp_path / 'demo'}: ")
    assert (tmp_path / "demo").read_text() == "a file of mine\n"


# ----------------------------------------------------------------------------------------- fuzz

SIGNS = "[]{}:,-#&*!|>'\"%@`\\\n\t \0é0123456789abcxyz<=()$~"


def mutated(rng: random.Random) -> str:
    """The study with one to four random changes: signs put in, cut out, doubled or swapped."""
    text = STUDY
    for _ in range(rng.randint(1, 4)):
        at, length = rng.randrange(len(text)), rng.randint(1, 12)
        match rng.randrange(4):
            case 0:
                text = text[:at] + rng.choice(SIGNS) + text[at:]
            case 1:
                text = text[:at] + text[at + length :]
            case 2:
                text = text[:at] + text[at : at + length] * 2 + text[at + length :]
            case 3:
                lines = text.split("\n")
                rng.shuffle(lines)
                text = (
                    "\n".join(lines) if rng.random() < 0.1 else text[:at] + rng.choice(SIGNS) + text[at + 1 :]
                )
    return text


@pytest.mark.slow
def test_no_mutation_of_a_study_gives_a_traceback(tmp_path: Path) -> None:
    folder = write_study(tmp_path / "small")
    seen = set()
    for seed in range(200):
        text = mutated(random.Random(seed))
        (folder / "study.yaml").write_bytes(text.encode())
        done = assay("validate", folder)
        assert done.code in {0, 2, 3, 5}, text
        assert done.code == 0 or done.err.startswith(str(folder)), text
        seen.add(done.code)
    assert seen >= {0, 3}
