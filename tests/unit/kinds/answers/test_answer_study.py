"""An answer study's files: what becomes of them, what is refused, and what is only warned of."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.core.dataset import Dataset
from assay.core.errors import DataError, UsageError
from assay.core.protocols import Kit
from assay.core.records import Hit
from assay.core.registry import DATASETS, Registry
from assay.kinds.answers.content_pairs import as_hits, content_of, join_texts
from assay.kinds.answers.datasets.answer_study import AnswerStudy

WORDS = "Kilns are fired twice a week, and cones are read by two people. "
SITES = '''\
"site_id","domain","sector","verification_date","verification_status","notes"
"S001","kiln.example","Craft, and clay","2026-01-02","PASS","says ""hot"""
"S002","loom.example","Craft, and clay","","",""
'''


def question(question_id: str, complexity: str = "single-fact", **more: Any) -> dict[str, Any]:
    given = {"question_id": question_id, "text": f"What of {question_id}?", "complexity": complexity}
    return {**given, "source_sections": ["Firing"], "source_urls": ["https://kiln.example/a"], **more}


def gold(question_id: str, **more: Any) -> dict[str, Any]:
    urls = ["https://kiln.example/b"]
    given = {"question_id": question_id, "gold_answer": f"{question_id} is so.", "source_urls": urls}
    return {**given, "verified_date": "2026-02-25", **more}


class Files:
    """A folder that is written anew before each load, so that a test changes one thing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.questions = [question("S001-Q01"), question("S001-Q02", "conceptual-relationship")]
        self.gold = [gold("S001-Q01"), gold("S001-Q02")]
        self.pairs: list[Any] | None = None

    def page(self, name: str, text: str) -> str:
        path = self.folder / "pages" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return f"pages/{name}"

    def load(self, **how: Any) -> Dataset:
        sites = [{"site_id": "S001", "domain": "kiln.example", "questions": self.questions}]
        answers = [{"site_id": "S001", "domain": "kiln.example", "answers": self.gold}]
        (self.folder / "questions.json").write_text(json.dumps(sites, indent=1))
        (self.folder / "gold-answers.json").write_text(json.dumps(answers, indent=1))
        if self.pairs is not None:
            (self.folder / "content-pairs.json").write_text(json.dumps(self.pairs, indent=1))
        return AnswerStudy(str(self.folder), **how).load(Kit())

    def refused(self) -> str:
        with pytest.raises(DataError) as caught:
            self.load()
        return str(caught.value)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def pair(name: str, a: str, b: str, *questions: str, **more: Any) -> dict[str, Any]:
    given = {"content_pair_id": name, "site_id": "S001", "question_ids": list(questions), "a": a, "b": b}
    return {**given, "title": "Firing", **more}


def test_a_question_becomes_an_item_with_its_gold_answer(files: Files) -> None:
    (files.folder / "site-list.csv").write_text(SITES)
    item = files.load().items[0]
    assert (item.item_id, item.text) == ("S001-Q01", "What of S001-Q01?")
    assert item.tags == {"site": ["S001"], "complexity": ["single-fact"], "sector": ["Craft, and clay"]}
    assert item.gold == {
        "answer": "S001-Q01 is so.",
        "sections": ["Firing"],
        "urls": ["https://kiln.example/b", "https://kiln.example/a"],
        "verified": "2026-02-25",
    }


def test_both_sides_of_a_pair_are_documents_of_their_condition(files: Files) -> None:
    html = files.page("a.html", f"<nav>Home</nav><main><p>{WORDS}</p></main>")
    markdown = files.page("b.md", f"# Kilns\n\n{WORDS}\n<!-- draft -->\n")
    plain = files.page("c.txt", f"{WORDS}as it is <!-- kept -->\n")
    files.pairs = [pair("S001-P02", html, markdown, "S001-Q01", "S001-Q02")]
    files.pairs.append(pair("S001-P01", html, plain, "S001-Q01"))
    corpus = files.load().corpus
    first = corpus.passages[0]
    assert (first.doc_id, first.title, first.text) == ("S001-P02/A", "Firing", WORDS.strip())
    questions = ["S001-Q01", "S001-Q02"]
    about = {"pair": "S001-P02", "condition": "A", "site": "S001", "questions": questions, "form": "text"}
    assert first.metadata == about
    assert corpus.text_of("S001-P02/B") == f"# Kilns\n\n{WORDS.strip()}"
    assert corpus.text_of("S001-P01/B") == f"{WORDS}as it is <!-- kept -->"
    # in the order of the file, which is not that of the ids
    given = content_of(corpus, "B")
    assert as_hits(given["S001-Q01"]) == [Hit("S001-P02/B", 2.0), Hit("S001-P01/B", 1.0)]
    assert as_hits(given["S001-Q02"]) == [Hit("S001-P02/B", 1.0)]
    assert join_texts(["a", "b"]) == "a\n\nb"


def test_how_html_becomes_text_is_chosen(files: Files) -> None:
    html = files.page("a.html", f"<nav>Home</nav><main><p>{WORDS}</p></main>")
    files.pairs = [pair("P", html, html, "S001-Q01", "S001-Q02")]
    assert files.load(extract="visible").corpus.passages[0].text.startswith("Home")
    with pytest.raises(UsageError, match=r"extract: there is no 'mian'\. Did you mean 'main'"):
        AnswerStudy(".", extract="mian")


def test_a_study_names_it() -> None:
    assert Registry().create(DATASETS, "answer_study(path=corpus)") == AnswerStudy("corpus")


def test_every_problem_is_reported_at_once_with_its_place(files: Files) -> None:
    files.questions += [question("S001-Q01"), question("S001-Q03", "hard"), question("S001-Q04", text=4)]
    files.gold = [gold("S001-Q01"), gold("S001-Q03", gold_answer=" "), gold("S001-Q0X")]
    html = files.page("a.html", f"<p>{WORDS}</p>")
    empty = files.page("b.html", "<main id=app></main><script>write()</script>")
    files.pairs = [
        pair("P1", html, empty, "S001-Q01", "S001-Q99"),
        pair("P2", "pages/gone.md", html),
        {key: value for key, value in pair("P3", html, html, "S001-Q01").items() if key != "b"},
        pair("P4", html, html, "S001-Q02", site_id="S007"),
        pair("P4", html, "pages/a.pdf", "S001-Q02"),
    ]
    message = files.refused()
    for what in (
        # a question takes 11 lines, and the first begins on line 6
        "questions.json:28: question_id: the question_id 'S001-Q01' is on line 6 already",
        "complexity: 'S001-Q03' has the complexity 'hard'",
        "0.questions.4.text: expected str, got int",
        "the gold answer of 'S001-Q03' is empty",
        "the question 'S001-Q02' has no gold answer",
        "there is no question 'S001-Q0X'",
        "b.html: the page gives 0 characters of text, fewer than 50",
        "'S001-Q99', and there is no such question",
        "gone.md: there is no such file. Check the path. It is side a of the pair 'P2'",
        "the pair 'P2' belongs to no question",
        "2.b: the field is missing. Add 'b'",
        "'S001-Q02', which is of the site 'S001', and not of 'S007'",
        "the content_pair_id 'P4' is on line",
    ):
        assert what in message
    assert len(message.splitlines()) == 13


def test_what_is_left_out_is_warned_of(files: Files) -> None:
    (files.folder / "site-list.csv").write_text(SITES.replace('"2026-01-02","PASS"', '"",""'))
    files.questions[0]["complexity"] = "multi-section-synthesis"
    del files.gold[1]["verified_date"]
    files.pairs = [pair("P", *[files.page("a.md", WORDS)] * 2, "S001-Q01")]
    assert files.load().warnings == [
        "fewer than two sections are named by 1 question of complexity multi-section-synthesis (S001-Q01)",
        "no date of verification is given for 1 gold answer (S001-Q02)",
        "site-list.csv has no verification that passed for 1 site (S001)",
        "no content pair is for 1 question: a model can be given nothing (S001-Q02)",
        "both conditions are given the same page in 1 content pair (P)",
    ]
    (files.folder / "site-list.csv").write_text(SITES.replace("S001", "S003"))
    assert "site-list.csv lacks 1 site of questions (S001)" in files.load().warnings


def test_a_pair_whose_sides_were_exchanged_is_warned_of(files: Files) -> None:
    html, markdown = files.page("a.html", f"<p>{WORDS}</p>"), files.page("a.md", WORDS)
    ids = ("S001-Q01", "S001-Q02")
    files.pairs = [pair("P1", html, markdown, *ids), pair("P2", html, markdown, *ids)]
    assert files.load().warnings == []
    files.pairs.append(pair("P3", markdown, html, *ids))
    assert files.load().warnings == [
        "HTML and Markdown are on other sides than elsewhere in 1 content pair (P3)"
    ]


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("questions.json", "[", "questions.json:1: this is not JSON"),
        ("questions.json", "[]", "expected a list that is not empty"),
        ("gold-answers.json", '[{"site_id": "S001"}]', "expected a site with its answers"),
        ("site-list.csv", "site,sector\nS001,x\n", "site-list.csv:1: site_id: the column is missing"),
        ("site-list.csv", 'site_id\n"S001', "site-list.csv:2: this is not CSV"),
        ("site-list.csv", "site_id,sector\nS001\n", "site-list.csv:2: 1 values where 2 columns"),
    ],
)
def test_files_that_cannot_be_read_are_reported(files: Files, name: str, content: str, what: str) -> None:
    files.load()
    (files.folder / name).write_text(content)
    with pytest.raises(DataError) as caught:
        AnswerStudy(str(files.folder)).load(Kit())
    assert what in str(caught.value)
    assert len(caught.value.problems) == 1


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such folder"):
        AnswerStudy(str(tmp_path / "gone")).load(Kit())


def test_the_real_questions_load(shared_data: Callable[[str], Path]) -> None:
    dataset = AnswerStudy(str(shared_data("answer_study"))).load(Kit())
    assert len(dataset.items) == 286
    assert len({item.tags["site"][0] for item in dataset.items}) == 37
    found = Counter(item.tags["complexity"][0] for item in dataset.items)
    assert found == {"single-fact": 134, "multi-section-synthesis": 92, "conceptual-relationship": 60}
    assert all(item.gold["answer"] and item.tags["sector"] for item in dataset.items)
    (warning,) = dataset.warnings
    assert warning.startswith("fewer than two sections are named by 31 questions")
