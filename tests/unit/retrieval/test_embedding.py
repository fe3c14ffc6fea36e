"""Embedding with a memory."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from assay.errors import DataError, Retryable, SystemFailure
from assay.protocols import Kit
from assay.retrieval.embedding import Embedding
from assay.retrieval.parts import Embedded, Role, Vectors
from assay.retrieval.unit import unit


def vector(text: str, dimensions: int = 8) -> Vectors:
    """Something that depends on the text alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return unit(np.random.default_rng(seed).normal(size=(1, dimensions)))[0]


@dataclass
class CountingModel:
    """Remembers what it was given."""

    identity: str = "counting"
    batch: int = 4
    dimensions: int = 8
    seen: list[list[str]] = field(default_factory=list)
    fail_at: int | None = None

    def embed(self, texts: Sequence[str], role: Role) -> Embedded:
        if self.fail_at == len(self.seen):
            raise Retryable("the model went away")
        self.seen.append(list(texts))
        rows = np.stack([vector(f"{role} {text}", self.dimensions) for text in texts])
        return Embedded(rows, tokens=sum(map(len, texts)), cost=0.5 * len(texts))


@dataclass(frozen=True)
class Counting:
    """A part around one model."""

    model: Any
    version: ClassVar[str] = "1"

    def load(self, kit: Kit) -> Any:
        return self.model

    def identity(self, kit: Kit) -> str:
        return str(self.model.identity)


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(cache=tmp_path / "cache")


def texts_of(model: CountingModel) -> list[str]:
    return [text for batch in model.seen for text in batch]


def test_rows_stand_in_the_order_of_the_texts_and_batches_in_that_of_length(kit: Kit) -> None:
    model = CountingModel()
    texts = ["a", "bbb", "cc", "bbb", "dddddd", "eeee"]
    made = Embedding(Counting(model), kit).passages(texts)
    assert np.array_equal(made.vectors, np.stack([vector(f"passage {text}") for text in texts]))
    assert model.seen == [["dddddd", "eeee", "bbb", "cc"], ["a"]]  # the longest first, each once
    assert made.tokens == 6 + 4 + 3 + 2 + 1
    assert made.cost == 0.5 * 5


def test_no_text_is_embedded_twice(kit: Kit) -> None:
    first, second = CountingModel(), CountingModel()
    texts = [f"text {number}" for number in range(50)]
    before = Embedding(Counting(first), kit).passages(texts)
    after = Embedding(Counting(second), kit).passages(texts)
    assert second.seen == []
    assert (after.tokens, after.cost) == (0, 0.0)
    assert np.array_equal(before.vectors, after.vectors)


def test_a_corpus_that_grew_by_a_tenth_embeds_that_tenth(kit: Kit) -> None:
    Embedding(Counting(CountingModel()), kit).passages([f"text {number}" for number in range(1000)])
    model = CountingModel()
    Embedding(Counting(model), kit).passages([f"text {number}" for number in range(1100)])
    assert sorted(texts_of(model)) == sorted(f"text {number}" for number in range(1000, 1100))


def test_another_model_has_another_memory(kit: Kit) -> None:
    Embedding(Counting(CountingModel()), kit).passages(["a"])
    other = CountingModel(identity="other", dimensions=3)
    assert Embedding(Counting(other), kit).passages(["a"]).vectors.shape == (1, 3)
    assert other.seen == [["a"]]


def test_queries_and_passages_are_kept_apart(kit: Kit) -> None:
    embedding = Embedding(Counting(CountingModel()), kit)
    embedding.passages(["a"])
    assert np.array_equal(embedding.query("a").vector, vector("query a"))


def test_a_query_from_memory_tells_what_it_took_and_costs_nothing(kit: Kit) -> None:
    model = CountingModel()
    embedding = Embedding(Counting(model), kit)
    first, second = embedding.query("word"), Embedding(Counting(model), kit).query("word")
    assert model.seen == [["word"]]
    assert first.cost == 0.5
    assert second.cost == 0.0
    assert (second.seconds, second.tokens) == (first.seconds, 4)
    assert np.array_equal(first.vector, second.vector)


def test_nothing_new_loads_no_model(kit: Kit) -> None:
    Embedding(Counting(CountingModel()), kit).passages(["a"])

    class Unloadable(Counting):
        def load(self, kit: Kit) -> Any:
            raise SystemFailure("loaded")

    assert len(Embedding(Unloadable(CountingModel()), kit).passages(["a"]).vectors) == 1


def test_what_was_embedded_before_a_failure_is_kept(kit: Kit) -> None:
    texts = [f"text {number:02}" for number in range(20)]
    with pytest.raises(Retryable):
        Embedding(Counting(CountingModel(fail_at=3)), kit).passages(texts)
    model = CountingModel()
    Embedding(Counting(model), kit).passages(texts)
    assert len(texts_of(model)) == 20 - 3 * 4


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    kit = Kit(cache=tmp_path, progress=lambda *what: told.append(what))
    Embedding(Counting(CountingModel()), kit).passages([f"{number}" for number in range(10)])
    assert told == [("embedding", done, 10) for done in (0, 4, 8, 10)]


def test_no_texts_need_nothing(kit: Kit) -> None:
    assert Embedding(Counting(CountingModel()), kit).passages([]).vectors.shape[0] == 0


def test_threads_share_it(kit: Kit) -> None:
    embedding = Embedding(Counting(CountingModel()), kit)
    texts = [f"text {number % 10}" for number in range(80)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: embedding.query(text).vector, texts))
    for text, one in zip(texts, found, strict=True):
        assert np.array_equal(one, vector(f"query {text}"))


def test_a_model_whose_dimension_changed_under_its_name_is_told_of(kit: Kit) -> None:
    Embedding(Counting(CountingModel()), kit).passages(["a"])
    with pytest.raises(DataError, match=r"vectors of .* dimensions.*Remove the file"):
        Embedding(Counting(CountingModel(dimensions=5)), kit).passages(["a", "b"])


def test_a_damaged_file_is_made_anew(kit: Kit) -> None:
    embedding = Embedding(Counting(CountingModel()), kit)
    embedding.passages(["a"])
    embedding.close()
    (file,) = (kit.cache / "embeddings").glob("*.sqlite")
    file.write_bytes(b"no database " * 1000)
    model = CountingModel()
    Embedding(Counting(model), kit).passages(["a"])
    assert model.seen == [["a"]]


def test_a_folder_that_is_a_file_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(SystemFailure, match="a file is in its way"):
        Embedding(Counting(CountingModel()), Kit(cache=tmp_path / "cache"))


FULL = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from test_embedding import *
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    embedding = Embedding(Counting(CountingModel(batch=100)), Kit(cache=Path(sys.argv[2])))
    embedding.passages([str(n) for n in range(20_000)])
except SystemFailure as error:
    print(error)
"""


def test_a_disk_that_fills_up_is_told_of_and_what_was_written_serves(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(Path(__file__).parent), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "set ASSAY_CACHE" in done.stdout, done.stderr
    model = CountingModel(batch=100)
    Embedding(Counting(model), Kit(cache=tmp_path)).passages([str(number) for number in range(20_000)])
    assert 0 < len(texts_of(model)) < 20_000
