"""The commands of this kind: assay review blind, check, suggest and unblind, and assay tokens."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.terminal import AsJson, By, StudyPath, plain_console, print_json, say, table, user_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.core.dataset import Dataset
    from assay.core.parts import Tokens
    from assay.kinds.answers.content_pairs import DeltaDistribution
    from assay.kinds.answers.results import PairTokens, SiteTokens
    from assay.study.study import Study

MOST = 40  # pairs that are printed; JSON has them all


def blind(
    study: StudyPath,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Blind again, if nobody has scored anything yet.")
    ] = False,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Give every response a random id, mask the words that give its condition away, and seal the map."""
    from assay.kinds.answers.scoring_steps.blinding import blind_study
    from assay.report.wording import quantity
    from assay.study.study import open_study

    found = blind_study(open_study(study), by=user_of(by), fresh=fresh)
    if as_json:
        print_json({"schema": "assay/blinding/1", **found.as_json()})
        return
    count = f"{quantity(found.responses, 'response')} to {quantity(found.questions, 'question')}"
    typer.echo(f"{count} in {found.folder}")
    masked = ", ".join(f"{rule} {n}" for rule, n in found.masked.items()) or "nothing"
    typer.echo(f"masked: {masked}")
    if found.failed:
        again = f"assay run {study}, then assay review blind {study} --fresh"
        say(f"left out: {quantity(found.failed, 'response')} that failed to be collected")
        say(f"to ask for them again before anybody scores: {again}")
    say(f"keep {found.key} from the raters; next: assay review check {study}")


def check(study: StudyPath, by: By = None, as_json: AsJson = False) -> None:
    """Search the pack for anything that would tell a rater the condition."""
    from assay.core.errors import DataError, Problem
    from assay.kinds.answers.scoring_steps.blinding import check_blinding
    from assay.study.study import open_study

    leaks = check_blinding(open_study(study), user_of(by))
    if as_json:
        print_json({"schema": "assay/blinding-check/1", "leaks": leaks})
    elif not leaks:
        typer.echo("no leak found")
        say(f"next: assay review serve {study}")
    if leaks:
        fix = "Correct it before anybody scores, and check again."
        raise DataError([Problem(f"{leak.check}: {leak.what}", leak.where, fix=fix) for leak in leaks])


def suggest(
    study: StudyPath,
    judge: Annotated[str, typer.Option(help="A model that is not under test, as in: llm(url=…, model=…)")],
    as_json: AsJson = False,
) -> None:
    """Ask a model for a first guess at accuracy. Raters may look at it; only their marks count."""
    from assay.kinds.answers.scoring_steps.work import suggest_study
    from assay.study.study import open_study

    found = suggest_study(open_study(study), judge)
    if as_json:
        print_json({"schema": "assay/suggestions/1", **asdict(found)})
    else:
        typer.echo(found.sentence)


