"""Queries in new words: which of a model's wordings are taken, what is asked and kept, and what is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import SystemFailure, UsageError
from assay.core.protocols import Kit
from assay.core.records import Item
from assay.core.registry import DATASETS, Registry
from assay.core.spec import WrongParameter
from assay_worlds.suites.rephrase import PROMPT, QueryWording, Rephrase, Rewording, fault, fixed
from assay_worlds.suites.workplace import Workplace
from stand_ins.chat_server import ChatStandIn, by_turns
from stand_ins.openai_server import Faults, Reply

URL = "http://127.0.0.1:9/v1"
KEY = "sk-very-secret-0123456789"
QUERY = "Which team owns relay-mirror in Leeds since 2021?"
NEW = "Since 2021, who has been the owner of relay-mirror at Leeds?"


def kit_at(folder: Path, **services: Any) -> Kit:
    return Kit(cache=folder, **services)


def worded(server: ChatStandIn, folder: Path, *texts: str | QueryWording, **how: Any) -> list[Rewording]:
    wordings = [QueryWording(each) if isinstance(each, str) else each for each in texts]
    return Rephrase(server.url, "m", backoff=0, **how).rewritten(wordings, kit_at(folder))


def asked_of(server: ChatStandIn) -> list[str]:
    return [request.payload["messages"][-1]["content"] for request in server.requests]


# ---------------------------------------------------------------------------- what must stay in it


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (QUERY, ["relay-mirror", "Leeds", "2021"]),
        ("What is the form for grade A gauges at the Lisbon office?", ["grade A", "Lisbon"]),
        ("We moved from Joacourk 4.3 to 5.5. What is it now?", ["Joacourk", "4.3", "5.5"]),
        ("Wethulm phase", ["Wethulm"]),  # begins the query, and is no word that queries begin with
        ("Compare Ziahin and Deskyr in every respect.", ["Ziahin", "Deskyr"]),
        ("Did INC-2021-5220 cost us EUR 196,000? I'd say so.", ["INC-2021-5220", "EUR", "196,000"]),
        ('What does "lead time" mean under Stefan\'s rules?', ["lead time", "Stefan"]),
        ("Does max_retry_count default to 5?", ["max_retry_count", "5"]),
        ("Is the sauna in the basement open? Which hours?", []),
    ],
)
def test_names_numbers_and_quotations_are_told_by_their_letters(text: str, kept: list[str]) -> None:
    assert fixed(text) == kept


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (NEW, ""),
        ("", "nothing was said"),
        (f"{NEW}\nThat is it.", "more than one line"),
        (f"Sure, here is another: {NEW}", "talk around it"),
        (f"Here's the query: {NEW}", "talk around it"),
        (f"A reworded version: {NEW}", "talk around it"),
        (f"Question: {NEW}", "talk around it"),
        ("Owner of relay-mirror, Leeds?", "not 5 to 60 words: 4"),
        (f"{NEW} {'please ' * 51}", "not 5 to 60 words: 62"),  # 11 words and 51
        ("which team owns Relay-Mirror in Leeds, since 2021", "the same wording"),
        ("Since 2021, who has been the owner of relay at Leeds?", "a name or number is gone: relay-mirror"),
        ("Who has owned it for so long?", "a name or number is gone: relay-mirror, Leeds, 2021"),
        ("Since 2021 relay-mirror at Leeds has been owned by a team.", "it asks nothing"),
        ("Tell me who has owned relay-mirror at Leeds since 2021.", ""),
        ("Since 2021 until 2024, who owns relay-mirror at Leeds?", "a name or number was added: 2024"),
        ("Since 2021, who at Berg owns relay-mirror at Leeds?", "a name or number was added: Berg"),
        ("Since 2021, do the optics people own relay-mirror at Leeds?", "the answer is in it"),
    ],
)
def test_a_wording_is_taken_only_where_it_passes_every_check(said: str, reason: str) -> None:
    assert fault(QueryWording(QUERY, ["Optics"]), said.strip()) == reason


def test_a_single_letter_does_not_pass_for_an_article() -> None:
    wording = QueryWording("Which form do I need for grade A gauges?")
    assert fault(wording, "Is there a form for gauges of that grade?") == "a name or number is gone: grade A"
    assert fault(wording, "Is there a form for gauges of grade A?") == ""


def test_signs_alone_are_no_wording() -> None:
    assert fault(QueryWording("Is the sauna open?"), "- - - - - -") == "it asks nothing"


def test_a_version_does_not_pass_for_a_longer_one() -> None:
    gone = fault(
        QueryWording("What is the port of Joacourk 4.3 now?"), "Which port has Joacourk 14.3 these days?"
    )
    assert gone == "a name or number is gone: 4.3"
    added = fault(
        QueryWording("What is the port of Joacourk 4.3 now?"), "Which port has Joacourk 4.3.1 by now?"
    )
    assert added == "a name or number was added: 1"


# ------------------------------------------------------------------------------- what is asked


def test_the_model_is_shown_the_rules_and_the_query_alone(tmp_path: Path) -> None:
    with ChatStandIn(by_turns(f'"{NEW}"\n')) as server:
        found = worded(server, tmp_path, QueryWording(QUERY, ["Optics"], ["detail"]), key=KEY)
        (request,) = server.requests
    assert found == [Rewording(NEW, kept=False)]
    assert request.headers["authorization"] == f"Bearer {KEY}"
    messages = request.payload.pop("messages")
    assert request.payload == {"model": "m", "temperature": 0.0, "max_tokens": 400, "seed": 1}
    assert [message["role"] for message in messages] == ["system", "user"]
    assert messages[0]["content"].startswith("You reword queries")
    assert messages[1]["content"] == QUERY  # neither answer nor tags


def test_what_was_said_before_is_not_asked_for_again(tmp_path: Path) -> None:
    with ChatStandIn(by_turns(NEW)) as server:
        first = worded(server, tmp_path, QUERY, QUERY)
        assert first == [Rewording(NEW, kept=False), Rewording(QUERY, True, "another query has that wording")]
        assert worded(server, tmp_path, QUERY, QUERY, key=KEY, threads=1, timeout=9.0) == first
        assert asked_of(server) == [QUERY]
        worded(server, tmp_path, QUERY, extra={"top_p": 1})  # which may be answered differently
        Rephrase(server.url, "other", backoff=0).rewritten([QueryWording(QUERY)], kit_at(tmp_path))
        assert asked_of(server) == [QUERY] * 3


def test_a_load_that_failed_goes_on_where_it_stopped(tmp_path: Path) -> None:
    texts = [f"What is the port of service number {number}?" for number in range(6)]
    refused = Reply({"error": {"message": "no credit left"}}, 402)

    def broke(payload: Any) -> str | Reply:
        return refused if len(server.requests) > 4 else _turned(payload)

    with ChatStandIn(broke) as server:
        with pytest.raises(SystemFailure, match="no credit left") as failure:
            worded(server, tmp_path, *texts, threads=1)
        assert server.url in str(failure.value)
        assert "Leave out `rephrase`" in str(failure.value)
        before = len(server.requests)
        server.say = _turned
        found = worded(server, tmp_path, *texts, threads=1)
        assert len(server.requests) == before + 2  # four of six were kept
    assert [each.kept for each in found] == [False] * 6


def _turned(payload: Any) -> str:
    """The query, with what it is about put first."""
    text = payload["messages"][-1]["content"].rstrip("?.")
    return f"Tell me this, please: {text[:1].lower()}{text[1:]}"


def test_what_may_pass_is_tried_again_and_nothing_said_is_an_answer(tmp_path: Path) -> None:
    with ChatStandIn(by_turns(NEW), Faults("500", every=2)) as server:
        texts = [QUERY, "May I bring my dog to the laboratory?"]
        assert len(worded(server, tmp_path, *texts, threads=1)) == 2
        assert asked_of(server) == [texts[0], texts[1], texts[1]]
    with ChatStandIn(by_turns(None)) as server:
        assert worded(server, tmp_path / "other", QUERY) == [Rewording(QUERY, True, "nothing was said")]
        assert len(server.requests) == 1


def test_several_are_in_flight_and_stay_in_order(tmp_path: Path) -> None:
    texts = [f"What is the port of service number {number}?" for number in range(12)]
    told: list[tuple[str, int, int]] = []
    with ChatStandIn(_turned, delay=0.01) as server:
        kit = kit_at(tmp_path, progress=lambda *how: told.append(how))
        found = Rephrase(server.url, backoff=0).rewritten([QueryWording(text) for text in texts], kit)
    assert [each.text for each in found] == [f"Tell me this, please: w{text[1:-1]}" for text in texts]
    assert told == [("rephrasing", done, 12) for done in range(13)]


def test_every_answer_is_paid_for_once(tmp_path: Path) -> None:
    paid: list[float] = []
    with ChatStandIn(by_turns(NEW)) as server:
        rephrase = Rephrase(server.url, price_in=0.0, price_out=1_000_000.0)
        for _ in range(2):
            rephrase.rewritten([QueryWording(QUERY)], kit_at(tmp_path, pay=paid.append))
    assert paid == [11.0]  # words said, a token each


# ------------------------------------------------------------------------------ items and notes

ITEMS = [
    Item("a", QUERY, tags={"tag": ["detail", "temporal"], "origin": ["anchored"]}, gold={"answer": "Optics"}),
    Item("b", "Who leads Optics at the Leeds office?", tags={"tag": ["detail"], "origin": ["anchored"]}),
    Item("c", "Is there a checklist for badges?", tags={"tag": ["single_branch"], "origin": ["hand"]}),
]


def test_items_change_in_their_words_alone_and_those_by_hand_not_at_all(tmp_path: Path) -> None:
    said = {QUERY: NEW, ITEMS[1].text: "Who is in charge there?"}
    with ChatStandIn(lambda payload: said[payload["messages"][-1]["content"]]) as server:
        items, notes = Rephrase(server.url, "m").applied(ITEMS, kit_at(tmp_path))
        assert sorted(asked_of(server)) == sorted(said)
    assert items[0] == Item("a", NEW, tags=ITEMS[0].tags, gold=ITEMS[0].gold)
    assert items[1:] == ITEMS[1:]
    kept = "a name or number is gone (1), worded by hand (1)"
    assert notes == [
        f"m at {server.url} rephrased 1 of 3 queries; 2 kept their wording: {kept}.",
        "Rephrased by tag: detail 1 of 2, single_branch 0 of 1, temporal 1 of 1.",
    ]


def test_a_study_names_it_as_a_parameter_of_its_dataset() -> None:
    spec = {"use": "workplace", "rephrase": {"url": URL, "model": "m", "timeout": "9", "extra": {"top_p": 1}}}
    assert Registry().create(DATASETS, spec).rephrase == Rephrase(URL, "m", timeout=9.0, extra={"top_p": 1})
    assert Registry().create(DATASETS, "workplace").rephrase is None


@pytest.mark.parametrize(
    ("given", "error", "what"),
    [
        ({"url": URL, "modle": "m"}, WrongParameter, "rephrase.modle: there is no such field. Did you mean"),
        ({"model": "m"}, WrongParameter, "url"),
        ({"url": "localhost"}, UsageError, "'localhost' is not the address of a service"),
        ({"url": URL, "threads": 0}, UsageError, "threads is 0"),
        ({"url": URL, "price_in": -1}, UsageError, "price_in is -1"),
        ({"url": URL, "retries": -1}, UsageError, "retries is -1"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(
    given: dict[str, Any], error: type[Exception], what: str
) -> None:
    with pytest.raises(error, match=what):
        Registry().create(DATASETS, {"use": "workplace", "rephrase": given})


def test_no_secret_is_in_what_it_prints_as() -> None:
    shown = repr(Workplace(rephrase=Rephrase("http://anna:word@127.0.0.1:9/v1?api-key=abcdef", "m", KEY)))
    assert "127.0.0.1:9" in shown
    assert not any(secret in shown for secret in (KEY, "word@", "abcdef"))


def test_the_prompt_has_a_version_and_says_what_is_checked() -> None:
    rules = (Path(__file__).parents[3] / "src/assay_worlds/suites/prompts" / PROMPT).read_text()
    assert PROMPT == "rephrase-1.txt"
    assert "between 5 and 60 words" in rules


@pytest.mark.slow
def test_a_whole_suite_is_rephrased_and_keeps_ids_evidence_and_tags(tmp_path: Path) -> None:
    plain = Workplace().load(kit_at(tmp_path))
    with ChatStandIn(_turned) as server:
        rephrased = Workplace(rephrase=Rephrase(server.url, "m"))
        first = rephrased.load(kit_at(tmp_path))
        asked = len(server.requests)
        second = rephrased.load(kit_at(tmp_path))
        assert len(server.requests) == asked == 400  # a hundred of 500 are worded by hand
    assert first.items == second.items
    assert first.corpus.hash == plain.corpus.hash
    assert [_but_text(item) for item in first.items] == [_but_text(item) for item in plain.items]
    changed = sum(one.text != other.text for one, other in zip(first.items, plain.items, strict=True))
    assert f"rephrased {changed} of 500 queries; {500 - changed} kept" in first.warnings[0]
    assert changed > 300
    assert plain.warnings == ()


def _but_text(item: Item) -> tuple[Any, ...]:
    return item.item_id, item.language, item.tags, item.gold, item.expects, item.split
