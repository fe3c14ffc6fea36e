"""Opening a study: arms, seeds, budgets, identities, and what the file's words come to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from assay.core.dataset import Corpus, Dataset
from assay.core.errors import DataError, UsageError
from assay.core.protocols import Kit
from assay.core.records import Arm, Item, Passage
from assay.core.registry import DATASETS, SYSTEMS, Registry
from assay.study.study import Study, examine_study, open_study


@dataclass(frozen=True)
class Staged:
    """A dataset that grows with its stage."""

    stage: str = "small"

    def load(self, kit: Kit) -> Dataset:
        n = {"small": 2, "large": 4}[self.stage]
        items = [Item(f"q{i}", "x", split="test" if i % 2 else "dev") for i in range(n)]
        return Dataset(self.stage, Corpus([Passage("d", "x")]), items)


@dataclass(frozen=True)
class Tuned:
    """A system with two parameters."""

    depth: int = 1
    key: str = ""
    version: ClassVar[str] = "1"


@dataclass(frozen=True)
class Untuned:
    """A system without parameters."""

    def identity(self, kit: Kit) -> dict[str, str]:
        return {"model": kit.env.get("MODEL", "none")}


REGISTRY = Registry({DATASETS: {"staged": Staged}, SYSTEMS: {"tuned": Tuned, "untuned": Untuned}})
TEXT = "data: staged\nsystems: {a: tuned, b: untuned}\nmeasures: [nDCG@10]\n"


def opened(tmp_path: Path, more: str = "", *, text: str = TEXT, env: dict[str, str] | None = None) -> Study:
    (tmp_path / "study.yaml").write_text(text + more)
    return open_study(tmp_path, registry=REGISTRY, kit=Kit(env=env or {}))


def made(study: Study, arm: Arm) -> object:
    return study.system(arm)


def names(study: Study) -> list[str]:
    return [arm.name for arm in study.arms]


def test_a_study_is_named_by_itself_or_its_folder(tmp_path: Path) -> None:
    assert opened(tmp_path).name == tmp_path.name
    assert opened(tmp_path, "name: 7\n").name == "7"


def test_without_factors_a_system_is_one_arm(tmp_path: Path) -> None:
    assert names(opened(tmp_path)) == ["a", "b"]


def test_a_factor_of_one_system_multiplies_that_system(tmp_path: Path) -> None:
    study = opened(tmp_path, "factors: {depth: [1, 2]}\n")
    assert names(study) == ["a[depth=1]", "a[depth=2]", "b"]
    assert made(study, study.arms[1]) == Tuned(depth=2)


def test_a_factor_of_the_dataset_multiplies_every_system(tmp_path: Path) -> None:
    study = opened(tmp_path, "factors: {stage: [small, large], depth: 3}\n")
    assert names(study) == [
        "a[depth=3,stage=small]",
        "a[depth=3,stage=large]",
        "b[stage=small]",
        "b[stage=large]",
    ]
    assert [len(study.dataset(arm).items) for arm in study.arms] == [2, 4, 2, 4]
    assert study.dataset(study.arms[0]) is study.dataset(study.arms[2])  # loaded once


@pytest.mark.parametrize(("given", "seeds"), [("1", [0]), ("3", [0, 1, 2]), ("[5, 2]", [5, 2])])
def test_seeds(tmp_path: Path, given: str, seeds: list[int]) -> None:
    assert opened(tmp_path, f"seeds: {given}\n").seeds == seeds
    assert opened(tmp_path).seeds == [0]


def test_budgets(tmp_path: Path) -> None:
    assert opened(tmp_path, "budgets: [200, inf]\n").budgets == [200, None]
    assert opened(tmp_path, "budgets: 400\n").budgets == [400]


def test_the_baseline_is_named_or_the_first_system(tmp_path: Path) -> None:
    assert opened(tmp_path).baseline == "a"
    assert opened(tmp_path, "baseline: b\n").baseline == "b"


def test_a_split_keeps_its_items(tmp_path: Path) -> None:
    study = opened(tmp_path, "split: dev\n")
    assert [item.item_id for item in study.dataset(study.arms[0]).items] == ["q0"]
    with pytest.raises(DataError, match=r"split: no item has the split 'tests'. Did you mean 'test'\?"):
        opened(tmp_path, "split: tests\n").dataset(study.arms[0])


def test_environment_is_filled_in_everywhere_but_the_fingerprint(tmp_path: Path) -> None:
    text = TEXT.replace("a: tuned", "a: {use: tuned, key: 'Bearer ${KEY}'}")
    first = opened(tmp_path, text=text, env={"KEY": "hunter2"})
    second = opened(tmp_path, text=text, env={"KEY": "other"})
    assert made(first, Arm("a")) == Tuned(key="Bearer hunter2")
    assert first.fingerprint == second.fingerprint
    assert first.filled({"k": ["${KEY}-${KEY}", 3]}) == {"k": ["hunter2-hunter2", 3]}


def test_an_unset_variable_is_named(tmp_path: Path) -> None:
    study = opened(tmp_path)
    with pytest.raises(UsageError, match=r"NOPE is not set\. Set it"):
        study.filled("${NOPE}")


def test_the_fingerprint_follows_every_field(tmp_path: Path) -> None:
    marks = {
        opened(tmp_path, more).fingerprint for more in ("", "seeds: 2\n", "by: [x]\n", "# only a comment\n")
    }
    assert len(marks) == 3  # the comment changes nothing


def test_a_system_is_known_by_its_parameters_and_by_what_it_says(tmp_path: Path) -> None:
    plain, tuned = opened(tmp_path), opened(tmp_path, text=TEXT.replace("a: tuned", "a: tuned(depth=2)"))
    assert plain.system_identity(Arm("a")) != tuned.system_identity(Arm("a"))
    assert plain.system_identity(Arm("b")) == tuned.system_identity(Arm("b"))
    other = opened(tmp_path, env={"MODEL": "m2"})
    assert plain.system_identity(Arm("b")) != other.system_identity(Arm("b"))


def test_examining_goes_on_where_opening_stops(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(TEXT.replace("[nDCG@10]", "7") + "seeds: 0\nbaseline: c\n")
    study, problems = examine_study(tmp_path, registry=REGISTRY)
    assert [problem.field for problem in problems] == ["measures.0", "seeds", "baseline"]
    assert list(study.file.systems) == ["a", "b"]


def test_problems_come_in_the_order_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("x: 1\ndata: nope(\nsystems: {a: nope}\nmeasures: [nope]\ny: 2\n")
    _, problems = examine_study(tmp_path, registry=REGISTRY)
    assert [problem.line for problem in problems] == [1, 2, 3, 4, 5]


def test_a_value_that_a_comma_cut_off_is_explained(tmp_path: Path) -> None:
    text = "data: staged\nsystems: {a: tuned(depth=2, key=x), b: untuned}\nmeasures: [nDCG@10]\n"
    with pytest.raises(DataError, match=r"study\.yaml:2: .*a comma inside \{…\} ends a value.*in quotes"):
        opened(tmp_path, text=text)


GOLDEN = """\
kind: {kind}
data:
  use: golden
  sets: golden-set-*.json
  categories:
    direct: {{by: passages}}
    odd:
      by: {by}
systems: {{a: bm25}}
measures: [nDCG@10]
"""


def test_an_error_deep_in_a_parameter_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(GOLDEN.format(kind="search", by="routing"))
    _, (problem,) = examine_study(tmp_path)
    assert (problem.line, problem.field) == (8, "data")
    assert problem.what == (
        "'golden': categories.odd.by: it cannot be 'routing'. It takes passages, route, intent"
    )


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("serach", ["there is no kind 'serach'. Did you mean 'search'?"]),
        ("Search", ["there is no kind 'Search'. Did you mean 'search'?"]),
        ("model", ["there is no kind 'model'. Did you mean 'models'?"]),
        ("models", []),
        ("research", []),  # a word of its own, and a label may be any
        ("memory", []),
        ("''", []),
    ],
)
def test_a_kind_with_one_wrong_letter_is_a_problem(tmp_path: Path, kind: str, told: list[str]) -> None:
    (tmp_path / "study.yaml").write_text(GOLDEN.format(kind=kind, by="route"))
    _, problems = examine_study(tmp_path)
    assert [f"{problem.what}. {problem.fix}" for problem in problems] == told
    assert all((problem.line, problem.field) == (1, "kind") for problem in problems)
