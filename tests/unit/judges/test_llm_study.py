"""The model judge in a study: asked once, never what gold decides, and paid for once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.judges.llm_prompt import read_packaged_prompt
from assay.store.run_store import Store
from small_study import Done, assay, edited, write_study
from stand_ins.chat_server import ChatStandIn, gullible

KEY = "sk-very-secret-0123456789"
# Twelve items. Their own passage has the query's one word: HIGH. The other two that the replayed run returns
# share nothing with it. So there are 36 questions, of which the ids of gold decide 12.
JUDGE = (
    "{use: llm, url: '${CHAT_URL}', model: small, key: '${CHAT_API_KEY}', price_out: 1000000, backoff: 0MORE}"
)
JUDGED = edited("measures:", f"judges: [{JUDGE}]\nmeasures:")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatStandIn]:
    with ChatStandIn(gullible, key=KEY) as found:
        monkeypatch.setenv("CHAT_URL", found.url)
        monkeypatch.setenv("CHAT_API_KEY", KEY)
        yield found


def study(folder: Path, more: str = "", text: str = JUDGED) -> Path:
    return write_study(folder, edited("MORE", more, text))


def ran(folder: Path) -> Done:
    done = assay("run", folder, "--json")
    assert done.code in {0, 10, 11}, done.err
    return done


def estimates(done: Done, measure: str) -> dict[str, float]:
    found = [each for each in done.json["estimates"] if each["measure"] == measure and not each["where"]]
    return {each["system"]: each["value"] for each in found}


def test_a_second_run_asks_nothing_and_says_the_same(server: ChatStandIn, tmp_path: Path) -> None:
    folder = study(tmp_path)
    done = ran(folder)
    assert server.calls == 36
    # bm25 returns the right passage first; the replayed run has it on rank 2
    assert estimates(done, "RR@5") == {"lexical": 1.0, "old": 0.5}
    assert done.json["verdicts"][0]["verdict"] == "go"
    # 1 a word: the grade and "1 of 1 words agree." are 6
    assert Store(folder / "run").cost() == 36 * 6
    again = ran(folder)
    assert server.calls == 36
    assert again.json["estimates"] == done.json["estimates"]
    assert Store(folder / "run").cost() == 36 * 6


def test_every_judgment_is_signed_and_says_why(server: ChatStandIn, tmp_path: Path) -> None:
    folder = study(tmp_path)
    ran(folder)
    judged = [entry.judgment for entry in Store(folder / "run").judged() if entry.judgment is not None]
    (own,) = [each for each in judged if (each.item_id, each.target) == ("q0", "d0")]
    assert (own.judge, own.label, own.grade, own.category) == ("llm:relevance", "relevance", 2.0, "HIGH")
    assert own.reason == "1 of 1 words agree."
    assert own.version == f"relevance-1 {read_packaged_prompt('relevance').hash}"


def test_what_gold_decides_is_not_asked(server: ChatStandIn, tmp_path: Path) -> None:
    ran(study(tmp_path, text=edited("judges: [", "judges: [ids, ", JUDGED)))
    assert server.calls == 36 - 12


def test_another_key_asks_nothing_again(
    server: ChatStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = study(tmp_path)
    ran(folder)
    server.key = "sk-of-somebody-else"
    monkeypatch.setenv("CHAT_API_KEY", server.key)
    ran(folder)
    assert server.calls == 36
    stored = b"".join(path.read_bytes() for path in (folder / "run").rglob("*") if path.is_file())
    assert KEY.encode() not in stored


def test_a_changed_prompt_asks_again(server: ChatStandIn, tmp_path: Path) -> None:
    folder = study(tmp_path)
    ran(folder)
    prompt = read_packaged_prompt("relevance")
    header = f"name: relevance\nversion: 2\nlabel: relevance\ngrades: {prompt.grades}".replace("'", "")
    mine = f"---\n{header}\n---\n{prompt.rules}\n---\n{prompt.material}\n"
    indented = mine.replace("\n", "\n        ")
    block = JUDGE.strip("{}").replace("MORE", "").replace(", ", "\n    ")
    ran(
        study(
            tmp_path,
            text=edited(f"[{JUDGE}]", f"\n  - {block}\n    prompt: |\n        {indented}MORE", JUDGED),
        )
    )
    assert server.calls == 72
    versions = {entry.judgment.version for entry in Store(folder / "run").judged() if entry.judgment}
    assert len(versions) == 2


def test_two_prompts_may_stand_in_one_study_and_one_may_not_twice(
    server: ChatStandIn, tmp_path: Path
) -> None:
    intent = edited("MORE", ", prompt: intent", JUDGE)
    both = edited("judges: [", f"judges: [{intent}, ", JUDGED)
    assert assay("validate", study(tmp_path, text=both)).code == 0
    twice = edited("judges: [", f"judges: [{edited('MORE', '', JUDGE)}, ", JUDGED)
    done = assay("validate", study(tmp_path, text=twice))
    assert done.code == 3
    assert "another judge is named 'llm:relevance' too" in done.err
    named = edited("judges: [", f"judges: [{edited('MORE', ', name: other', JUDGE)}, ", JUDGED)
    assert assay("validate", study(tmp_path, text=named)).code == 0


def test_a_gate_can_compare_it_with_a_person(server: ChatStandIn, tmp_path: Path) -> None:
    clause = "kappa(raters='anna|llm:relevance')(relevance) >= 0.6"
    text = edited("judges: [", "judges: [{use: human, raters: [anna]}, ", JUDGED)
    text = edited("  ship:", f'  agree: {{go: ["{clause}"]}}\n  ship:', text)
    assert assay("validate", study(tmp_path, text=text)).code == 0
    wrong = edited("llm:relevance", "llm:relevanse", text)
    done = assay("validate", study(tmp_path, text=wrong))
    assert "the study lists no judge 'llm:relevanse'. Did you mean 'llm:relevance'?" in done.err


def test_without_an_address_gold_is_all_there_is(tmp_path: Path) -> None:
    text = edited("'${CHAT_URL}'", "'${CHAT_URL:-}'", JUDGED)
    text = edited("'${CHAT_API_KEY}'", "'${CHAT_API_KEY:-}'", text)
    text = edited("judges: [", "judges: [ids, ", text)
    done = ran(study(tmp_path, text=text))
    assert estimates(done, "RR@5") == {"lexical": 1.0, "old": 0.5}
