"""Blinding a study's responses, and looking whether anything still tells their condition."""

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

from msgspec.structs import replace

from assay.core.block import FAILED, PENDING, Block
from assay.core.errors import UsageError
from assay.core.records import Item
from assay.kinds.answers.blinding import pack as packs
from assay.kinds.answers.blinding.acts import Act, What, append_act
from assay.kinds.answers.blinding.ids import refuse_telling_ids, response_ids, telling_words
from assay.kinds.answers.blinding.masks import Masker
from assay.kinds.answers.blinding.order import draw_share
from assay.kinds.answers.blinding.pack import (
    MAP,
    PACK,
    BlindedResponse,
    BlindPack,
    GoldQuestion,
    OriginalResponse,
    SealedMap,
)
from assay.kinds.answers.blinding.seal import commitment, new_key, seal, write_key
from assay.kinds.answers.leaks.look import Leak
from assay.kinds.answers.leaks.search import find_leaks
from assay.kinds.answers.panel import Panel, panel_of
from assay.kinds.answers.scoring.opened import ScoringFolder, head_path, key_path
from assay.kinds.answers.scoring_steps.collected import CollectedResponses
from assay.kinds.answers.scoring_steps.exporting import result_files
from assay.kinds.answers.scoring_steps.files import RAW_DATA
from assay.kinds.answers.scoring_steps.work import scoring_folder, scoring_work
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.runner import command_path
from assay.store.disk import write_atomic
from assay.study.study import Study

if TYPE_CHECKING:
    from assay.kinds.answers.desk.scoring_work import ScoringWork

LOOKED_AT = 100  # tasks of a pass that a check opens as a rater would


@dataclass(frozen=True)
class BlindingResult:
    """A pack on disk."""

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
    """Puts every response under a random id into a pack that does not say whose it is."""
    scoring = scoring_folder(study)
    with scoring.hold_lock() if scoring.there else nullcontext():  # or an open desk would use old ids
        return _blinded(study, scoring, by, fresh)


def _blinded(study: Study, scoring: ScoringFolder, by: str, fresh: bool) -> BlindingResult:
    panel = panel_of(study)
    _refuse_begun(scoring, command_path(study), fresh)
    blocks = Evaluation(study).blocks
    _refuse_uncollected(blocks, command_path(study))
    key, collected = new_key(), CollectedResponses(blocks)
    sealed, shown, used = _masked(collected, Masker(panel.masks), key)
    pack = replace(_packed(study.name, panel, collected, shown, commitment(sealed)), masked=used)
    # the pack goes first and comes last: without it nothing is blinded, and whoever tries again begins anew
    (scoring.folder / PACK).unlink(missing_ok=True)
    write_key(key_path(scoring.folder), key, replace=True)
    write_atomic(scoring.folder / MAP, lambda target: target.write_bytes(seal(sealed, key)))
    _record(scoring, "blinded", by, study, f"{len(shown)} responses")
    packs.write_pack(scoring.folder, pack)
    failed = sum(int((block.asked == FAILED).sum()) for block in blocks)
    return BlindingResult(
        scoring.folder, key_path(scoring.folder), len(shown), len(pack.questions), failed, pack.masked
    )


def _record(scoring: ScoringFolder, what: What, by: str, study: Study, detail: str = "") -> None:
    append_act(scoring.folder, Act(what, by, study.kit.clock(), detail), head_path(scoring.folder))


def _refuse_begun(scoring: ScoringFolder, place: str, fresh: bool) -> None:
    if scoring.acts.opened is not None:
        raise UsageError(f"{scoring.folder} was unblinded: its responses cannot be blinded again.")
    if not scoring.there:
        return
    if scoring.lines:
        what = f"People have scored responses in {scoring.folder}: blinding anew would lose that"
        raise UsageError(f"{what}. Go on with: assay review serve {place}")
    if not fresh:
        again = f"assay review blind {place} --fresh"
        raise UsageError(
            f"{scoring.folder} is blinded already. To blind it anew, which changes all ids: {again}"
        )


def _refuse_uncollected(blocks: Sequence[Block], place: str) -> None:
    if waiting := sum(int((block.asked == PENDING).sum()) for block in blocks):
        raise UsageError(f"{waiting} responses are not collected yet. Run: assay run {place}")
    if (conditions := len({block.arm.system for block in blocks})) != 2:
        raise UsageError(f"A panel compares two conditions, and this study has {conditions}.")
    if not any(
        response is not None and response.error is None for block in blocks for response in block.responses
    ):
        raise UsageError("No response was collected, so that there is nothing to blind.")


