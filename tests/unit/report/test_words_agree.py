"""No two places disagree: verdict, clause table, comparisons and every report, over 200 random studies."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from html import unescape
from unittest import mock
from xml.etree import ElementTree as ET

import pytest
from random_study import Pairwise, RandomStudy, random_study
from rich.console import Console

from assay.core.records import Comparison, Verdict
from assay.core.results import Results
from assay.gates.verdict import reason_for_go, verdict_notes
from assay.report import text, verdicts
from assay.report import wording as say
from assay.report.formats import JsonReport, JunitReport
from assay.report.github import GitHubComment
from assay.report.html import HtmlReport, answer
from assay.report.markdown import MarkdownReport, code, escaped
from assay.report.verdicts import verdict_words

QUICK, STUDIES = 20, 200
SEEDS = [*range(QUICK), *(pytest.param(each, marks=pytest.mark.slow) for each in range(QUICK, STUDIES))]


def terminal(results: Results) -> str:
    said = io.StringIO()
    with mock.patch.object(text, "WIDTH", 400):  # so that no clause is folded
        text.render_text(results, Console(file=said, width=400))
    return " ".join(said.getvalue().split())


def page(results: Results) -> str:
    source = HtmlReport().render(results).decode()
    words = re.sub(r"<wbr>|</?code>|<script.*?</script>", "", source, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", words)).split())


def comparison_of(results: Results, clause: Pairwise) -> tuple[Comparison | None, bool]:
    """The comparison that a clause is about, and whether it names the two systems the other way round."""
    where = {"part": clause.part} if clause.part else {}
    for one in results.comparisons:
        if one.measure == clause.measure and one.where == where and {one.a, one.b} == {clause.a, clause.b}:
            return one, one.a != clause.a
    return None, False


def shown(results: Results, clause: Pairwise) -> str | None:
    """What the comparison table shows of a clause's first system; None where it does not compare the two."""
    one, turned = comparison_of(results, clause)
    if one is None:
        return None
    return {"better": "worse", "worse": "better", "": ""}[one.shown] if turned else one.shown


def check_comparisons(study: RandomStudy, verdict: Verdict) -> Counter[str]:
    """What a guarded clause found is what the comparison of the same two systems shows."""
    seen: Counter[str] = Counter()
    for clause in verdict.clauses:
        pair = study.pairwise.get(clause.text)
        if clause.shows == "not guarded" or clause.value is None or clause.holds is None:
            continue
        if pair is not None and (found := shown(study.results, pair)) is not None:
            one, _ = comparison_of(study.results, pair)
            assert one is not None
            if clause.holds and pair.constant >= 0 and one.difference:
                assert found == "better", (clause, one)
                assert one.family.startswith("gate ")
                seen["gain"] += 1
            if not clause.holds and pair.constant <= 0:
                assert found == "worse", (clause, one)
                seen["loss"] += 1
        if clause.holds and clause.text in study.choices:
            among = [shown(study.results, each) for each in study.choices[clause.text]]
            assert "better" in among or None in among
            seen["choice"] += None not in among
    return seen


def check_answers(results: Results) -> None:
    """The words above a measure's picture name each pair as its comparison shows it, and only so."""
    for measure in results.measures:
        said = answer(results, measure)
        for one in say.differences(results, measure.name):
            parts = [part for part in said.split("; ") if re.search(rf"\b{one.a}\b.* {one.b}$", part)]
            word = {"better": " better than ", "worse": " worse than ", "": "clearly differ"}[one.shown]
            assert any(word in part for part in parts), (one, said)
            assert all(word in part for part in parts), (one, said)
            assert say.is_shown(one) is bool(one.shown)
            assert (one.mde is None) or not one.shown


@pytest.mark.parametrize("seed", SEEDS)
def test_every_place_says_the_same(seed: int) -> None:
    study = random_study(seed)
    results = study.results
    check_answers(results)
    texts = {"terminal": terminal(results), "page": page(results)}
    markdown, comment = (each.render(results).decode() for each in (MarkdownReport(), GitHubComment()))
    stored = {each["gate"]: each for each in json.loads(JsonReport().render(results))["verdicts"]}
    built = ET.fromstring(JunitReport().render(results))  # noqa: S314 (our own)
    suites = {each.get("name"): each for each in built.iter("testsuite")}
    for said in (*texts.values(), markdown.replace("\\", "")):  # a comment may cut a long line
        assert verdicts.headline(results) in said
    first = next((each for each in verdicts.gates_in_order(results) if each.verdict == results.verdict), None)
    assert first is None or all(each in verdicts.headline(results) for each in verdict_notes(first))
    for verdict in results.verdicts:
        check_comparisons(study, verdict)
        words = verdict_words(verdict)
        assert words.reason == "; ".join(
            filter(None, [stored[verdict.gate]["reason"], *verdict_notes(verdict)])
        )
        assert words.reason in texts["page"]
        if verdict.verdict == "go":
            assert stored[verdict.gate]["reason"] == reason_for_go(verdict.clauses)
        section = markdown.split(f"## {verdict.gate}: {words.title}\n")[1].split("\n## ")[0]
        assert escaped(words.reason) in section
        kept = {(each["text"], each["role"] == "kill"): each for each in stored[verdict.gate]["clauses"]}
        for each in words.clauses:
            assert kept[each.text, each.clause.role == "kill"]["shows"] == each.clause.shows
            assert f"{each.text} {each.state}" in texts["terminal"]
            assert not each.clause.shows or each.beneath in texts["terminal"]
            assert each.outcome in texts["page"]
            assert each.outcome in comment
            assert f"| {code(each.text)} | {escaped(each.outcome)} |" in section
        if verdict.deciding:
            suite = suites[verdict.gate]
            reason = suite.find("properties/property[@name='reason']")
            assert reason is not None
            assert reason.get("value") == words.reason
            printed = [case.findtext("system-out", "") for case in suite.iter("testcase")]
            assert [each.sentence for each in words.clauses] == printed[:-1]


def test_the_studies_are_of_every_sort() -> None:
    """The comparison above is worth something only if studies hold what could disagree."""
    seen: Counter[str] = Counter()
    for seed in range(60):
        study = random_study(seed)
        for verdict in study.results.verdicts:
            seen.update([verdict.verdict, *(clause.shows for clause in verdict.clauses)])
            seen.update(check_comparisons(study, verdict))
        # a difference that its gate shows, though the p-value that informs does not
        seen["gate only"] += sum(
            bool(one.shown) and one.p_adjusted is not None and one.p_adjusted >= 0.05
            for one in study.results.comparisons
        )
    wanted = ("go", "no-go", "inconclusive", "gain shown", "threshold shown", "not guarded", "gain", "loss")
    assert all(seen[each] for each in (*wanted, "choice", "gate only")), seen
