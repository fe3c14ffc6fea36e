"""Summarises a blinded scoring: the agreement of raters at any time, all results once it is unblinded."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from assay.core.block import FAILED, Block
from assay.core.dataset import Dataset
from assay.core.protocols import Kit
from assay.gates.gate import Gate, GateFile, operands_of
from assay.gates.operand import StatisticOperand
from assay.gates.syntax import Call, Clause, Number
from assay.kinds.answers.blinding.acts import ActLog
from assay.kinds.answers.blinding.pack import SealedMap
from assay.kinds.answers.content_pairs import pair_tokens, site_tokens
from assay.kinds.answers.leaks.statistics import guess_from_form
from assay.kinds.answers.measures.content import ContentTokens
from assay.kinds.answers.measures.rubric import (
    ACCURACY,
    CITATION,
    COMPLETENESS,
    HALLUCINATION,
    HALLUCINATIONS,
)
from assay.kinds.answers.panel import MODEL, Panel, find_panel, panel_of
from assay.kinds.answers.results import PairTokens, ScoringResults, SiteTokens
from assay.kinds.answers.scoring.agreement import KAPPA, LINEAR, QUADRATIC, RHO, THRESHOLDS, rater_pairs
from assay.kinds.answers.scoring.analysis import AnalysisOptions, DecidedDifference, ScoredResponse, analyse
from assay.kinds.answers.scoring.marks import ScoringFolder
from assay.kinds.answers.scoring.progress import MarkIndex, progress, remaining_work
from assay.kinds.answers.scoring.subgroups import interactions, mean_differences, token_changes
from assay.kinds.answers.scoring.suggestions import (
    StoredSuggestion,
    read_suggestions,
    rule_suggestions,
    suggestion_uptake,
)
from assay.pipeline.evaluation import Evaluation
from assay.stats.statistics import Kappa
from assay.store.run_store import Store
from assay.study.study import Study

STATISTICS = {  # by name and weights in clauses: the name of the statistic in the results
    ("kappa", "none"): KAPPA,
    ("kappa", "linear"): LINEAR,
    ("kappa", "quadratic"): QUADRATIC,
    ("rho", ""): RHO,
}
SURE = 0.01  # the p-value below which a guess of conditions is worth a caution


def summarise_scoring(evaluation: Evaluation) -> ScoringResults | None:
    """Returns the results of a study's scoring that may be seen now; None if the study has no panel."""
    study = evaluation.study
    if (panel := find_panel(study)) is None:
        return None
    found = summarise_blinded(study)
    return _with_conditions(found, evaluation) if panel.scoring(study.kit).is_open else found


def summarise_blinded(study: Study) -> ScoringResults:
    """Returns the results that need no condition: the progress and the agreement of raters.

    Raises a UsageError if the study has no panel.
    """
    panel = panel_of(study)
    a = study.baseline
    b = next((name for name in study.file.systems if name != a), "")
    plain = ScoringResults("open", a, b, panel.primary, panel.others, 0, {})
    files = panel.scoring(study.kit)
    if not files.has_pack:
        return plain
    pack, acts, index = files.pack, files.acts, MarkIndex(files.pack, files.entries)
    pairs = rater_pairs(pack, files.marks, thresholds_of(study))
    agreement = [each for pair in pairs for each in pair.agreement()]
    left = [] if files.is_open else remaining_work(index, study.kit.clock())
    failing = {(each.raters, each.metric): None for each in agreement if each.holds is False}
    return replace(
        plain,
        state=acts.state,
        responses=len(pack.responses),
        progress=progress(index),
        agreement=agreement,
        matched=[pair.claim_overlap() for pair in pairs],
        suggestions=suggestion_uptake(files.marks, _suggestions(files)),
        masked=dict(pack.masked),
        acts=acts.sentences,
        cautions=list(_cautions(panel, acts, study)),
        checked=acts.last_check is not None and acts.last_check.act != "leaking",
        left=left,
        # a rater who knows another's marks before making their own is not a second rater
        differences=[
            each
            for pair in (pairs if not left and not files.is_open else [])
            for raters, metric in failing
            if raters == pair.raters
            for each in pair.disputed(metric)
        ],
    )


