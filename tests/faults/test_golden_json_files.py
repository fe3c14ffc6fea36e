"""Damaged golden sets in JSON: each loads, or is refused with its problems; nothing else happens."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from assay.core.dataset import Dataset
from assay.core.errors import DataError
from assay.kinds.search.golden.check import check_golden
from assay.kinds.search.golden.study import GoldenStudy, open_golden
from small_golden import english, write_golden

VALUES = ["-1", "99999999999999999999", "1" * 5000, "1e999", "true", "null", "[]", "{}", '""', '" "', "[[1]]"]
VALUES += [
    '{"a": {"b": []}}',
    '"\\ud800"',
    '"\\u0000"',
    "NaN",
    "Infinity",
    "'x'",
    '["x"]',
    '"' + "x " * 99 + '"',
]
VALUES += ['"es"', '"search"', '"direct"', '"no_results"', "0", "1.5", '["", 3]', "[" * 3000, '{"": true}']

Mutation = Callable[[random.Random, bytes], bytes]


def flip(rng: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] = rng.randrange(rng.choice([128, 256]))
    return bytes(changed)


def cut_off(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randint(0, len(content))]


def cut_lines(rng: random.Random, content: bytes) -> bytes:
    return b"".join(line for line in content.splitlines(keepends=True) if rng.random() > 0.1)


def swap_value(rng: random.Random, content: bytes) -> bytes:
    """One value in the place of another, the comma kept."""
    lines = content.splitlines(keepends=True)
    place = rng.choice([index for index, line in enumerate(lines) if b'": ' in line])
    key, value = lines[place].split(b": ", 1)
    end = b",\n" if value.rstrip().endswith(b",") else b"\n"
    lines[place] = key + b": " + rng.choice(VALUES).encode() + end
    return b"".join(lines)


def misspell_key(rng: random.Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    place = rng.choice([index for index, line in enumerate(lines) if b'": ' in line])
    at = lines[place].index(b'"') + 1 + rng.randrange(2)
    lines[place] = lines[place][:at] + lines[place][at + 1 :]
    return b"".join(lines)


def twice(rng: random.Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    place = rng.choice([index for index, line in enumerate(lines) if line.endswith(b",\n")])
    lines[place] *= 2
    return b"".join(lines)


def reformat(rng: random.Random, content: bytes) -> bytes:
    """The same, written otherwise: always loads."""
    parsed = json.loads(content)
    text = json.dumps(parsed, indent=rng.choice([None, 0, "\t"]), ensure_ascii=rng.random() < 0.5)
    start = b"\xef\xbb\xbf" if rng.random() < 0.5 else b"\r\n\t "
    return start + text.replace("\n", rng.choice(["\n", "\r\n"])).encode()


def letters(rng: random.Random, content: bytes) -> bytes:
    """Other letters somewhere: much of it is free text."""
    place = rng.randrange(len(content))
    found = content.find(bytes([rng.choice(b"aeilnrt")]), place)
    return content[:found] + rng.choice([b"\xc3\xa9", b"~", b"}", b'\\"']) + content[found + 1 :]


def empty(rng: random.Random, content: bytes) -> bytes:
    return rng.choice([b"", b"\n\n", b"[]", b"{}", b"\xef\xbb\xbf", b"null", b"[null]", b"[[]]", b"[{}]"])


def binary(rng: random.Random, content: bytes) -> bytes:
    return rng.randbytes(rng.randint(1, 400))


MUTATIONS: dict[str, Mutation] = {
    "flip": flip,
    "cut off": cut_off,
    "cut lines": cut_lines,
    "swap value": swap_value,
    "misspell key": misspell_key,
    "twice": twice,
    "reformat": reformat,
    "letters": letters,
    "empty": empty,
    "binary": binary,
}


def outcome(opened: GoldenStudy) -> Dataset | None:
    """The dataset, or None where it is refused with problems that print and say what to do."""
    try:
        return opened.golden.load(opened.study.kit)
    except DataError as error:
        problems = error.problems
    assert problems
    for problem in problems:
        assert str(problem).encode()
        assert problem.where
        assert problem.fix
    return None


def test_three_hundred_damaged_files_load_or_are_refused(tmp_path: Path) -> None:
    opened = open_golden(write_golden(tmp_path))
    path = tmp_path / "golden-set-en.json"
    good = path.read_bytes()
    counts: Counter[bool] = Counter()
    refused: Counter[str] = Counter()
    names = list(MUTATIONS)
    for seed in range(300):
        rng = random.Random(seed)
        kind = names[seed % len(names)]
        path.write_bytes(MUTATIONS[kind](rng, good))
        dataset = outcome(opened)
        counts[dataset is not None] += 1
        refused[kind] += dataset is None
        if dataset is not None:
            assert set(dataset.places) == {item.item_id for item in dataset.items}
            assert all(msgspec.json.encode(item) for item in dataset.items)  # every text can be written
    assert refused["reformat"] == 0
    assert counts[True] > 35
    assert counts[False] > 200
    assert all(refused[kind] for kind in MUTATIONS if kind != "reformat")


def test_a_check_of_damaged_files_ends_in_problems_too(tmp_path: Path) -> None:
    """It goes on after a file is refused, and so reads more of what is damaged."""
    opened = open_golden(write_golden(tmp_path))
    path = tmp_path / "golden-set-en.json"
    good = path.read_bytes()
    (tmp_path / "before.json").write_bytes(good)
    names = [name for name in MUTATIONS if name != "reformat"]
    for seed in range(90):
        path.write_bytes(MUTATIONS[names[seed % len(names)]](random.Random(seed), good))
        found = check_golden(opened, str(tmp_path / "before.json"))
        assert msgspec.json.encode(found.as_json())
        assert all(problem.fix for problem in found.problems)


@pytest.mark.parametrize("name", ["study.yaml", "technique.json", "corpus/en/ferry/01-the-crossing.md"])
def test_a_folder_in_the_place_of_a_file(tmp_path: Path, name: str) -> None:
    folder = write_golden(tmp_path)
    opened = open_golden(folder)
    (folder / name).unlink()
    (folder / name).mkdir()
    if name == "study.yaml":
        with pytest.raises(DataError):
            open_golden(folder)
    else:
        assert outcome(opened) is None


def test_a_large_set_reads_in_a_moment(tmp_path: Path) -> None:
    """Nothing is quadratic: 2,000 queries take a second."""
    folder = write_golden(tmp_path)
    one = english()[0]
    many = [{**one, "id": f"en-direct-{n:04d}", "query": f"word{n} and word{n * 7}"} for n in range(2000)]
    (folder / "golden-set-en.json").write_text(json.dumps(many, indent=2))
    dataset = outcome(open_golden(folder))
    assert dataset is not None
    assert len(dataset.items) == 2003
