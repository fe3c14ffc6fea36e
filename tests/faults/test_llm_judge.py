"""A model judge whose service fails: what may pass is asked again, the rest fails, and nothing is made up."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import Retryable, SystemFailure
from assay.core.protocols import Kit
from assay.core.records import Finding, Item, Question
from assay.judges.llm import JudgeRefusal, JudgeUnavailable, Llm
from assay.store.run_store import Store
from small_study import assay, edited, write_study
from stand_ins.chat_server import ChatStandIn, Say, by_turns, gullible
from stand_ins.openai_server import Faults, Kind, Reply

KEY = "sk-very-secret-0123456789"
NO_GRADE = "Well, I would call this HIGH, since it mentions the lamp."


def ask(server: ChatStandIn, **how: Any) -> Finding:
    judge = Llm(url=server.url, model="m", **{"backoff": 0, "retries": 2, **how})
    about = judge._about(Item("q", "where is the lamp", gold={"anchors": []}))
    return judge.ask(Question("q", "relevance", "a lamp on a boat", about, target="d"), Kit())


# ----------------------------------------------------------------------------------- what may pass


@pytest.mark.parametrize("kind", ["429", "429 wait", "500", "rubbish", "truncated", "closed"])
def test_a_service_that_fails_once_is_asked_again(kind: Kind) -> None:
    faults = Faults(kind, every=2)  # the second of every two calls
    with ChatStandIn(by_turns("HIGH\nA lamp."), faults) as server:
        assert [ask(server).grade for _ in range(3)] == [2.0] * 3
        assert server.calls == 3 + server.failed
        assert server.failed == 2


def test_a_retry_after_is_waited_for() -> None:
    with ChatStandIn(by_turns(Reply(b"", 429, {"Retry-After": "0.3"}), "HIGH")) as server:
        since = time.monotonic()
        assert ask(server).grade == 2.0
        assert time.monotonic() - since >= 0.3


@pytest.mark.parametrize("kind", ["hang", "drip"])
def test_a_slow_service_is_given_up_on_and_asked_again(kind: Kind) -> None:
    with ChatStandIn(by_turns("HIGH"), Faults(kind, every=2)) as server:
        ask(server)
        assert ask(server, timeout=0.2).grade == 2.0
        assert server.calls == 3


@pytest.mark.parametrize(
    "odd",
    [
        Reply({"choices": []}),
        Reply({"choices": [{"message": {"content": None}}]}),
        Reply({"choices": [{"message": {"role": "assistant"}}]}),
        Reply({"choices": [{"message": {"content": [{"type": "text", "text": "HIGH"}]}}]}),
        Reply({"choices": "HIGH"}),
        Reply({"answer": "HIGH"}),
        Reply(["HIGH"]),
        Reply(b"HIGH"),
        "",
        NO_GRADE,
        "HIGH and low",
    ],
    ids=str,
)
def test_an_answer_that_is_no_grade_is_asked_for_again(odd: Reply | str) -> None:
    with ChatStandIn(by_turns(odd, "PARTIAL\nHalf.")) as server:
        assert ask(server).category == "PARTIAL"
        assert server.calls == 2


# --------------------------------------------------------------------------------- what does not


def test_a_grade_buried_in_prose_is_never_a_grade() -> None:
    with (
        ChatStandIn(by_turns(NO_GRADE)) as server,
        pytest.raises(
            JudgeRefusal, match="gave no grade in 3 attempts: the answer begins 'Well, I would"
        ) as error,
    ):
        ask(server, price_out=1e6)
    assert server.calls == 3
    assert not isinstance(error.value, Retryable)  # the runner does not multiply what was paid for
    assert error.value.cost == 3 * 11  # words


def test_an_outage_is_told_as_one_and_may_pass() -> None:
    with (
        ChatStandIn(by_turns("HIGH"), Faults("500", every=1)) as server,
        pytest.raises(JudgeUnavailable, match=r"gave nothing of use in 3 attempts\. The last: 500"),
    ):
        ask(server)
    assert issubclass(JudgeUnavailable, Retryable)


@pytest.mark.parametrize(
    ("status", "advice"), [(401, "Check the key"), (404, "Check the URL"), (400, "Change the request")]
)
def test_a_refusal_is_not_asked_again(status: int, advice: str) -> None:
    refusal = Reply({"error": {"message": f"{KEY} is refused"}}, status)
    with ChatStandIn(by_turns(refusal)) as server, pytest.raises(SystemFailure, match=advice) as error:
        ask(server, key=KEY)
    assert server.calls == 1
    assert KEY not in str(error.value)


def test_no_reason_or_fault_holds_the_key() -> None:
    with ChatStandIn(by_turns(f"HIGH\nYour key is {KEY}.")) as server:
        assert ask(server, key=KEY).reason == "Your key is …."
    with ChatStandIn(by_turns(f"Your key is {KEY}")) as server, pytest.raises(JudgeRefusal) as error:
        ask(server, key=KEY)
    assert KEY not in str(error.value)


def test_one_sample_that_fails_fails_the_question_and_what_was_paid_is_told() -> None:
    with (
        ChatStandIn(by_turns("HIGH", "HIGH", NO_GRADE)) as server,
        pytest.raises(JudgeRefusal) as error,
    ):
        ask(server, samples=3, price_out=1e6)
    assert error.value.cost == 1 + 1 + 3 * 11


# ------------------------------------------------------------------------------------ in a study

JUDGE = "judges: [{use: llm, url: '${CHAT_URL}', model: m, backoff: 0, retries: 1, price_out: 1000000}]\n"
STUDY = edited("measures:", f"{JUDGE}run: {{retries: 0, backoff: 0}}\nmeasures:")


def silent_on(word: str) -> Say:
    """Grades by words, but never says a grade about a passage with this word."""

    def say(payload: Any) -> str:
        return NO_GRADE if f"about {word}\n" in payload["messages"][-1]["content"] else gullible(payload)

    return say


def test_a_question_that_fails_leaves_its_item_unjudged_and_is_asked_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_study(tmp_path, STUDY)
    with ChatStandIn(silent_on("gamma")) as server:
        monkeypatch.setenv("CHAT_URL", server.url)
        done = assay("run", folder, "--json")
        assert done.code == 11
        # gamma's passage is returned for gamma and for both of its neighbours, to the replayed run
        assert server.calls == 36 + 3
        assert "llm:relevance failed on 3 of 36 questions" in done.out
        lexical, old = (
            next(each for each in done.json["estimates"] if each["system"] == name and not each["where"])
            for name in ("lexical", "old")
        )
        assert (lexical["n_scored"], old["n_scored"]) == (11, 9)
        server.say = gullible
        assert assay("run", folder, "--json").code == 0
        assert server.calls == 39 + 3


def test_a_study_whose_service_fails_often_ends_as_one_whose_service_never_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds: tuple[Kind, ...] = ("429", "500", "rubbish", "truncated", "closed")
    found = []
    for name, faults in (("well", None), ("ill", Faults(kinds, share=0.4, seed=4))):
        folder = write_study(tmp_path / name, edited("retries: 1", "retries: 8", STUDY))
        with ChatStandIn(gullible, faults) as server:
            monkeypatch.setenv("CHAT_URL", server.url)
            done = assay("run", folder, "--json")
            assert server.calls == 36 + server.failed
            assert (server.failed > 5) is (name == "ill")
        judged = [entry.judgment for entry in Store(folder / "run").judged()]
        found.append(
            (done.json["estimates"], {(each.item_id, each.target, each.grade) for each in judged if each})
        )
    assert found[0] == found[1]
    assert len(found[0][1]) == 36


def test_the_spending_cap_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_study(tmp_path, edited("retries: 0", "retries: 0, threads: 1, max_cost: 30", STUDY))
    said = itertools.count()
    with ChatStandIn(lambda _: f"NOT_RELEVANT\nnumber {next(said)} of them") as server:  # 5 words
        monkeypatch.setenv("CHAT_URL", server.url)
        done = assay("run", folder, "--json")
    assert server.calls == 6
    assert Store(folder / "run").cost() == 30
    assert "30 of 36 questions to llm:relevance were not asked yet, because max_cost was reached" in done.out
