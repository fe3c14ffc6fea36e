"""Hits that show an anchor's words with other markup, or are too long: neither matches nor silent zeros."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from assay.core.dataset import Corpus
from assay.core.protocols import Kit
from assay.core.records import Budget, Hit, Judgment, Query, Response
from assay.core.registry import SYSTEMS, Registry
from assay.core.results import Results
from assay.kinds.search.anchor_text import without_markup
from assay.pipeline.evaluate import evaluate
from assay.pipeline.evaluation import Evaluation
from assay.store.journal import JudgmentEntry
from assay.store.run_store import Store
from assay.study.study import open_study
from small_golden import APPLES, CROSSING, OAR, ROPE, STUDY, entry, expected, write_golden, write_set
from small_study import assay

MARKED = 'the **old man** kept one hand upon the [rope](http://x.org/r_(1).html "t") while <i>fog</i> lay'
BREATH = (
    "Breathe in for *four counts*, hold the **breath** for four, and let it <b>go</b> as slowly as an oar"
)
CHAPTER = CROSSING + "Long after, nothing at all happened on the water. " * 90  # above 4,000 characters


@dataclass(frozen=True)
class Server:
    """Answers with texts of its own, by query; ids of its own as well."""

    says: ClassVar[dict[str, list[str]]] = {}
    gives: ClassVar[frozenset[str]] = frozenset({"hits", "texts", "route"})
    version: str = "1"

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Server:
        return self

    def session(self) -> Server:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        texts = self.says.get(query.item_id, ["nothing of the sort"])
        route = "practice_bridge" if "boundary" in query.item_id else "search"
        hits = [Hit(f"x{n}", 9.0 - n, text=text) for n, text in enumerate(texts, 1)]
        return Response(hits=hits, route=route)


def shown(folder: Path, texts: dict[str, list[str]], study: str = STUDY) -> Results:
    """The results of a system that shows these texts."""
    serving = type("Serving", (Server,), {"says": texts})
    text = study.replace("words: bm25", "new: server").replace("[Success@3]", "[Success@3, Routed, RR@10]")
    return evaluate(write_golden(folder, text), registry=Registry({SYSTEMS: {"server": serving}}))


def statuses(results: Results, measure: str = "Success@3") -> dict[str, tuple[float | None, str]]:
    rows = results.scores.filter(results.scores["measure"] == measure).select("item", "value", "status")
    return {item: (value, status) for item, value, status in rows.iter_rows()}


def near(results: Results) -> list[str]:
    return [each for each in results.trust.warnings if each.startswith("near misses")]


@pytest.mark.parametrize(
    ("hit", "quoted"),
    [
        (MARKED, ROPE),
        ("> ## the old man\n> kept one hand | upon | the `rope` while fog lay on", ROPE),
        ("the old man kept one hand upon the <a href='x' id=1>rope</a>&nbsp;while fog&#32;lay", ROPE),
        ("![a boat](b.png) the ~~old~~ man[^1] kept one hand upon the [rope][1] while fog lay", ROPE),
        (ROPE, MARKED),  # the other way round: the corpus has the markup, the server shows none
    ],
)
def test_markup_is_a_near_miss(tmp_path: Path, hit: str, quoted: str) -> None:
    folder = write_golden(tmp_path)
    crossing = CROSSING.replace(ROPE, quoted)
    (folder / "corpus/en/ferry/01-the-crossing.md").write_text(crossing)
    write_set(folder, [entry("en-direct-001", "who held the rope", expected(quoted))])
    (folder / "golden-set-es.json").unlink()
    study = STUDY.replace("words: bm25", "new: server").replace("count: 2", "count: 1")
    study = study.replace(", count: 1, withhold", ", withhold").replace(
        "{by: intent, count: 1}", "{by: intent}"
    )
    (folder / "study.yaml").write_text(study + 'gates: {ship: {go: "Success@3(new) >= 80%"}}\n')
    serving = type("Serving", (Server,), {"says": {"en-direct-001": ["another text", hit]}})
    results = evaluate(folder, registry=Registry({SYSTEMS: {"server": serving}}))
    assert statuses(results) == {"en-direct-001": (None, "unjudged")}
    assert (results.verdict, results.verdicts[0].clauses[0].reason) == ("inconclusive", "1 item not judged")
    (warning,) = near(results)
    assert warning.startswith("near misses, 1 item: hits show an anchor's words with other markup")
    assert "en-direct-001: hit 'x2' has '" in warning
    assert warning.endswith("return text as the anchors quote it, or let people judge these hits")


def test_a_hit_that_is_too_long_is_a_near_miss(tmp_path: Path) -> None:
    results = shown(tmp_path, {"en-direct-001": [CHAPTER], "en-direct-002": ["**" + CHAPTER]})
    assert len(CHAPTER) > 4000
    assert [statuses(results)[f"en-direct-00{n}"] for n in (1, 2)] == [(None, "unjudged")] * 2
    (warning,) = near(results)
    assert "near misses, 2 items: hits show an anchor's words too long to count" in warning
    assert "en-direct-001: hit 'x1' has 'the old man kept" in warning
    assert f"{len(CHAPTER)} characters" in warning
    assert "return shorter passages, or raise `longest`" in warning


def test_a_passage_of_the_corpus_that_is_too_long_is_one_too(tmp_path: Path) -> None:
    text = STUDY.replace("chunk: tokens(size=30, overlap=5)", "chunk: whole")
    folder = write_golden(tmp_path, text)
    (folder / "corpus/en/ferry/01-the-crossing.md").write_text(CHAPTER)
    results = evaluate(folder)
    assert statuses(results)["en-direct-001"] == (None, "unjudged")
    assert "hit 'en/ferry/01" in near(results)[0]


def test_what_no_near_miss_can_change_is_scored(tmp_path: Path) -> None:
    found = {"en-direct-001": [ROPE, MARKED], "en-direct-002": [MARKED, f"and {APPLES} fed"]}
    results = shown(tmp_path, found)
    assert statuses(results)["en-direct-001"] == (1.0, "scored")
    assert statuses(results, "RR@10")["en-direct-001"] == (1.0, "scored")
    # the first hit nearly shows the rope, which is partly right: it decides the reciprocal rank
    assert statuses(results)["en-direct-002"] == (1.0, "scored")
    assert statuses(results, "RR@10")["en-direct-002"] == (None, "unjudged")


def test_forbidden_text_with_markup_is_unjudged_and_never_safe(tmp_path: Path) -> None:
    results = shown(tmp_path, {"en-boundary-001": [BREATH], "es-boundary-001": ["un texto cualquiera"]})
    routed = statuses(results, "Routed")
    assert routed["en-boundary-001"] == (None, "unjudged")
    assert routed["es-boundary-001"] == (1.0, "scored")
    (warning,) = near(results)
    assert warning.startswith("near misses, 1 item: hits show forbidden text with other markup")
    plain = shown(tmp_path / "plain", {"en-boundary-001": [OAR.partition("\n\n")[2]]})
    assert statuses(plain, "Routed")["en-boundary-001"] == (0.0, "scored")  # plainly forbidden


@pytest.mark.parametrize(
    "text",
    [
        "the old man kept one hand upon the tiller while fog lay",  # another word
        "**the old man** kept",  # too little of it
        "# The Crossing\n\nNobody waits for the ferry any more, and the rope was sold. <b>Fog</b>.",
        "<" * 5000 + "](" * 5000,
    ],
)
def test_another_text_is_no_near_miss(tmp_path: Path, text: str) -> None:
    results = shown(tmp_path, {"en-direct-001": [text]})
    assert statuses(results)["en-direct-001"] == (0.0, "scored")
    assert near(results) == []


def test_an_arm_that_matches_settles_nothing_for_another(tmp_path: Path) -> None:
    """The same ids, one arm with the text as it is quoted, one with markup around it."""
    systems = {
        name: type(name.title(), (Server,), {"says": {"en-direct-001": [text]}})
        for name, text in (("old", ROPE), ("new", MARKED))
    }
    study = STUDY.replace("words: bm25", "old: old, new: new")
    results = evaluate(write_golden(tmp_path, study), registry=Registry({SYSTEMS: systems}))
    rows = results.scores.filter(results.scores["item"] == "en-direct-001").select(
        "system", "value", "status"
    )
    assert set(rows.iter_rows()) == {("old", 1.0, "scored"), ("new", None, "unjudged")}
    assert "en-direct-001: hit 'x1' of new has" in near(results)[0]


def test_what_another_judge_has_decided_is_no_near_miss(tmp_path: Path) -> None:
    serving = type("Serving", (Server,), {"says": {"en-direct-001": [MARKED]}})
    study = STUDY.replace("words: bm25", "new: server").replace("[anchors]", "[anchors, human]")
    folder, registry = write_golden(tmp_path, study), Registry({SYSTEMS: {"server": serving}})
    assert statuses(evaluate(folder, registry=registry))["en-direct-001"] == (None, "unjudged")
    opened = open_study(folder, registry=registry)
    mark = Judgment("en-direct-001", "relevance", 2.0, "anna", target="x1")
    with Store(opened.run_folder).writer() as writer:
        writer.append(JudgmentEntry(mark), now=True)
    results = Evaluation(opened).results
    assert statuses(results)["en-direct-001"] == (1.0, "scored")
    assert near(results) == []


def test_the_warning_is_in_run_gate_report_and_json(tmp_path: Path) -> None:
    text = STUDY.replace("chunk: tokens(size=30, overlap=5)", "chunk: whole")
    folder = write_golden(tmp_path, text + 'gates: {ship: {go: "Success@3(words) >= 80%"}}\n')
    (folder / "corpus/en/ferry/01-the-crossing.md").write_text(CHAPTER)
    for command in ("run", "gate"):
        found = assay(command, folder)
        assert found.code == 11
        assert "near misses, 2 items" in " ".join(found.out.split())
    for given in ("json", "markdown", "html"):
        out = assay("report", folder, "--format", given, "-o", "-").out
        said = "\n".join(json.loads(out)["trust"]["warnings"]) if given == "json" else out
        assert "near misses, 2 items" in said


def test_an_anchor_that_the_corpus_has_with_other_markup_is_told_so(tmp_path: Path) -> None:
    folder = write_golden(tmp_path)
    (folder / "corpus/en/ferry/01-the-crossing.md").write_text(CROSSING.replace(ROPE, MARKED))
    found = assay("validate", folder)
    assert found.code == 3
    assert "is not in chapter 1 of 'ferry' with this markup and punctuation. Quote the text" in found.err


def test_words_without_their_markup() -> None:
    raw = (
        "# 1. A [link](http://a.b \"t\"), **bold** `code` &amp; <b class='x'>more</b>[^1]\n```py\nx = 1\n```"
    )
    assert without_markup(raw) == without_markup("A link, bold code & more\nx = 1")
    assert without_markup("<https://a.b>") == without_markup("https://a.b")
    assert without_markup("a < b and c > d") == "abandcd"
    footnotes = "a council[1] met<sup>2</sup> <!-- > - --> in <span class='a > b'>May</span>{.note}\x1b[0m"
    assert without_markup(footnotes) == without_markup("a council met in May")
    assert without_markup("a set {x, y} and f[12](x)") == without_markup("a set x y and f 12")
    assert without_markup("<" * 3) == without_markup("") == ""


@pytest.mark.parametrize(
    "sign",
    [
        "<a",
        "](",
        "![a](",
        "[",
        "](a(b",
        "[^",
        "<!--",
        "\n# # # ",
        "\n1. ",
        "```",
        "[a]: ",
        "&amp;",
        "<a ",
        '<a "',
        "{.",
        "<!--a-",
        "<sup>1",
        "\x1b[",
    ],
)
def test_hostile_texts_are_read_once(sign: str) -> None:
    """Nothing is timed: it would take hours if a pattern looked through the rest again at every sign."""
    assert isinstance(without_markup(sign * (1_000_000 // len(sign))), str)
