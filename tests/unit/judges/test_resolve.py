"""From judgments to labels: who counts, who comes first, and in which world."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.core.block import Labels
from assay.core.records import Judgment, Span
from assay.judges.labels import resolve

CLOSED = frozenset({"relevance"})


def mark(
    judge: str, grade: float, target: str | None = "d", arm: str | None = None, seed: int | None = None
) -> Judgment:
    return Judgment("q", "relevance", grade, judge, target=target, arm=arm, seed=seed)


def grades(labels: Labels, arm: str = "A", seed: int = 0, label: str = "relevance") -> list[float]:
    found: list[float] = labels.of(label, arm, seed)["grade"].to_list()
    return found


def test_the_judge_listed_first_comes_first() -> None:
    said = [mark("anna", 1), mark("llm", 0)]
    assert grades(resolve(said, ["anna", "llm"], CLOSED)) == [1]
    assert grades(resolve(said, ["llm", "anna"], CLOSED)) == [0]


def test_a_better_judge_of_all_arms_outweighs_a_worse_judge_of_this_arm() -> None:
    labels = resolve([mark("llm", 0, arm="A"), mark("anna", 3)], ["anna", "llm"], CLOSED)
    assert grades(labels, "A") == [3]


def test_a_judgment_on_one_arm_comes_before_one_on_all_arms() -> None:
    labels = resolve([mark("anna", 1, arm="A"), mark("anna", 3)], ["anna"], CLOSED)
    assert grades(labels, "A") == [1]
    assert grades(labels, "B") == [3]


def test_a_judgment_on_one_seed_comes_before_one_on_all_seeds() -> None:
    labels = resolve([mark("anna", 1, arm="A", seed=1), mark("anna", 3, arm="A")], ["anna"], CLOSED)
    assert [grades(labels, "A", seed) for seed in (0, 1)] == [[3], [1]]


def test_the_latest_judgment_of_a_judge_counts() -> None:
    assert grades(resolve([mark("anna", 1), mark("anna", 2)], ["anna"], CLOSED)) == [2]


def test_only_listed_judges_count() -> None:
    labels = resolve([mark("mallory", 3), mark("anna", 1)], ["anna"], CLOSED)
    assert grades(labels) == [1]
    assert grades(resolve([mark("mallory", 3)], ["anna"], CLOSED)) == []


def test_two_spans_of_one_document_are_two_labels() -> None:
    said = [
        Judgment("q", "evidence", 1.0, "anna", target="d", span=span) for span in (Span(0, 9), Span(20, 30))
    ]
    found = resolve([*said, *said], ["anna"], CLOSED).of("evidence", "A", 0)
    assert found.select("start", "end").rows() == [(0, 9), (20, 30)]


def test_each_label_has_a_world_of_its_own() -> None:
    said = [mark("ids", 1), Judgment("q", "faithful", 1.0, "llm", arm="A", seed=0)]
    labels = resolve(said, ["ids", "llm"], CLOSED)
    assert (labels.world("relevance"), labels.world("faithful")) == ("closed", "open")
    assert set(labels.pools) == {"faithful"}


def test_a_label_that_one_judge_closes_stays_closed_where_another_adds_to_it() -> None:
    labels = resolve([mark("ids", 1), mark("anna", 2, "e")], ["ids", "anna"], CLOSED)
    assert labels.world("relevance") == "closed"
    assert not labels.pools


def test_a_pool_is_what_was_looked_at_and_not_what_was_found() -> None:
    def pool(*said: Judgment) -> str:
        return resolve(said, ["anna", "ben"], frozenset()).pools["relevance"]

    alone = pool(mark("anna", 1, "d"), mark("anna", 0, "e"))
    assert alone == pool(mark("anna", 0, "e"), mark("ben", 3, "d"))
    assert alone != pool(mark("anna", 1, "d"))
    assert alone == pool(mark("anna", 1, "d"), mark("anna", 0, "e"), mark("mallory", 1, "f"))


@given(
    st.lists(
        st.builds(
            mark,
            st.sampled_from(["anna", "ben", "mallory"]),
            st.sampled_from([0.0, 1.0, 2.0]),
            st.sampled_from(["d", "e", None]),
            st.sampled_from([None, "A", "B"]),
            st.sampled_from([None, 0, 1]),
        )
    )
)
def test_every_label_is_the_best_judges_most_specific_and_latest_word(said: list[Judgment]) -> None:
    labels = resolve(said, ["anna", "ben"], CLOSED)
    for arm, seed in (("A", 0), ("B", 1)):
        found = dict(labels.of("relevance", arm, seed).select("target", "grade").iter_rows())
        for target in ("d", "e", None):
            here = [
                ((each.judge == "ben", each.arm is None, each.seed is None, -place), each.grade)
                for place, each in enumerate(said)
                if each.judge != "mallory"
                and each.target == target
                and each.arm in (None, arm)
                and each.seed in (None, seed)
            ]
            assert found.get(target) == (min(here)[1] if here else None)
