"""A prompted model: what it is shown under each condition, what its answers cost, and how it fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import Retryable, UsageError
from assay.core.protocols import Kit
from assay.core.records import Hit, Item, Passage, Query, Response
from assay.core.registry import SYSTEMS, Registry, identity
from assay.kinds.answers.systems.prompted import INSTRUCTIONS, PROMPT, WARM_UP, Prompted
from assay.pipeline.runner import run_study
from assay.study.study import open_study
from stand_ins.chat_server import ChatStandIn, by_turns
from stand_ins.openai_server import Reply

KEY = "sk-very-secret-0123456789"
URL = "http://127.0.0.1:9/v1"
QUERY = Query("q1", "How {content} hot?")
SIDES = {"A": ("Fire it.", "Cool it."), "B": ("# Fire {question}", "# Cool")}
CORPUS = Corpus(
    [
        Passage(
            f"P{number}/{condition}",
            text,
            "a title that nobody is shown",
            metadata={"pair": f"P{number}", "condition": condition, "site": "S", "questions": ["q1"]},
        )
        for condition, texts in SIDES.items()
        for number, text in enumerate(texts)
    ]
)


def answered(server: ChatStandIn, condition: str = "A", **how: Any) -> Response:
    given = {"warm_up": 0, "backoff": 0, **how}
    index = Prompted(condition, url=server.url, model="m", **given).build(CORPUS, 3, Kit())
    try:
        return index.session().answer(QUERY, [])
    finally:
        index.close()


def test_the_model_gets_the_content_of_its_condition_and_the_question() -> None:
    with ChatStandIn(by_turns(" Very.\n")) as server:
        responses = {condition: answered(server, condition) for condition in SIDES}
        first, second = (each.payload for each in server.requests)
    assert responses["A"].answer == " Very.\n"  # as it was written
    assert responses["A"].hits == [Hit("P0/A", 2.0), Hit("P1/A", 1.0)]
    # braces in a question or a document are not filled in
    shown = "Documentation:\n\n# Fire {question}\n\n# Cool\n\nQuestion: How {content} hot?"
    assert second == {
        "model": "m",
        "messages": [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": shown}],
        "temperature": 0.0,
        "max_tokens": 1000,
        "seed": 3,
    }
    # the two differ in their content alone
    content = {condition: "\n\n".join(texts) for condition, texts in SIDES.items()}
    assert first["messages"][1]["content"] == shown.replace(content["B"], content["A"])
    assert first["messages"][0] == second["messages"][0]


def test_the_wording_and_the_request_can_be_changed() -> None:
    with ChatStandIn(by_turns("x")) as server:
        answered(server, prompt="{question}|{content}", instructions="", extra={"seed": None, "top_p": 1})
        (request,) = server.requests
    assert request.payload["messages"] == [
        {"role": "user", "content": "How {content} hot?|Fire it.\n\nCool it."}
    ]
    assert set(request.payload) == {"model", "messages", "temperature", "max_tokens", "top_p"}


def test_money_and_the_tokens_of_the_answer_are_observed() -> None:
    with ChatStandIn(by_turns("very very hot")) as server:
        how = {"prompt": "{content} {question}", "instructions": "", "price_in": 10.0, "price_out": 1000.0}
        seen = answered(server, **how).observed
    # a word is a token: "Fire it." and "Cool it." are 4, the question 3, the answer 3
    assert seen.tokens == 3
    assert seen.cost == pytest.approx((7 * 10 + 3 * 1000) / 1e6)
    assert set(seen.seconds) == {"total"}
    with ChatStandIn(by_turns("hot"), counts=False) as server:
        assert answered(server).observed.tokens is None


def test_warming_up_comes_first_and_is_paid_for() -> None:
    with ChatStandIn(by_turns("ready", "ready", "hot")) as server:
        prompted = Prompted(
            "A", url=server.url, model="m", instructions="", warm_up=2, price_in=1.0, price_out=1.0
        )
        index = prompted.build(CORPUS, 0, Kit())
        assert [each.payload["messages"][0]["content"] for each in server.requests] == [WARM_UP] * 2
        # "Say that you are ready." and "ready" are 5 and 1, twice
        assert index.cost == pytest.approx(12 / 1e6)
        assert index.session().answer(QUERY, []).answer == "hot"
        index.close()
    free = Prompted("A", url=URL, warm_up=0).build(CORPUS, 0, Kit())
    assert free.cost is None
    free.close()


def test_a_warm_up_that_fails_is_reported_and_paid_for() -> None:
    paid: list[float] = []
    with ChatStandIn(by_turns(None)) as server:
        prompted = Prompted("A", url=server.url, instructions="", retries=1, backoff=0, price_in=1.0)
        with pytest.raises(Retryable, match="gave nothing of use"):
            prompted.build(CORPUS, 0, Kit(pay=paid.append))
    assert paid == [pytest.approx(10 / 1e6)]  # five words, twice


def test_an_item_without_content_fails_and_is_not_asked() -> None:
    with ChatStandIn(by_turns("x")) as server:
        index = Prompted("B", url=server.url, warm_up=0).build(CORPUS, 0, Kit())
        failed = index.session().answer(Query("q2", "?"), [])
        assert server.requests == []
        index.close()
    assert failed.error is not None
    assert (failed.error.kind, failed.error.retryable) == ("NoContent", False)
    assert "no content of the condition B" in failed.error.message


def test_data_without_content_is_a_problem() -> None:
    system = Prompted("A", url=URL)
    items = [Item("q1", "?")]
    (problem,) = system.problems(Dataset("d", Corpus(()), items), Kit())
    assert str(problem).startswith(
        "d: there is no content of the condition A to give to a model. Add content-"
    )
    assert system.problems(Dataset("d", CORPUS, items), Kit()) == []


def test_failures_say_whether_they_may_pass_and_hold_no_key() -> None:
    busy = Reply({"error": {"message": f"busy, {KEY}"}}, 503)
    with ChatStandIn(by_turns(busy)) as server:
        failed = answered(server, key=KEY, retries=0)
    assert failed.error is not None
    assert failed.error.retryable
    assert KEY not in failed.error.message
    with ChatStandIn(by_turns("x"), key="another") as server:
        refused = answered(server, key=KEY)
        assert len(server.requests) == 1
    assert refused.error is not None
    assert (refused.error.kind, refused.error.retryable) == ("Refused", False)


def test_a_refusal_that_the_service_keeps_apart_is_an_answer() -> None:
    message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    with ChatStandIn(by_turns(Reply({"choices": [{"index": 0, "message": message}]}))) as server:
        found = answered(server, retries=0)
    assert (found.answer, found.error) == ("I cannot help with that.", None)
    with ChatStandIn(by_turns(None)) as server:  # neither words nor a refusal
        nothing = answered(server, retries=0)
    assert nothing.error is not None
    assert "an answer without a text" in nothing.error.message


def test_a_study_names_it_and_its_identity_holds_no_secret() -> None:
    made = Registry().create(SYSTEMS, f"prompted(condition=A, url='{URL}', model=m)")
    assert made == Prompted("A", url=URL, model="m")
    one = Prompted("A", url=f"http://me:{KEY}@127.0.0.1:9/v1", model="m", key=KEY)
    assert KEY not in identity(one) + repr(one)
    assert identity(made) == identity(one)
    assert identity(
        Prompted("A", url=URL, model="m", warm_up=3, timeout=9, price_in=1, threads=2)
    ) == identity(one)
    others = [
        Prompted("B", url=URL, model="m"),
        Prompted("A", url=URL, model="n"),
        Prompted("A", url=URL, model="m", prompt=f"{PROMPT}!"),
        Prompted("A", url=URL, model="m", instructions=""),
        Prompted("A", url=URL, model="m", max_tokens=9),
    ]
    assert len({identity(each) for each in (one, *others)}) == 6


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"condition": "C"}, "condition: there is no 'C'"),
        ({"url": ""}, "url: no service"),
        ({"warm_up": -1}, "warm_up is -1"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"prompt": "{question}"}, r"\{content\} is missing"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(wrong: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        Prompted(**{"condition": "A", "url": URL, **wrong})


STUDY = """\
name: kilns
data: {{use: answer_study, path: corpus}}
systems:
  A: {{use: prompted, condition: A, url: "{url}"}}
  B: {{use: prompted, condition: B, url: "{url}"}}
