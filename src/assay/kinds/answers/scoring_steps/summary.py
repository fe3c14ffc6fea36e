"""What a blinded scoring shows: how raters agree at any time, and, once unblinded, what the scores say."""

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
from assay.kinds.answers.scoring.opened import ScoringFolder
from assay.kinds.answers.scoring.progress import progress, remaining_work
from assay.kinds.answers.scoring.subgroups import correlated, interactions, mean_differences
from assay.kinds.answers.scoring.suggestions import (
    StoredSuggestion,
    read_suggestions,
    rule_suggestions,
    suggestion_uptake,
)
from assay.pipeline.evaluation import Evaluation
from assay.store.run_store import Store
from assay.study.study import Study

STATISTICS = {  # as clauses write them, by name and weights, and as agreement shows them
    ("kappa", "none"): KAPPA,
    ("kappa", "linear"): LINEAR,
    ("kappa", "quadratic"): QUADRATIC,
    ("rho", ""): RHO,
}
SURE = 0.01  # how unlikely a guess must be by chance to be worth a word


def summarise_scoring(evaluation: Evaluation) -> ScoringResults | None:
    """A study's scoring as far as it may be seen; None where no panel scores."""
    study = evaluation.study
    if (panel := find_panel(study)) is None:
        return None
    found = summarise_blinded(study)
    return _unblinded(found, evaluation) if panel.scoring(study.kit).open else found


def summarise_blinded(study: Study) -> ScoringResults:
    """What needs no condition: how far raters are, and how they agree. A study without a panel is refused."""
    panel = panel_of(study)
    a = study.baseline
    b = next((name for name in study.file.systems if name != a), "")
    plain = ScoringResults("open", a, b, panel.primary, panel.others, 0, {})
    files = panel.scoring(study.kit)
    return _blinded(plain, panel, files, study) if files.there else plain


def _blinded(plain: ScoringResults, panel: Panel, files: ScoringFolder, study: Study) -> ScoringResults:
    """What needs no condition."""
    pack, acts, now = files.pack, files.acts, study.kit.clock()
    pairs = rater_pairs(pack, files.marks, thresholds_of(study))
    agreement = [figure for pair in pairs for figure in pair.figures()]
    left = [] if files.open else remaining_work(pack, files.lines, now)
    # who knows another's mark before their own is made is not a second rater
    shown = pairs if not left and not files.open else []
    failing = {(each.raters, each.metric): None for each in agreement if each.holds is False}
    return replace(
        plain,
        state=acts.state,
        responses=len(pack.responses),
        progress=progress(pack, files.lines, now),
        agreement=agreement,
        matched=[pair.matched() for pair in pairs],
        suggestions=suggestion_uptake(files.marks, _suggestions(files)),
        masked=dict(pack.masked),
        acts=acts.said,
        cautions=list(_cautions(panel, acts, study)),
        checked=acts.checked is not None and acts.checked.act != "leaking",
        left=left,
        differences=[
            each
            for pair in shown
            for raters, metric in failing
            if raters == pair.raters
            for each in pair.differences(metric)
        ],
    )


