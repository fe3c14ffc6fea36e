"""What may go wrong where vectors are kept: kills, full disks, servers that fail, are gone or refuse."""

from __future__ import annotations

import os
import pickle
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, LiteralString

import numpy as np
import pytest

from assay.core.errors import Retryable, SystemFailure, UsageError
from assay.core.protocols import Kit
from assay.retrieval.vectors.postgres import Postgres
from assay.retrieval.vectors.qdrant import Qdrant
from vector_stores import APPROXIMATE, EXACT, Server, by_force, clustered, made, postgres, qdrant_server

__all__ = ["postgres", "qdrant_server"]

SECRET = "hush-hush"  # noqa: S105


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(cache=tmp_path / "cache", env={})


@pytest.fixture
def name() -> str:
    return uuid.uuid4().hex


def hits(index: Any, queries: Any, k: int = 5) -> list[list[int]]:
    return [found.positions.tolist() for found in index.search(queries, k)]


# ----------------------------------------------------------------------------------------- kills

BUILD = """
import pickle, sys
from pathlib import Path
store, name, vectors, kit = pickle.loads(Path(sys.argv[1]).read_bytes())
print("building", flush=True)
store.build(name, vectors, kit).close()
print("built", flush=True)
"""


def begun(store: Any, name: str, vectors: Any, kit: Kit) -> subprocess.Popen[bytes]:
    """A process that has begun to build."""
    given = kit.cache.parent / "given.pickle"
    given.write_bytes(pickle.dumps((store, name, vectors, kit)))
    code = [sys.executable, "-c", BUILD, str(given)]
    # unbuffered: what `readline` read ahead would be lost to `communicate`
    process = subprocess.Popen(code, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
    assert process.stdout is not None
    assert process.stdout.readline() == b"building\n"
    return process


def asked(store: Postgres, query: LiteralString, *values: object) -> list[Any]:
    """The first column of what a database answers."""
    import psycopg

    with psycopg.connect(store.url, autocommit=True) as connection:
        return [row[0] for row in connection.execute(query, values).fetchall()]


def under_way(store: Any, name: str, kit: Kit, request: pytest.FixtureRequest) -> bool:
    """Whether something is being stored: a table cannot be seen before it is whole, its COPY can."""
    if not isinstance(store, Postgres):
        return bool(left(store, name, kit, request))
    running = "SELECT 1 FROM pg_stat_activity WHERE query LIKE %s AND state = 'active'"
    return bool(asked(store, running, f"COPY%{name}%"))


def left(store: Any, name: str, kit: Kit, request: pytest.FixtureRequest) -> list[str]:
    """Whatever a store has of a name, and drafts of any: folders, collections, tables."""
    if isinstance(store, Postgres):
        tables = asked(store, "SELECT tablename FROM pg_tables WHERE schemaname = 'assay'")
        return [table for table in tables if name in table]
    if isinstance(store, Qdrant) and store.url:
        return [each for each in request.getfixturevalue("qdrant_server").collections if name in each]
    folder = kit.cache / ("qdrant/collection" if isinstance(store, Qdrant) else "indexes")
    there = [path.name for path in folder.iterdir() if path.is_dir()] if folder.exists() else []
    return [each for each in there if name in each or each.startswith(".building")]


SIZES = {"exact": 60_000, "hnsw": 5_000, "qdrant local": 150, "qdrant": 1_500}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "kills", "latest"),  # in seconds after something is there
    [("exact", 3, 0.0), ("postgres", 3, 0.0)]
    + [pytest.param(kind, 4, 0.1, marks=pytest.mark.slow) for kind in [*EXACT, *APPROXIMATE]],
)
def test_a_killed_build_leaves_nothing_and_the_next_one_repairs_it(
    kind: str, kills: int, latest: float, kit: Kit, name: str, request: pytest.FixtureRequest
) -> None:
    store, chance, cut = made(kind, request), random.Random(kills), 0
    vectors, queries = clustered(1, SIZES.get(kind, 5_000), 64), clustered(2, 5, 64)
    expected = [set(by_force(vectors, query, 5).positions.tolist()) for query in queries]
    names = [f"{name}{number}" for number in range(kills)]
    for each in names:
        process = begun(store, each, vectors, kit)
        while process.poll() is None and not under_way(store, each, kit, request):
            time.sleep(0.002)
        time.sleep(chance.uniform(0, latest))
        process.kill()
        cut += b"built" not in process.communicate()[0]
        index = store.open(each, kit)
        if index is not None:  # the kill came too late: then it is whole
            assert len(index) == len(vectors)
            index.close()
    assert cut
    for each in names:
        index = store.build(each, vectors, kit)
        for found, known in zip(hits(index, queries), expected, strict=True):
            assert len(set(found) & known) >= 4
        index.close()
    if kind == "qdrant":  # somebody elsewhere might be building, for a day
        later = replace(kit, clock=lambda: time.time() + 86_401)
        store.build(f"{name} later", vectors[:1], later).close()
    assert sum(len(left(store, each, kit, request)) for each in names) == kills


