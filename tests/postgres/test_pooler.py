"""Behind PgBouncer in transaction mode any backend may get the next transaction of a process."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.inside import log_of
from tests.postgres.forked import opened
from tests.postgres.server import server
from tests.postgres.writers import written_ids

import memoriter
from memoriter.doors.tokens import Tokens

_CONFIG = """
[databases]
{name} = host={server} dbname={name} user=keeper
[pgbouncer]
listen_addr =
unix_socket_dir = {folder}
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 2
"""


@pytest.fixture
def pooled(url: str) -> Iterator[str]:
    """The address of an empty store, through a pooler with two backends."""
    program = shutil.which("pgbouncer")
    if program is None:
        pytest.skip("install PgBouncer first: apt-get install pgbouncer")
    folder = Path(tempfile.mkdtemp(prefix="memoriter-pool-"))
    name = url.partition("@/")[2].partition("?")[0]
    config = folder / "pool.ini"
    config.write_text(_CONFIG.format(name=name, server=server().folder, folder=folder))
    user: dict[str, Any] = {}
    if os.geteuid() == 0:  # it refuses to run as root
        user = {"user": 65534, "group": 65534, "extra_groups": []}
        os.chown(folder, 65534, 65534)
    run = subprocess.Popen([program, str(config)], stderr=subprocess.DEVNULL, **user)  # noqa: S603  # ours
    until = time.monotonic() + 60
    while not (folder / ".s.PGSQL.6432").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    yield f"postgresql://keeper@/{name}?host={folder}&port=6432"
    run.terminate()
    run.wait()
    shutil.rmtree(folder)


def test_two_memories_share_backends_and_see_only_their_own_tenant(pooled: str) -> None:
    address = f"{pooled}&prepare=off"
    options: dict[str, Any] = {"embedder": None, "maintenance": "manual", "flush_rows": 5}
    with (
        memoriter.open(address, "ann", **options) as ann,
        memoriter.open(address, "bob", **options) as bob,
    ):
        for n in range(12):
            ann.remember(f"port {n}", id=f"a{n}")
            bob.remember(f"port {n}", id=f"b{n}")
            assert {hit.id[0] for hit in ann.recall("port")} == {"a"}
            assert {hit.id[0] for hit in bob.recall("port")} == {"b"}
        ann.maintain()
        ann.forget("a3", now=True)
        assert (ann.count(), bob.count()) == (11, 12)
        assert ann.verify_store().sound


def write_often(address: str) -> None:
    for _ in range(4):
        with opened(address) as memory:
            for n in range(8):
                memory.remember(f"port {n}")
                memory.recall("port")


def test_a_pooler_without_prepared_statements_is_named_as_the_cause(pooled: str) -> None:
    program = str(shutil.which("pgbouncer"))
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)  # noqa: S603  # of the system
    if " 1.2" in version.stdout:
        pytest.skip("this PgBouncer knows prepared statements")
    with opened(pooled) as memory, psycopg.connect(pooled, autocommit=True) as other:
        memory.remember("port 1")
        other.execute("BEGIN")  # takes the backend on which statements were prepared
        with pytest.raises(memoriter.Unsupported, match="mixes up statements") as raised:
            memory.remember("port 2")
    assert "prepare=off" in raised.value.hint
    write_often(f"{pooled}&prepare=off")
    tokens = Tokens.for_store(f"{pooled}&prepare=off")
    text, made = tokens.create("acme", "write")
    assert tokens.find(text) == made
    with opened(f"{pooled}&prepare=off") as memory:
        written_ids(log_of(memory))