def thresholds_of(study: Study) -> dict[tuple[str, str], float]:
    """What agreement has to reach before the seal is opened: what gates ask for first, else the rubric's.

    A gate counts as it is and as every run wrote it down: lowering the bar once raters differ does not count.
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
    for clause in (part for first in firsts for part in first.parts if isinstance(part, Clause)):
        whole = clause.op in {">", ">="} and not (clause.where or clause.each)
        names = panel_of(study).names
        match clause.left, clause.right, next(operands_of(clause, study)):
            case (Call(where=()), Number(value=value), StatisticOperand(label=str(label)) as found) if (
                whole and {*names}.issuperset(found.raters)
            ):
                weights = getattr(found.statistic, "weights", "")
                key = label.replace("_", " "), STATISTICS.get((found.name, weights), found.name)
                declared[key] = max(value, declared.get(key, value))
    return {**THRESHOLDS, **declared}


def _cautions(panel: Panel, acts: ActLog, study: Study) -> Iterator[str]:
    """What is worth knowing before any figure of the scoring is trusted."""
    if not acts.intact:
        yield f"the record of the seal is broken: {acts.problem}"
    if acts.state == "forced":
        when = next((f": {each}" for each in acts.acts if each.act == "forced"), "")
        yield f"the seal was opened by force before scoring was finished{when}"
    for act in acts.acts:
        if act.act == "accepted":
            yield f"the desk was opened though a check had found leaks: {act}"
    if strangers := sorted({*panel.sizes, *panel.tokenizers} - {*study.file.factors.get(MODEL, [])}):
        yield f"the panel speaks of models that the study does not have: {', '.join(strangers)}"
    if not panel.others:
        yield "one rater scores everything: agreement is that rater's with themself, a limitation to state"


def _suggestions(files: ScoringFolder) -> list[StoredSuggestion]:
    """What rules say of every response that somebody scored, and what models were asked for."""
    pack, scored = files.pack, {mark.response_id for mark in files.marks}
    asked = [response for response in pack.responses if response.response_id in scored]  # rules take a while
    ruled = [each for response in asked for each in rule_suggestions(pack, response)]
    return [*ruled, *read_suggestions(files.folder)]


def _unblinded(found: ScoringResults, evaluation: Evaluation) -> ScoringResults:
    study, blocks, datasets = evaluation.study, evaluation.blocks, evaluation.datasets
    panel = panel_of(study)
    rows = list(scored_responses(panel, blocks, study.kit))
    cluster = "site" if study.file.cluster == "site" else "item_id"
    how = AnalysisOptions(found.a, found.b, cluster, panel.correction, study.file.compare.resamples)
    points, correlations = correlated(rows, how)
    pairs, sites = _tokens(panel, blocks, datasets, study.kit)
    changed = mean_differences(rows, how, "site")
    return replace(
        found,
        tests=[*analyse(rows, how, list(_decided(evaluation))), *interactions(rows, how)],
        categories=_categories(panel, blocks),
        pairs=pairs,
        sites=[replace(site, accuracy_difference=changed.get(site.site_id)) for site in sites],
        points=points,
        correlations=correlations,
        by_model=mean_differences(rows, how, "model"),
        excluded=_excluded(blocks),
        cautions=[*found.cautions, *_guessed(panel.scoring(study.kit))],
    )


def _decided(evaluation: Evaluation) -> Iterator[DecidedDifference]:
    """The differences that gates decide, with the questions and models of their rows."""
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
    """Every response with the primary rater's scores, as `raw-data.csv` has them.

    Nobody stands in for the primary rater: where they find that citations do not apply, another's grade of
    them is none.
    """
    said = {
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
                said.get((*about, ACCURACY)),
                said.get((*about, HALLUCINATIONS)),
                said.get((*about, COMPLETENESS)),
                said.get((*about, CITATION)),
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
    """How many claims of each category the primary rater marked in the responses of each condition."""
    systems = {block.arm.name: block.arm.system for block in blocks}
    found: dict[str, Counter[str]] = {system: Counter() for system in systems.values()}
    for each in blocks[0].judgments:
        if each.label == HALLUCINATION and each.judge == panel.primary and each.arm in systems:
            found[systems[each.arm]][each.category or ""] += 1
    return {system: dict(sorted(counts.items())) for system, counts in found.items()}


def _guessed(files: ScoringFolder) -> list[str]:
    """That the form of responses gives their condition away, as far as a classifier can tell."""
    found = guess_from_form(files.pack, SealedMap("", list(files.originals().values())))
    if found.p >= SURE:
        return []
    auc = f"{found.auc:.2f} where 0.5 is chance"
    return [f"the wording of responses tells their condition (AUC {auc}): raters may have guessed it"]


def _excluded(blocks: Sequence[Block]) -> dict[str, int]:
    failed = Counter[str]()
    for block in blocks:
        failed[block.arm.system] += int((block.asked == FAILED).sum())
    return {system: n for system, n in failed.items() if n}
