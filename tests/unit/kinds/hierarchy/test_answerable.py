"""The judge of answerability: what it asks about and is shown, and what a study makes of what it says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.core.block import Block, Labels
from assay.core.dataset import Corpus, Dataset
from assay.core.errors import UsageError
from assay.core.protocols import FreeJudge, Kit, PayingJudge
from assay.core.records import Arm, Budget, Context, Fault, Finding, Item, Piece, Query, Question, Response
from assay.core.registry import JUDGES, SYSTEMS, Registry, identity
from assay.core.shown import context_target
from assay.judges.llm_prompt import read_packaged_prompt
from assay.kinds.hierarchy.answerable import AnswerabilityJudge
from assay.pipeline.evaluate import judge_study
from assay.pipeline.evaluation import Evaluation
from assay.pipeline.paying_judges import question_key
from assay.pipeline.runner import run_study
from assay.store.journal import Answer, answer_columns, select_by_key
from assay.store.run_store import Store
from assay.study.study import open_study
from small_study import write_lines, write_study
from stand_ins.chat_server import ChatStandIn, by_turns

URL = "http://127.0.0.1:9/v1"
EVIDENCE = [{"doc_id": "p1", "source": "p1", "start": 0, "end": 9, "text": "Leave: 25"}]
ITEMS = [
    Item("days", "how many days of leave", gold={"evidence": EVIDENCE, "answer": "25"}),
    Item("both", "leave and notice", gold={"evidence": EVIDENCE, "answer": ["25 days", "3 months"]}),
    Item("absent", "colour of the roof", gold={"impossible": "out_of_kb"}, expects="nothing"),
]
DATASET = Dataset("d", Corpus(()), ITEMS)


def shown(*texts: str, budget: Budget = 400) -> Response:
    return Response(contexts=[Context(budget, [Piece("p1", text) for text in texts], 1, "words")])


def block_of(*responses: Response | None, arm: str = "a", seed: int = 0) -> Block:
    """An arm's answers to the items, in order."""
    keys = [f"k{place}" for place in range(len(ITEMS))]
    given = [(key, item, each) for key, item, each in zip(keys, ITEMS, responses, strict=False) if each]
    stored = answer_columns([Answer(key, item.item_id, each) for key, item, each in given])
    return Block(Arm(arm), seed, ITEMS, select_by_key(stored, keys), Labels.none())


def asked(judge: AnswerabilityJudge, *blocks: Block) -> list[Question]:
    return list(judge.questions(DATASET, blocks))


# ------------------------------------------------------------------------------ what it asks about


def test_every_arm_seed_and_item_with_evidence_is_asked_about() -> None:
    one = block_of(shown("Leave: 25", "Notice: 3"), shown("Leave: 25"), shown("The roof is red"))
    other = block_of(shown("Leave: 25"), None, arm="b", seed=4)
    found = asked(AnswerabilityJudge(url=URL), one, other)
    assert [(each.item_id, each.text, each.arm, each.seed) for each in found] == [
        ("days", "Leave: 25\nNotice: 3", "a", 0),  # a piece a line, as a reader sees it
        ("both", "Leave: 25", "a", 0),
        ("days", "Leave: 25", "b", 4),
    ]
    assert {(each.label, each.target) for each in found} == {("answerable", "context@400")}


def test_only_contexts_under_its_budgets_are_asked_about() -> None:
    contexts = [shown("short", budget=200), shown("right"), shown("all of it", budget=None)]
    block = block_of(Response(contexts=[each.contexts[0] for each in contexts]))
    by_default, unbounded = AnswerabilityJudge(url=URL), AnswerabilityJudge(url=URL, budgets=(200, "inf"))
    assert [(each.target, each.text) for each in asked(by_default, block)] == [("context@400", "right")]
    assert [(each.target, each.text) for each in asked(unbounded, block)] == [
        ("context@200", "short"),
        ("context@inf", "all of it"),
    ]
    assert (context_target(None), context_target(800)) == ("context@inf", "context@800")


