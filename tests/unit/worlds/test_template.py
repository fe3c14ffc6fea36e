"""The template language of the worlds: what is drawn, in which order, and what is refused."""

from __future__ import annotations

from random import Random

import pytest

from assay_worlds.template import capital, expand, fault, render, say, slots_of


def drawn(template: str, times: int = 200) -> set[str]:
    rng = Random(7)
    return {expand(template, rng) for _ in range(times)}


def test_alternatives_and_numbers_are_drawn_and_slots_stay() -> None:
    assert drawn("[a|b] {c}") == {"a {c}", "b {c}"}
    assert drawn("<10..90/40>") == {"10", "50", "90"}
    assert drawn("<2..4> of [<7..8>|[x|y]]") == {f"{n} of {m}" for n in (2, 3, 4) for m in (7, 8, "x", "y")}
    assert drawn("plain, and <not a number>") == {"plain, and <not a number>"}


def test_inner_choices_are_drawn_first_and_then_from_left_to_right() -> None:
    rng = Random(3)
    first, inner = rng.choice(["a", "b"]), rng.choice(["x", "y"])
    outer = rng.choice([inner, "z"])
    assert expand("[a|b] [[x|y]|z]", Random(3)) == f"{first} {outer}"


def test_a_slot_may_be_filled_with_a_template() -> None:
    slots = {"craft": "[ferry|{model}]", "model": "Wren"}
    assert {render("the {craft}", Random(seed), slots) for seed in range(20)} == {"the ferry", "the Wren"}
    assert say(Random(1), ["{a} and {b}"], a="x", b="y") == "x and y"
    with pytest.raises(KeyError):
        render("{nobody}", Random(1), slots)


def test_small_parts() -> None:
    assert capital("the Wren") == "The Wren"
    assert capital("") == ""
    assert slots_of("{a} [is {b}|<1..2>]") == {"a", "b"}


@pytest.mark.parametrize("template", ["[a|b", "a]", "{a", "a|b", "{a b}", "[in {a|on]", "<1..>", "<9>"])
def test_what_is_not_closed_is_a_fault(template: str) -> None:
    assert "is not part of" in fault(template)


@pytest.mark.parametrize("template", ["", "plain", "{a} [b|<1..9/2> {c}|[d|e]]", "[a|]"])
def test_a_sound_template_has_no_fault(template: str) -> None:
    assert fault(template) == ""
