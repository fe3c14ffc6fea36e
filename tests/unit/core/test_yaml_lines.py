"""YAML that remembers its lines and leaves words alone."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.core.errors import DataError
from assay.core.yaml_lines import MOST_FIELDS, read_yaml

TEXT = """\
# a comment
name: x
systems:
  a: bm25
  b:
    use: dense
    k: 3
by: [one,
  two]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.yaml"


def content(path: Path, text: str) -> Any:
    path.write_text(text, encoding="utf-8")
    return read_yaml(path)[0]


def test_every_field_has_its_line(path: Path) -> None:
    path.write_text(TEXT)
    _, lines = read_yaml(path)
    assert lines.of(["name"]) == 2
    assert lines.of(["systems"]) == 3
    assert lines.of(["systems", "b"]) == 5
    assert lines.of(["systems", "b", "k"]) == 7
    assert lines.of(["by", 1]) == 9


def test_a_missing_field_has_the_line_of_the_field_around_it(path: Path) -> None:
    path.write_text(TEXT)
    _, lines = read_yaml(path)
    assert lines.of(["systems", "b", "missing", 4]) == 5
    assert lines.of(["nothing"]) == 2  # the mapping itself begins with its first field
    assert str(lines.problem(["systems", "b", "k"], "too small", "Write 4.")) == (
        f"{path}:7: systems.b.k: too small. Write 4."
    )


@pytest.mark.parametrize(
    "word", ["yes", "no", "on", "off", "Yes", "NO", "y", "1_000", "12:30", "0x10", "1.2.3"]
)
def test_words_stay_words(path: Path, word: str) -> None:
    assert content(path, f"tag: {word}\n") == {"tag": word}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-3", -3),
        ("0.5", 0.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("'3'", "3"),
        ('"true"', "true"),
        ("2024-01-02", "2024-01-02"),
    ],
)
def test_scalars(path: Path, text: str, value: object) -> None:
    found = content(path, f"key: {text}\n")["key"]
    assert found == value
    assert type(found) is type(value)


def test_numbers_that_are_too_long_stay_text(path: Path) -> None:
    assert content(path, f"key: {'9' * 5000}\n") == {"key": "9" * 5000}


def test_keys_are_text(path: Path) -> None:
    assert content(path, "1: a\nyes: b\n") == {"1": "a", "yes": "b"}


def test_aliases_are_filled_in(path: Path) -> None:
    assert content(path, "a: &x {k: 1}\nb: *x\n") == {"a": {"k": 1}, "b": {"k": 1}}


def test_every_duplicate_key_is_a_problem(path: Path) -> None:
    path.write_text("a: 1\nb: {c: 1, c: 2}\na: 2\n")
    with pytest.raises(DataError) as caught:
        read_yaml(path)
    assert [str(problem) for problem in caught.value.problems] == [
        f"{path}:2: b.c: this field is already on line 2. Keep one of the two.",
        f"{path}:3: a: this field is already on line 1. Keep one of the two.",
    ]


def test_aliases_that_multiply_are_refused_before_they_fill_memory(path: Path) -> None:
    lines = ["a0: &a0 [" + ", ".join(["x"] * 10) + "]"]
    lines += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 10) + "]" for n in range(1, 12)]  # 10^12 fields
    path.write_text("\n".join(lines))
    with pytest.raises(DataError, match=f"more than {MOST_FIELDS:,} fields. Use fewer aliases"):
        read_yaml(path)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(st.sampled_from(list("ab:- \n[]{}&*!|>'\"#,?%@0.~<é\t\0\x85")), max_size=60)
    | st.text(max_size=40)
    | st.binary(max_size=40)
)
def test_any_bytes_are_content_or_a_data_error(path: Path, text: str | bytes) -> None:
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    with contextlib.suppress(DataError):
        read_yaml(path)