def test_without_an_address_a_context_or_an_answer_nothing_is_asked() -> None:
    assert asked(AnswerabilityJudge(), block_of(shown("Leave: 25"))) == []
    failed = Response(error=Fault("Timeout", "too slow"))
    assert asked(AnswerabilityJudge(url=URL), block_of(failed, Response())) == []
    assert [sorted(judge.opens) for judge in (AnswerabilityJudge(), AnswerabilityJudge(url=URL))] == [
        [],
        ["answerable"],
    ]
    assert isinstance(AnswerabilityJudge(), PayingJudge)
    assert not isinstance(AnswerabilityJudge(), FreeJudge)


def test_the_query_the_reference_answer_and_the_prompt_go_along() -> None:
    judge = AnswerabilityJudge(url=URL)
    first, second = asked(judge, block_of(shown("x"), shown("x")))
    prompt = read_packaged_prompt("answerable").hash
    assert json.loads(first.about) == {
        "query": "how many days of leave",
        "expected": "25",
        "prompt": prompt,
    }
    assert json.loads(second.about)["expected"] == "25 days\n3 months"


def test_the_same_text_is_one_question_for_all_arms_and_budgets() -> None:
    judge = AnswerabilityJudge(url=URL, budgets=(400, 800))
    wide = Response(contexts=[*shown("x").contexts, *shown("x", budget=800).contexts])
    same = asked(judge, block_of(wide), block_of(wide, arm="b"))
    assert len(same) == 4
    assert len({question_key(judge, each) for each in same}) == 1
    (other,) = asked(judge, block_of(shown("y")))
    assert question_key(judge, other) != question_key(judge, same[0])


# ------------------------------------------------------------------------------- what it is asked


def found_by(server: ChatStandIn, text: str, **how: Any) -> Finding:
    judge = AnswerabilityJudge(url=server.url, model="m", backoff=0, **how)
    (question,) = asked(judge, block_of(shown(text)))
    return judge.ask(question, Kit())


@pytest.mark.parametrize(
    ("said", "grade"),
    [
        (("ANSWERABLE", "NOT_ANSWERABLE", "ANSWERABLE"), 1.0),
        (("NOT_ANSWERABLE", "ANSWERABLE", "NOT_ANSWERABLE"), 0.0),
        (("ANSWERABLE", "ANSWERABLE", "ANSWERABLE"), 1.0),
    ],
)
def test_two_of_three_samples_decide(said: tuple[str, ...], grade: float) -> None:
    with ChatStandIn(by_turns(*(f"{each}\nBecause." for each in said))) as server:
        finding = found_by(server, "Leave: 25 days")
        bodies = [request.payload for request in server.requests]
    assert finding.grade == grade
    assert finding.reason == f"{', '.join(said)}: Because."
    assert [(body["seed"], body["temperature"]) for body in bodies] == [(1, 0.0), (2, 0.0), (3, 0.0)]
    system, user = bodies[0]["messages"]
    assert system["content"] == read_packaged_prompt("answerable").rules
    for quoted in ("how many days of leave", "\n25\n", "Leave: 25 days"):
        assert quoted in user["content"]


def test_an_empty_context_gets_the_lowest_grade_without_a_question() -> None:
    with ChatStandIn(by_turns("ANSWERABLE")) as server:
        for text in ("", " \n "):
            finding = found_by(server, text, price_out=1.0)
            assert (finding.grade, finding.category, finding.cost) == (0.0, "NOT_ANSWERABLE", None)
        assert server.calls == 0


def test_a_finding_costs_all_its_samples() -> None:
    with ChatStandIn(by_turns("ANSWERABLE\nIt is so.")) as server:
        # the stand-in counts a word as a token: 4 said, three times
        assert found_by(server, "Leave: 25", price_out=1_000_000.0).cost == 12.0


# -------------------------------------------------------------------------------------- who it is


def test_budgets_are_no_part_of_it_and_samples_are() -> None:
    plain = AnswerabilityJudge(url=URL, model="m")
    assert plain.names == ("llm:answerable",)
    assert plain.version == f"answerable-1 {read_packaged_prompt('answerable').hash}"
    assert identity(plain) == identity(AnswerabilityJudge(url=URL, model="m", budgets=("inf",), threads=9))
    assert identity(plain) != identity(AnswerabilityJudge(url=URL, model="m", samples=1))
    assert repr(AnswerabilityJudge(url="http://anna:word@127.0.0.1:9/v1")).count("word") == 0


def test_a_study_may_write_budgets_as_elsewhere() -> None:
    made = Registry().create(JUDGES, {"use": "answerable", "budgets": [400, "inf"]})
    assert made == Registry().create(JUDGES, "answerable(budgets=[400, inf])")
    assert made.budgets == (400, "inf")


