"""Gates as JUnit XML, so that any build server shows them: one suite a gate, one case a clause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from xml.etree import ElementTree as ET

from assay.records import ClauseResult, Verdict
from assay.report.wording import clause_outlook, clause_sentence, clause_state, favours, printable
from assay.results import Results


@dataclass(frozen=True)
class Junit:
    """A clause that speaks for shipping passes, one that speaks against fails, an open one is skipped."""

    suffix: ClassVar[str] = ".xml"

    def render(self, results: Results) -> bytes:
        root = ET.Element("testsuites", {"name": printable(results.study), **_totals(results.verdicts)})
        for verdict in results.verdicts:
            root.append(_suite(verdict))
        ET.indent(root)
        return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _suite(verdict: Verdict) -> ET.Element:
    suite = ET.Element("testsuite", {"name": printable(verdict.gate), **_totals([verdict])})
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", name="verdict", value=verdict.verdict)
    if verdict.reason:
        ET.SubElement(properties, "property", name="reason", value=printable(verdict.reason))
    for clause in verdict.clauses:
        suite.append(_case(verdict, clause))
    return suite


def _case(verdict: Verdict, clause: ClauseResult) -> ET.Element:
    """One clause. A kill condition passes where it does not hold, for then it lets the system through."""
    case = ET.Element(
        "testcase", name=printable(clause.text), classname=printable(f"{verdict.gate}.{clause.role}")
    )
    evidence = printable(clause_sentence(clause))
    if (good := favours(clause)) is None:
        reason = clause_outlook(clause) or "the evidence does not decide it"
        ET.SubElement(case, "skipped", message=printable(f"inconclusive: {reason}"))
    elif not good:
        ET.SubElement(case, "failure", type=clause_state(clause), message=evidence).text = printable(
            clause.reason
        )
    ET.SubElement(case, "system-out").text = evidence
    return case


def _totals(verdicts: list[Verdict]) -> dict[str, str]:
    outcomes = [favours(clause) for verdict in verdicts for clause in verdict.clauses]
    return {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count(False)),
        "skipped": str(outcomes.count(None)),
        "errors": "0",
    }
