"""The model judge: what it asks about, how its answers count, what they cost, and who it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.core.block import Block, Labels
from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, PluginError, UsageError
from assay.core.protocols import FreeJudge, Kit, PayingJudge
from assay.core.records import Arm, Finding, Hit, Item, Passage, Question, Response
from assay.core.registry import JUDGES, Registry, identity
from assay.judges.llm import Llm
from assay.judges.llm_prompt import read_packaged_prompt
from assay.pipeline.paying_judges import question_key
from assay.store.journal import Answer, answer_columns, select_by_key
from stand_ins.chat_server import ChatStandIn, by_turns

KEY = "sk-very-secret-0123456789"
URL = "http://127.0.0.1:9/v1"
ANCHORS = [
    {"book": "lamp", "chapter": 1, "text": "the lamp that never burned", "relevance": "high"},
    {"book": "lamp", "chapter": None, "text": "oil for a winter", "relevance": "partial"},
]
ITEMS = [
    Item("passages", "where is the lamp", gold={"anchors": ANCHORS}),
    Item("feeling", "so tired", gold={"anchors": [], "intent": "console"}, expects="intent"),
    Item("route", "teach me to breathe", gold={"anchors": []}, expects="route"),
    Item("nothing", "weather in town", gold={"anchors": []}, expects="nothing"),
]
CORPUS = Corpus([Passage("p1", "a lamp on a boat"), Passage("p2", "a rope"), Passage("blank", " \n")])
DATASET = Dataset("d", CORPUS, ITEMS)
QUESTION = Question("q", "relevance", "a lamp on a boat", Llm(url=URL)._about(ITEMS[0]), target="p1")


def block_of(*responses: Response | None, arm: str = "a", corpus: Corpus = CORPUS) -> Block:
    """An arm's answers to the items, in order."""
    keys = [f"k{place}" for place in range(len(ITEMS))]
    given = [(key, item, each) for key, item, each in zip(keys, ITEMS, responses, strict=False) if each]
    stored = answer_columns([Answer(key, item.item_id, each) for key, item, each in given])
    return Block(Arm(arm), 0, ITEMS, select_by_key(stored, keys), Labels.none(), corpus=corpus)


def hits(*names: str, texts: Sequence[str | None] = ()) -> Response:
    texts = [*texts, *[None] * (len(names) - len(texts))]
    return Response(
        [Hit(name, 9.0 - rank, text=texts[rank]) for rank, name in enumerate(names)], route="search"
    )


def asked(judge: Llm, *blocks: Block) -> list[tuple[str, str | None, str]]:
    return [(each.item_id, each.target, each.text) for each in judge.questions(DATASET, blocks)]


def found_by(server: ChatStandIn, question: Question = QUESTION, **how: Any) -> Finding:
    return Llm(url=server.url, model="m", backoff=0, **how).ask(question, Kit())


# ------------------------------------------------------------------------------ what it asks about


def test_without_an_address_it_asks_nothing_and_opens_nothing() -> None:
    judge = Llm()
    assert asked(judge, block_of(hits("p1"))) == []
    assert judge.opens == frozenset()
    assert Llm(url=URL).opens == {"relevance"}
    assert Llm(url=URL, prompt="intent").opens == {"intent"}
    assert isinstance(judge, PayingJudge)
    assert not isinstance(judge, FreeJudge)


def test_relevance_is_asked_where_passages_are_wanted_and_intent_where_that_is() -> None:
    every = block_of(hits("p1"), hits("p2"), hits("p1"), hits("p1"))
    assert asked(Llm(url=URL), every) == [("passages", "p1", "a lamp on a boat")]
    assert asked(Llm(url=URL, prompt="intent"), every) == [("feeling", "p2", "a rope")]


def test_every_distinct_hit_within_the_depth_of_any_arm_is_asked_about_once() -> None:
    one, other = block_of(hits("p1", "p2")), block_of(hits("p2", "p1"), arm="b")
    assert asked(Llm(url=URL), one, other) == [
        ("passages", "p1", "a lamp on a boat"),
        ("passages", "p2", "a rope"),
    ]
    assert asked(Llm(url=URL, depth=1), one) == [("passages", "p1", "a lamp on a boat")]


def test_a_hit_that_is_not_in_the_corpus_is_judged_by_the_text_it_came_with() -> None:
    block = block_of(hits("x~1", "p1", texts=["a foreign text", "what p1 was before"]))
    # p1 is ours: its text is the corpus's, whatever came along
    assert asked(Llm(url=URL), block) == [
        ("passages", "x~1", "a foreign text"),
        ("passages", "p1", "a lamp on a boat"),
    ]


def test_a_hit_without_a_text_is_not_asked_about() -> None:
    assert asked(Llm(url=URL), block_of(hits("blank", "unknown"))) == []
    later = block_of(hits("unknown", texts=["here it has one"]), arm="b")
    assert asked(Llm(url=URL), block_of(hits("unknown")), later) == [
        ("passages", "unknown", "here it has one")
    ]