@pytest.mark.parametrize(
    ("params", "what"),
    [
        ({"budgets": [0]}, "a budget is 0. It must be a number of tokens, or inf"),
        ({"budgets": []}, "budgets must list at least one"),
        ({"budgets": [400, 400]}, "none twice"),
        ({"samples": 0}, "samples is 0"),
        (
            {"prompt": "relevance"},
            "'relevance' is for the label 'relevance'. This judge takes one for answer",
        ),
    ],
)
def test_parameters_that_make_no_sense_are_refused(params: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        Registry().create(JUDGES, {"use": "answerable", **params})


def test_a_judge_of_passages_refuses_its_prompt() -> None:
    with pytest.raises(UsageError, match="is for the label 'answerable'"):
        Registry().create(JUDGES, "llm(prompt=answerable)")


def test_it_says_beforehand_what_it_cannot_judge_well() -> None:
    judge = AnswerabilityJudge(url=URL)
    assert judge.examine(DATASET, Kit()) == ([], [])
    bare = Dataset("bare", Corpus(()), [ITEMS[2]])
    assert judge.examine(bare, Kit())[1] == [
        "llm:answerable has nothing to judge: no item of bare has evidence"
    ]
    unanswered = Dataset("u", Corpus(()), [Item("q", "x", gold={"evidence": EVIDENCE}), *ITEMS])
    assert judge.examine(unanswered, Kit())[1] == [
        "1 of 3 items that llm:answerable judges have no reference answer, such as q"
    ]
    assert AnswerabilityJudge().examine(bare, Kit()) == ([], [])


# ------------------------------------------------------------------------------------ in a study


@dataclass(frozen=True)
class Told:
    """A system that shows one text, or nothing, under every budget."""

    text: str = ""

    def build(self, corpus: Corpus, seed: int, kit: Kit) -> Told:
        return self

    def session(self) -> Told:
        return self

    def answer(self, query: Query, budgets: Sequence[Budget]) -> Response:
        pieces = [Piece("p", self.text)] if self.text else []
        return Response(contexts=[Context(budget, pieces, 2, "words") for budget in budgets])


STUDY = """\
data: data
seeds: 2
budgets: [400, inf]
systems: {good: told(text='alpha is 1'), same: told(text='alpha is 1'), bad: told(text=no), mute: told}
judges: [ids, {use: answerable, url: '%s', backoff: 0, budgets: [400, inf], samples: 1}]
measures: ["A(label=answerable)@400"]
"""


def says(payload: Any) -> str:
    return "ANSWERABLE" if "alpha is 1" in payload["messages"][-1]["content"] else "NOT_ANSWERABLE"


def test_each_response_gets_a_label_and_each_text_is_paid_for_once(tmp_path: Path) -> None:
    with ChatStandIn(says) as server:
        folder = write_study(tmp_path, STUDY % server.url)
        gold = {"evidence": EVIDENCE, "answer": "1", "relevant": {"d0": 1}}
        write_lines(folder / "data/items.jsonl", [{"item_id": "q", "text": "alpha", "gold": gold}])
        study = open_study(folder, registry=Registry({SYSTEMS: {"told": Told}}))
        run_study(study)
        judge_study(study)
        assert server.calls == 2  # 4 arms, 2 seeds, 2 budgets show two texts and two empty contexts
        judge_study(study)
        assert server.calls == 2
        evaluation = Evaluation(study)
    labels, scores = evaluation.labels, evaluation.scores.select("arm", "value", "status").unique()
    for arm, grade in (("good", 1.0), ("same", 1.0), ("bad", 0.0), ("mute", 0.0)):
        for seed in (0, 1):
            found = labels.of("answerable", arm, seed).select("item", "target", "grade").rows()
            assert found == [("q", "context@400", grade), ("q", "context@inf", grade)], (arm, seed)
    # the measure reads them: each arm has one value, whatever the seed
    expected = {("good", 1.0), ("same", 1.0), ("bad", 0.0), ("mute", 0.0)}
    assert {(arm, value) for arm, value, status in scores.rows() if status == "scored"} == expected
    assert labels.world("answerable") == "open"
    assert Store(folder / "run").cost() == 0
