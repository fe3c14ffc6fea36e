"""What may be saved in each pass, and what is refused in which words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from assay.kinds.answers.scoring.drafts import draft_problems, reminders
from assay.kinds.answers.scoring.marks import Claim, Mark
from assay.kinds.answers.scoring.rubric import step_of
from assay.review.work import Draft
from scoring_packs import TEXT, claim, mark


def draft(
    choice: str | None = None, note: str = "", claims: Sequence[Claim] = (), flags: Sequence[str] = ()
) -> Draft:
    """A draft as the desk would send it, before anything is checked."""
    return Draft.model_construct(choice=choice, note=note, spans=list(claims), flags=list(flags))


def problems(step: str, said: Draft, others: Mapping[str, Mark] | None = None) -> str:
    return " ".join(draft_problems(step_of(step), said, TEXT, others or {}))


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("accuracy", draft("3")),
        ("accuracy", draft("2", "one day is missing")),
        ("accuracy", draft("0", "it declines", flags=["refusal"])),
        ("hallucination", draft(flags=["none_found"])),
        ("hallucination", draft(claims=[claim()])),
        ("hallucination", draft(claims=[claim(), claim("H-SRC", 58, 78, "the Limits section")])),
        ("completeness", draft("0")),
        ("completeness", draft("1")),
        ("citation", draft("2")),
        ("citation", draft("na")),
        ("citation", draft("0", "no place named")),
    ],
)
def test_what_the_rubric_allows_is_saved(step: str, said: Draft) -> None:
    assert problems(step, said) == ""


@pytest.mark.parametrize(
    ("step", "said", "why"),
    [
        ("accuracy", draft(), "Choose a grade: 0, 1, 2, 3"),
        ("accuracy", draft("4"), "no grade '4'"),
        ("accuracy", draft("na"), "no grade 'na'"),
        ("accuracy", draft("2"), "Write a note"),
        ("accuracy", draft("0", " \n"), "Write a note"),
        ("accuracy", draft("1", "it declines", flags=["refusal"]), "goes only with 0"),
        ("accuracy", draft("3", flags=["bored"]), "no flag 'bored'"),
        ("accuracy", draft("3", claims=[claim()]), "takes no claims"),
        ("hallucination", draft("1", flags=["none_found"]), "takes no grade"),
        ("hallucination", draft(), "if there is none, choose “None found”"),  # an empty form says nothing
        ("hallucination", draft(note="fine"), "if there is none, choose “None found”"),
        ("hallucination", draft(claims=[claim()], flags=["none_found"]), "Delete the claims"),
        ("accuracy", draft("3", flags=["none_found"]), "no flag 'none_found'"),
        (
            "hallucination",
            draft(claims=[claim("H-XYZ")]),
            "choose a category: H-FAB, H-SRC, H-EXT, H-TMP",
        ),
        ("hallucination", draft(claims=[claim(what=" ")]), "say what is claimed"),
        ("hallucination", draft(claims=[Claim("H-FAB", 0, 6, "tokens", " ")]), "write a note"),
        ("hallucination", draft(claims=[claim(start=0, end=len(TEXT) + 1)]), "outside the response"),
        ("hallucination", draft(claims=[claim(start=9, end=9)]), "outside the response"),
        ("hallucination", draft(claims=[claim(start=6, end=7)]), "is blank"),  # the space after "Tokens"
        (
            "hallucination",
            draft(claims=[claim(), claim("H-EXT", 0, 6, "A  daily job!")]),
            "the same as claim 1. A claim that is repeated counts once",
        ),
        ("completeness", draft("2"), "no grade '2'"),
        ("citation", draft("3"), "no grade '3'"),
        ("citation", draft("1"), "Write a note"),
    ],
)
def test_what_it_forbids_is_reported(step: str, said: Draft, why: str) -> None:
    assert why in problems(step, said)


def test_every_problem_is_reported_at_once() -> None:
    found = draft_problems(step_of("hallucination"), draft(claims=[Claim("?", 5, 2, "", "")]), TEXT, {})
    assert len(found) == 4  # category, span, claim, note


def test_a_refusal_binds_the_other_passes_whichever_comes_last() -> None:
    refused = {"accuracy": mark("R-01", grade=0, flags=["refusal"])}
    assert "claims nothing" in problems("hallucination", draft(claims=[claim()]), refused)
    assert "Choose 0" in problems("completeness", draft("1"), refused)
    assert problems("hallucination", draft(flags=["none_found"]), refused) == ""
    assert problems("completeness", draft("0"), refused) == ""
    assert problems("citation", draft("na"), refused) == ""
    flagged = draft("0", "it declines", flags=["refusal"])
    claimed = {"hallucination": mark("R-01", "hallucination", None, claims=[claim()])}
    assert "Take these back first" in problems("accuracy", flagged, claimed)
    assert "Change that first" in problems(
        "accuracy", flagged, {"completeness": mark("R-01", "completeness", 1)}
    )
    assert problems("accuracy", flagged, {"completeness": mark("R-01", "completeness", 0)}) == ""


def test_accuracy_3_and_a_capping_claim_may_both_be_saved() -> None:
    claimed = {"hallucination": mark("R-01", "hallucination", None, claims=[claim()])}
    assert problems("accuracy", draft("3"), claimed) == ""
    assert problems("hallucination", draft(claims=[claim()]), {"accuracy": mark("R-01")}) == ""


def test_reminders_say_what_other_passes_said() -> None:
    full = {"accuracy": mark("R-01")}
    for later in ("hallucination", "completeness", "citation"):  # a grade at stake would make findings fewer
        assert reminders(step_of(later), full) == []
    both = [claim(), claim("H-SRC", 58, 78, "the Limits section"), claim("H-FAB", 0, 6, "tokens")]
    claimed = {"hallucination": mark("R-01", "hallucination", None, claims=both)}
    found = "H-FAB “a daily job”; H-SRC “the Limits section”; H-FAB “tokens”"
    assert f"You marked in it: {found}." in reminders(step_of("accuracy"), claimed)[0]
    assert reminders(step_of("citation"), claimed) == ["You marked in it: H-SRC “the Limits section”."]
    long = {"hallucination": mark("R-01", "hallucination", None, claims=[claim(what="word " * 40)])}
    assert "word …”" in reminders(step_of("accuracy"), long)[0]
    refused = {"accuracy": mark("R-01", grade=0, flags=["refusal"])}
    assert "claims nothing" in reminders(step_of("hallucination"), refused)[0]
    assert "incomplete (0)" in reminders(step_of("completeness"), refused)[0]