def thresholds_of(study: Study) -> dict[tuple[str, str], float]:
    """Returns the agreement that is needed before the seal is opened, by metric and statistic.

    The `first` clauses of gates set thresholds. All other thresholds are those of the rubric. Gates count as
    they are now and as every earlier run recorded them, and the highest threshold holds. Therefore lowering a
    threshold once raters disagree has no effect.
    """
    declared: dict[tuple[str, str], float] = {}
    earlier = (each.gates for each in Store(study.run_folder).declared())
    gates = [
        *study.gates,
        *(Gate.from_file(name, GateFile(**file)) for found in earlier for name, file in found.items()),
    ]
    firsts = [
        gate.first
        for gate in gates
        if gate.rules.deciding and gate.first and gate.first.need == len(gate.first.parts)
    ]
    names = {*panel_of(study).names}
    for clause in (part for first in firsts for part in first.parts if isinstance(part, Clause)):
        if clause.op not in {">", ">="} or clause.where or clause.each:
            continue
        match clause.left, clause.right, next(operands_of(clause, study)):
            case (Call(where=()), Number(value=value), StatisticOperand(label=str(label)) as found) if (
                names.issuperset(found.raters)
            ):
                weights = found.statistic.weights if isinstance(found.statistic, Kappa) else ""
                key = label.replace("_", " "), STATISTICS.get((found.name, weights), found.name)
                declared[key] = max(value, declared.get(key, value))
    return {**THRESHOLDS, **declared}


def _cautions(panel: Panel, acts: ActLog, study: Study) -> Iterator[str]:
    """Yields what a reader should know before trusting the results."""
    if not acts.intact:
        yield f"the record of the seal is broken: {acts.problem}"
    if acts.state == "forced":
        when = next((f": {each}" for each in acts.acts if each.act == "forced"), "")
        yield f"the seal was opened by force before scoring was finished{when}"
    for act in acts.acts:
        if act.act == "accepted":
            yield f"the desk was opened though a check had found leaks: {act}"
    if unknown := sorted({*panel.sizes, *panel.tokenizers} - {*study.file.factors.get(MODEL, [])}):
        yield f"the panel names models that the study does not have: {', '.join(unknown)}"
    if not panel.others:
        yield "one rater scores everything: agreement is that rater's with themself, a limitation to state"


def _suggestions(files: ScoringFolder) -> list[StoredSuggestion]:
    """Returns the suggestions of rules for every scored response, and the suggestions of models."""
    pack, scored = files.pack, {mark.response_id for mark in files.marks}
    responses = [each for each in pack.responses if each.response_id in scored]  # rules take a while
    ruled = [each for response in responses for each in rule_suggestions(pack, response)]
    return [*ruled, *read_suggestions(files.folder)]


# ------------------------------------------------------------------------------- once unblinded


def _with_conditions(found: ScoringResults, evaluation: Evaluation) -> ScoringResults:
    study, blocks, datasets = evaluation.study, evaluation.blocks, evaluation.datasets
    panel = panel_of(study)
    rows = list(scored_responses(panel, blocks, study.kit))
    cluster = "site" if study.file.cluster == "site" else "item_id"
    options = AnalysisOptions(found.a, found.b, cluster, panel.correction, study.file.compare.resamples)
    points, correlations = token_changes(rows, options)
    pairs, sites = _tokens(panel, blocks, datasets, study.kit)
    changed = mean_differences(rows, options, "site")
    failed = Counter[str]()
    for block in blocks:
        failed[block.arm.system] += int((block.asked == FAILED).sum())
    return replace(
        found,
        tests=[*analyse(rows, options, list(_decided(evaluation))), *interactions(rows, options)],
        categories=_categories(panel, blocks),
        pairs=pairs,
        sites=[replace(site, accuracy_difference=changed.get(site.site_id)) for site in sites],
        points=points,
        correlations=correlations,
        by_model=mean_differences(rows, options, "model"),
        excluded={system: n for system, n in failed.items() if n},
        cautions=[*found.cautions, *_form_cautions(panel.scoring(study.kit))],
    )


