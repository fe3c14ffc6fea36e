"""Damaged golden sets and tables: each loads, or is refused with its problems; nothing else happens."""

from __future__ import annotations

import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from assay.core.errors import DataError
from assay.core.protocols import Kit
from assay.kinds.models.golden_yaml import YamlGoldenSet, read_golden
from assay.kinds.models.sectioned import SectionedReports

GOOD = """\
metadata: {version: 1, total_queries: 4}
universal_valid_sections: [SUMMARY, APPENDIX]
incident_lookup:
  - id: "INC-001"
    query: "valve failure at the north dock"
    difficulty: easy
    ground_truth:
      verification_sql: "WHERE lower(chunk_text) LIKE '%valve%'"
      expected_report_ids: [R-1, R-2]
      expected_chunk_count: 3
      relevance_signals: [valve, 'north dock', 737]
  - id: "INC-002"
    query: an accident of another country
    ground_truth:
      verification_sql: WHERE chunk_text LIKE '%abroad%'
      expected_report_ids: []
section_queries:
  - id: 7
    query: what was the cause
    ground_truth:
      primary_sections: [CAUSE]
      section_chunk_count: 12
      min_section_accuracy: 0.5
conceptual_queries:
  - id: CON-1
    query: >
      people who were
      too tired
    ground_truth: {min_relevant_reports: 2, relevance_signals: fatigue}
notes: [free, words]
"""
SCALARS = ["-1", "99999999999999999999", "1" * 5000, "1e999", "-.5", ".nan", "true", "~", "[]", "{}", "''"]
SCALARS += ["[[1]]", "{a: b}", "2024-01-01", "!!binary x", "*a", "&a x", "<<", "|", "@", "%", "`", "0x1F"]
SCALARS += ['"\\uD800"', '"\\UFFFFFFFF"', '"\\x00"', '"\\U00110000"', "!!python/object:os.system x", "? [a]"]
BLOCKS = [
    "*a",
    "&a [*a]",
    "[" * 3000,
    "{a: " * 3000,
    "- " * 2000 + "x",
    "---",
    "...",
    "%YAML 1." + "9" * 5000,
]
BLOCKS += [
    "a: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: &c [*b, *b]\n",
    "? {a: [b]}\n: c",
    "<<: *x",
    "!!set {a, b}",
]

Mutation = Callable[[random.Random, bytes], bytes]


def flip(rng: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(rng.choice([128, 256]))
    return bytes(changed)


def cut_lines(rng: random.Random, content: bytes) -> bytes:
    return b"".join(line for line in content.splitlines(keepends=True) if rng.random() > 0.15)


def cut_off(rng: random.Random, content: bytes) -> bytes:
    return content[: rng.randint(0, len(content))]


def a_line(change: Callable[[random.Random, bytes], bytes]) -> Mutation:
    """A mutation of one line of the file."""

    def mutation(rng: random.Random, content: bytes) -> bytes:
        lines = content.splitlines(keepends=True) or [b""]
        place = rng.randrange(len(lines))
        lines[place] = change(rng, lines[place])
        return b"".join(lines)

    return mutation


def indent(rng: random.Random, line: bytes) -> bytes:
    return b" " * rng.randint(0, 9) + line.lstrip(b" ")


def tab(rng: random.Random, line: bytes) -> bytes:
    return line.replace(b" ", b"\t", rng.randint(1, 3))


def swap_value(rng: random.Random, line: bytes) -> bytes:
    key, colon, _ = line.partition(b":")
    return key + b": " + rng.choice(SCALARS).encode() + b"\n" if colon else line


def misspell_key(rng: random.Random, line: bytes) -> bytes:
    key, colon, rest = line.partition(b":")
    place = rng.randrange(len(key)) if key else 0
    return key[:place] + key[place + 1 :] + colon + rest


def control(rng: random.Random, line: bytes) -> bytes:
    place = rng.randrange(len(line) + 1)
    return line[:place] + bytes([rng.choice([0, 1, 7, 8, 13, 27, 127, 133])]) + line[place:]


def twice(rng: random.Random, line: bytes) -> bytes:
    return line * 2


def line_ends(rng: random.Random, content: bytes) -> bytes:
    return content.replace(b"\n", b"\r\n", rng.randint(1, 40))


def letters(rng: random.Random, line: bytes) -> bytes:
    """Other letters in a value: most values are free text."""
    key, colon, value = line.partition(b": ")
    return key + colon + value.replace(bytes([rng.choice(b"aeilnrt")]), bytes([rng.choice(b"xyz~#'")]))


def add_block(rng: random.Random, line: bytes) -> bytes:
    return line + b" " * rng.choice([0, 2, 4, 6]) + rng.choice(BLOCKS).encode() + b"\n"


def anchor(rng: random.Random, content: bytes) -> bytes:
    """An entry, or its ground truth, that another place repeats or that holds itself."""
    named = content.replace(b"ground_truth:\n", b"ground_truth: &t\n", 1)
    return named + rng.choice(
        [b"more:\n- {id: X, query: q, ground_truth: *t}\n", b"again: [*t, *u]\n", b"*t\n"]
    )


def empty(rng: random.Random, content: bytes) -> bytes:
    return rng.choice([b"", b"\n\n", b"# nothing\n", b"~", b"\xef\xbb\xbf", b"--- \n"])


def binary(rng: random.Random, content: bytes) -> bytes:
    return rng.randbytes(rng.randint(1, 400))


MUTATIONS: dict[str, Mutation] = {
    "flip": flip,
    "cut lines": cut_lines,
    "cut off": cut_off,
    "indent": a_line(indent),
    "tab": a_line(tab),
    "swap value": a_line(swap_value),
    "misspell key": a_line(misspell_key),
    "control": a_line(control),
    "twice": a_line(twice),
    "line ends": line_ends,
    "letters": a_line(letters),
    "block": a_line(add_block),
    "anchor": anchor,
    "empty": empty,
    "binary": binary,
}


@pytest.fixture
def in_time() -> Iterator[None]:
    """Breaks off what hangs."""

    def too_long(number: int, frame: object) -> None:
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, 120)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def outcome(path: Path) -> YamlGoldenSet | None:
    """The golden set, or None where it is refused with a message that prints."""
    try:
        return read_golden(path)
    except DataError as error:
        problems = error.problems
    assert problems
    for problem in problems:
        assert str(problem).encode()
        assert problem.where == str(path)
        assert problem.fix
    return None


