"""Blinds a study's responses, and checks whether anything still gives their condition away."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.block import FAILED, PENDING, Block
from assay.core.errors import UsageError
from assay.core.records import Item
from assay.kinds.answers.blinding import pack as packs
from assay.kinds.answers.blinding.ids import draw_share, refuse_telling_ids, response_ids, telling_words
from assay.kinds.answers.blinding.masks import Masker
from assay.kinds.answers.blinding.pack import (
    MAP,
    PACK,
    Assignment,
    BlindedResponse,
    BlindPack,
    GoldQuestion,
    MergedSource,
    OriginalResponse,
    SealedMap,
    commitment,
    new_key,
    seal,
    write_key,
)
from assay.kinds.answers.blinding.sources import neutral_source
from assay.kinds.answers.leaks.search import find_leaks
from assay.kinds.answers.leaks.texts import Leak
from assay.kinds.answers.panel import Panel, panel_of, scoring_folder
from assay.kinds.answers.scoring.marks import ScoringFolder
from assay.kinds.answers.scoring_steps.exporting import RAW_DATA, result_files
from assay.kinds.answers.scoring_steps.work import CollectedResponse, collected_responses, scoring_work
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import command_path
from assay.store.disk import write_atomic
from assay.study.study import Study

if TYPE_CHECKING:
    from assay.kinds.answers.desk.scoring_work import ScoringWork

CHECKED_TASKS = 100  # tasks of a pass that a check opens as a rater would


@dataclass(frozen=True)
class BlindingResult:
    """The outcome of blinding: the paths of the pack and its key, and the counts."""

    folder: Path
    key: Path
    responses: int
    questions: int
    failed: int  # responses that were not collected, and are not scored
    masked: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        paths = {"folder": str(self.folder), "key": str(self.key)}
        return {**dataclasses.asdict(self), **paths, "masked": dict(self.masked)}


def blind_study(study: Study, *, by: str, fresh: bool = False) -> BlindingResult:
    """Puts every response under a random id into a pack that does not reveal conditions."""
    scoring = scoring_folder(study)
    with scoring.locked() if scoring.has_pack else nullcontext():  # an open desk would keep the old ids
        panel = panel_of(study)
        _refuse_begun(scoring, command_path(study), fresh)
        blocks = Evaluation(study).blocks
        _refuse_uncollected(blocks, command_path(study))
        key = new_key()
        pack, sealed = _make_pack(study.name, panel, blocks, key)
        # The pack is removed first and written last: if this is cut short, nothing is blinded, and it can
        # simply be tried again
        (scoring.folder / PACK).unlink(missing_ok=True)
        write_key(scoring.key_path, key, replace=True)
        write_atomic(scoring.folder / MAP, lambda target: target.write_bytes(seal(sealed, key)))
        scoring.record("blinded", by, study.kit.clock(), f"{len(pack.responses)} responses")
        packs.write_pack(scoring.folder, pack)
    failed = sum(int((block.asked == FAILED).sum()) for block in blocks)
    return BlindingResult(
        scoring.folder, scoring.key_path, len(pack.responses), len(pack.questions), failed, pack.masked
    )


def _refuse_begun(scoring: ScoringFolder, place: str, fresh: bool) -> None:
    if scoring.acts.opened is not None:
        raise UsageError(f"{scoring.folder} was unblinded: its responses cannot be blinded again.")
    if not scoring.has_pack:
        return
    if scoring.entries:
        what = f"People have scored responses in {scoring.folder}: blinding again would lose that"
        raise UsageError(f"{what}. Go on with: assay review serve {place}")
    if not fresh:
        again = f"assay review blind {place} --fresh"
        raise UsageError(
            f"{scoring.folder} is blinded already. To blind it again, which changes all ids: {again}"
        )


def _refuse_uncollected(blocks: Sequence[Block], place: str) -> None:
    if waiting := sum(int((block.asked == PENDING).sum()) for block in blocks):
        raise UsageError(f"{waiting} responses are not collected yet. Run: assay run {place}")
    if (conditions := len({block.arm.system for block in blocks})) != 2:
        raise UsageError(f"A panel compares two conditions, and this study has {conditions}.")
    if not collected_responses(blocks):
        raise UsageError("No response was collected, so that there is nothing to blind.")


def _make_pack(name: str, panel: Panel, blocks: Sequence[Block], key: bytes) -> tuple[BlindPack, SealedMap]:
    """Makes the pack, with every response masked and under its id, and the map to the original responses."""
    items = {item.item_id: item for block in blocks for item in block.items}
    collected = collected_responses(blocks)
    sources = _sources(blocks, collected)
    words = telling_words({each.arm for each in collected})
    ids = response_ids(key, [(each.item_id, each.arm, each.seed) for each in collected], words)
    refuse_telling_ids(ids, words, [each.arm.partition("[")[0] for each in collected])
    originals, shown, used = list[OriginalResponse](), list[BlindedResponse](), Counter[str]()
    masker = Masker(panel.masks)
    for response_id, each in sorted(zip(ids, collected, strict=True), key=itemgetter(0)):
        item = items[each.item_id]
        asked = [item.text, str(item.gold.get("answer", ""))]
        masked = masker.masked(each.text, asked, sources[each.item_id].text)
        used += masked.used
        originals.append(
            OriginalResponse(response_id, each.item_id, each.arm, each.seed, each.text, masked.masks)
        )
        shown.append(BlindedResponse(response_id, each.item_id, masked.text, each.item_id))
    sealed = SealedMap(secrets.token_hex(16), originals)
    order_key, ids = secrets.token_hex(16), [each.response_id for each in shown]
    pack = BlindPack(
        name,
        Assignment(panel.primary, panel.others, panel.share, panel.again, panel.wait_hours),
        commitment(sealed),
        order_key,
        shown,
        {item_id: _question(items[item_id]) for item_id in sources},
        sources,
        dict(sorted(used.items())),
        draw_share(order_key, ids, panel.share) if panel.others else [],
        [] if panel.others else draw_share(order_key, ids, panel.again, "again"),
    )
    return pack, sealed


def _question(item: Item) -> GoldQuestion:
    site, complexity = (", ".join(item.values(name)) for name in ("site", "complexity"))
    gold = str(item.gold.get("answer", ""))
    return GoldQuestion(item.item_id, item.text, gold, complexity, site, list(item.gold.get("sections", [])))


def _sources(blocks: Sequence[Block], collected: Sequence[CollectedResponse]) -> dict[str, MergedSource]:
    """Merges, for each answered question, the content that models were given under both conditions."""
    texts: dict[str, dict[str, tuple[str, str, str]]]
    texts = {item_id: {} for item_id in sorted({each.item_id for each in collected})}
    titles: dict[str, dict[str, None]] = {item_id: {} for item_id in texts}
    for block in blocks:
        for item, response in zip(block.items, block.responses, strict=True):
            for hit in response.hits if response is not None and item.item_id in texts else ():
                if (place := block.corpus.position.get(hit.doc_id)) is not None:
                    passage = block.corpus.passages[place]
                    form = str(passage.metadata.get("form", "text"))
                    texts[item.item_id].setdefault(hit.doc_id, (block.arm.system, form, passage.text))
                    titles[item.item_id].setdefault(passage.title)
    return {
        item_id: MergedSource("; ".join(filter(None, titles[item_id])), neutral_source(list(given.values())))
        for item_id, given in texts.items()
    }


# ------------------------------------------------------------------------------------- checking


def check_blinding(study: Study, by: str = "") -> list[Leak]:
    """Searches the pack, exports and the desk's pages for anything that would reveal a condition.

    If `by` names the person who checks, the outcome is recorded under that name.
    """
    scoring = scoring_folder(study)
    pack, originals = scoring.pack, scoring.originals()
    sealed = SealedMap("", list(originals.values()))
    words = telling_words({each.arm for each in originals.values()})
    with closing(scoring_work(study)) as work:
        served = dict(_served(work))
    masker, exported = Masker(panel_of(study).masks), dict(_exported(study))
    found = find_leaks(scoring.folder, pack, sealed, words, served, masker, exported)
    if by:
        kinds = ", ".join(dict.fromkeys(leak.check for leak in found))
        scoring.record("leaking" if found else "checked", by, study.kit.clock(), kinds)
    return found


def _exported(study: Study) -> Iterator[tuple[str, str]]:
    """Yields the content of the current exports. Blank cells are left out, because they reveal nothing."""
    for name, content in result_files(study).items():
        text = content.decode()
        if name == RAW_DATA:
            rows = csv.DictReader(io.StringIO(text))
            text = json.dumps([{name: value for name, value in row.items() if value} for row in rows])
        yield name, text


def _served(work: ScoringWork) -> Iterator[tuple[str, str]]:
    """Yields what the desk would send: each rater's state, the view of each pass, and some of the tasks."""
    for rater in work.raters:
        state = work.state(rater)
        yield f"work of {rater}", state.model_dump_json()
        for each in state.steps:
            view = work.step(rater, each.step)
            yield f"{each.step} of {rater}", view.model_dump_json()
            if each.state == "open":
                for task in view.tasks[:CHECKED_TASKS]:
                    shown = work.task(rater, each.step, task.task_id)
                    yield f"{each.step} of {rater}, {task.task_id}", shown.model_dump_json()
