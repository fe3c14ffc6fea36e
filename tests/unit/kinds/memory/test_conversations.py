"""LongMemEval and LoCoMo: what their files become, and what is said of their faults."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.core.dataset import Dataset
from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.core.registry import DATASETS, Registry
from assay.datasets.public.release import UNKNOWN
from assay.kinds.memory.datasets.locomo import LoCoMo
from assay.kinds.memory.datasets.longmemeval import LongMemEval


def turn(content: str, role: str = "user", *, answers: bool = False) -> dict[str, Any]:
    return {"role": role, "content": content, **({"has_answer": True} if answers else {})}


def question(name: str = "q1", **other: Any) -> dict[str, Any]:
    """Three sessions, the one that was last by date written first."""
    return {
        "question_id": name,
        "question_type": "multi-session",
        "question": "Where is the key?",
        "answer": 42,
        "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_session_ids": ["late", "early", "middle"],
        "haystack_dates": ["2023/05/30 (Tue) 23:00", "2023/05/20 (Sat) 02:21", "2023/05/30 (Tue) 09:15"],
        "haystack_sessions": [
            [turn("I moved the key."), turn("Noted.", "assistant", answers=True)],
            [turn("Good morning."), turn("Hello.", "assistant")],
            [turn("The key is in the blue jar.", answers=True), turn("Fine.", "assistant")],
        ],
        "answer_session_ids": ["late", "middle"],
        **other,
    }


def longmemeval(folder: Path, *questions: dict[str, Any], **parameters: Any) -> Dataset:
    path = folder / "lme.json"
    path.write_text(json.dumps(questions))
    return LongMemEval(str(path), **parameters).load(Kit())


# ------------------------------------------------------------------------------------ LongMemEval


def test_a_session_is_a_passage_in_the_order_of_dates(tmp_path: Path) -> None:
    dataset = longmemeval(tmp_path, question())
    assert [passage.doc_id for passage in dataset.corpus.passages] == ["q1/early", "q1/middle", "q1/late"]
    first = dataset.corpus.passages[0]
    assert first.text == "user: Good morning.\nassistant: Hello."
    assert (first.source, first.section) == ("q1", "early")
    assert first.metadata == {"pack": "conversation", "session": "early", "date": "2023-05-20T02:21"}
    assert dataset.layer == "public"
    assert not dataset.warnings


def test_the_item_of_a_question(tmp_path: Path) -> None:
    (item,) = longmemeval(tmp_path, question()).items
    assert item.tags == {
        "type": ["multi-session"],
        "abstention": ["no"],
        "dataset": ["longmemeval"],
        "multi_hop": ["yes"],
    }
    assert item.gold["relevant"] == {"q1/middle": 1.0, "q1/late": 1.0}
    assert item.gold["answers"] == ["42"]
    assert item.scope == ["q1/early", "q1/middle", "q1/late"]
    assert item.expects is None


def test_by_turn_the_gold_is_what_has_the_answer(tmp_path: Path) -> None:
    dataset = longmemeval(tmp_path, question(), unit="turn")
    assert len(dataset.corpus) == 6
    assert dataset.items[0].gold["relevant"] == {"q1/middle:1": 1.0, "q1/late:2": 1.0}
    assert dataset.corpus.text_of("q1/late:2") == "assistant: Noted."


def test_the_assistant_may_be_left_out(tmp_path: Path) -> None:
    dataset = longmemeval(tmp_path, question(), turns="user")
    assert dataset.corpus.text_of("q1/late") == "I moved the key."
    by_turn = longmemeval(tmp_path, question(), turns="user", unit="turn")
    assert [passage.doc_id for passage in by_turn.corpus.passages] == [
        "q1/early:1",
        "q1/middle:1",
        "q1/late:1",
    ]


def test_without_dates_the_haystack_order_stays(tmp_path: Path) -> None:
    dataset = longmemeval(tmp_path, question(haystack_dates=[]))
    assert dataset.items[0].scope == ["q1/late", "q1/early", "q1/middle"]
    assert "date" not in dataset.corpus.passages[0].metadata


def test_a_session_without_a_date_follows_its_neighbour(tmp_path: Path) -> None:
    # late (30 May), then one without a date, then early (20 May): the second stays behind the first
    dated = question(haystack_dates=["2023/05/30", None, "2023/05/20"])
    assert longmemeval(tmp_path, dated).items[0].scope == ["q1/middle", "q1/late", "q1/early"]


def test_the_same_session_in_two_haystacks_is_two_passages(tmp_path: Path) -> None:
    dataset = longmemeval(tmp_path, question("a"), question("b"))
    assert len(dataset.corpus) == 6
    assert dataset.items[1].scope == ["b/early", "b/middle", "b/late"]


@pytest.mark.parametrize("name", ["q1_abs", "gpt4_1_abs"])
def test_abstention_expects_nothing(tmp_path: Path, name: str) -> None:
    (item,) = longmemeval(tmp_path, question(name)).items
    assert item.expects == "nothing"
    assert item.tags["abstention"] == ["yes"]


def test_an_answer_session_that_is_not_there_is_reported(tmp_path: Path) -> None:
    dataset = longmemeval(tmp_path, question(answer_session_ids=["late", "lost"]))
    assert dataset.items[0].gold["relevant"] == {"q1/late": 1.0}
    (warning,) = dataset.warnings
    assert "1 answer sessions are not in the haystack" in warning
    assert "q1: lost" in warning


def test_a_session_that_is_there_twice_is_kept_once(tmp_path: Path) -> None:
    dataset = longmemeval(tmp_path, question(haystack_session_ids=["late", "middle", "middle"]))
    assert len(dataset.corpus) == 2
    assert "q1/middle" in dataset.warnings[0]


def test_sessions_that_do_not_go_with_their_ids_are_refused(tmp_path: Path) -> None:
    wrong = [question("a", haystack_session_ids=["one"]), question("b", haystack_dates=["2023/01/01"])]
    with pytest.raises(DataError) as caught:
        longmemeval(tmp_path, *wrong)
    assert [problem.where.rpartition(", ")[2] for problem in caught.value.problems] == [
        "record 1",
        "record 2",
    ]
    assert "'a' has 1 session ids, 3 sessions and 3 dates" in str(caught.value)


def test_every_malformed_question_is_reported(tmp_path: Path) -> None:
    without = {key: value for key, value in question("a").items() if key != "answer_session_ids"}
    with pytest.raises(DataError) as caught:
        longmemeval(tmp_path, without, question("b", question=7))
    assert [problem.field for problem in caught.value.problems] == ["answer_session_ids", "question"]


def test_bytes_that_are_not_utf8_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "lme.json"
    path.write_bytes(json.dumps([question()]).encode().replace(b"blue jar", b"bl\xfce jar"))
    with pytest.raises(DataError, match=r"record 1.*UTF-8"):
        LongMemEval(str(path)).load(Kit())


def test_the_limit_counts_questions(tmp_path: Path) -> None:
    dataset = longmemeval(tmp_path, question("a"), question("b"), limit=1)
    assert ([item.item_id for item in dataset.items], len(dataset.corpus)) == (["a"], 3)


def derivative(folder: Path, *, truncated: bool) -> Path:
    asked = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Where?",
        "answer": "Here",
        "abstention": True,
        "answer_session_ids": ["s1"],
        "haystack": [
            {"session_id": "s2", "timestamp": "2023/05/21 (Sun) 10:00"},
            {"session_id": "s1", "timestamp": "2023/05/20 (Sat) 10:00"},
        ],
    }
    sessions = [{"session_id": name, "text": "x" * 12, "truncated": truncated} for name in ("s1", "s2")]
    (folder / "questions.jsonl").write_text(json.dumps(asked))
    lines = "\n".join(map(json.dumps, sessions)).encode()
    (folder / "sessions.jsonl.gz").write_bytes(gzip.compress(lines))
    return folder


def test_a_folder_of_sessions_says_what_it_cannot_show(tmp_path: Path) -> None:
    dataset = LongMemEval(str(derivative(tmp_path, truncated=True))).load(Kit())
    assert [passage.doc_id for passage in dataset.corpus.passages] == ["q1/s1", "q1/s2"]
    assert dataset.items[0].expects == "nothing"
    assert dataset.unproven[0] == UNKNOWN
    assert dataset.unproven[1].startswith(
        "published LongMemEval scores: 2 of 2 sessions are cut at 12 charac"
    )
    whole = LongMemEval(str(derivative(tmp_path, truncated=False))).load(Kit())
    assert not any("published" in each for each in whole.unproven)


def test_a_folder_of_sessions_has_no_turns(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="without turns"):
        LongMemEval(str(derivative(tmp_path, truncated=False)), unit="turn").load(Kit())


def test_the_derivative_of_longmemeval(shared_data: Callable[[str], Path]) -> None:
    dataset = LongMemEval(str(shared_data("longmemeval_s_trunc500"))).load(Kit())
    # 23,551 places in 500 haystacks, of which 13 name a session for the second time
    assert (len(dataset.items), len(dataset.corpus)) == (500, 23_538)
    assert sum(item.expects == "nothing" for item in dataset.items) == 30
    assert Counter(item.tags["type"][0] for item in dataset.items)["multi-session"] == 133
    assert all(item.gold["relevant"].keys() <= set(item.scope or ()) for item in dataset.items)
    assert all(item.gold["relevant"] for item in dataset.items)
    (warning,) = dataset.warnings
    assert warning.startswith("13 sessions are in one haystack more than once")
    assert "15,243 of 18,982 sessions are cut at 500 characters" in dataset.unproven[1]


def test_the_fixture_of_the_structured_cases(shared_data: Callable[[str], Path]) -> None:
    path = shared_data("structured_memory") / "benchmarks/external/longmemeval_tiny_fixture.json"
    dataset = LongMemEval(str(path)).load(Kit())
    assert [set(item.gold["relevant"]) for item in dataset.items] == [
        {"lme-tiny-001/sess-002"},
        {"lme-tiny-002/sess-102", "lme-tiny-002/sess-103"},
    ]


# ----------------------------------------------------------------------------------------- LoCoMo


def dialogue(name: str = "conv-1", *asked: dict[str, Any]) -> dict[str, Any]:
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bo",
            "session_2_date_time": "12:05 am on 9 May, 2023",
            "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "Look!", "blip_caption": "a red boat"}],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "Hi Bo."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Hi Ann."},
            ],
            "session_3_date_time": "no session of this date",
        },
        "qa": list(asked),
    }


def qa(category: int = 4, *evidence: str, **other: Any) -> dict[str, Any]:
    return {"question": "What?", "category": category, "evidence": list(evidence), "answer": 2022, **other}


def locomo(folder: Path, *dialogues: dict[str, Any], **parameters: Any) -> Dataset:
    path = folder / "locomo10.json.gz"
    path.write_bytes(gzip.compress(json.dumps(dialogues).encode()))
    return LoCoMo(str(path), **parameters).load(Kit())


def test_a_turn_is_a_passage(tmp_path: Path) -> None:
    dataset = locomo(tmp_path, dialogue("conv-1", qa(1, "D1:2", "D2:1")))
    assert [passage.doc_id for passage in dataset.corpus.passages] == [
        "conv-1/D1:1",
        "conv-1/D1:2",
        "conv-1/D2:1",
    ]
    last = dataset.corpus.passages[-1]
    assert last.text == "Bo: Look! [photo: a red boat]"
    assert (last.source, last.section) == ("conv-1", "session_2")
    assert last.metadata == {"pack": "conversation", "session": 2, "date": "2023-05-09T00:05"}
    (item,) = dataset.items
    assert item.item_id == "conv-1/q1"
    assert item.gold == {"relevant": {"conv-1/D1:2": 1.0, "conv-1/D2:1": 1.0}, "answers": ["2022"]}
    assert item.scope == ["conv-1/D1:1", "conv-1/D1:2", "conv-1/D2:1"]


def test_by_session(tmp_path: Path) -> None:
    dataset = locomo(tmp_path, dialogue("conv-1", qa(1, "D1:1", "D1:2")), unit="session")
    assert dataset.corpus.text_of("conv-1/D1") == "Ann: Hi Bo.\nBo: Hi Ann."
    assert dataset.items[0].gold["relevant"] == {"conv-1/D1": 1.0}


@pytest.mark.parametrize(
    ("number", "name", "hops"),
    [
        (1, "multi-hop", "yes"),
        (2, "temporal", "no"),
        (3, "open-domain", "no"),
        (4, "single-hop", "no"),
        (5, "adversarial", "no"),
    ],
)
def test_the_categories(tmp_path: Path, number: int, name: str, hops: str) -> None:
    (item,) = locomo(tmp_path, dialogue("conv-1", qa(number, "D1:1"))).items
    assert (item.tags["category"], item.tags["category_number"]) == ([name], [str(number)])
    assert item.tags["multi_hop"] == [hops]
    assert item.tags["adversarial"] == ["yes" if number == 5 else "no"]


def test_an_adversarial_question_keeps_its_evidence(tmp_path: Path) -> None:
    asked = qa(5, "D1:1", answer=None, adversarial_answer="a trap")
    (item,) = locomo(tmp_path, dialogue("conv-1", asked)).items
    assert item.gold == {"relevant": {"conv-1/D1:1": 1.0}, "adversarial_answer": "a trap"}
    assert item.expects is None


def test_evidence_that_names_no_turn_is_listed_and_left_out(tmp_path: Path) -> None:
    dataset = locomo(tmp_path, dialogue("conv-1", qa(4, "D1:1", "D7:7"), qa(4, "D1:1; D2:1"), qa(4)))
    assert [item.tags["evidence"] for item in dataset.items] == [["partial"], ["none"], ["none"]]
    lost, none = dataset.warnings
    assert lost.startswith("2 evidence strings name no turn")
    assert "conv-1/q1: 'D7:7'; conv-1/q2: 'D1:1; D2:1'" in lost
    assert none.startswith("2 questions have no evidence")


def test_several_ids_in_one_string_are_split_where_that_is_asked_for(tmp_path: Path) -> None:
    asked = (qa(4, "D1:1; D2:1"), qa(4, "D1:1 D9:9"), qa(4, "D:1:1"))
    dataset = locomo(tmp_path, dialogue("conv-1", *asked), repair=True)
    assert set(dataset.items[0].gold["relevant"]) == {"conv-1/D1:1", "conv-1/D2:1"}
    assert dataset.items[0].tags["evidence"] == ["whole"]
    # one of the two is nowhere, and the last is not an id: both stay as they are
    assert [item.gold["relevant"] for item in dataset.items[1:]] == [{}, {}]
    assert any("1 evidence strings held several ids" in warning for warning in dataset.warnings)


def test_the_limit_counts_questions_over_dialogues(tmp_path: Path) -> None:
    dialogues = [dialogue("a"), dialogue("b", qa(), qa()), dialogue("c", qa(), qa())]
    dataset = locomo(tmp_path, *dialogues, limit=3)
    assert [item.item_id for item in dataset.items] == ["b/q1", "b/q2", "c/q1"]
    assert len(locomo(tmp_path, *dialogues).items) == 4


def test_turns_that_share_an_id_and_unknown_categories_are_refused(tmp_path: Path) -> None:
    twice = dialogue("a", qa())
    twice["conversation"]["session_2"].append({"speaker": "Bo", "dia_id": "D1:1", "text": "Again."})
    with pytest.raises(DataError) as caught:
        locomo(tmp_path, twice, dialogue("b", qa(6)), {**dialogue("c"), "conversation": {}})
    told = [problem.what for problem in caught.value.problems]
    assert told[0] == "'a' has the turn 'D1:1' twice"
    assert "<= 5" in told[1]
    assert told[2] == "'c' has no turn"


@pytest.mark.parametrize("number", ["01", "٣", "9" * 5000, "x", "0", "", "1_date"])
def test_a_session_without_a_plain_number_is_refused(tmp_path: Path, number: str) -> None:
    odd = dialogue("a", qa())
    odd["conversation"][f"session_{number}"] = [{"speaker": "Bo", "dia_id": "D9:1", "text": "Hi."}]
    with pytest.raises(DataError, match="which has no plain number") as caught:
        locomo(tmp_path, odd)
    assert len(str(caught.value)) < 300


def test_a_session_that_is_not_a_list_of_turns_is_refused(tmp_path: Path) -> None:
    odd = dialogue("a", qa())
    odd["conversation"] |= {"session_3": "Hi.", "session_3_date_time": []}
    with pytest.raises(DataError) as caught:
        locomo(tmp_path, odd)
    assert {problem.what for problem in caught.value.problems} == {
        "'a' has no list of turns as 'session_3'",
        "'a' has no date as 'session_3_date_time'",
    }


def test_what_is_unproven_is_listed_in_fragments(tmp_path: Path) -> None:
    both = [*longmemeval(tmp_path, question()).unproven, *locomo(tmp_path, dialogue("a", qa())).unproven]
    assert len(both) == 6  # each file is not known to be the release, and two more
    assert all(each[0].islower() and not each.endswith(".") for each in both)


def test_locomo_as_released(shared_data: Callable[[str], Path]) -> None:
    path = str(shared_data("locomo") / "locomo10.json.gz")
    dataset = LoCoMo(path).load(Kit())
    assert (len(dataset.items), len(dataset.corpus)) == (1986, 5882)
    counts = Counter(item.tags["category"][0] for item in dataset.items)
    assert counts == {
        "single-hop": 841,
        "multi-hop": 282,
        "temporal": 321,
        "open-domain": 96,
        "adversarial": 446,
    }
    # the names are right: questions of time begin with When, those of many hops have the most evidence
    begin = Counter(item.tags["category"][0] for item in dataset.items if item.text.startswith("When "))
    assert begin["temporal"] / 321 > 0.7
    turns = {
        name: sum(len(item.gold["relevant"]) for item in dataset.items if item.tags["category"] == [name]) / n
        for name, n in counts.items()
    }
    assert max(turns, key=turns.__getitem__) == "multi-hop"
    assert dataset.warnings[0].startswith("9 evidence strings name no turn")
    repaired = LoCoMo(path, repair=True).load(Kit())
    assert repaired.warnings[0].startswith("5 evidence strings name no turn")
    assert repaired.warnings[1].startswith("4 evidence strings held several ids")


@pytest.mark.parametrize("name", ["longmemeval", "locomo"])
def test_they_are_datasets_of_a_study(name: str) -> None:
    assert Registry().create(DATASETS, f"{name}(path=x.json, limit=2)").limit == 2
