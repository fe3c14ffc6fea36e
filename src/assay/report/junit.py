"""Gates as JUnit XML, so that any build server shows them: one suite a gate, one case a clause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from xml.etree import ElementTree as ET

from assay.core.records import Verdict
from assay.core.results import GO, INCONCLUSIVE, NO_GO, Results
from assay.report.verdict_words import ClauseWords, verdict_words
from assay.report.wording import printable, supports_go, unique_clauses


@dataclass(frozen=True)
class JunitReport:
    """A clause that speaks for shipping passes, one that speaks against fails, an open one is skipped.

    Build servers show skipped cases as green, so that each gate has one more case, its verdict: it fails on
    no-go and is an error on inconclusive. Gates that only inform are left out.
    """

    suffix: ClassVar[str] = ".xml"

    def render(self, results: Results) -> bytes:
        deciding = [verdict for verdict in results.verdicts if verdict.deciding]
        root = ET.Element("testsuites", {"name": printable(results.study), **_totals(deciding)})
        for verdict in deciding:
            root.append(_suite(verdict))
        ET.indent(root)
        return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _suite(verdict: Verdict) -> ET.Element:
    suite = ET.Element("testsuite", {"name": printable(verdict.gate), **_totals([verdict])})
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", name="verdict", value=verdict.verdict)
    if verdict.about:
        ET.SubElement(properties, "property", name="about", value=printable(verdict.about))
    words = verdict_words(verdict)
    if words.reason:
        ET.SubElement(properties, "property", name="reason", value=printable(words.reason))
    for each in words.clauses:
        suite.append(_case(verdict, each))
    case = ET.SubElement(suite, "testcase", name="verdict", classname=printable(verdict.gate))
    if verdict.verdict != GO:
        tag = "failure" if verdict.verdict == NO_GO else "error"
        ET.SubElement(case, tag, type=verdict.verdict, message=printable(words.reason or verdict.verdict))
    return suite


def _case(verdict: Verdict, words: ClauseWords) -> ET.Element:
    """One clause. A kill condition passes where it does not hold, for then it lets the system through."""
    clause = words.clause
    case = ET.Element(
        "testcase", name=printable(clause.text), classname=printable(f"{verdict.gate}.{clause.role}")
    )
    evidence = printable(words.sentence)
    if (good := supports_go(clause)) is None:
        reason = words.why or "the evidence does not decide it"
        ET.SubElement(case, "skipped", message=printable(f"inconclusive: {reason}"))
    elif not good:
        ET.SubElement(case, "failure", type=words.state, message=evidence).text = printable(clause.reason)
    ET.SubElement(case, "system-out").text = evidence
    return case


def _totals(verdicts: list[Verdict]) -> dict[str, str]:
    outcomes = [supports_go(clause) for verdict in verdicts for clause in unique_clauses(verdict)]
    words = [verdict.verdict for verdict in verdicts]
    return {
        "tests": str(len(outcomes) + len(words)),
        "failures": str(outcomes.count(False) + words.count(NO_GO)),
        "skipped": str(outcomes.count(None)),
        "errors": str(words.count(INCONCLUSIVE)),
    }
