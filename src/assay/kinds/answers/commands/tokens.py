"""assay tokens: what content pairs cost in tokens, by pair, by site, and over sites."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.terminal import AsJson, plain_console, print_json, say, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from assay.core.dataset import Dataset
    from assay.core.parts import Tokens
    from assay.kinds.answers.content_pairs import DeltaDistribution
    from assay.kinds.answers.results import PairTokens, SiteTokens
    from assay.study.study import Study

MOST = 40  # pairs that are printed; JSON has them all


def command(
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

    dataset, tokenizers = _opened(path, tokenizer or ["llama3"], extract)
    pairs = pair_tokens(dataset, tokenizers)
    sites = site_tokens(pairs)
    over = delta_distributions(sites)
    for warning in dataset.warnings:
        say(f"warning: {warning}")
    if as_json:
        found = {"name": dataset.name, "pairs": pairs, "sites": sites, "spreads": over}
        print_json({"schema": "assay/tokens/1", **found})
        return
    console = plain_console()
    say("delta is B - A: below 0, B needs fewer tokens; percentages are of A")
    for part in (_pairs(pairs[:MOST]), _sites(sites), _spreads(over)):
        console.print(part)
        console.print()
    if len(pairs) > MOST:
        say(f"{len(pairs) - MOST} more pairs: see them with --json")


def _opened(path: Path, names: Sequence[str], extract: str | None) -> tuple[Dataset, list[Tokens]]:
    """The pairs of a study or of a folder of pages, and what counts their tokens."""
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
            raise UsageError("--extract is for a folder of pages. A study says it itself: extract, in data.")
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
        what = "Sizes tell conditions apart, and people are to score blind"
        raise UsageError(f"{what}. Count the tokens after: assay review unblind {command_path(study)}")


def _pairs(pairs: Sequence[PairTokens]) -> Table:
    rows = [
        (
            each.content_pair_id,
            each.site_id,
            each.tokenizer,
            f"{each.condition_a_tokens:,}",
            f"{each.condition_b_tokens:,}",
            f"{each.delta:+,}",
            f"{each.delta_pct:+.1f}%",
        )
        for each in pairs
    ]
    return table(("pair", "site", "tokenizer", "A", "B", "delta", "percent"), rows, figures={3, 4, 5, 6})


def _sites(sites: Sequence[SiteTokens]) -> Table:
    rows = [
        (
            each.site_id,
            each.tokenizer,
            str(each.pairs),
            f"{each.mean_a:,.1f}",
            f"{each.mean_b:,.1f}",
            f"{each.median_a:,.1f}",
            f"{each.median_b:,.1f}",
            f"{each.delta:+,.1f}",
            f"{each.delta_pct:+.1f}%",
        )
        for each in sites
    ]
    header = ("site", "tokenizer", "pairs", "mean A", "mean B", "median A", "median B", "delta", "percent")
    return table(header, rows, figures=set(range(2, 9)))


def _spreads(over: Sequence[DeltaDistribution]) -> Table:
    rows = [
        (
            each.tokenizer,
            str(each.sites),
            *(
                f"{value:+.1f}%"
                for value in (
                    each.lowest,
                    each.first_quartile,
                    each.median,
                    each.third_quartile,
                    each.highest,
                )
            ),
            f"{each.fewer:.0%}",
        )
        for each in over
    ]
    header = ("over sites", "sites", "lowest", "25%", "median", "75%", "highest", "B needs fewer")
    return table(header, rows, figures=set(range(1, 8)))