def test_a_killed_build_leaves_other_indexes_alone(
    kit: Kit, name: str, request: pytest.FixtureRequest
) -> None:
    store = made("postgres", request)
    store.build(name, clustered(1, 50, 64), kit).close()
    process = begun(store, name + "other", clustered(1, 6_000, 64), kit)
    process.kill()
    process.communicate()
    index = store.open(name, kit)
    assert len(index) == 50
    index.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [each for each in [*EXACT, *APPROXIMATE] if each != "qdrant local"])
def test_builds_at_once_give_one_index(
    kind: str, kit: Kit, name: str, request: pytest.FixtureRequest
) -> None:
    store = made(kind, request)
    vectors = clustered(1, 2_000, 64)
    processes = [begun(store, name, vectors, kit) for _ in range(3)]
    assert [process.communicate()[0] for process in processes] == [b"built\n"] * 3
    assert len(left(store, name, kit, request)) == 1
    index = store.open(name, kit)
    assert hits(index, vectors[:3], 1) == [[0], [1], [2]]
    index.close()


def test_who_builds_the_same_waits_and_finds_it(standing_in: Any, kit: Kit) -> None:
    vectors, found = clustered(1, 10, 4), []
    with standing_in() as server:
        store = Qdrant(url=server.url)
        other = threading.Thread(target=lambda: found.append(store.build("name", vectors, kit)))

        def half_way(*_: object) -> None:
            other.start()
            other.join(0.2)
            assert other.is_alive()

        mine = store.build("name", vectors, replace(kit, progress=half_way))
        other.join()
        assert hits(found[0], vectors[:1], 1) == hits(mine, vectors[:1], 1) == [[0]]
        assert len(server.made) == 1
        found[0].close()
        mine.close()


def test_builders_on_two_machines_leave_each_other_alone(standing_in: Any, kit: Kit, tmp_path: Path) -> None:
    vectors, found = clustered(1, 10, 4), []
    with standing_in() as server:
        store, elsewhere = Qdrant(url=server.url), Kit(cache=tmp_path / "elsewhere")

        def half_way(*_: object) -> None:
            found.append(store.build("name", vectors, elsewhere))

        mine = store.build("name", vectors, replace(kit, progress=half_way))
        for _ in range(2):
            assert hits(found[0], vectors[:1], 1) == hits(mine, vectors[:1], 1) == [[0]]
            later = replace(kit, clock=lambda: time.time() + 86_401)
            store.build("another", vectors, later).close()  # which removes the one without an alias
        assert len(server.made) == 3
        assert len(server.collections) == 2
        found[0].close()
        mine.close()


def test_a_build_that_fails_takes_back_what_it_began(standing_in: Any, kit: Kit) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with standing_in() as server:
        with pytest.raises(KeyboardInterrupt):
            Qdrant(url=server.url).build("name", clustered(1, 10, 4), replace(kit, progress=interrupt))
        assert len(server.made) == 1
        assert server.collections == []


# ------------------------------------------------------------------------------------- full disks


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only an administrator may make a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("kind", ["exact", "hnsw", "qdrant local"])
def test_a_full_disk_is_told_and_keeps_nothing(
    kind: str, tiny_disk: Path, request: pytest.FixtureRequest
) -> None:
    store, kit = made(kind, request), Kit(cache=tiny_disk)
    with pytest.raises(SystemFailure, match=r"(?i)disk is full") as refused:
        store.build("large", clustered(1, 400, 768), kit)
    assert str(tiny_disk) in str(refused.value)
    assert store.open("large", kit) is None
    if kind != "qdrant local":  # which removes what it began with the next build, and needs room to do so
        index = store.build("small", clustered(1, 100, 64), kit)
        assert len(index) == 100
        (kept,) = (path.name for path in (tiny_disk / "indexes").iterdir() if path.is_dir())
        assert kept.startswith(kind)


# ------------------------------------------------------------------------------------------ Qdrant


