"""Review forms out: what they show and hide, how they read back, and what is never overwritten."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import msgspec
import polars as pl
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.core.block import Block, Labels
from assay.core.dataset import Corpus
from assay.core.errors import DataError
from assay.core.protocols import ItemFact
from assay.core.records import Arm, Item, Judgment, Passage
from assay.kinds.models.judges.rules import RelevanceRules
from assay.review.export import blind_forms, file_name, model_forms, to_yaml, write_forms
from assay.review.forms import FormRow, ReviewForm, parse_mark, read_form, read_forms
from assay.review.pool import Candidate, Pool

ODD = list("a \t\n\r:-#'\"|>\\%&*!?{}[],\x00\x07\x1b\x7f\x85\xa0\u2028\u2029\ufeff\ufffe\uffff😀é")
TEXT = st.text(st.sampled_from(ODD), max_size=12) | st.text(max_size=30) | st.just("---\n...\n- a: b\n\n")
WORD = TEXT.filter(lambda text: bool(text.strip()))

CORPUS = Corpus(
    [
        Passage("d1", "The rudder moved by itself.", source="AAR0101", section="ANALYSIS"),
        Passage("d2", "Coffee was served.", source="AAR0202"),
        Passage("d3", "word " * 200, source="AAR0303", section="FINDINGS"),
        Passage("d4", "A hardover of the rudder.", source="AAR0101", section="SYNOPSIS"),
    ]
)
ITEM = Item(
    "CON-001",
    "uncommanded movement of a control surface",
    tags={"category": ["conceptual_queries"], "difficulty": ["hard"], "review": ["yes"]},
    gold={"sql": "WHERE chunk_text LIKE '%hardover%'", "reports": ["AAR0101"], "signals": ["hardover"]},
)
FACTS = RelevanceRules().describe_item(ITEM)


def pool_of(*candidates: Candidate, items: tuple[Item, ...] = (ITEM,)) -> Pool:
    arms = tuple(sorted({arm for each in candidates for arm in each.arms}))
    return Pool(10, arms, items, candidates, {}, facts={ITEM.item_id: FACTS})


def candidate(doc_id: str, arms: str = "zebra", mark: str | None = None, **more: object) -> Candidate:
    return Candidate("CON-001", doc_id, frozenset(arms.split()), mark, **more)  # type: ignore[arg-type]


POOL = pool_of(
    candidate("d1", "zebra yak"),
    candidate("d2", "yak"),
    candidate("d3", "zebra", "SEMANTIC_MATCH", by_person=True),
    candidate("d4", "zebra yak", "KEYWORD_MATCH", reason="signal: hardover"),
)


def rows_by_id(form: ReviewForm) -> dict[str, FormRow]:
    return {row.doc_id: row for row in form.rows}


# ------------------------------------------------------------------------------ blind forms


def test_a_blind_form_shows_each_passage_once_and_what_is_known_of_it() -> None:
    (form,) = blind_forms(POOL, CORPUS)
    rows = rows_by_id(form)
    assert len(form.rows) == 4
    assert [(rows[doc].judgment, rows[doc].notes) for doc in ("d1", "d2", "d3", "d4")] == [
        ("", ""),
        ("", ""),
        ("SEMANTIC_MATCH", "[DONE]"),
        ("KEYWORD_MATCH", "[AUTO] signal: hardover"),
    ]
    assert rows["d1"] == FormRow("d1", "The rudder moved by itself.", document="AAR0101", section="ANALYSIS")
    assert (form.item_id, form.category, form.difficulty) == ("CON-001", "conceptual_queries", "hard")
    assert list(form.facts) == FACTS
    assert yaml.safe_load(to_yaml(form))["query"] == {
        "text": ITEM.text,
        "sql_ground_truth": "WHERE chunk_text LIKE '%hardover%'",
        "expected_report_ids": ["AAR0101"],
        "relevance_signals": ["hardover"],
    }


def test_no_arm_rank_or_score_stands_in_any_byte_of_a_blind_form() -> None:
    text = "".join(map(to_yaml, blind_forms(POOL, CORPUS)))
    assert not re.search("zebra|yak|model|rank|score", text, re.IGNORECASE)


def test_the_order_does_not_tell_who_returned_what() -> None:
    swapped = {"zebra": "yak", "yak": "zebra"}
    others = [replace(each, arms=frozenset(map(swapped.__getitem__, each.arms))) for each in POOL.candidates]
    all_by_one = [replace(each, arms=frozenset({"gnu"})) for each in reversed(POOL.candidates)]
    expected = list(map(to_yaml, blind_forms(POOL, CORPUS)))
    assert list(map(to_yaml, blind_forms(pool_of(*others), CORPUS))) == expected
    assert list(map(to_yaml, blind_forms(pool_of(*all_by_one), CORPUS))) == expected


def test_the_seed_shuffles() -> None:
    orders = {tuple(row.doc_id for row in blind_forms(POOL, CORPUS, seed=seed)[0].rows) for seed in range(20)}
    assert len(orders) > 5  # of 24


def test_only_keeps_the_pairs_given_and_leaves_out_items_without_any() -> None:
    other = Item("CON-002", "another")
    pool = pool_of(
        *POOL.candidates, Candidate("CON-002", "d1", frozenset({"yak"}), None), items=(ITEM, other)
    )
    (form,) = blind_forms(pool, CORPUS, only=[("CON-001", "d2"), ("CON-001", "d4"), ("CON-001", "d9")][:2])
    assert {row.doc_id for row in form.rows} == {"d2", "d4"}
    assert [form.item_id for form in blind_forms(pool, CORPUS)] == ["CON-001", "CON-002"]


def test_a_passage_without_text_cannot_be_judged() -> None:
    with pytest.raises(DataError, match="no text of 'd9', returned for 'CON-001'"):
        blind_forms(pool_of(candidate("d9")), CORPUS)


# -------------------------------------------------------------------------- forms of a model


def block(arm: str, docs: list[str], scores: list[float], seed: int = 0) -> Block:
    answers = pl.DataFrame({"failed": [False], "docs": [docs], "scores": [scores], "rest": ["{}"]})
    return Block(Arm(arm), seed, [ITEM], answers, Labels.none())


def test_a_form_of_one_model_shows_its_ranking() -> None:
    blocks = [block("zebra", ["d3", "d1", "d4"], [0.25, 0.75, 0.5]), block("yak", ["d2"], [1.0])]
    zebra, yak = model_forms(blocks, POOL, CORPUS)
    assert [(row.rank, row.doc_id, row.score) for row in zebra.rows] == [
        (1, "d1", 0.75),
        (2, "d4", 0.5),
        (3, "d3", 0.25),
    ]
    assert (zebra.model, yak.model) == ("zebra", "yak")
    assert zebra.rows[2].preview == "word " * 100  # 500 characters
    assert zebra.rows[1].notes == "[AUTO] signal: hardover"
    text = to_yaml(zebra)
    assert text.index("model: zebra") < text.index("rank: 1") < text.index("text_preview: |")
    assert file_name(zebra) == "review_CON-001_zebra.yaml"


def test_of_several_seeds_the_best_place_counts() -> None:
    """d1 is second with seed 0 and first with seed 1; d2 comes with seed 1 alone, in second place."""
    blocks = [block("zebra", ["d4", "d1"], [0.9, 0.8]), block("zebra", ["d1", "d2"], [0.7, 0.6], seed=1)]
    (form,) = model_forms(blocks, POOL, CORPUS)
    assert [(row.rank, row.doc_id, row.score) for row in form.rows] == [
        (1, "d4", 0.9),
        (1, "d1", 0.7),
        (2, "d2", 0.6),
    ]


def test_a_depth_cuts_the_ranking() -> None:
    shallow = replace(POOL, depth=1)
    (form,) = model_forms([block("zebra", ["d1", "d4"], [2.0, 1.0])], shallow, CORPUS)
    assert [row.doc_id for row in form.rows] == ["d1"]


# ------------------------------------------------------------------------------------- YAML


def test_a_form_is_pleasant_to_fill_in() -> None:
    text = "Two lines:\n\tone with a tab  \nanother, " + "long " * 50 + "end"
    form = ReviewForm(
        "CON-001", (FormRow("d1", text), FormRow("d2", "b", "", "KEYWORD_MATCH", "[AUTO] x")), "a query"
    )
    written = to_yaml(form)
    assert "review_complete: false\n" in written
    assert f"  text: |-\n    Two lines:\n    \tone with a tab  \n    another, {'long ' * 50}end\n" in written
    assert '  judgment: ""\n  notes: ""\n\n- chunk_id: d2\n' in written
    assert '  judgment: "KEYWORD_MATCH"\n  notes: "[AUTO] x"\n' in written
    assert "summary:\n  auto_keyword_matches: 1\n  needs_human_review: 1\n" in written
    assert re.findall(r"^(\w+):", written, re.MULTILINE) == [
        "metadata",
        "query",
        "instructions",
        "summary",
        "results",
    ]


@pytest.mark.slow
@example("a\x85b", "a\u2028b", "a\x85b\nc", "a\n\x85 b", 1e-7)  # line ends that YAML reads as others
@settings(max_examples=150)
@given(WORD, WORD, TEXT, TEXT, st.floats(allow_nan=False, allow_infinity=False))
def test_any_text_survives(
    tmp_path_factory: pytest.TempPathFactory, a: str, b: str, c: str, d: str, score: float
) -> None:
    path = tmp_path_factory.mktemp("forms") / "form.yaml"
    blind = ReviewForm(
        a,
        (FormRow(b, text=c, judgment=d, notes=c, document=a, section=d), FormRow("z", text=d)),
        text=c,
        category=d,
        reviewer=c,
        review_date=d,
        facts=(ItemFact("clause", c), ItemFact("reports", (c, d))),
    )
    not_blind = ReviewForm(a, (FormRow(b, preview=c, notes=d, rank=3, score=score),), model=b, complete=True)
    empty = ReviewForm(a, ())
    for form in (blind, not_blind, empty):
        path.write_bytes(to_yaml(form).encode())
        assert read_form(path) == form
        told = yaml.safe_load(path.read_text())["query"]
        assert {fact.name: fact.value for fact in form.facts} == {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in told.items()
            if name != "text"
        }


@pytest.mark.parametrize("word", ["1e5", "007", "yes", "null", "~", "1.0", "true", "-", "0x1F", "2026-01-31"])
def test_ids_that_look_like_something_else_stay_words(tmp_path: Path, word: str) -> None:
    form = ReviewForm(word, (FormRow(word, document=word, section=word),), model=word, category=word)
    (path,) = write_forms([form], tmp_path)
    assert read_form(path) == form


def test_edited_line_ends_and_a_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    (path,) = write_forms(blind_forms(POOL, CORPUS), tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert [read_form(path)] == blind_forms(POOL, CORPUS)


def test_the_short_template_is_read_too(tmp_path: Path) -> None:
    text = "query_id: CON-001\nquery: a question\nreviewer: [name]\ndate: 2026-01-31\n"
    (tmp_path / "a.yaml").write_text(text + "results:\n- {rank: 1, chunk_id: 7, judgment: x}\n", "utf-8")
    form = read_form(tmp_path / "a.yaml")
    assert (form.item_id, form.text, form.signed, form.review_date) == (
        "CON-001",
        "a question",
        "",
        "2026-01-31",
    )
    assert form.rows == (FormRow("7", judgment="x", rank=1),)


@pytest.mark.parametrize(
    ("written", "mark"),
    [
        ("Semantic match", "SEMANTIC_MATCH"),
        ("semantic-match", "SEMANTIC_MATCH"),
        (" FALSE POSITIVE ", "FALSE_POSITIVE"),
        ("'keyword_match'", "KEYWORD_MATCH"),
        ("“Keyword  Match”", "KEYWORD_MATCH"),
        ("", ""),
        (" ? ", ""),
        ("todo", ""),
        ("KM", None),
        ("yes", None),
        ("SEMANTIC", None),
        ("SEMANTIC_MATCH?", None),
    ],
)
def test_judgments_are_understood_and_never_guessed(written: str, mark: str | None) -> None:
    assert parse_mark(written) == mark


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("1970-01-02", 86_400.0),
        ("1970/01/02", 86_400.0),
        (" 02.01.1970 ", 86_400.0),
        ("1970-01-02T01:00:00+01:00", 86_400.0),
        ("", None),
        ("yesterday", None),
        ("31.02.2026", None),
    ],
)
def test_dates(date: str, seconds: float | None) -> None:
    assert ReviewForm("a", (), review_date=date).time == seconds


@pytest.mark.parametrize("name", ["", "  ", "YOUR NAME", "[name]", "<your name>", "Reviewer", "?"])
def test_a_placeholder_is_nobody(name: str) -> None:
    assert ReviewForm("a", (), reviewer=name).signed == ""
    assert ReviewForm("a", (), reviewer=" Ann \n Lee ").signed == "Ann Lee"


# ------------------------------------------------------------------------------------ files


@pytest.mark.parametrize(
    "item_id",
    ["../../etc/passwd", "a/b\\c", "..", "a b", "CON", "x" * 5000, "é😀" * 200, 'a:b*?<>|"', "\x00\n"],
)
def test_any_id_makes_a_safe_name_and_comes_back(tmp_path: Path, item_id: str) -> None:
    (path,) = write_forms(
        [ReviewForm(item_id, (FormRow("d"),), model="m[stage=1/2]")], tmp_path / "deep" / "er"
    )
    assert path.parent == tmp_path / "deep" / "er"
    assert re.fullmatch(r"review_[A-Za-z0-9_.~%\[\]=,-]{1,200}\.yaml", path.name)
    assert read_form(path).item_id == item_id


def test_clashing_names_get_different_files(tmp_path: Path) -> None:
    """One file on disks that ignore case; and A with model b_c reads as A_b with model c."""
    forms = [
        ReviewForm("a", (FormRow("1"),)),
        ReviewForm("A", (FormRow("2"),)),
        ReviewForm("b", (FormRow("3"),)),
    ]
    forms += [ReviewForm("A", (FormRow("4"),), model="b_c"), ReviewForm("A_b", (FormRow("5"),), model="c")]
    paths = write_forms(forms, tmp_path)
    assert len({path.name.casefold() for path in paths}) == 5
    assert paths[2].name == "review_b.yaml"
    assert [read_form(path) for path in paths] == forms


def written(folder: Path, *changes: tuple[str, str]) -> Path:
    """The form on disk, after a person's changes."""
    (path,) = write_forms(blind_forms(POOL, CORPUS), folder)
    text = path.read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path.write_text(text, "utf-8")
    return path


