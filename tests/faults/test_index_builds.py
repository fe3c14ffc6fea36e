"""Building indexes while something goes wrong: they are whole or absent afterwards, and it is said why."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from assay.pipeline.evaluation import Evaluation
from assay.study.study import open_study
from assay.systems import retrievers
from small_study import Done, assay
from stand_ins.openai_server import KINDS, Faults, OpenAIStandIn

WORDS = [f"{first}{second}{third}" for first in "bdfgkl" for second in "aeiou" for third in "mnprst"]
PASSAGES, ITEMS = 300, 20
PASSING = [kind for kind in KINDS if kind not in {"hang", "drip", "429 wait"}]  # those need patience


def text(number: int) -> str:
    return " ".join(random.Random(number).choices(WORDS, k=20))


def write_data(folder: Path, passages: int = PASSAGES) -> None:
    (folder / "data").mkdir(exist_ok=True)
    lines = [json.dumps({"doc_id": f"d{number}", "text": text(number)}) for number in range(passages)]
    (folder / "data/passages.jsonl").write_text("\n".join(lines))
    items = [
        {"item_id": f"q{n}", "text": " ".join(text(n).split()[:6]), "gold": {"relevant": {f"d{n}": 1}}}
        for n in range(ITEMS)
    ]
    (folder / "data/items.jsonl").write_text("\n".join(map(json.dumps, items)))


def write_study(folder: Path, systems: dict[str, str], passages: int = PASSAGES) -> Path:
    folder.mkdir(exist_ok=True)
    write_data(folder, passages)
    study = {"data": "data", "systems": systems, "measures": ["RR@10"], "budgets": [100]}
    (folder / "study.yaml").write_text(json.dumps(study))
    return folder


@pytest.fixture(autouse=True)
def everything_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """As indexes of real size are."""
    monkeypatch.setattr(retrievers, "WORTH_KEEPING", 1)


def run(folder: Path, cache: Path, **more: str) -> Done:
    with mock.patch.dict(os.environ, {"ASSAY_CACHE": str(cache), **more}):
        return assay("run", folder, "--json")


def scores(folder: Path) -> dict[tuple[str, str], float]:
    frame = Evaluation(open_study(folder)).scores
    assert frame["status"].unique().to_list() == ["scored"]
    return {(row["system"], row["item"]): row["value"] for row in frame.iter_rows(named=True)}


def endpoint(server: OpenAIStandIn, **more: Any) -> str:
    given = {"model": "stand-in", "url": server.url, "backoff": 0.001, "batch": 8, **more}
    return f"dense(model=openai({', '.join(f'{name}={value}' for name, value in given.items())}))"


def kept(cache: Path) -> list[str]:
    folder = cache / "indexes"
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


# ------------------------------------------------------------------------------------- endpoints


@pytest.mark.slow
def test_faults_in_one_call_of_ten_are_survived_by_trying_again(tmp_path: Path) -> None:
    with OpenAIStandIn() as server:
        calm = write_study(tmp_path / "calm", {"dense": endpoint(server)})
        assert run(calm, tmp_path / "calm cache").code == 0
    with OpenAIStandIn(Faults(PASSING, every=10)) as server:
        folder = write_study(tmp_path / "rough", {"dense": endpoint(server)})
        done = run(folder, tmp_path / "rough cache")
        assert done.code == 0, done.err
        assert server.failed >= 5
    assert scores(folder) == scores(calm)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("429", "429"),
        ("500", "500"),
        ("rubbish", "not JSON"),
        ("closed", "127.0.0.1"),
        pytest.param("hang", "127.0.0.1", marks=pytest.mark.slow),
        ("count", "vector"),
    ],
)
def test_an_endpoint_that_never_answers_well_is_told_of_and_leaves_no_index(
    kind: Any, told: str, tmp_path: Path
) -> None:
    with OpenAIStandIn(Faults(kind, every=1)) as server:
        spec = endpoint(server, retries=1, timeout=1.5 if kind == "hang" else 30)
        folder = write_study(tmp_path / "study", {"dense": spec})
        done = run(folder, tmp_path / "cache")
        assert done.code == 4
        assert "dense could not be opened" in done.err
        assert told in done.err
        assert "Traceback" not in done.err
        assert kept(tmp_path / "cache") == []
        server.faults = Faults()
        assert run(folder, tmp_path / "cache").code == 0
    assert len(scores(folder)) == ITEMS


def test_an_endpoint_that_nobody_listens_at_is_told_of(tmp_path: Path) -> None:
    with OpenAIStandIn() as server:
        spec = endpoint(server, retries=1)
    done = run(write_study(tmp_path / "study", {"dense": spec}), tmp_path / "cache")
    assert done.code == 4
    assert "127.0.0.1" in done.err


def test_an_endpoint_that_changes_its_dimension_is_told_of(tmp_path: Path) -> None:
    with OpenAIStandIn() as server:
        folder = write_study(tmp_path / "study", {"dense": endpoint(server)})
        assert run(folder, tmp_path / "cache").code == 0
        indexes = kept(tmp_path / "cache")
        server.dimensions = 16
        write_data(folder, PASSAGES + 10)
        done = run(folder, tmp_path / "cache")
    assert done.code == 4
    assert "vectors of 16 dimensions, and of 32 before" in done.err
    assert kept(tmp_path / "cache") == indexes


def test_the_key_is_sent_and_never_shown(tmp_path: Path) -> None:
    with OpenAIStandIn(key="sk-very-secret") as server:
        folder = write_study(tmp_path / "study", {"dense": endpoint(server, key="${MY_API_KEY}")})
        refused = run(folder, tmp_path / "cache", MY_API_KEY="sk-mistyped")
        assert refused.code == 4
        assert "401" in refused.err
        done = run(folder, tmp_path / "cache", MY_API_KEY="sk-very-secret")
        assert done.code == 0
    assert "sk-" not in refused.err + refused.out + done.err + done.out
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"sk-" not in path.read_bytes(), path


@pytest.mark.slow
def test_a_corpus_that_grew_by_a_tenth_embeds_that_tenth_and_a_second_run_nothing(tmp_path: Path) -> None:
    with OpenAIStandIn() as server:
        folder = write_study(tmp_path / "study", {"dense": endpoint(server)}, passages=500)
        assert run(folder, tmp_path / "cache").code == 0
        assert len(server.texts) == 500 + ITEMS
        before, indexes = len(server.texts), kept(tmp_path / "cache")
        assert run(folder, tmp_path / "cache").code == 0
        shutil.rmtree(folder / "run")
        assert run(folder, tmp_path / "cache").code == 0
        assert len(server.texts) == before  # neither passages nor queries
        assert kept(tmp_path / "cache") == indexes
        write_data(folder, 550)
        assert run(folder, tmp_path / "cache").code == 0
        assert sorted(server.texts[before:]) == sorted(text(number) for number in range(500, 550))


def test_what_embedding_cost_is_booked(tmp_path: Path) -> None:
    with OpenAIStandIn() as server:
        folder = write_study(tmp_path / "study", {"dense": endpoint(server, price=1000.0)}, passages=500)
        assert run(folder, tmp_path / "cache").code == 0
    # a token is a word: 500 passages of 20 words and 20 queries of 6, at 1,000 a million
    price = (500 * 20 + ITEMS * 6) * 1000 / 1e6
    evaluation = Evaluation(open_study(folder))
    assert evaluation.store.cost() == pytest.approx(price)
    assert evaluation.results.trust.cost == pytest.approx({"dense": price})


def test_what_a_build_that_failed_had_paid_is_booked_and_not_paid_again(tmp_path: Path) -> None:
    with OpenAIStandIn(Faults("500", every=20)) as server:
        spec = endpoint(server, price=1000.0, retries=0, threads=1)
        folder = write_study(tmp_path / "study", {"dense": spec}, passages=500)
        assert run(folder, tmp_path / "cache").code == 4
        before = Evaluation(open_study(folder)).store.cost()
        assert before == pytest.approx(len(server.texts) * 20 * 1000 / 1e6)  # texts of 20 words
        server.faults = Faults()
        assert run(folder, tmp_path / "cache").code == 0
        assert len(server.texts) == len(set(server.texts)) == 500 + ITEMS
    spent = Evaluation(open_study(folder)).store.cost()
    assert spent == pytest.approx((500 * 20 + ITEMS * 6) * 1000 / 1e6)


def test_a_build_stops_at_the_spending_cap(tmp_path: Path) -> None:
    with OpenAIStandIn() as server:
        spec = endpoint(server, price=1000.0, threads=1)
        folder = write_study(tmp_path / "study", {"dense": spec}, passages=500)
        text = json.loads((folder / "study.yaml").read_text())
        (folder / "study.yaml").write_text(json.dumps({**text, "run": {"max_cost": 2.0}}))
        done = run(folder, tmp_path / "cache")
        assert done.code == 4
        assert "the spending cap was reached" in done.err
        assert len(server.texts) <= 2.0 / (20 * 1000 / 1e6) + 2 * 8


# ----------------------------------------------------------------------------------------- disks


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a megabyte; only root can have one."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


# 300 vectors of 256 dimensions take 307 kB: with 700 kB free they can be remembered, but not indexed as well
@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "free"),
    [("bm25", 9), ("dense", 9), ("dense", 700), ("dense(store=hnsw)", 9), ("dense(store=hnsw)", 700)],
)
def test_a_full_disk_is_told_of_and_leaves_no_half_index(
    system: str, free: int, tmp_path: Path, small_disk: Path
) -> None:
    room = shutil.disk_usage(small_disk).free
    (small_disk / "ballast").write_bytes(b"x" * (room - 1000 * free))
    folder = write_study(tmp_path / "study", {"one": system})
    done = run(folder, small_disk)
    assert done.code == 4
    assert "the disk is full. Free some space, or set ASSAY_CACHE" in done.err
    assert "Traceback" not in done.err
    assert kept(small_disk) == []
    assert (small_disk / "indexes").exists() == (free > 9 or system == "bm25")  # it came as far as that
    assert run(folder, tmp_path / "larger").code == 0
    assert len(scores(folder)) == ITEMS


# ----------------------------------------------------------------------------------------- kills


@pytest.mark.slow
@pytest.mark.parametrize(
    ("system", "passages"), [("bm25", 20_000), ("dense(store=hnsw)", 5_000), ("flat_strong", 20_000)]
)  # so many that a kill falls into the building
def test_a_build_that_is_killed_leaves_the_whole_index_or_none_and_the_next_run_repairs_it(
    system: str, passages: int, tmp_path: Path
) -> None:
    calm = write_study(tmp_path / "calm", {"one": system}, passages=passages)
    assert run(calm, tmp_path / "calm cache").code == 0
    whole = kept(tmp_path / "calm cache")
    folder, cache = write_study(tmp_path / "study", {"one": system}, passages=passages), tmp_path / "cache"
    command = [sys.executable, "-m", "assay", "run", str(folder), "--json"]
    chance, cut = random.Random(system), 0
    for _ in range(3):
        shutil.rmtree(cache / "indexes", ignore_errors=True)
        process = subprocess.Popen(
            command, env={**os.environ, "ASSAY_CACHE": str(cache)}, stdout=subprocess.DEVNULL
        )
        while process.poll() is None and not drafts(cache):
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.03))
        process.kill()
        process.wait()
        shutil.rmtree(folder / "run", ignore_errors=True)
        cut += bool(drafts(cache))
        assert {name for name in kept(cache) if not name.startswith(".building-")} <= set(whole)
    assert cut  # at least one was killed in the middle
    assert run(folder, cache).code == 0
    assert kept(cache) == whole  # no draft of a killed build is left
    assert scores(folder) == scores(calm)


def drafts(cache: Path) -> list[Path]:
    return list((cache / "indexes").glob(".building-*"))
