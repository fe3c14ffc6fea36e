"""The rubric as it is shown: four passes in order, keys that do not clash, guidance and ten precedents."""

from __future__ import annotations

import pytest

from assay.core.errors import UsageError
from assay.kinds.answers.scoring.rubric import (
    CAPPING,
    RELATION,
    SINGLE,
    SYNTHESIS,
    RubricStep,
    rubric,
    step_of,
)

STEPS = rubric().steps


def test_passes_come_in_the_order_of_the_design() -> None:
    assert [step.name for step in STEPS] == ["accuracy", "hallucination", "completeness", "citation"]
    values = {step.name: [grade.value for grade in step.grades] for step in STEPS}
    assert values == {
        "accuracy": ["0", "1", "2", "3"],
        "hallucination": [],
        "completeness": ["0", "1"],
        "citation": ["0", "1", "2", "na"],
    }
    assert [each.value for each in step_of("hallucination").categories] == [
        "H-FAB",
        "H-SRC",
        "H-EXT",
        "H-TMP",
    ]
    assert sorted(CAPPING) == ["H-EXT", "H-FAB", "H-TMP"]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_no_key_means_two_things(step: RubricStep) -> None:
    keys = [each.key for each in (*step.grades, *step.categories, *step.flags)]
    assert len(set(keys)) == len(keys)
    taken = set("njkuhsmegoly?")  # by the page itself
    assert not taken & set(keys)


def test_grades_are_kept_as_numbers_and_not_applicable_as_nothing() -> None:
    citation, claims = step_of("citation"), step_of("hallucination")
    assert [citation.grade_of(each) for each in ("0", "2", "na")] == [0, 2, None]
    assert [citation.choice_of(each) for each in (0, 2, None)] == ["0", "2", "na"]
    assert claims.grade_of(None) is None
    assert claims.choice_of(None) is None
    with pytest.raises(UsageError, match="Did you mean 'accuracy'"):
        step_of("acuracy")


def test_guidance_knows_every_complexity_where_it_matters() -> None:
    for complexity in (SINGLE, SYNTHESIS, RELATION):
        assert step_of("accuracy").guidance_on(complexity)
        assert step_of("completeness").guidance_on(complexity)
        assert step_of("citation").guidance_on(complexity) == ""
    assert step_of("accuracy").guidance_on("") == ""
    for step in STEPS:
        complexities = [each.complexity for each in step.guidance]
        assert complexities
        assert complexities == sorted(complexities, key=bool)  # guidance for all questions comes first


def test_every_complexity_has_a_worked_example_at_every_grade() -> None:
    assert [each.complexity for each in rubric().examples] == [SINGLE, SYNTHESIS, RELATION]
    for each in rubric().examples:
        assert len(each.graded) == len(step_of("accuracy").grades)
        lines = each.text.splitlines()
        assert [line.partition(":")[0] for line in lines] == ["Question", "Reference", "0", "1", "2", "3"]


def test_ten_precedents_come_with_it() -> None:
    assert [each.case_id for each in rubric().precedents] == [f"EC-{number:02d}" for number in range(1, 11)]
    assert all(
        each.situation and each.decision and each.rationale and each.steps for each in rubric().precedents
    )
