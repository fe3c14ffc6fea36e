"""The files of a scoring on disk: scores and hallucinations at any time, the rest once it is unblinded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path

import msgspec
import numpy as np

from assay.core.block import Block
from assay.core.protocols import Kit
from assay.kinds.answers.blinding.masks import to_original
from assay.kinds.answers.blinding.pack import BlindedResponse, OriginalResponse
from assay.kinds.answers.measures.content import ContentChars, ContentTokens, OutputTokens
from assay.kinds.answers.panel import MODEL, Panel, panel_of
from assay.kinds.answers.scoring.agreement import rater_label
from assay.kinds.answers.scoring.marks import Mark
from assay.kinds.answers.scoring_steps.files import (
    DETAILS,
    EFFICIENCY,
    NOTEBOOK,
    RAW_DATA,
    SECOND,
    HallucinationDetail,
    ScoreRow,
    hallucination_details,
    notebook,
    raw_data_csv,
    token_efficiency,
)
from assay.kinds.answers.scoring_steps.summary import summarise_scoring
from assay.kinds.answers.scoring_steps.work import scoring_folder
from assay.pipeline.evaluation import Evaluation
from assay.store.disk import write_atomic
from assay.study.study import Study

RESULTS = "results.json"
FOLDER = "results"


def export_scoring(study: Study, folder: Path | None = None) -> list[Path]:
    """Writes what may be seen now; while blinded, nothing that tells a condition."""
    place, paths = folder or study.folder / FOLDER, []
    for name, content in result_files(study).items():
        write_atomic(place / name, partial(Path.write_bytes, data=content))
        paths.append(place / name)
    return paths


def result_files(study: Study) -> dict[str, bytes]:
    """The result files by name, as far as they may be seen now."""
    scored = _ScoreTable(study)
    found = {
        RAW_DATA: raw_data_csv(scored.rows(), blinded=not scored.open).encode(),
        DETAILS: hallucination_details(dict(scored.claims())),
    }
    if not scored.open:
        return found
    evaluation, panel = Evaluation(study), panel_of(study)
    if (scoring := summarise_scoring(evaluation)) is not None:
        cluster = "site_id" if study.file.cluster == "site" else "question_id"
        how = {"correction": panel.correction, "cluster": cluster}
        found[SECOND] = raw_data_csv(scored.second_rows()).encode()
        found[EFFICIENCY] = token_efficiency(scoring.pairs, scoring.sites)
        found[RESULTS] = msgspec.json.format(msgspec.json.encode(evaluation.results.as_json()), indent=1)
        found[NOTEBOOK] = notebook(study.name, scoring, sizes=panel.sizes, **how)
    return found


class _ScoreTable:
    """Scores, response by response."""

    def __init__(self, study: Study) -> None:
        self.study, self.panel, self.files = study, panel_of(study), scoring_folder(study)
        self.open = self.files.open

    @cached_property
    def _given(self) -> Mapping[str, Mapping[str, Mapping[str, Mark]]]:
        """By scorer, response and pass: what stands."""
        found: dict[str, dict[str, dict[str, Mark]]] = {self.panel.primary: {}}
        for mark in self.files.marks:
            of = found.setdefault(rater_label(mark.rater, mark.round), {})
            of.setdefault(mark.response_id, {})[mark.step] = mark
        return found

    @cached_property
    def _originals(self) -> Mapping[str, OriginalResponse]:
        return self.files.originals() if self.open else {}

    @cached_property
    def _sizes(self) -> Mapping[tuple[str, str, int], _ResponseSizes]:
        """What is withheld until the seal is open, by item, arm and seed."""
        if not self.open:
            return {}
        found = {}
        for block in Evaluation(self.study).blocks:
            for item, sizes in zip(block.items, _sizes_of(block, self.panel, self.study.kit), strict=True):
                found[item.item_id, block.arm.name, block.seed] = sizes
        return found

    def rows(self) -> Iterator[ScoreRow]:
        """The primary rater's scores, which are analysed: one row a response."""
        for response in self.files.pack.responses:
            yield self._row(response, self.panel.primary)

    def second_rows(self) -> Iterator[ScoreRow]:
        """All other scores, which only tell agreement: one row a scorer and response."""
        for scorer, given in self._given.items():
            if scorer != self.panel.primary:
                yield from (
                    self._row(each, scorer) for each in self.files.pack.responses if each.response_id in given
                )

    def _row(self, response: BlindedResponse, scorer: str) -> ScoreRow:
        asked = self.files.pack.questions[response.question_id]
        marks = self._given[scorer].get(response.response_id, {})
        claims = marks["hallucination"].claims if "hallucination" in marks else None
        original = self._originals.get(response.response_id)
        sizes = self._sizes.get((original.item_id, original.arm, original.seed)) if original else None
        return ScoreRow(
            response.response_id,
            asked.site,
            asked.question_id,
            asked.complexity,
            sizes.model if sizes else None,
            sizes.condition if sizes else None,
            _grade(marks, "accuracy"),
            None if claims is None else len(claims),
            tuple(claim.category for claim in claims or ()),
            *(sizes.tokens if sizes else (None, None, None, None)),
            _grade(marks, "completeness"),
            _grade(marks, "citation"),
            "; ".join(f"{step}: {said}" for step, mark in marks.items() if (said := _notes(mark))),
            scorer if marks else "",
            _date(max((mark.time for mark in marks.values()), default=None)),
        )

    def claims(self) -> Iterator[tuple[str, list[HallucinationDetail]]]:
        """What the primary rater called unsupported, in the words as written once it is unblinded."""
        for response in self.files.pack.responses:
            mark = self._given[self.panel.primary].get(response.response_id, {}).get("hallucination")
            original = self._originals.get(response.response_id)
            found = []
            for claim in mark.claims if mark else ():
                span = (claim.start, claim.end)
                text = response.text if original is None else original.text
                start, end = span if original is None else to_original(span, original.masks)
                found.append(HallucinationDetail(claim.category, text[start:end], claim.claim, claim.note))
            if mark is not None:
                yield response.response_id, found


@dataclass(frozen=True)
class _ResponseSizes:
    """Whose a response is, and what it took."""

    model: str
    condition: str
    tokens: tuple[int | None, int | None, int | None, int | None]  # input, reference, output, characters


def _sizes_of(block: Block, panel: Panel, kit: Kit) -> Iterator[_ResponseSizes]:
    model = block.arm.factors.get(MODEL, "")
    own, reference = panel.tokens(model, kit).counts, panel.tokens("", kit).counts
    sizes = [ContentTokens.counted(block, counts) for counts in (own, reference)]
    sizes += [OutputTokens.counted(block, own), ContentChars().values(block)]
    for response, *row in zip(block.responses, *sizes, strict=True):
        one, two, three, four = (None if np.isnan(value) else int(value) for value in row)
        if response is not None and response.observed.tokens is not None:
            three = response.observed.tokens  # who ran the model counted by its own tokenizer
        yield _ResponseSizes(model, block.arm.system, (one, two, three, four))


def _grade(marks: Mapping[str, Mark], step: str) -> int | None:
    return marks[step].grade if step in marks else None


def _notes(mark: Mark) -> str:
    return " / ".join(filter(None, [mark.note, *(claim.note for claim in mark.claims)]))


def _date(time: float | None) -> str:
    return "" if time is None else datetime.fromtimestamp(time, UTC).date().isoformat()