def _decided(evaluation: Evaluation) -> Iterator[DecidedDifference]:
    """Yields the differences that gates decide, with the questions and models of their rows."""
    rows = evaluation.rows
    for each in evaluation.decided_differences:
        masks = each.rows.reshape(-1, len(rows.items))
        about = frozenset(
            (item.item_id, combination.get(MODEL, ""))
            for combination, mask in zip(rows.combinations, masks, strict=True)
            for item, inside in zip(rows.items, mask.tolist(), strict=True)
            if inside
        )
        yield DecidedDifference(each, about)


def scored_responses(panel: Panel, blocks: Sequence[Block], kit: Kit) -> Iterator[ScoredResponse]:
    """Yields every response with the primary rater's grades, as in `raw-data.csv`.

    The grades of other raters are not used. If the primary rater says that citations do not apply, another
    rater's grade of these citations does not count.
    """
    grades = {
        (each.item_id, each.arm, each.seed, each.label): each.grade
        for each in (blocks[0].judgments if blocks else ())
        if each.judge == panel.primary and each.span is None
    }
    for block in blocks:
        model = block.arm.factors.get(MODEL, "")
        tokens = ContentTokens.counted(block, panel.tokens(model, kit).counts)
        for item, size in zip(block.items, tokens.tolist(), strict=True):
            about = item.item_id, block.arm.name, block.seed
            yield ScoredResponse(
                item.item_id,
                model,
                block.arm.system,
                ", ".join(item.values("site")),
                ", ".join(item.values("complexity")),
                panel.sizes.get(model, ""),
                block.seed,
                grades.get((*about, ACCURACY)),
                grades.get((*about, HALLUCINATIONS)),
                grades.get((*about, COMPLETENESS)),
                grades.get((*about, CITATION)),
                None if math.isnan(size) else size,
            )


def _tokens(
    panel: Panel, blocks: Sequence[Block], datasets: Mapping[str, Dataset], kit: Kit
) -> tuple[list[PairTokens], list[SiteTokens]]:
    dataset = datasets[blocks[0].arm.name]
    if not any("pair" in passage.metadata for passage in dataset.corpus.passages):
        return [], []
    counting = {each.name: each for each in (panel.tokens(name, kit) for name in ("", *panel.tokenizers))}
    pairs = pair_tokens(dataset, counting.values())
    return pairs, site_tokens(pairs)


def _categories(panel: Panel, blocks: Sequence[Block]) -> dict[str, dict[str, int]]:
    """Counts the claims of each category that the primary rater marked, by condition."""
    systems = {block.arm.name: block.arm.system for block in blocks}
    found: dict[str, Counter[str]] = {system: Counter() for system in systems.values()}
    for each in blocks[0].judgments:
        if each.label == HALLUCINATION and each.judge == panel.primary and each.arm in systems:
            found[systems[each.arm]][each.category or ""] += 1
    return {system: dict(sorted(counts.items())) for system, counts in found.items()}


def _form_cautions(files: ScoringFolder) -> list[str]:
    """Returns a caution if a classifier can predict the condition of responses from their form."""
    found = guess_from_form(files.pack, SealedMap("", list(files.originals().values())))
    if found.p >= SURE:
        return []
    auc = f"{found.auc:.2f} where 0.5 is chance"
    return [f"the wording of responses tells their condition (AUC {auc}): raters may have guessed it"]