BLANK = ('judgment: ""', "judgment: false positive")
SIGNED = ('reviewer: ""', "reviewer: Ann")
REMARK = ("[AUTO] signal: hardover", "[AUTO] signal: hardover, in passing")
FOREIGN = ("[AUTO] signal: hardover", "[AUTO] Report ID in expected list")


def test_an_untouched_form_is_replaced(tmp_path: Path) -> None:
    path = written(tmp_path)
    before = path.read_bytes()
    write_forms(blind_forms(POOL, CORPUS), tmp_path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]  # no draft is left


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (BLANK, "what a person said of 1 passages, and nobody took it in"),
        (('notes: ""', "notes: hm"), "what a person said of 1 passages"),
        (('judgment: "SEMANTIC_MATCH"', "judgment: FALSE_POSITIVE"), "what a person said of 1 passages"),
        (('judgment: "KEYWORD_MATCH"', "judgment: FALSE_POSITIVE"), "what a person said of 1 passages"),
        (('judgment: ""', "judgment: KM"), "what a person said of 1 passages"),
        (REMARK, "what a person said of 1 passages"),
        (SIGNED, "Ann signed it, and may be at work on it"),
        (("results:", "results: {"), "does not read as a form"),
        (("query_id: CON-001", "query_id: CON-002"), "the form of 'CON-002' is there already"),
    ],
)
def test_a_persons_work_is_never_overwritten(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    path = written(tmp_path, change)
    before = path.read_bytes()
    other = ReviewForm("AAA", (FormRow("d1", "x"),))
    with pytest.raises(DataError, match=said) as caught:
        write_forms([other, *blind_forms(POOL, CORPUS)], tmp_path)
    assert caught.value.problems[0].where == str(path)
    assert caught.value.problems[0].fix
    assert path.read_bytes() == before
    assert not (tmp_path / "review_AAA.yaml").exists()  # all or none


def test_what_was_taken_in_may_go(tmp_path: Path) -> None:
    path = written(tmp_path, BLANK, SIGNED)
    (doc_id,) = (row.doc_id for row in read_form(path).rows if row.judgment == "false positive")
    mark = Judgment("CON-001", "review", 0.0, "Ann", target=doc_id, category="FALSE_POSITIVE")
    before = Judgment("CON-001", "review", 1.0, "Bo", target="d3", category="SEMANTIC_MATCH", reason="why")
    forms = blind_forms(POOL, CORPUS, only=[("CON-001", "d4")])
    with pytest.raises(DataError, match="of 1 passages"):
        write_forms(forms, tmp_path, taken=[before])
    write_forms(forms, tmp_path, taken=[before, mark])
    assert [row.doc_id for row in read_form(path).rows] == ["d4"]


def test_a_remark_that_was_taken_in_may_go(tmp_path: Path) -> None:
    path = written(tmp_path, REMARK, SIGNED)
    mark = Judgment("CON-001", "review", 1.0, "Ann", target="d4", category="KEYWORD_MATCH", reason="x")
    forms = blind_forms(POOL, CORPUS)
    with pytest.raises(DataError, match="of 1 passages"):
        write_forms(forms, tmp_path, taken=[mark])
    write_forms(forms, tmp_path, taken=[msgspec.structs.replace(mark, reason="in passing")])
    assert read_form(path) == forms[0]


def test_what_another_program_filled_in_may_go(tmp_path: Path) -> None:
    path = written(tmp_path, FOREIGN)
    write_forms(blind_forms(POOL, CORPUS), tmp_path)
    assert rows_by_id(read_form(path))["d4"].notes == "[AUTO] signal: hardover"


def test_a_note_that_was_changed_since_is_not_taken_in(tmp_path: Path) -> None:
    path = written(tmp_path, BLANK)
    path.write_text(
        path.read_text("utf-8").replace('false positive\n  notes: ""', "false positive\n  notes: b")
    )
    (doc_id,) = (row.doc_id for row in read_form(path).rows if row.notes == "b")
    mark = Judgment("CON-001", "review", 0.0, "Ann", target=doc_id, category="FALSE_POSITIVE", reason="a")
    forms = blind_forms(POOL, CORPUS)
    with pytest.raises(DataError, match="of 1 passages"):
        write_forms(forms, tmp_path, taken=[mark])
    write_forms(forms, tmp_path, taken=[mark, msgspec.structs.replace(mark, reason="b")])


def test_what_the_new_form_shows_as_done_may_go(tmp_path: Path) -> None:
    path = written(tmp_path, BLANK, SIGNED)
    (doc_id,) = (row.doc_id for row in read_form(path).rows if row.judgment == "false positive")
    known = [
        replace(each, mark="FALSE_POSITIVE", by_person=True) if each.doc_id == doc_id else each
        for each in POOL.candidates
    ]
    write_forms(blind_forms(pool_of(*known), CORPUS), tmp_path)
    row = rows_by_id(read_form(path))[doc_id]
    assert (row.judgment, row.notes) == ("FALSE_POSITIVE", "[DONE]")
    assert "already_judged: 2" in path.read_text("utf-8")


def test_folders_are_searched_and_files_read_once(tmp_path: Path) -> None:
    (first,) = write_forms([ReviewForm("a", ())], tmp_path)
    (second,) = write_forms([ReviewForm("b", ())], tmp_path / "deep")
    second.rename(second.with_suffix(".YML"))
    (tmp_path / "._review_a.yaml").write_bytes(b"\x00\xff")  # what some archives add
    (tmp_path / "notes.txt").write_text("x", "utf-8")
    assert [form.item_id for form in read_forms([tmp_path, first])] == ["b", "a"]