def test_half_a_surrogate_pair_does_not_stop_the_rest() -> None:
    block = block_of(hits("p"), corpus=Corpus([Passage("p", "half \ud83d a sign")]))
    (question,) = Llm(url=URL).questions(DATASET, [block])
    assert question.text == "half ? a sign"
    assert question_key(Llm(url=URL), question)


def test_pending_and_empty_answers_ask_nothing() -> None:
    assert asked(Llm(url=URL), block_of(None), block_of(Response())) == []


def test_a_question_holds_all_that_is_shown_and_the_prompt() -> None:
    (question,) = Llm(url=URL).questions(DATASET, [block_of(hits("p1"))])
    assert json.loads(question.about) == {
        "query": "where is the lamp",
        "expected": "high: the lamp that never burned\npartial: oil for a winter",
        "intent": "",
        "prompt": read_packaged_prompt("relevance").hash,
    }
    assert question.label == "relevance"
    (question,) = Llm(url=URL, prompt="intent").questions(DATASET, [block_of(None, hits("p2"))])
    assert json.loads(question.about)["intent"] == "console"
    assert question.label == "intent"


# ------------------------------------------------------------------------------- what it is asked


def test_a_request_is_the_rules_and_then_the_material() -> None:
    with ChatStandIn(by_turns("HIGH\nThere is a lamp.")) as server:
        finding = found_by(server, key=KEY)
        (request,) = server.requests
    assert finding == Finding(2.0, "HIGH", "There is a lamp.")
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    body = request.payload
    assert {name: body[name] for name in body if name != "messages"} == {
        "model": "m",
        "temperature": 0.0,
        "max_tokens": 200,
        "seed": 1,
    }
    system, user = body["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert system["content"] == read_packaged_prompt("relevance").rules
    for shown in ("where is the lamp", "partial: oil for a winter", "a lamp on a boat"):
        assert shown in user["content"]
    assert user["content"].endswith("one short reason.")


def test_extra_fields_are_sent_and_null_removes_a_field() -> None:
    more = {"max_tokens": None, "max_completion_tokens": 50, "seed": None, "cache_prompt": False}
    with ChatStandIn(by_turns("HIGH")) as server:
        found_by(server, extra=more)
        body = server.requests[0].payload
    assert set(body) == {"model", "messages", "temperature", "max_completion_tokens", "cache_prompt"}
    assert (body["max_completion_tokens"], body["cache_prompt"]) == (50, False)


def test_a_server_with_one_model_needs_no_name_for_it() -> None:
    with ChatStandIn(by_turns("MEETS")) as server:
        finding = Llm(url=server.url, prompt="intent").ask(QUESTION, Kit())
        assert "model" not in server.requests[0].payload
    assert finding == Finding(1.0, "MEETS")


@pytest.mark.parametrize(
    ("said", "grade", "category"),
    [
        (("HIGH", "PARTIAL", "HIGH"), 2.0, "HIGH"),  # two of three
        (("NOT_RELEVANT", "HIGH", "NOT_RELEVANT"), 0.0, "NOT_RELEVANT"),
        (("HIGH", "NOT_RELEVANT", "PARTIAL"), 1.0, "PARTIAL"),  # no majority: the middle of 0, 1, 2
        (("HIGH", "PARTIAL"), 1.0, "PARTIAL"),  # a tie: the lower
        (("HIGH", "NOT_RELEVANT", "PARTIAL", "HIGH"), 1.0, "PARTIAL"),  # 0, 1, 2, 2: the lower of 1 and 2
    ],
)
def test_the_middle_of_several_samples_counts(said: tuple[str, ...], grade: float, category: str) -> None:
    with ChatStandIn(by_turns(*(f"{each}\nBecause of {each}." for each in said))) as server:
        finding = found_by(server, samples=len(said))
        seeds = [request.payload["seed"] for request in server.requests]
    assert (finding.grade, finding.category) == (grade, category)
    assert finding.reason == f"{', '.join(said)}: Because of {category}."
    assert seeds == list(range(1, len(said) + 1))


# ---------------------------------------------------------------------------------- what it costs


def words(judge: Llm) -> int:
    quoted = json.loads(QUESTION.about)
    messages = judge.asks.messages({**quoted, "passage": QUESTION.text})
    return sum(len(message["content"].split()) for message in messages)


def test_a_finding_costs_what_was_read_and_said() -> None:
    with ChatStandIn(by_turns("HIGH\nIt is so.")) as server:
        finding = found_by(server, price_in=3.0, price_out=15.0)
        # the stand-in counts words: those of the messages, and 4 said
        assert finding.cost == pytest.approx((words(Llm(url=URL)) * 3.0 + 4 * 15.0) / 1e6)
        assert found_by(server, price_in=3.0, price_out=15.0, samples=3).cost == pytest.approx(
            3 * (finding.cost or 0)
        )
        assert found_by(server).cost is None  # nobody said what it costs


def test_a_useless_answer_costs_too() -> None:
    with ChatStandIn(by_turns("I think so", "HIGH")) as server:
        finding = found_by(server, price_out=1_000_000.0)
    assert finding.cost == 3 + 1  # words said


def test_tokens_that_nobody_counted_are_a_quarter_of_the_characters() -> None:
    with ChatStandIn(by_turns("PARTIAL\n0123456789"), counts=False) as server:
        finding = found_by(server, price_out=4_000_000.0)
    assert finding.cost == 18 // 4 * 4  # 18 characters, 4 tokens


# -------------------------------------------------------------------------------------- who it is


def test_it_is_named_for_its_prompt() -> None:
    assert Llm().names == ("llm:relevance",)
    assert Llm(prompt="intent-1").names == ("llm:intent",)
    assert Llm(name="second").names == ("second",)
    assert Llm(prompt="intent").grades == {"MEETS": 1.0, "MISSES": 0.0}


def test_its_version_is_that_of_the_prompt() -> None:
    assert Llm().version == f"relevance-1 {read_packaged_prompt('relevance').hash}"
    assert Llm(prompt="relevance-1") == replace(Llm(), prompt="relevance-1")
    assert identity(Llm(prompt="relevance-1")) == identity(Llm(prompt="relevance"))


def test_key_patience_and_price_are_not_in_its_identity() -> None:
    plain = Llm(url=URL, model="m")
    same = [
        replace(plain, key=KEY),
        replace(plain, url="http://anna:word@127.0.0.1:9/v1?api-key=abc"),
        replace(plain, url=f"{URL}/"),
        replace(plain, price_in=1.0, price_out=2.0, timeout=1.0, retries=0, backoff=0.0, threads=9),
        replace(plain, depth=3),
    ]
    assert {question_key(each, QUESTION) for each in same} == {question_key(plain, QUESTION)}
    others = [
        replace(plain, url="http://127.0.0.1:10/v1"),
        replace(plain, model="n"),
        replace(plain, prompt="intent"),
        replace(plain, samples=3),
        replace(plain, temperature=0.5),
        replace(plain, max_tokens=9),
        replace(plain, extra={"top_p": 1}),
        replace(plain, name="second"),
    ]
    assert len({question_key(each, QUESTION) for each in [plain, *others]}) == 9


def test_no_secret_is_in_its_identity_or_in_what_it_prints_as() -> None:
    judge = Llm(url="http://anna:word@127.0.0.1:9/v1?api-key=abcdef", key=KEY)
    for text in (identity(judge), repr(judge)):
        assert not any(secret in text for secret in (KEY, "word@", "abcdef"))


# ---------------------------------------------------------------------------- a prompt of one's own

OWN = """\
---
name: own
version: 2
label: relevance
grades: {YES: 1, NO: 0}
---
YES or NO.
---
{code} {query} {passage}
"""


def test_a_prompt_may_be_a_file_of_the_study(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text(OWN)
    named = Llm(url=URL, prompt="own.txt")
    with pytest.raises(UsageError, match=r"'own\.txt' was not read yet"):
        _ = named.names
    judge = named.within(Kit(root=tmp_path))
    assert (judge.names, judge.grades) == (("llm:own",), {"YES": 1.0, "NO": 0.0})
    assert judge.version == f"own-2 {judge.asks.hash}"
    assert identity(judge) == identity(Llm(url=URL, prompt=OWN))
    (tmp_path / "own.txt").write_text(OWN.replace("YES or", "Say YES or"))
    assert question_key(named.within(Kit(root=tmp_path)), QUESTION) != question_key(judge, QUESTION)
    assert Llm(url=URL).within(Kit(root=tmp_path)) == Llm(url=URL)


def test_problems_of_a_prompt_file_have_their_place(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.txt: there is no such file"):
        Llm(prompt="none.txt").within(Kit(root=tmp_path))
    (tmp_path / "own.txt").write_text(OWN.replace("{passage}", ""))
    with pytest.raises(DataError, match=r"own\.txt: passage: \{passage\} is missing"):
        Llm(prompt="own.txt").within(Kit(root=tmp_path))


@pytest.mark.parametrize(
    ("params", "what"),
    [
        ({"depth": 0}, "depth is 0. It must be at least 1"),
        ({"samples": 0}, "samples is 0"),
        ({"threads": 0}, "threads is 0"),
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"price_in": -1}, "price_in is -1. It must be a number, 0 or more"),
        ({"temperature": float("nan")}, "temperature is nan"),
        ({"prompt": "relevanse"}, "There is no prompt 'relevanse'. Did you mean 'relevance"),
        ({"url": "localhost:8080"}, "'localhost:8080' is not the address of a service"),
        ({"url": URL, "timeout": 0}, "timeout is 0"),
        ({"url": URL, "key": "a\nb"}, "The key holds a line break"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(params: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        Registry().create(JUDGES, {"use": "llm", **params})


def test_computed_parameters_cannot_be_given() -> None:
    with pytest.raises(PluginError, match="has no parameter 'version'"):
        Registry().create(JUDGES, {"use": "llm", "version": "9"})