def test_the_good_file_loads(tmp_path: Path) -> None:
    (tmp_path / "gold.yaml").write_text(GOOD, encoding="utf-8")
    golden = outcome(tmp_path / "gold.yaml")
    assert golden is not None
    assert list(golden.places) == ["INC-001", "INC-002", "7", "CON-1"]
    assert golden.warnings == []


@pytest.mark.parametrize("line", [4, 5, 6, 8, 9, 11, 21])
def test_half_a_character_is_refused_wherever_a_text_is_read(tmp_path: Path, line: int) -> None:
    lines = GOOD.splitlines()
    lines[line - 1] = lines[line - 1].partition(":")[0] + r': "\uD800"'
    (tmp_path / "gold.yaml").write_text("\n".join(lines), encoding="utf-8")
    assert outcome(tmp_path / "gold.yaml") is None


@pytest.mark.slow
@pytest.mark.usefixtures("in_time")
def test_a_thousand_damaged_files_load_or_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "gold.yaml"
    counts: Counter[bool] = Counter()
    refused: Counter[str] = Counter()
    names = list(MUTATIONS)
    for seed in range(1000):
        rng = random.Random(seed)
        kinds = [names[seed % len(names)], *rng.choices(names, k=rng.choice([0, 0, 0, 1]))]
        content = GOOD.encode()
        for kind in kinds:
            content = MUTATIONS[kind](rng, content)
        path.write_bytes(content)
        golden = outcome(path)
        counts[golden is not None] += 1
        refused[kinds[0]] += golden is None
        if golden is not None:
            entries = [entry for each in golden.entries.values() for entry in each]
            assert [entry.id for entry in entries] == list(golden.places)
            assert all(entry.model_dump_json() for entry in entries)  # every text can be written
    assert counts[True] > 150
    assert counts[False] > 500
    assert all(refused[kind] for kind in MUTATIONS)


# ------------------------------------------------------------------------------------ the table


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    (tmp_path / "gold.yaml").write_text(GOOD, encoding="utf-8")
    frame = pl.DataFrame(
        {
            "chunk_id": [f"c{number}" for number in range(40)],
            "chunk_text": [f"valve {number} was closed" for number in range(40)],
            "report_id": [f"R-{number // 10}" for number in range(40)],
            "section_name": ["CAUSE", "SUMMARY"] * 20,
            "year": list(range(40)),
        }
    )
    frame.write_parquet(tmp_path / "chunks.parquet")
    return (tmp_path / "chunks.parquet").read_bytes()


def said(folder: Path, content: bytes) -> list[str]:
    """What is wrong with a table of this content; nothing where it loads."""
    (folder / "chunks.parquet").write_bytes(content)
    try:
        SectionedReports("chunks.parquet", "gold.yaml").load(Kit(root=folder))
    except DataError as error:
        return [problem.what for problem in error.problems]
    return []


def test_a_whole_table_loads(tmp_path: Path, whole: bytes) -> None:
    assert said(tmp_path, whole) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda whole: whole[:3],
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:-1],
        lambda whole: whole[:-9],
        lambda whole: whole[4:],
        lambda whole: whole[:-8] + b"\xff\xff\xff\x7f" + whole[-4:],  # the length of the footer
        lambda whole: whole[:4] + bytes(len(whole) // 3) + whole[4 + len(whole) // 3 :],  # pages lost
        lambda _: b"chunk_id,chunk_text\na,b\n",
        lambda _: b"PAR1PAR1",
    ],
)
def test_a_damaged_table_is_refused(tmp_path: Path, whole: bytes, damage: Callable[[bytes], bytes]) -> None:
    (what,) = said(tmp_path, damage(whole))
    assert what.startswith("cannot be read as Parquet: ")


def test_bytes_of_a_table_that_were_changed(tmp_path: Path, whole: bytes) -> None:
    seen: Counter[bool] = Counter()
    for seed in range(60):
        rng = random.Random(seed)
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        seen[bool(said(tmp_path, bytes(damaged)))] += 1
    assert min(seen[True], seen[False]) > 5  # statistics and the like may change unseen


@pytest.mark.parametrize(
    "column",
    [
        pl.lit(10**9).cast(pl.Int32).cast(pl.Date),
        pl.lit(2**62).cast(pl.Datetime("ms")),
        pl.lit(2**62).cast(pl.Duration("ms")),
    ],
)
def test_a_date_beyond_what_python_can_hold(tmp_path: Path, whole: bytes, column: pl.Expr) -> None:
    path = tmp_path / "chunks.parquet"
    pl.read_parquet(path).with_columns(filed=column).write_parquet(path)
    (what,) = said(tmp_path, path.read_bytes())
    assert what.startswith("a cell holds what Python cannot: ")