measures: [OutputTokens]
run: {{order: item}}
"""


def write_study(folder: Path, url: str) -> None:
    asked = [{"question_id": f"Q{n}", "text": f"What of Q{n}?", "complexity": "single-fact"} for n in (1, 2)]
    right = [{"question_id": f"Q{n}", "gold_answer": "So.", "verified_date": "2026-01-01"} for n in (1, 2)]
    pair = {"content_pair_id": "P", "site_id": "S", "question_ids": ["Q1", "Q2"], "a": "a.txt", "b": "b.txt"}
    written = {
        "questions": [{"site_id": "S", "questions": asked}],
        "gold-answers": [{"site_id": "S", "answers": right}],
        "content-pairs": [pair],
    }
    (folder / "corpus").mkdir()
    for name, content in written.items():
        (folder / "corpus" / f"{name}.json").write_text(json.dumps(content))
    for side in "ab":
        (folder / "corpus" / f"{side}.txt").write_text(f"side {side} " * 10)
    (folder / "study.yaml").write_text(STUDY.format(url=url))


def test_conditions_are_collected_back_to_back_and_failures_are_asked_again(tmp_path: Path) -> None:
    broken = {"now": True}

    def say(payload: Any) -> str | Reply:
        said = payload["messages"][-1]["content"]
        return Reply({"error": "no"}, 400) if broken["now"] and "side b" in said and "Q2" in said else "So."

    with ChatStandIn(say) as server:
        write_study(tmp_path, server.url)
        first = run_study(open_study(tmp_path))
        asked = [each.payload["messages"][-1]["content"] for each in server.requests]
        broken["now"] = False
        second = run_study(open_study(tmp_path))
    assert (first.answered, first.failed) == (3, 1)
    assert sum(each == WARM_UP for each in asked) == 2
    questions = [each[-3:-1] for each in asked if each != WARM_UP]
    assert questions == ["Q1", "Q1", "Q2", "Q2"]  # both conditions of one before the next
    assert (second.answered, second.failed, second.reused) == (1, 0, 3)