@pytest.fixture
def standing_in() -> Any:
    """A stand-in by a plan of faults."""
    pytest.importorskip("qdrant_client", reason="the store qdrant needs qdrant-client")
    from stand_ins.openai_server import Faults
    from stand_ins.qdrant_server import QdrantStandIn

    return lambda *kinds, every=0, **options: QdrantStandIn(Faults(kinds, every=every), **options)


@pytest.mark.parametrize("fault", ["429", "429 wait", "500", "503 wait", "closed", "rubbish"])
def test_a_build_outlasts_a_server_that_fails_now_and_then(
    standing_in: Any, kit: Kit, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, queries = clustered(1, 600, 16), clustered(2, 4, 16)
    waits: list[float] = []
    with standing_in(fault, every=3) as server:
        with monkeypatch.context() as patched:
            patched.setattr(time, "sleep", waits.append)
            index = Qdrant(url=server.url, backoff=0.01).build(
                "name", vectors, kit, [{"odd": at % 2} for at in range(600)]
            )
        assert len(server.collections) == 1
        # Half of 0.01 to one and a half of it, by chance; or the second that the server asks for.
        assert len(waits) >= 3
        assert all(wait == 1 if "wait" in fault else 0.005 <= wait <= 0.015 for wait in waits)
        assert len(set(waits)) == (1 if "wait" in fault else len(waits))
        failed = 0
        for _ in range(6):  # a search is for its caller to repeat
            try:
                assert hits(index, queries) == [
                    by_force(vectors, each, 5).positions.tolist() for each in queries
                ]
            except Retryable:
                failed += 1
        assert 1 <= failed <= 3
        index.close()


@pytest.mark.parametrize("fault", ["429", "500", "closed", "rubbish"])
def test_a_server_that_always_fails_is_given_up(standing_in: Any, kit: Kit, fault: str) -> None:
    with standing_in(fault, every=1) as server:
        store = Qdrant(url=server.url, key=SECRET, retries=2, backoff=0)
        with pytest.raises(
            SystemFailure, match=r"attempt 3, the last\. Check that the server runs"
        ) as refused:
            store.build("name", clustered(1, 10, 4), kit)
        assert len(server.calls) == 3
    assert server.url in str(refused.value)
    assert SECRET not in str(refused.value)


def test_an_unreachable_qdrant_is_named(kit: Kit) -> None:
    pytest.importorskip("qdrant_client", reason="the store qdrant needs qdrant-client")
    address = f"127.0.0.1:{unused_port()}"
    store = Qdrant(url=f"http://me:{SECRET}@{address}", key=SECRET, retries=1, backoff=0)
    for attempt in (lambda: store.open("name", kit), lambda: store.build("name", clustered(1, 9, 4), kit)):
        with pytest.raises(SystemFailure, match=f"Qdrant at http://{address}") as refused:
            attempt()
        assert SECRET not in str(refused.value)


def test_a_wrong_key_is_refused_at_once_and_not_repeated(standing_in: Any, kit: Kit) -> None:
    with standing_in(key="right") as server:
        with pytest.raises(SystemFailure, match=r"401.*Check the key") as refused:
            Qdrant(url=server.url, key=SECRET).open("name", kit)
        assert len(server.calls) == 1
        assert Qdrant(url=server.url, key="right\n").open("name", kit) is None  # as a file holds it
    assert SECRET not in str(refused.value)


def test_a_qdrant_that_went_away_can_be_asked_again(standing_in: Any, kit: Kit) -> None:
    with standing_in() as server:
        index = Qdrant(url=server.url).build("name", clustered(1, 10, 4), kit)
    with pytest.raises(Retryable, match="gave no whole answer"):
        index.search(np.ones((1, 4)), 3)


def test_exact_is_asked_for_where_it_is_wanted(standing_in: Any, kit: Kit) -> None:
    with standing_in() as server:
        for exact in (False, True):
            index = Qdrant(url=server.url, exact=exact).build("name", clustered(1, 10, 4), kit)
            index.search(np.ones((1, 4)), 3)
        assert server.exact == [False, True]


def test_a_folder_is_shared_in_a_process_and_refused_to_another(kit: Kit, name: str) -> None:
    pytest.importorskip("qdrant_client", reason="the store qdrant needs qdrant-client")
    vectors = clustered(1, 10, 4)
    first, second = Qdrant().build(name, vectors, kit), Qdrant().build(name + "2", vectors, kit)
    first.close()
    first.close()  # once more does no harm to the other
    assert hits(second, vectors[:1], 1) == [[0]]
    process = begun(Qdrant(), name, vectors, kit)
    said = process.communicate()[1].decode()
    assert "SystemFailure" in said
    assert "in use by another process" in said
    assert "--engine local" in said
    second.close()


# -------------------------------------------------------------------------------------- PostgreSQL


def unused_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def with_password(url: str) -> str:
    return url.replace("postgres:@", f"postgres:{SECRET}@")


def test_an_unreachable_postgres_is_named(kit: Kit) -> None:
    pytest.importorskip("psycopg", reason="the store postgres needs psycopg")
    store = Postgres(f"postgresql://me:{SECRET}@127.0.0.1:{unused_port()}/papers", retries=1, backoff=0)
    for attempt in (lambda: store.open("name", kit), lambda: store.build("name", clustered(1, 9, 4), kit)):
        with pytest.raises(
            SystemFailure, match=r"127\.0\.0\.1, database papers cannot be reached"
        ) as refused:
            attempt()
        assert SECRET not in str(refused.value)
        assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    "url", [f"postgresql://me:{SECRET}@[half", f"no address {SECRET}", f"postgresql://a?{SECRET}=1"]
)
def test_what_is_no_address_is_not_repeated(kit: Kit, url: str) -> None:
    pytest.importorskip("psycopg", reason="the store postgres needs psycopg")
    with pytest.raises(UsageError, match="Write postgresql://") as refused:
        Postgres(url).open("name", kit)
    assert SECRET not in str(refused.value)