def unblind(
    study: StudyPath,
    force: Annotated[
        bool, typer.Option("--force", help="Before scoring is finished: every report will say so, for ever.")
    ] = False,
    reason: Annotated[str, typer.Option(help="With --force: why.")] = "",
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Open the seal, once all passes are complete and raters agree. This is recorded."""
    from assay.kinds.answers.scoring_steps.work import unblind_study
    from assay.study.study import open_study

    found = unblind_study(open_study(study), by=user_of(by), force=force, reason=reason)
    if as_json:
        print_json({"schema": "assay/unblinding/1", **asdict(found)})
        return
    typer.echo(found.sentence)
    say(f"next: assay run {study}")


# --------------------------------------------------------------------------------------- tokens


def tokens(
    path: Annotated[
        Path,
        typer.Argument(metavar="PATH", help="A study whose data has content pairs, or a folder of pages."),
    ],
    tokenizer: Annotated[
        list[str] | None,
        typer.Option("--tokenizer", metavar="NAME", help="A tokenizer; may be given several times. [llama3]"),
    ] = None,
    extract: Annotated[
        str | None,
        typer.Option("--extract", metavar="NAME", help="How pages become text: main, visible, trafilatura."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count the tokens of content pairs: the same content as HTML-derived text (A) and as Markdown (B)."""
    from assay.kinds.answers.content_pairs import delta_distributions, pair_tokens, site_tokens

    dataset, tokenizers = _load(path, tokenizer or ["llama3"], extract)
    pairs = pair_tokens(dataset, tokenizers)
    sites = site_tokens(pairs)
    over = delta_distributions(sites)
    for warning in dataset.warnings:
        say(f"warning: {warning}")
    if as_json:
        found = {"name": dataset.name, "pairs": pairs, "sites": sites, "spreads": over}
        print_json({"schema": "assay/tokens/1", **found})
        return
    say("delta is B - A: below 0, B needs fewer tokens; percentages are of A")
    _print_tables(pairs, sites, over)
    if len(pairs) > MOST:
        say(f"{len(pairs) - MOST} more pairs: see them with --json")


def _print_tables(
    pairs: Sequence[PairTokens], sites: Sequence[SiteTokens], over: Sequence[DeltaDistribution]
) -> None:
    console = plain_console()
    console.print(
        table(
            ("pair", "site", "tokenizer", "A", "B", "delta", "percent"),
            [
                (
                    *(each.content_pair_id, each.site_id, each.tokenizer),
                    *(f"{each.condition_a_tokens:,}", f"{each.condition_b_tokens:,}"),
                    *(f"{each.delta:+,}", f"{each.delta_pct:+.1f}%"),
                )
                for each in pairs[:MOST]
            ],
            figures={3, 4, 5, 6},
        )
    )
    console.print()
    console.print(
        table(
            ("site", "tokenizer", "pairs", "mean A", "mean B", "median A", "median B", "delta", "percent"),
            [
                (
                    *(each.site_id, each.tokenizer, str(each.pairs)),
                    *(f"{n:,.1f}" for n in (each.mean_a, each.mean_b, each.median_a, each.median_b)),
                    *(f"{each.delta:+,.1f}", f"{each.delta_pct:+.1f}%"),
                )
                for each in sites
            ],
            figures=set(range(2, 9)),
        )
    )
    console.print()
    console.print(
        table(
            ("over sites", "sites", "lowest", "25%", "median", "75%", "highest", "B needs fewer"),
            [
                (
                    *(each.tokenizer, str(each.sites)),
                    *(f"{n:+.1f}%" for n in (each.lowest, each.first_quartile, each.median)),
                    *(f"{n:+.1f}%" for n in (each.third_quartile, each.highest)),
                    f"{each.fewer:.0%}",
                )
                for each in over
            ],
            figures=set(range(1, 8)),
        )
    )
    console.print()


def _load(path: Path, names: Sequence[str], extract: str | None) -> tuple[Dataset, list[Tokens]]:
    """Loads the content pairs of a study or of a folder of pages, and the tokenizers."""
    from assay.core.errors import UsageError
    from assay.core.protocols import Kit
    from assay.core.records import Arm
    from assay.core.registry import TOKENIZERS, Registry
    from assay.datasets.page_text import SUFFIXES
    from assay.kinds.answers.content_pairs import folder_pairs
    from assay.study.study import open_study

    if path.suffix.lower() in SUFFIXES and not path.is_dir():
        raise UsageError(f"{path} is one page. Name the folder in which it lies beside its Markdown.")
    if not path.is_dir() or (path / "study.yaml").is_file():
        if extract is not None:
            raise UsageError("--extract is for a folder of pages. A study sets it itself: extract, in data.")
        study = open_study(path)
        _refuse_sealed(study)
        dataset, registry, kit = study.dataset(Arm("")), study.registry, study.kit
    else:
        for folder in path.resolve().parents:
            if (folder / "study.yaml").is_file():
                _refuse_sealed(open_study(folder))
        dataset, registry, kit = folder_pairs(path, extract or "main"), Registry(), Kit()
    return dataset, [registry.create(TOKENIZERS, name).load(kit) for name in names]


def _refuse_sealed(study: Study) -> None:
    from assay.core.errors import UsageError
    from assay.pipeline.runner import command_path

    if study.withholds:
        what = "Sizes give conditions away, and people are to score blind"
        raise UsageError(f"{what}. Count the tokens after: assay review unblind {command_path(study)}")
