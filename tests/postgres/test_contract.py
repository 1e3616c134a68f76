"""The store on PostgreSQL keeps the contract of every store, on a real server."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.postgres.server import emptied_stores, server, store_url

from memoriter.core.errors import Corrupt
from memoriter.store.port import Log
from memoriter.store.postgres.segments import CHUNK, PostgresSegments
from memoriter.store.postgres.store import Postgres
from memoriter.store.segments import Segments, owned_prefix
from memoriter.testing.acts import batch, put
from memoriter.testing.contract import StoreContract
from memoriter.testing.segment_contract import SegmentsContract


def postgres(folder: Path) -> Log:
    return Postgres(emptied_stores().place(folder))


def segments(folder: Path) -> Segments:
    log = Postgres(emptied_stores().place(folder))
    return PostgresSegments(log.sessions, folder / "cache")


class TestPostgres(StoreContract):
    store = staticmethod(postgres)
    reopen = staticmethod(postgres)


class TestPostgresSegments(SegmentsContract):
    home = staticmethod(segments)


def test_a_large_segment_of_odd_parts_comes_back_whole(tmp_path: Path) -> None:
    log = Postgres(store_url(tmp_path))
    home = PostgresSegments(log.sessions, tmp_path / "cache", limit=3 * CHUNK)
    parts = [b"a" * 7, b"", b"b" * (CHUNK - 7), b"c" * (2 * CHUNK + 1), b"d" * 3]
    names = [f"{owned_prefix('t')}-0-{n}-aa.seg" for n in range(3)]
    for name in names:
        home.put("t", name, iter(parts))
        assert bytes(home.open("t", name)) == b"".join(parts)
    assert [path.name for path in home.cache.iterdir()] == [names[-1]], "the cache is bounded"
    assert bytes(home.open("t", names[0])) == b"".join(parts), "what was dropped is loaded again"
    (home.cache / names[0]).write_bytes(b"half")
    assert bytes(home.open("t", names[0])) == b"".join(parts), "what is cut short too"
    PostgresSegments(log.sessions, tmp_path / "other").drop("t", [names[0]])
    assert list(home.list("t")) == names[1:]
    assert not (home.cache / names[0]).exists(), "what others dropped leaves this machine too"
    log.close()


def test_rows_that_contradict_a_write_are_damage_and_other_tenants_go_on(tmp_path: Path) -> None:
    url = store_url(tmp_path)
    log = Postgres(url)
    log.commit(batch(put("a")))
    with server().connect(url.partition("@/")[2].partition("?")[0]) as db:
        db.execute("INSERT INTO memoriter.mentions VALUES ('default', 2, 9, 'x', '')")
        db.execute("INSERT INTO memoriter.words VALUES ('default', 2, 'words/1', '', '')")
    with pytest.raises(Corrupt, match="is damaged at tenant 'default'"):
        log.commit(batch(put("b")))
    assert log.commit(batch(put("b"), tenant="other")).seq == 1
    with server().connect(url.partition("@/")[2].partition("?")[0]) as db:
        db.execute("UPDATE memoriter.heads SET seq=7 WHERE tenant='default'")
    for act in (lambda: log.head("default"), lambda: log.commit(batch(put("c")))):
        with pytest.raises(Corrupt):
            act()
    log.close()
