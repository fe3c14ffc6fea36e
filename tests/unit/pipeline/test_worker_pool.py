"""Asking: failures stay with their item, retries are for what may pass, sequences stay whole."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
import pytest

from assay.core.errors import SystemFailure
from assay.core.records import Fault, Hit, Observed, Response
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.response import check_response
from assay.pipeline.runner import Outcome, run_study
from assay.store.run_store import Store
from probe import RAISED, RETURNED, Probe, asked
from probing import behave, forget_asked, items, opened, sequence, times_asked, write_study

QUICK = {"retries": 2, "backoff": 0.001}


def stored(folder: Path) -> dict[str, Response]:
    """Every stored response by item, hits back in place."""
    found = {}
    for item, docs, scores, rest in (
        Store(folder / "run").answers().select("item", "docs", "scores", "rest").iter_rows()
    ):
        response = msgspec.json.decode(rest, type=Response)
        response.hits = [Hit(*pair) for pair in zip(docs, scores, strict=True)]
        found[item] = response
    return found


def hits(folder: Path) -> dict[str, list[Hit]]:
    return {item: response.hits for item, response in stored(folder).items()}


def faults(folder: Path) -> dict[str, tuple[str, str, int]]:
    return {
        item: (response.error.kind, response.error.message, response.observed.attempts)
        for item, response in stored(folder).items()
        if response.error is not None
    }


def run(folder: Path) -> Outcome:
    return run_study(opened(folder))


# ------------------------------------------------------------------------------- what systems do wrong


@pytest.mark.parametrize(
    ("what", "kind", "message"),
    [
        ("value error", "ValueError", "no such thing"),
        ("exit", "SystemExit", "3"),
        ("interrupt", "KeyboardInterrupt", ""),
        ("unprintable", "Unprintable", ""),
        ("surrogate", "ValueError", r"half a pair: \ud800"),
        ("none", "BadResponse", "answer() returned NoneType, not Response"),
        ("nan", "BadResponse", "hit 1 (d1) has the score nan"),
        ("inf", "BadResponse", "hit 1 (d1) has the score inf"),
        ("twice", "BadResponse", "hit 2 repeats d1; a response names each passage or span once"),
        ("unsorted", "BadResponse", "hit 2 scores higher than hit 1; hits come best first"),
        (
            "number for an id",
            "BadResponse",
            "it cannot be stored: Expected `str`, got `int` - at `$.hits[0][0]`",
        ),
        ("set in flags", "BadResponse", "it cannot be stored: Expected"),
    ],
)
def test_whatever_a_system_does_fails_that_item_only(
    tmp_path: Path, what: str, kind: str, message: str
) -> None:
    write_study(tmp_path, items(4), run=QUICK)
    behave(tmp_path, q1=what)
    outcome = run(tmp_path)
    assert (outcome.answered, outcome.failed, outcome.pending) == (3, 1, 0)
    ((item, (got_kind, got_message, attempts)),) = faults(tmp_path).items()
    assert (item, got_kind, attempts) == ("q1", kind, 1)
    assert got_message.startswith(message)
    assert times_asked(tmp_path)["q1"] == 1  # none of these may pass: not tried again


def test_every_misdeed_is_tried() -> None:
    tried = {mark.args[1][number][0] for mark in _marks() for number in range(len(mark.args[1]))}
    assert tried == {*RAISED, *RETURNED}


def _marks() -> list[Any]:
    return test_whatever_a_system_does_fails_that_item_only.pytestmark  # type: ignore[attr-defined,no-any-return]


def test_a_failed_item_is_asked_again_next_time_and_a_success_stays(tmp_path: Path) -> None:
    write_study(tmp_path, items(3), run=QUICK)
    behave(tmp_path, q1="value error")
    run(tmp_path)
    behave(tmp_path)
    forget_asked(tmp_path)
    outcome = run(tmp_path)
    assert (outcome.answered, outcome.reused, outcome.failed) == (1, 2, 0)
    assert times_asked(tmp_path) == {"q1": 1}
    behave(tmp_path, q0="value error", q1="value error", q2="value error")
    assert run(tmp_path).reused == 3
    assert faults(tmp_path) == {}


def test_retries_are_counted_and_a_pass_in_the_end_is_a_pass(tmp_path: Path) -> None:
    write_study(tmp_path, items(3), run=QUICK)
    behave(tmp_path, q0="retryable", q2="passes on the third")
    run(tmp_path)
    assert faults(tmp_path) == {"q0": ("Retryable", "too busy", 3)}
    assert times_asked(tmp_path) == {"q0": 3, "q1": 1, "q2": 3}
    assert stored(tmp_path)["q2"].observed.attempts == 3


def test_pauses_double_with_jitter_and_have_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    real = threading.Event.wait

    def waited(self: threading.Event, timeout: float | None = None) -> bool:
        if timeout is None:  # a thread waits to be started
            return real(self)
        pauses.append(timeout)
        return self.is_set()

    monkeypatch.setattr(threading.Event, "wait", waited)
    write_study(
        tmp_path, [*items(1), {"item_id": "fine", "text": "fine"}], run={"retries": 9, "backoff": 1.0}
    )
    behave(tmp_path, q0="retryable")
    run(tmp_path)
    assert len(pauses) == 9
    for number, pause in enumerate(pauses):  # 1, 2, 4, … seconds, each times 0.5 to 1.5
        assert min(0.5 * 2**number, 60) <= pause <= min(1.5 * 2**number, 60)
    assert len({round(pause / 2**number, 6) for number, pause in enumerate(pauses[:5])}) == 5


def test_a_hanging_item_times_out_after_its_retries_and_the_others_are_fine(tmp_path: Path) -> None:
    write_study(tmp_path, items(6), run={"timeout": 0.15, "retries": 1, "threads": 2})
    behave(tmp_path, q1="hang", q3="hang once")
    outcome = run(tmp_path)
    assert (outcome.answered, outcome.failed) == (5, 1)
    assert faults(tmp_path) == {"q1": ("Timeout", "no answer within 0.15 s", 2)}
    assert times_asked(tmp_path)["q1"] == 2
    assert stored(tmp_path)["q3"].observed.attempts == 2


def test_every_worker_may_hang_at_once(tmp_path: Path) -> None:
    write_study(tmp_path, items(7), run={"timeout": 0.1, "retries": 0, "threads": 3})
    behave(tmp_path, **{f"q{number}": "hang" for number in range(6)})
    outcome = run(tmp_path)
    assert (outcome.answered, outcome.failed) == (1, 6)


def test_an_arm_that_cannot_be_built_is_named_and_the_others_are_stored(tmp_path: Path) -> None:
    write_study(tmp_path, items(3), seeds=2, systems={"bad": "probe(unbuildable=true)", "good": "probe"})
    with pytest.raises(
        SystemFailure, match="bad could not be opened: FileNotFoundError: no such model"
    ) as failure:
        run(tmp_path)
    assert str(failure.value).count("bad") == 1  # said once, not once a seed
    assert len(Store(tmp_path / "run").outcomes()) == 6


def test_an_arm_that_fails_on_everything_is_named_after_storing(tmp_path: Path) -> None:
    write_study(tmp_path, items(2), run=QUICK)
    behave(tmp_path, q0="value error", q1="value error")
    with pytest.raises(SystemFailure, match=r"probe failed on all 2 items.*ValueError: no such thing"):
        run(tmp_path)
    assert set(faults(tmp_path)) == {"q0", "q1"}


def test_an_item_that_always_fails_does_not_make_a_resumed_arm_a_failure(tmp_path: Path) -> None:
    write_study(tmp_path, items(3), run=QUICK)
    behave(tmp_path, q0="value error")
    run(tmp_path)
    outcome = run(tmp_path)  # asks q0 alone, which fails again
    assert (outcome.reused, outcome.failed) == (2, 1)


# -------------------------------------------------------------------------------- what is put on record


def test_numpy_numbers_are_stored_as_numbers() -> None:
    response = check_response(Response(hits=[Hit("d1", np.float32(0.5)), Hit("d2", np.float64(0.25))]))  # type: ignore[arg-type]
    assert response == Response(hits=[Hit("d1", 0.5), Hit("d2", 0.25)])


def test_a_response_given_twice_is_two_records() -> None:
    same = Response(hits=[Hit("d1", 1.0)], observed=Observed(seconds={"search": 0.1}))
    first, second = check_response(same), check_response(same)
    first.observed.seconds["total"] = 9.0
    assert second == same


def test_a_bad_response_keeps_what_it_cost() -> None:
    bad = check_response(Response(hits=[Hit("d1", float("nan"))], observed=Observed(cost=2.0)))
    assert bad.error is not None
    assert bad.observed.cost == 2.0


def test_attempts_that_failed_are_paid_for(tmp_path: Path) -> None:
    class Billed(Probe):
        def build(self, *given: Any) -> Any:
            return _Billed()

    write_study(tmp_path, items(1), run=QUICK)
    outcome = run_study(opened(tmp_path, Billed))
    assert outcome.cost == 3.0  # 1 + 1 for the failures, 1 for the answer
    assert stored(tmp_path)["q0"].observed.cost == 3.0


class _Billed:
    """Answers on the third attempt; each attempt costs 1."""

    attempts = 0

    def session(self) -> _Billed:
        return self

    def answer(self, *_: Any) -> Response:
        self.attempts += 1
        if self.attempts < 3:
            busy = Fault("Busy", "", retryable=True)
            return Response(error=busy, observed=Observed(cost=1.0))
        return Response(observed=Observed(cost=1.0))


def test_time_attempts_and_concurrency_are_observed(tmp_path: Path) -> None:
    run(write_study(tmp_path, items(1), run={"threads": 4}))
    observed = stored(tmp_path)["q0"].observed
    assert (observed.attempts, observed.concurrency) == (1, 4)
    assert observed.time is not None
    assert observed.seconds["total"] > 0


def test_imported_answers_are_not_timed(tmp_path: Path) -> None:
    class Imported(Probe):
        origin: ClassVar[str] = "imported"

    write_study(tmp_path, items(2), run=QUICK)
    behave(tmp_path, q1="value error")
    run_study(opened(tmp_path, Imported))
    assert [response.observed.seconds for response in stored(tmp_path).values()] == [{}, {}]


def test_a_replayed_run_has_no_latency(tmp_path: Path) -> None:
    (tmp_path / "old.run").write_text("q0 Q0 d1 1 2.5 old\n")
    study = opened(write_study(tmp_path, items(1), systems={"old": "replay(path=old.run)", "new": "probe"}))
    run_study(study)
    assert set(Evaluation(study).results.trust.seconds) == {"new"}


# ------------------------------------------------------------------------ sequences, scopes and threads


def test_turns_of_a_sequence_come_in_order_in_one_session(tmp_path: Path) -> None:
    write_study(tmp_path, [*sequence("a", 4), *sequence("b", 4), *items(4)], run={"threads": 4})
    run(tmp_path)
    order = [line["item"] for line in asked(tmp_path)]
    for name in "ab":
        assert [item for item in order if item.startswith(name)] == [f"{name}{turn}" for turn in range(4)]


def test_sequences_run_side_by_side(tmp_path: Path) -> None:
    meeting = threading.Barrier(3, timeout=10)

    class Meets(Probe):
        def build(self, *given: Any) -> Any:
            return self

        def session(self) -> Meets:
            return self

        def answer(self, *_: Any) -> Response:
            meeting.wait()  # breaks unless three sequences are in flight
            return Response()

    write_study(tmp_path, [*sequence("a", 2), *sequence("b", 2), *sequence("c", 2)], run={"threads": 3})
    assert run_study(opened(tmp_path, Meets)).answered == 6


def test_a_sequence_depends_on_its_turns_and_a_lone_item_on_nothing(tmp_path: Path) -> None:
    """The probe's hits hash what its session was asked before: fresh sessions show."""
    run(write_study(tmp_path / "apart", [*items(2), *sequence("a", 2)]))
    changed = sequence("a", 2)
    changed[0]["text"] = "another beginning"
    run(write_study(tmp_path / "changed", [*items(2)[::-1], *changed]))
    apart, other = hits(tmp_path / "apart"), hits(tmp_path / "changed")
    assert apart["q0"] == other["q0"]
    assert apart["q1"] == other["q1"]
    assert apart["a1"] != other["a1"]