def test_a_wrong_password_is_refused_at_once_and_not_told(
    postgres: Server, kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        connection.execute("CREATE ROLE guest LOGIN PASSWORD 'right'")
        rules = Path(connection.execute("SHOW hba_file").fetchone()[0])  # type: ignore[index]
        before = rules.read_text()
        rules.write_text(f"local all guest scram-sha-256\n{before}")
        try:
            connection.execute("SELECT pg_reload_conf()")
            time.sleep(0.2)
            monkeypatch.setattr(time, "sleep", pytest.fail)  # it would be as wrong the next time
            with pytest.raises(SystemFailure, match="password authentication failed") as refused:
                Postgres(postgres.get_uri().replace("postgres:@", f"guest:{SECRET}@")).open("name", kit)
        finally:
            rules.write_text(before)
            connection.execute("SELECT pg_reload_conf()")
    assert SECRET not in str(refused.value)


def test_a_dropped_connection_can_be_tried_again(postgres: Server, kit: Kit, name: str) -> None:
    import psycopg

    vectors = clustered(1, 50, 8)
    index = Postgres(with_password(postgres.get_uri())).build(name, vectors, kit)
    assert hits(index, vectors[:1], 1) == [[0]]
    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        )
    with pytest.raises(Retryable, match="did not answer") as refused:
        index.search(vectors[:1], 1)
    assert SECRET not in str(refused.value)
    assert hits(index, vectors[:1], 1) == [[0]]
    index.close()
    with pytest.raises(UsageError, match="closed"):
        index.search(vectors[:1], 1)


def test_a_build_whose_connection_breaks_begins_again(postgres: Server, kit: Kit, name: str) -> None:
    store, told = Postgres(postgres.get_uri(), backoff=0), []

    def half_way(_: str, done: int, total: int) -> None:
        told.append((done, total))
        if len(told) == 1:
            others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE %s"
            assert asked(store, others, f"COPY%{name}%") == [True]

    vectors = clustered(1, 10_500, 4)
    index = store.build(name, vectors, replace(kit, progress=half_way))
    assert told == [(10_000, 10_500)] * 2
    assert len(index) == 10_500
    index.close()
    told.clear()
    with pytest.raises(SystemFailure, match=r"terminating connection.*attempt 1, the last"):
        replace(store, retries=0).build(name + "2", vectors, replace(kit, progress=half_way))


def test_opening_is_tried_again_before_it_is_given_up(kit: Kit) -> None:
    pytest.importorskip("psycopg", reason="the store postgres needs psycopg")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        met = []

        def hang_up() -> None:
            with suppress(OSError):  # the test is over
                while True:
                    met.append(listening.accept()[0].close())

        threading.Thread(target=hang_up, daemon=True).start()
        address = f"127.0.0.1:{listening.getsockname()[1]}/db?sslmode=disable&gssencmode=disable"
        with pytest.raises(SystemFailure, match=r"cannot be reached.*attempt 3, the last"):
            Postgres(f"postgresql://me@{address}", retries=2, backoff=0).open("name", kit)
        assert len(met) == 3
        listening.shutdown(socket.SHUT_RDWR)


