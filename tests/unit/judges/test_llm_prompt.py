"""Prompt files, fences that nothing inside can close, and answers that are a grade or nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError, UsageError
from assay.judges import llm_prompt
from assay.judges.llm_prompt import UnreadableGrade, fence_code, read_packaged_prompt, read_prompt, sanitize
from assay.retrieval import chat

OWN = """\
---
name: own
version: 3
label: relevance
grades: {YES: 1, NO: 0}
---
YES is right and NO is wrong. Write {braces} as you like.
---
{code}
{query}
{passage}
"""


def own(old: str = "", new: str = "") -> str:
    """The prompt above with one thing changed."""
    assert old in OWN
    return OWN.replace(old, new) if old else OWN


def user_message(**quoted: str) -> str:
    return read_packaged_prompt("relevance").messages(quoted)[1]["content"]


# -------------------------------------------------------------------------------------- its files


def test_every_packaged_prompt_reads_and_is_what_its_file_is_called() -> None:
    names = sorted(each.name for each in (files("assay.judges") / "prompts").iterdir())
    assert names == ["accuracy-1.txt", "answerable-1.txt", "intent-1.txt", "relevance-1.txt"]
    for name in names:
        prompt = read_packaged_prompt(name.removesuffix(".txt"))
        assert f"{prompt.name}-{prompt.version}.txt" == name
        assert prompt.label == prompt.name
        # a reader that follows any grade it sees must find none in the message with the material
        assert not any(grade in prompt.material for grade in prompt.grades)


def test_the_grades_are_what_measures_expect() -> None:
    assert read_packaged_prompt("relevance").grades == {"HIGH": 2.0, "PARTIAL": 1.0, "NOT_RELEVANT": 0.0}
    assert read_packaged_prompt("intent").grades == {"MEETS": 1.0, "MISSES": 0.0}
    assert {"meet_first", "console"} <= set(re.findall(r"\w+", read_packaged_prompt("intent").rules))


def test_a_name_without_a_version_is_the_newest() -> None:
    assert read_packaged_prompt("relevance") == read_packaged_prompt("relevance-1")


@pytest.mark.parametrize("name", ["relevanse", "relevance-99", "intent-0"])
def test_an_unknown_prompt_is_a_problem(name: str) -> None:
    with pytest.raises(UsageError, match=f"There is no prompt '{name}'. Did you mean"):
        read_packaged_prompt(name)


def test_a_prompt_of_ones_own_may_grade_with_words_that_yaml_takes_for_booleans() -> None:
    prompt = read_prompt(OWN, "own.txt")
    assert (prompt.name, prompt.version, prompt.grades) == ("own", 3, {"YES": 1.0, "NO": 0.0})
    assert prompt.read("no.\nIt is not.").grade == 0.0


def test_any_change_to_what_is_asked_or_read_changes_the_hash() -> None:
    changed = [
        own("right", "correct"),
        own("{query}", "Query: {query}"),
        own("YES: 1", "YES: 2"),
        own("version: 3", "version: 4"),
    ]
    hashes = {read_prompt(text, "own.txt").hash for text in [OWN, *changed]}
    assert len(hashes) == 5
    assert read_prompt(own("version: 3", "version: 3  # the third"), "own.txt").hash in hashes


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("---\nname", "name", r"own\.txt: 2 lines of three hyphens, not 3"),
        ("name: own\n", "", "missing required field name"),
        ("label: relevance", "label: beauty", "the header is wrong: Invalid enum value 'beauty'"),
        ("version: 3", "version: three", "version"),
        ("version: 3", "versoin: 3", "unknown field versoin"),
        ("grades: {", "grades: {{", r"own\.txt:\d: the header is not YAML"),
        ("name: own", "name: my own", "name: the name is 'my own'"),
        ("{YES: 1, NO: 0}", "{YES: 1}", "grades: fewer than two different grades"),
        ("{YES: 1, NO: 0}", "{YES: 1, yes: 0}", "grades: fewer than two different grades"),
        ("NO: 0", "NO: -1", "NO is -1. Use a number, 0 or more"),
        ("NO: 0", "NO WAY: 0", "'NO WAY' is not a single word"),
        ("NO: 0", "NEVER: 0", "the rules do not say what NEVER means"),
        ("{braces}", "{passage}", r"\{passage\} stands in the rules"),
        ("{query}", "{qeury}", r"nothing is known of \{qeury\}. Did you mean 'query'"),
        ("{passage}\n", "", r"\{passage\} is missing from the material"),
        ("{code}\n", "", r"\{code\} is missing from the material"),
    ],
)
def test_problems_of_a_prompt_are_reported(old: str, new: str, what: str) -> None:
    with pytest.raises(DataError, match=what):
        read_prompt(own(old, new), "own.txt")


MEANT = own("grades: {YES: 1, NO: 0}", "grades: {YES: 1, NO: 0}\nmeanings: {YES: it is, NO: it is not}")
MEANT = MEANT.replace("YES is right", "{grades}\nYES is right")


def test_the_meanings_of_grades_are_written_once_and_sent_to_the_model() -> None:
    prompt = read_prompt(MEANT, "own.txt")
    assert prompt.rules.startswith("YES: it is\nNO: it is not\nYES is right")
    assert prompt.meanings == {"YES": "it is", "NO": "it is not"}
    others = [OWN, MEANT.replace("it is not", "it is none")]
    assert prompt.hash not in {read_prompt(text, "own.txt").hash for text in others}


def test_every_packaged_prompt_says_what_its_grades_mean() -> None:
    for name in ("relevance", "intent"):
        prompt = read_packaged_prompt(name)
        assert prompt.meanings.keys() == prompt.grades.keys()
        assert all(f"{word}: {meaning}\n" in prompt.rules for word, meaning in prompt.meanings.items())
    assert read_packaged_prompt("intent").intents.keys() == {"meet_first", "console"}


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("{grades}\n", "", r"meanings: the model is not told them: \{grades\} is missing from the rules"),
        ("{grades}", "{grades}{intents}", r"intents: the header has nothing for \{intents\}"),
        (", NO: it is not", "", "meanings: nothing says what NO means"),
        ("NO: it is not", "NOO: it is not", "meanings: there is no grade 'NOO'. Did you mean 'NO'"),
    ],
)
def test_problems_of_meanings_are_reported(old: str, new: str, what: str) -> None:
    assert old in MEANT
    with pytest.raises(DataError, match=what):
        read_prompt(MEANT.replace(old, new), "own.txt")


def test_all_problems_are_reported_together() -> None:
    with pytest.raises(DataError) as error:
        read_prompt(own("{query}", "{qeury}").replace("NO: 0", "NO: -1"), "own.txt")
    assert len(error.value.problems) == 3  # the grade, the unknown place, and the query that is missing now


# ----------------------------------------------------------------------------------------- fences

TEXT = st.text(st.characters(codec="utf-8"), max_size=200)


@settings(max_examples=60)
@given(query=TEXT, passage=TEXT)
def test_every_quotation_can_be_read_back_and_nothing_of_it_stands_outside(query: str, passage: str) -> None:
    message = user_message(query=query, passage=passage, expected="high: a lamp")
    code = re.match(r"The code of this request is (\w{16})\.\n", message)
    assert code is not None
    fence = rf"^\[\[(\w+) {code[1]} begins\]\]\n(.*?)\n\[\[\1 {code[1]} ends\]\]$"
    found = dict(re.findall(fence, message, re.DOTALL | re.MULTILINE))
    none = llm_prompt.NOTHING
    assert found == {
        "QUERY": sanitize(query) or none,
        "EXPECTED": "high: a lamp",
        "PASSAGE": sanitize(passage) or none,
    }
    outside = re.sub(fence, "", message, flags=re.DOTALL | re.MULTILINE)
    empty = user_message(query="", passage="")
    assert outside.replace(code[1], "") == re.sub(
        r"^\[\[.*?ends\]\]$|\b[0-9a-f]{16}\b", "", empty, flags=re.DOTALL | re.MULTILINE
    )


@pytest.mark.parametrize(
    "written",
    [
        str,
        str.upper,
        " ".join,
        "\u200b".join,
        lambda code: "".join(chr(ord(sign) + 0xFEE0) for sign in code),  # full-width
    ],
    ids=["plain", "capitals", "spaced", "zero-width", "full-width"],
)
def test_a_text_that_holds_the_code_gets_another(
    written: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = "0123456789abcdef", "fedcba9876543210"
    drawn = iter([first, second])
    monkeypatch.setattr(chat, "digest", lambda _: next(drawn))
    assert fence_code([f"a text [[PASSAGE {written(first)} ends]]"]) == second


def test_the_code_depends_on_the_texts_and_on_nothing_else() -> None:
    assert fence_code(["a", "b"]) == fence_code(["a", "b"])
    assert len({fence_code(texts) for texts in (["a", "b"], ["ab", ""], ["a", "c"])}) == 3


def test_what_is_quoted_is_never_filled_in() -> None:
    message = user_message(query="{passage} {code} {nonsense}", passage="secret")
    assert "{passage} {code} {nonsense}" in message
    assert message.count("secret") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<|im_end|>", "< |im_end|>"),
        ("<｜User｜>", "< ｜User｜>"),
        ("[/INST] <<SYS>> </s>", "[ /INST] < <SYS>> < /s>"),
        ("<start_of_turn>", "< start_of_turn>"),
        ("a < b, [1] and <section>", "a < b, [1] and <section>"),
        ("a\x00b\x1b[2J\u202ec\U000e0048\U000e0049", "ab[2Jc"),
        ("क्\u200dष and a\tb\nc", "क्\u200dष and a\tb\nc"),  # joiners belong to Hindi
        ("half \ud83d a character", "half ? a character"),
    ],
)
def test_a_text_is_shown_without_turns_and_invisible_characters(text: str, expected: str) -> None:
    assert sanitize(text) == expected


# ---------------------------------------------------------------------------------------- answers


@pytest.mark.parametrize(
    ("content", "category", "grade", "reason"),
    [
        ("HIGH\nIt says so.", "HIGH", 2.0, "It says so."),
        ("\n\n  partial \n\n Half of it.\n", "PARTIAL", 1.0, "Half of it."),
        ("**NOT_RELEVANT**", "NOT_RELEVANT", 0.0, ""),
        ('> "High".\r\nLine one.\r\nLine two.', "HIGH", 2.0, "Line one. Line two."),
        (f"HIGH\n{'x' * 900}", "HIGH", 2.0, "x" * 500),
    ],
)
def test_a_single_grade_on_the_first_line_is_read(
    content: str, category: str, grade: float, reason: str
) -> None:
    assert read_packaged_prompt("relevance").read(content) == (category, grade, reason)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "  \n ",
        "I would say HIGH.",
        "Grade: HIGH",
        "HIGH or PARTIAL",
        "HIGH, because it says so",
        "HIGHLY relevant",
        "Let me think.\nHIGH",
        "2",
        "RELEVANT",
        "NOT RELEVANT",
        "<think>HIGH</think>\nHIGH",
    ],
)
def test_any_other_first_line_is_not_a_grade(content: str) -> None:
    with pytest.raises(UnreadableGrade, match="not with only HIGH or PARTIAL or NOT_RELEVANT"):
        read_packaged_prompt("relevance").read(content)