@pytest.mark.parametrize("how", ["value error", "hang"])
def test_what_follows_a_failure_in_a_sequence_is_not_asked(tmp_path: Path, how: str) -> None:
    write_study(tmp_path, sequence("a", 4), run={**QUICK, "retries": 0, "timeout": 0.15})
    behave(tmp_path, a1=how)
    outcome = run(tmp_path)
    assert (outcome.answered, outcome.failed) == (1, 3)
    found = faults(tmp_path)
    assert found["a2"][:2] == found["a3"][:2] == ("NotAsked", "'a1', earlier in its sequence, failed")
    assert times_asked(tmp_path) == {"a0": 1, "a1": 1}


def test_a_mended_sequence_ends_as_if_it_had_never_failed(tmp_path: Path) -> None:
    run(write_study(tmp_path / "whole", sequence("a", 4)))
    write_study(tmp_path / "mended", sequence("a", 4), run=QUICK)
    behave(tmp_path / "mended", a1="value error")
    run(tmp_path / "mended")
    behave(tmp_path / "mended")
    run(tmp_path / "mended")
    assert hits(tmp_path / "mended") == hits(tmp_path / "whole")


def test_an_item_with_a_scope_sees_those_passages_only(tmp_path: Path) -> None:
    given = [*items(1, scope=["d2", "d5"]), {"item_id": "wide", "text": "everywhere"}]
    run(write_study(tmp_path, given, systems={"probe": "probe(top=8)"}))
    found = hits(tmp_path)
    assert {hit.doc_id for hit in found["q0"]} == {"d2", "d5"}
    assert len(found["wide"]) == 8


def test_indexes_are_closed(tmp_path: Path) -> None:
    given = [*items(1, scope=["d2", "d5"]), {"item_id": "wide", "text": "everywhere"}]
    run(write_study(tmp_path, given))
    closed = [json.loads(line)["passages"] for line in (tmp_path / "closed.log").read_text().splitlines()]
    assert sorted(closed) == [2, 8]


def test_answers_are_the_same_whatever_the_number_of_threads(tmp_path: Path) -> None:
    given = [*items(20), *sequence("a", 5), *sequence("b", 3)]
    found = []
    for threads in (1, 2, 16):
        run(write_study(tmp_path / str(threads), given, run={"threads": threads}))
        found.append(hits(tmp_path / str(threads)))
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 28