def test_a_server_that_falls_silent_is_not_waited_for(postgres: Server, kit: Kit, name: str) -> None:
    vectors = clustered(1, 20, 4)
    store = Postgres(postgres.get_uri(), timeout=0.2)
    index = store.build(name, vectors, kit)
    assert hits(index, vectors[:1], 1) == [[0]]
    last = "SELECT pid FROM pg_stat_activity WHERE query LIKE %s AND state = 'idle'"
    (stopped,) = asked(store, last, f"%{name}%")
    os.kill(stopped, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        with pytest.raises(Retryable, match=r"did not answer: no answer within 1\.2 s"):
            index.search(vectors[:1], 1)
        assert 1.1 < time.monotonic() - begun < 5
        assert hits(index, vectors[:1], 1) == [[0]]  # by another connection
    finally:
        os.kill(stopped, signal.SIGCONT)
    index.close()


def test_no_connection_is_left_open(postgres: Server, kit: Kit, name: str) -> None:
    import psycopg

    index = Postgres(postgres.get_uri(), index="hnsw").build(name, clustered(1, 50, 8), kit)
    index.search(np.ones((3, 8)), 5)
    index.close()
    with psycopg.connect(postgres.get_uri()) as connection:
        clients = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        for _ in range(50):
            (count,) = connection.execute(clients).fetchone()  # type: ignore[misc]
            if count == 1:  # this one
                return
            connection.rollback()
            time.sleep(0.02)
    assert count == 1


def test_a_search_that_takes_too_long_fails_and_may_be_tried_again(
    postgres: Server, kit: Kit, name: str
) -> None:
    vectors = clustered(1, 3_000, 64)
    Postgres(postgres.get_uri()).build(name, vectors, kit).close()
    index = Postgres(postgres.get_uri(), timeout=0.001).open(name, kit)
    assert index is not None
    with pytest.raises(Retryable, match=r"did not answer within 0\.001 s: canceling statement"):
        index.search(np.repeat(vectors[:50], 20, axis=0), 1_000)
    index.close()


def test_a_table_that_is_gone_is_told(postgres: Server, kit: Kit, name: str) -> None:
    import psycopg

    index = Postgres(postgres.get_uri()).build(name, clustered(1, 50, 8), kit)
    with psycopg.connect(postgres.get_uri()) as connection:
        connection.execute(f'DROP TABLE assay."v-1-none-{name}"')
    with pytest.raises(SystemFailure, match="a search failed: relation"):
        index.search(np.ones((1, 8)), 5)
    index.close()


def test_no_name_makes_one_sort_of_index_pass_for_another(postgres: Server, kit: Kit, name: str) -> None:
    plain, graph = Postgres(postgres.get_uri()), Postgres(postgres.get_uri(), index="hnsw")
    for odd in (f"{name}-hnsw-16-64", f"hnsw-16-64-{name}"):
        plain.build(odd, clustered(1, 5, 4), kit).close()
    assert graph.open(name, kit) is None


def test_what_a_graph_of_pgvector_cannot_take_is_refused(kit: Kit) -> None:
    with pytest.raises(UsageError, match=r"2001 dimensions.*up to 2000 with index=hnsw\. Use index=none"):
        Postgres("postgresql://nobody@nowhere/none", index="hnsw").build("name", np.ones((2, 2001)), kit)


def test_wide_vectors_are_kept_and_found(postgres: Server, kit: Kit, name: str) -> None:
    vectors = clustered(1, 20, 3_000)
    index = Postgres(postgres.get_uri()).build(name, vectors, kit)
    assert hits(index, vectors[4:5], 1) == [[4]]
    index.close()


def test_a_user_who_may_not_make_the_extension_is_told_to_ask(postgres: Server, kit: Kit, name: str) -> None:
    import psycopg

    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE bare")
        connection.execute("CREATE ROLE visitor LOGIN")
    bare = postgres.get_uri().replace("/postgres?", "/bare?")
    with psycopg.connect(bare, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA assay AUTHORIZATION visitor")
    store = Postgres(bare.replace("postgres:@", "visitor@"))
    with pytest.raises(SystemFailure, match=r"bare lacks the extension.*CREATE EXTENSION vector"):
        store.build(name, clustered(1, 5, 4), kit)
    with psycopg.connect(bare, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    index = store.build(name, clustered(1, 5, 4), kit)  # which needs no other right than that to the schema
    assert len(index) == 5
    index.close()
