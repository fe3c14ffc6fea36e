"""Writes the formats JSON, JUnit and Parquet, and writes reports to disk."""

from __future__ import annotations

import dataclasses
import io
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar
from xml.etree import ElementTree as ET

import msgspec
import polars as pl

from assay.core.errors import PluginError
from assay.core.protocols import FolderRenderer
from assay.core.records import Verdict
from assay.core.registry import RENDERERS, as_plugin_error
from assay.core.results import GO, INCONCLUSIVE, NO_GO, Results
from assay.report.verdicts import ClauseWords, supports_go, unique_clauses, verdict_words
from assay.report.wording import printable
from assay.store.disk import write_atomic
from assay.study.study import Study


def write_reports(results: Results, study: Study) -> tuple[Results, list[str]]:
    """Writes the HTML page and the other formats that the study asks for.

    Returns the results, which then name the page, and the reasons why reports could not be written. A report
    that cannot be written affects neither the other reports nor the verdict.
    """
    named = dataclasses.replace(results, report=str(study.run_folder / "report.html"))
    broken = []
    for format_ in dict.fromkeys(["html", *study.file.reports]):
        try:
            write_report(named, study, format_)
        except PluginError as error:
            broken.append(f"{error}. This report is not written.")
    return named, broken


def write_report(results: Results, study: Study, format_: str, out: Path | None = None) -> Path:
    """Writes one format to the run folder or to `out`, and returns its path.

    A format is a file or a folder.
    """
    renderer = study.registry.create(RENDERERS, format_)
    with as_plugin_error(f"the report {format_} broke"):
        if isinstance(renderer, FolderRenderer):
            place = out or study.run_folder / format_
            content = {place / name: data for name, data in renderer.files(results).items()}
        else:
            place = out or study.run_folder / f"report{renderer.suffix}"
            content = {place: renderer.render(results)}
    for path, data in content.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, partial(Path.write_bytes, data=data))
    return place


# ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JsonReport:
    """Results as one UTF-8 JSON object; values that are not finite numbers are null."""

    suffix: ClassVar[str] = ".json"

    def render(self, results: Results) -> bytes:
        # msgspec writes NaN and the infinities as null; the standard library does not.
        return msgspec.json.format(msgspec.json.encode(results.as_json()), indent=1) + b"\n"


# ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JunitReport:
    """JUnit XML: a clause that supports a go passes, one against a go fails, an undecided one is skipped.

    Build servers show skipped cases as green. So each gate has one more case, its verdict: it fails on no-go
    and is an error on inconclusive. Gates that only inform are left out.
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
    """Returns the case of one clause.

    A kill condition passes if it is not met: then it lets the system through.
    """
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


# ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ParquetReport:
    """The scores as a table: one row for each item, arm, seed and measure; a missing value is null.

    `factors` is a JSON object as text, so that the table is the same whatever factors a study has.
    """

    suffix: ClassVar[str] = ".parquet"

    def render(self, results: Results) -> bytes:
        buffer = io.BytesIO()
        results.scores.with_columns(pl.col("value").fill_nan(None)).write_parquet(buffer)
        return buffer.getvalue()
