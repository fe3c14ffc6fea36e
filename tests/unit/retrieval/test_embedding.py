"""Embedding with a memory."""

from __future__ import annotations

import dataclasses
import hashlib
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from assay.core.errors import Retryable, SystemFailure
from assay.core.parts import EmbeddingResult, Role, Vectors, normalize_rows
from assay.core.protocols import Kit
from assay.retrieval.embedding import EmbeddingCache, VectorFile

TURN = threading.Lock()


def vector(text: str, dimensions: int = 8) -> Vectors:
    """Something that depends on the text alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return normalize_rows(np.random.default_rng(seed).normal(size=(1, dimensions)))[0]


@dataclass
class CountingModel:
    """Remembers what it was given."""

    identity: str = "counting"
    batch: int = 4
    dimensions: int = 8
    seen: list[list[str]] = field(default_factory=list)
    fail_at: int | None = None
    pause: float = 0.0
    threads: int = 1
    at_once: int = 0
    most_at_once: int = 0

    def embed(self, texts: Sequence[str], role: Role) -> EmbeddingResult:
        with TURN:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            failing = self.fail_at == len(self.seen)
            self.fail_at = None if failing else self.fail_at
            if not failing:
                self.seen.append(list(texts))
        time.sleep(self.pause)
        with TURN:
            self.at_once -= 1
        if failing:
            raise Retryable("the model went away")
        rows = np.stack([vector(f"{role} {text}", self.dimensions) for text in texts])
        return EmbeddingResult(rows, tokens=sum(map(len, texts)), cost=0.5 * len(texts))


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
    paid: list[float] = []
    made = EmbeddingCache(Counting(model), dataclasses.replace(kit, pay=paid.append)).passages(texts)
    assert np.array_equal(made, np.stack([vector(f"passage {text}") for text in texts]))
    assert model.seen == [["dddddd", "eeee", "bbb", "cc"], ["a"]]  # the longest first, each once
    assert paid == [0.5 * 4, 0.5]  # as it comes


def test_no_text_is_embedded_twice(kit: Kit) -> None:
    first, second = CountingModel(), CountingModel()
    texts = [f"text {number}" for number in range(50)]
    before = EmbeddingCache(Counting(first), kit).passages(texts)
    after = EmbeddingCache(Counting(second), kit).passages(texts)
    assert second.seen == []
    assert np.array_equal(before, after)


def test_a_corpus_that_grew_by_a_tenth_embeds_that_tenth(kit: Kit) -> None:
    EmbeddingCache(Counting(CountingModel()), kit).passages([f"text {number}" for number in range(1000)])
    model = CountingModel()
    EmbeddingCache(Counting(model), kit).passages([f"text {number}" for number in range(1100)])
    assert sorted(texts_of(model)) == sorted(f"text {number}" for number in range(1000, 1100))


def test_another_model_has_another_memory(kit: Kit) -> None:
    EmbeddingCache(Counting(CountingModel()), kit).passages(["a"])
    other = CountingModel(identity="other", dimensions=3)
    assert EmbeddingCache(Counting(other), kit).passages(["a"]).shape == (1, 3)
    assert other.seen == [["a"]]


def test_queries_and_passages_are_kept_apart(kit: Kit) -> None:
    embedding = EmbeddingCache(Counting(CountingModel()), kit)
    embedding.passages(["a"])
    assert np.array_equal(embedding.query("a")[0].vector, vector("query a"))


def test_a_query_from_memory_tells_what_it_took_and_costs_nothing(kit: Kit) -> None:
    model = CountingModel()
    embedding = EmbeddingCache(Counting(model), kit)
    first, cost = embedding.query("word")
    second, no_cost = EmbeddingCache(Counting(model), kit).query("word")
    assert model.seen == [["word"]]
    assert (cost, no_cost) == (0.5, 0.0)
    assert (second.seconds, second.tokens) == (first.seconds, 4)
    assert np.array_equal(first.vector, second.vector)


def test_nothing_new_loads_no_model(kit: Kit) -> None:
    EmbeddingCache(Counting(CountingModel()), kit).passages(["a"])

    class Unloadable(Counting):
        def load(self, kit: Kit) -> Any:
            raise SystemFailure("loaded")

    assert len(EmbeddingCache(Unloadable(CountingModel()), kit).passages(["a"])) == 1


def test_what_was_embedded_before_a_failure_is_kept(kit: Kit) -> None:
    texts = [f"text {number:02}" for number in range(20)]
    with pytest.raises(Retryable):
        EmbeddingCache(Counting(CountingModel(fail_at=3)), kit).passages(texts)
    model = CountingModel()
    EmbeddingCache(Counting(model), kit).passages(texts)
    assert len(texts_of(model)) in {4, 8}  # the batch that failed, and perhaps the one after it


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    kit = Kit(cache=tmp_path, progress=lambda *what: told.append(what))
    EmbeddingCache(Counting(CountingModel()), kit).passages([f"{number}" for number in range(10)])
    assert told == [("embedding", done, 10) for done in (0, 4, 8, 10)]


def test_no_texts_need_nothing(kit: Kit) -> None:
    assert EmbeddingCache(Counting(CountingModel()), kit).passages([]).shape[0] == 0


def test_threads_that_ask_the_same_at_once_embed_it_once(kit: Kit) -> None:
    model = CountingModel(pause=0.02)
    embedding = EmbeddingCache(Counting(model), kit)
    texts = [f"text {number % 10}" for number in range(80)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: embedding.query(text)[0].vector, texts))
    for text, one in zip(texts, found, strict=True):
        assert np.array_equal(one, vector(f"query {text}"))
    assert sorted(texts_of(model)) == sorted(set(texts))


def test_many_may_open_a_new_memory_at_once(kit: Kit) -> None:
    """Without a turn of their own some two in a hundred found the file locked."""
    with ThreadPoolExecutor(8) as pool:
        for number in range(60):
            path = kit.cache / str(number) / "vectors.sqlite"
            assert len(list(pool.map(VectorFile, [path] * 8))) == 8


def test_builds_that_share_texts_embed_them_once(kit: Kit) -> None:
    model = CountingModel(pause=0.01)
    with ThreadPoolExecutor(4) as pool:
        corpora = [[f"text {number}" for number in range(start, start + 30)] for start in (0, 10, 20, 30)]
        made = list(pool.map(lambda texts: EmbeddingCache(Counting(model), kit).passages(texts), corpora))
    assert sorted(texts_of(model)) == sorted(f"text {number}" for number in range(60))
    for texts, vectors in zip(corpora, made, strict=True):
        assert np.array_equal(vectors, np.stack([vector(f"passage {text}") for text in texts]))


def test_a_model_that_waits_has_several_batches_in_flight(kit: Kit) -> None:
    model = CountingModel(pause=0.05, threads=4)
    EmbeddingCache(Counting(model), kit).passages([f"text {number}" for number in range(40)])
    assert model.most_at_once == 4


def test_a_batch_that_fails_takes_no_other_along(kit: Kit) -> None:
    texts = [f"text {number:02}" for number in range(40)]
    model = CountingModel(pause=0.02, threads=4, fail_at=1)
    with pytest.raises(Retryable):
        EmbeddingCache(Counting(model), kit).passages(texts)
    again = CountingModel()
    EmbeddingCache(Counting(again), kit).passages(texts)
    assert sorted([*texts_of(model), *texts_of(again)]) == texts  # nothing twice, nothing lost


def test_vectors_of_another_dimension_are_refused_and_spoil_nothing(kit: Kit) -> None:
    EmbeddingCache(Counting(CountingModel()), kit).passages(["a"])
    other = EmbeddingCache(Counting(CountingModel(dimensions=5)), kit)
    for asked in (lambda: other.passages(["a", "b"]), lambda: other.query("c")):
        with pytest.raises(Retryable, match=r"vectors of 5 dimensions, and of 8 before\. Check what answers"):
            asked()
    repaired = CountingModel()
    embedding = EmbeddingCache(Counting(repaired), kit)
    assert embedding.passages(["a", "b"]).shape == (2, 8)
    assert embedding.query("c")[0].vector.shape == (8,)
    assert repaired.seen == [["b"], ["c"]]


def test_a_query_that_cannot_be_remembered_is_answered_all_the_same(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise SystemFailure("the disk is full")

    embedding = EmbeddingCache(Counting(CountingModel()), kit)
    monkeypatch.setattr(VectorFile, "put", refuse)
    assert np.array_equal(embedding.query("a")[0].vector, vector("query a"))
    with pytest.raises(SystemFailure, match="full"):
        embedding.passages(["a"])


def test_vectors_come_back_in_single_precision(kit: Kit) -> None:
    class Double(CountingModel):
        def embed(self, texts: Sequence[str], role: Role) -> EmbeddingResult:
            made = super().embed(texts, role)
            return made._replace(vectors=made.vectors.astype(np.float64))  # type: ignore[arg-type]

    made = EmbeddingCache(Counting(Double()), kit).passages(["a", "b"])
    assert made.dtype == np.float32
    assert np.array_equal(made[1], vector("passage b"))


def test_a_damaged_file_is_made_anew(kit: Kit) -> None:
    embedding = EmbeddingCache(Counting(CountingModel()), kit)
    embedding.passages(["a"])
    embedding.close()
    (file,) = (kit.cache / "embeddings").glob("*.sqlite")
    damaged = b"no database " * 1000
    file.write_bytes(damaged)
    model = CountingModel()
    EmbeddingCache(Counting(model), kit).passages(["a"])
    assert model.seen == [["a"]]
    assert file.with_suffix(".damaged").read_bytes() == damaged  # set aside: it may have been paid for


def test_damage_inside_the_file_costs_what_it_held(kit: Kit) -> None:
    embedding = EmbeddingCache(Counting(CountingModel()), kit)
    embedding.passages([f"text {number}" for number in range(500)])
    embedding.close()
    (file,) = (kit.cache / "embeddings").glob("*.sqlite")
    content = bytearray(file.read_bytes())
    content[4096:] = b"x" * (len(content) - 4096)
    file.write_bytes(content)
    model = CountingModel()
    made = EmbeddingCache(Counting(model), kit).passages(["text 1", "text 2"])
    assert np.array_equal(made[1], vector("passage text 2"))
    assert sorted(model.seen[0]) == ["text 1", "text 2"]
    assert file.with_suffix(".damaged").read_bytes() == content  # set aside: it may have been paid for


def test_a_folder_that_is_a_file_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(SystemFailure, match="a file is in its way"):
        EmbeddingCache(Counting(CountingModel()), Kit(cache=tmp_path / "cache"))


FULL = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from test_embedding import *
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    embedding = EmbeddingCache(Counting(CountingModel(batch=100)), Kit(cache=Path(sys.argv[2])))
    embedding.passages([str(n) for n in range(20_000)])
except SystemFailure as error:
    print(error)
"""


@pytest.mark.slow
def test_a_disk_that_fills_up_is_told_of_and_what_was_written_serves(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(Path(__file__).parent), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "set ASSAY_CACHE" in done.stdout, done.stderr
    model = CountingModel(batch=100)
    EmbeddingCache(Counting(model), Kit(cache=tmp_path)).passages([str(number) for number in range(20_000)])
    assert 0 < len(texts_of(model)) < 20_000