def _masked(
    collected: CollectedResponses, masking: Masker, key: bytes
) -> tuple[SealedMap, list[BlindedResponse], dict[str, int]]:
    """Every response under its id: as it was written, as raters see it, and how often each rule was used."""
    written = collected.responses
    words = telling_words({each.arm for each in written})
    ids = response_ids(key, [(each.item_id, each.arm, each.seed) for each in written], words)
    refuse_telling_ids(ids, words, [each.arm.partition("[")[0] for each in written])
    originals, shown, used = list[OriginalResponse](), list[BlindedResponse](), Counter[str]()
    for response_id, each in sorted(zip(ids, written, strict=True), key=itemgetter(0)):
        item = collected.items[each.item_id]
        asked = [item.text, str(item.gold.get("answer", ""))]
        masked = masking.masked(each.text, asked, collected.sources[each.item_id].text)
        used += masked.used
        originals.append(
            OriginalResponse(response_id, each.item_id, each.arm, each.seed, each.text, masked.masks)
        )
        shown.append(BlindedResponse(response_id, each.item_id, masked.text, each.item_id))
    return SealedMap(secrets.token_hex(16), originals), shown, dict(sorted(used.items()))


def _packed(
    name: str, panel: Panel, collected: CollectedResponses, shown: list[BlindedResponse], committed: str
) -> BlindPack:
    """What raters may see, and who of them scores what."""
    order_key, ids = secrets.token_hex(16), [each.response_id for each in shown]
    return BlindPack(
        name,
        packs.Assignment(panel.primary, panel.others, panel.share, panel.again, panel.wait_hours),
        committed,
        order_key,
        shown,
        {item_id: _asked(collected.items[item_id]) for item_id in collected.sources},
        dict(collected.sources),
        drawn=draw_share(order_key, ids, panel.share) if panel.others else [],
        drawn_again=[] if panel.others else draw_share(order_key, ids, panel.again, "again"),
    )


def _asked(item: Item) -> GoldQuestion:
    site, complexity = (", ".join(item.values(name)) for name in ("site", "complexity"))
    gold = str(item.gold.get("answer", ""))
    return GoldQuestion(item.item_id, item.text, gold, complexity, site, list(item.gold.get("sections", [])))


def check_blinding(study: Study, by: str = "") -> list[Leak]:
    """Whatever in the pack, its files, exports and what the desk serves would tell a rater the condition.

    What was found goes on record, by the name of whoever looked.
    """
    scoring = scoring_folder(study)
    pack, originals = scoring.pack, scoring.originals()
    sealed = SealedMap("", list(originals.values()))
    words = telling_words({each.arm for each in originals.values()})
    with closing(scoring_work(study)) as work:
        served = dict(_served(work))
    masking, exported = Masker(panel_of(study).masks), dict(_exported(study))
    found = find_leaks(scoring.folder, pack, sealed, words, served, masking, exported)
    if by:
        kinds = ", ".join(dict.fromkeys(leak.check for leak in found))
        _record(scoring, "leaking" if found else "checked", by, study, kinds)
    return found


def _exported(study: Study) -> Iterator[tuple[str, str]]:
    """What exports hold now; a column that is there and blank tells nothing."""
    for name, content in result_files(study).items():
        text = content.decode()
        if name == RAW_DATA:
            rows = csv.DictReader(io.StringIO(text))
            text = json.dumps([{name: value for name, value in row.items() if value} for row in rows])
        yield name, text


def _served(work: ScoringWork) -> Iterator[tuple[str, str]]:
    """What the desk would send: to every rater the state, of every pass the view, and some of the tasks."""
    for rater in work.raters:
        state = work.state(rater)
        yield f"work of {rater}", state.model_dump_json()
        for each in state.steps:
            view = work.step(rater, each.step)
            yield f"{each.step} of {rater}", view.model_dump_json()
            if each.state == "open":
                for task in view.tasks[:LOOKED_AT]:
                    shown = work.task(rater, each.step, task.task_id)
                    yield f"{each.step} of {rater}, {task.task_id}", shown.model_dump_json()
