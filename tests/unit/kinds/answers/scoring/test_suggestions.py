"""Suggestions by rule and by a model, who may not suggest, and how often people agreed."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.errors import UsageError
from assay.core.protocols import Kit
from assay.kinds.answers.blinding.pack import GoldQuestion
from assay.kinds.answers.scoring.marks import Mark
from assay.kinds.answers.scoring.suggestions import (
    AccuracyJudge,
    StoredSuggestion,
    citations,
    is_same_model,
    parts_of,
    read_suggestions,
    refuses,
    rule_suggestions,
    suggest_accuracy,
    suggest_by_rule,
    suggestion_uptake,
)
from scoring_packs import mark, pack_of
from stand_ins.chat_server import ChatStandIn, by_turns

TWO_PARTS = GoldQuestion(
    "Q1",
    "How does the API authenticate callers, and what limits apply to requests?",
    "By keys. 100 a minute.",
    "multi-section-synthesis",
    "S1",
    ["Authentication", "Rate limits"],
)
PLAIN = GoldQuestion("Q2", "What is the limit?", "100 a minute.", "single-fact")
FRAMED = GoldQuestion("Q3", "According to the Quick Start guide, what is the limit?", "100.", "single-fact")


def value(step: str, asked: GoldQuestion, text: str) -> str | None:
    found = suggest_by_rule(step, "R-01", asked, text)
    return None if found is None else found.value


# ------------------------------------------------------------------------------------------ by rule


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("I don't have enough information to answer that.", True),
        ("The provided documentation does not mention a limit.", True),
        ("This cannot be determined from the text.", True),
        ("The limit is 100 requests a minute.", False),
        (
            "I do not know the price. " + "The limit is one hundred requests in any one minute per key. " * 3,
            False,  # 36 words of an answer beside it
        ),
    ],
)
def test_a_refusal_says_hardly_anything_else(text: str, refused: bool) -> None:
    assert refuses(text) == refused
    assert value("accuracy", PLAIN, text) == ("0" if refused else None)


def test_saying_that_nobody_knows_is_no_refusal_where_the_reference_says_so() -> None:
    asked = GoldQuestion("Q4", "Which version?", "The version is not stated in the content.")
    assert value("accuracy", asked, "The text does not mention a version.") is None


def test_parts_are_reported_apart_by_question_words() -> None:
    assert parts_of(TWO_PARTS.text) == [
        "How does the API authenticate callers",
        "what limits apply to requests",
    ]
    assert parts_of("In Next.js, which directive marks code?") == ["which directive marks code"]
    assert parts_of("What is the limit?") == ["What is the limit"]


@pytest.mark.parametrize(
    ("text", "suggested", "why"),
    [
        ("Callers authenticate by an API key; 100 requests a minute are the rate limit.", "1", "every part"),
        ("Callers authenticate by an API key.", "0", "what limits apply to requests; Rate limits"),
        ("Authentication is by key. I have no information about limits.", "0", "does not know"),
    ],
)
def test_completeness_looks_for_words_of_every_part(text: str, suggested: str, why: str) -> None:
    found = suggest_by_rule("completeness", "R-01", TWO_PARTS, text)
    assert found is not None
    assert found.value == suggested
    assert why in found.reason


def test_a_short_answer_to_one_question_need_not_repeat_it() -> None:
    port = GoldQuestion(
        "Q1", "On which port does the server listen?", "It listens on 7171.", "single-fact", "S1", []
    )
    assert value("completeness", port, "7171 for reading and writing.") == "1"
    assert value("completeness", port, "Logs are kept for a week.") == "0"


@pytest.mark.parametrize(
    ("asked", "text", "suggested"),
    [
        (PLAIN, "The limit is 100.", "na"),
        (PLAIN, "According to the documentation, it is 100.", "na"),  # names no place, and none was asked for
        (PLAIN, "As described in the Rate Limits section, it is 100.", None),
        (FRAMED, "The limit is 100.", "0"),
        (FRAMED, "According to the documentation, it is 100.", "0"),
        (FRAMED, "The Quick Start guide says 100.", None),
    ],
)
def test_citations_apply_where_they_are_asked_for_or_given(
    asked: GoldQuestion, text: str, suggested: str | None
) -> None:
    assert value("citation", asked, text) == suggested


def test_only_places_that_can_be_looked_up_are_citations() -> None:
    assert citations("Per the Limits page it is 100; based on semantic similarity.") == ["the Limits page"]
    assert citations("As noted in this section, per the official docs.") == []


def test_no_rule_speaks_of_hallucinations() -> None:
    assert suggest_by_rule("hallucination", "R-01", PLAIN, "anything") is None
    pack = pack_of(1)
    steps = [each.step for each in rule_suggestions(pack, pack.responses[0])]
    assert steps == ["accuracy", "completeness", "citation"]


# ----------------------------------------------------------------------------------------- by a model


def test_a_model_is_asked_once_and_sees_what_raters_see(tmp_path: Path) -> None:
    pack = pack_of(3, texts=["one", "two", "three"])
    with ChatStandIn(by_turns("FULLY_RIGHT\nAll there.", "WRONG\nNothing.")) as server:
        judge = AccuracyJudge(url=server.url, model="judge-1", threads=1, backoff=0, price_in=1.0)
        done = suggest_accuracy(tmp_path, pack, judge, ["small-8b"], Kit())
        assert (done.asked, done.known, done.failed) == (3, 0, 0)
        assert done.cost > 0
        again = suggest_accuracy(tmp_path, pack, judge, ["small-8b"], Kit())
        assert (again.asked, again.known) == (0, 3)
        asked = [each.payload["messages"][-1]["content"] for each in server.requests]
    assert len(asked) == 3
    assert all("How long do tokens last?" in each and "24 hours." in each for each in asked)
    assert not any(word in each for each in asked for word in ("R-01", "condition", "small-8b"))
    stored = read_suggestions(tmp_path)
    assert [(each.response_id, each.value) for each in stored] == [
        ("R-01", "3"),
        ("R-02", "0"),
        ("R-03", "0"),
    ]
    assert stored[0].by == "llm:accuracy (judge-1)"
    assert stored[0].reason == "All there."


def test_failures_are_reported_and_the_next_time_asks_them_again(tmp_path: Path) -> None:
    pack = pack_of(2)
    with ChatStandIn(by_turns("I like it.")) as server:
        judge = AccuracyJudge(url=server.url, model="judge-1", threads=1, retries=0, backoff=0)
        done = suggest_accuracy(tmp_path, pack, judge, [], Kit())
        assert (done.asked, done.failed) == (2, 2)
        assert "gave no grade" in done.sentence
        assert suggest_accuracy(tmp_path, pack, judge, [], Kit()).asked == 2
    assert read_suggestions(tmp_path) == []


@pytest.mark.parametrize(
    ("judge", "tested", "same"),
    [
        ("GPT-X", "gpt-x", True),
        ("meta-llama/Llama-3-8B", "llama-3-8b", True),
        ("llama-3-8b", "/models/Llama-3-8B.gguf", True),
        ("openai:gpt-x", "gpt-x", True),
        ("mistral:latest", "mistral", True),
        ("mistral:latest", "gemma:latest", False),
        ("llama3:8b", "llama3:70b", False),
        ("llama-3-8b", "llama-3-80b", False),
    ],
)
def test_names_mean_one_model_whatever_stands_before_it(judge: str, tested: str, same: bool) -> None:
    assert is_same_model(judge, tested) == same


def test_a_model_under_test_may_not_suggest(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/v1"
    with pytest.raises(UsageError, match="'Vendor/Small-8B' is under test, as 'small-8b'"):
        suggest_accuracy(
            tmp_path, pack_of(1), AccuracyJudge(url, model="Vendor/Small-8B"), ["small-8b"], Kit()
        )
    with pytest.raises(UsageError, match="has no name"):
        suggest_accuracy(tmp_path, pack_of(1), AccuracyJudge(url), ["small-8b"], Kit())
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------- how often right


def test_agreement_counts_standing_marks_of_the_first_round() -> None:
    suggested = [StoredSuggestion(f"R-{at:02d}", "accuracy", value, "m") for at, value in enumerate("3300")]
    said = [mark("R-00", grade=3, suggested="3"), mark("R-01", grade=0), mark("R-02", grade=0)]
    said += [mark("R-03", grade=1), mark("R-03", grade=0), mark("R-00", grade=0, round="again")]
    (found,) = suggestion_uptake(said, suggested)
    # people 3 0 0 0, model 3 3 0 0: 3 of 4 equal; by chance 1/4 * 1/2 + 3/4 * 1/2 = 1/2;
    # kappa (3/4 - 1/2) / (1 - 1/2)
    assert (found.step, found.by, found.n, found.equal, found.seen) == ("accuracy", "m", 4, 0.75, 1)
    assert found.kappa == pytest.approx(0.5)


def test_citations_are_compared_twice_whether_they_apply_and_how_good_they_are() -> None:
    suggested = [
        StoredSuggestion(f"R-{at}", "citation", value, "rule") for at, value in enumerate(["na", None, "0"])
    ]
    said: list[Mark] = [
        mark("R-0", "citation", None),
        mark("R-1", "citation", 2),
        mark("R-2", "citation", None),
    ]
    found = {each.step: each for each in suggestion_uptake(said, suggested)}
    assert (found["citation"].n, found["citation"].equal) == (2, 0.5)
    assert (found["citation_applies"].n, found["citation_applies"].equal) == (3, pytest.approx(2 / 3))
    assert suggestion_uptake([], suggested) == []


def test_one_kind_of_answer_leaves_kappa_out() -> None:
    (found,) = suggestion_uptake(
        [mark("R-1", "completeness", 1)], [StoredSuggestion("R-1", "completeness", "1", "rule")]
    )
    assert (found.equal, found.kappa) == (1.0, None)
