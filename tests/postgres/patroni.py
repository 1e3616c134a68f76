"""Failover by Patroni: two servers and a third vote, and a memory whose address names both servers.

    python -m tests.postgres.patroni ROUNDS ENVIRONMENT

It installs Patroni from the package index into the environment (by default a temporary one), so
nothing else runs it.
Every round kills the primary together with its Patroni while two processes write. The other server
is promoted and takes the writes; the killed one comes back as its standby.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import psycopg
from tests.inside import log_of
from tests.postgres.forked import Child, opened
from tests.postgres.server import programs, server_user
from tests.postgres.writers import writer, written_ids

PACKAGES: Final = ("patroni[raft]==4.1.5", "psycopg[binary]")
HOST: Final = "127.0.0.1"
PATIENCE_S: Final = 120
_PASSWORD: Final = "sesame"  # noqa: S105  # of a cluster that lives for minutes
_DCS: Final = {
    "ttl": 20,
    "loop_wait": 2,
    "retry_timeout": 5,
    "synchronous_mode": "quorum",
    "synchronous_mode_strict": True,
    "postgresql": {"use_pg_rewind": True},
}
"""As docs/postgres.md advises, with the shortest times that Patroni allows."""


class Member:
    """A member of the cluster: a server and its Patroni, or a vote alone."""

    def __init__(self, folder: Path, scripts: Path, program: str = "patroni") -> None:
        self.folder, self.name = folder, folder.name
        self.port, self.api, self.vote = _free_port(), _free_port(), _free_port()
        self._command = [str(scripts / program), str(folder / "member.json")]
        self._process: subprocess.Popen[Any] | None = None

    def configure(self, members: list[Member]) -> None:
        """Write its settings. Patroni reads YAML, and JSON is YAML."""
        users = {"superuser": "postgres", "replication": "follower", "rewind": "rewinder"}
        settings: dict[str, Any] = {
            "scope": "agents",
            "name": self.name,
            "restapi": _listening(self.api),
            "raft": {
                "data_dir": str(self.folder / "raft"),
                "self_addr": f"{HOST}:{self.vote}",
                "partner_addrs": [f"{HOST}:{each.vote}" for each in members if each is not self],
            },
            "bootstrap": {"dcs": _DCS, "initdb": [{"encoding": "UTF8"}, {"locale": "C"}]},
            "postgresql": {
                **_listening(self.port),
                "data_dir": str(self.folder / "data"),
                "bin_dir": str(programs()),
                "pgpass": str(self.folder / "pgpass"),
                "authentication": {
                    role: {"username": user, "password": _PASSWORD} for role, user in users.items()
                },
                "parameters": {"unix_socket_directories": str(self.folder)},
                "pg_hba": [
                    "local all all trust",
                    f"host all all {HOST}/32 scram-sha-256",
                    f"host replication all {HOST}/32 scram-sha-256",
                ],
            },
        }
        self.folder.mkdir(mode=0o700)
        (self.folder / "member.json").write_text(json.dumps(settings))
        if user := server_user():
            os.chown(self.folder, user["user"], user["group"])

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603  # ours
                self._command, stdout=log, stderr=log, cwd=self.folder, **server_user()
            )

    def kill(self) -> None:
        """Kill its Patroni and every process of its server at once."""
        if self._process is None:
            return
        pids = [self._process.pid]
        with contextlib.suppress(FileNotFoundError):
            server = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
            below = Path(f"/proc/{server}/task/{server}/children").read_text().split()
            pids += [server, *map(int, below)]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def is_primary(self) -> bool:
        """Whether Patroni here says that its server takes writes."""
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self.api}/primary", timeout=5):
                return True
        except OSError:
            return False

    def is_followed(self) -> bool:
        """Whether a commit here waits for a standby that is there."""
        sql = "SELECT 1 FROM pg_stat_replication WHERE sync_state IN ('quorum', 'sync')"
        with contextlib.suppress(psycopg.Error), self.connect() as db:
            return bool(db.execute(sql).fetchall())
        return False

    def connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(
            host=HOST, port=self.port, user="postgres", password=_PASSWORD, autocommit=True
        )


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind((HOST, 0))
        return int(listening.getsockname()[1])


def _listening(port: int) -> dict[str, str]:
    return {"listen": f"{HOST}:{port}", "connect_address": f"{HOST}:{port}"}


def _wait(what: str, holds: Callable[[], bool]) -> float:
    """Wait until something holds; returns the seconds it took."""
    start = time.monotonic()
    while not holds():
        if time.monotonic() > start + PATIENCE_S:
            sys.exit(f"{what}: not within {PATIENCE_S} s")
        time.sleep(0.1)
    return time.monotonic() - start


@contextlib.contextmanager
def cluster(environment: Path | None) -> Iterator[tuple[Member, Member, str]]:
    """Two servers, of which the first is the primary, and the address of a store on both."""
    folder = Path(tempfile.mkdtemp(prefix="memoriter-patroni-"))
    folder.chmod(0o755)
    scripts = (environment or folder / "venv").absolute() / "bin"
    if not (scripts / "patroni").exists():
        venv.create(scripts.parent, with_pip=True)
        subprocess.run([str(scripts / "pip"), "install", "-qq", *PACKAGES], check=True)  # noqa: S603  # ours
    one, two = (Member(folder / name, scripts) for name in ("one", "two"))
    members = [one, two, Member(folder / "vote", scripts, "patroni_raft_controller")]
    for each in members:
        each.configure(members)
    try:
        for each in (one, members[2]):
            each.start()
        _wait("the first primary", one.is_primary)
        two.start()
        _wait("its standby", one.is_followed)
        with one.connect() as db:
            db.execute(f"CREATE ROLE keeper LOGIN PASSWORD '{_PASSWORD}'".encode())
            db.execute("CREATE DATABASE agents OWNER keeper")
        hosts = f"{HOST}:{one.port},{HOST}:{two.port}"
        yield one, two, f"postgresql://keeper:{_PASSWORD}@{hosts}/agents"
    finally:
        for each in members:
            each.kill()
        shutil.rmtree(folder, ignore_errors=True)


def run(rounds: int, environment: Path | None) -> None:
    """Kill primaries in turn; every acknowledged write must be there, once, and in order."""
    dice, acknowledged = random.Random(3), list[str]()
    with cluster(environment) as (one, two, url):
        for n in range(rounds):
            primary, standby = (two, one) if n % 2 else (one, two)
            names = [f"{who}{n}" for who in ("ann", "bob")]
            children = [Child(partial(writer, url, name, 0, 100_000)) for name in names]
            for child in children:
                child.wait_for(dice.randint(20, 60))
            time.sleep(dice.random() / 20)  # somewhere in a commit
            primary.kill()
            start = time.monotonic()
            _wait("the promotion", standby.is_primary)
            took = time.monotonic() - start
            primary.start()  # `synchronous_mode_strict`: until it is back, commits wait for it
            for child in children:
                before = len(child.lines)
                child.wait_for(before + 20)
                assert len(child.lines) >= before + 20, "it goes on at the other server"
            back = time.monotonic() - start
            for child in children:
                child.kill()
                acknowledged += child.lines
            _wait("the killed server as standby", standby.is_followed)
            with opened(url) as memory:
                ids = written_ids(log_of(memory))
            lost = set(acknowledged) - set(ids)
            print(  # noqa: T201  # a script for people
                f"round {n + 1}: {primary.name} killed; {standby.name} was primary after"
                f" {took:.0f} s, took writes with {primary.name} as its standby after {back:.0f} s;"
                f" acknowledged {len(acknowledged)}, lost {len(lost)},"
                f" doubled {len(ids) - len(set(ids))}",
                flush=True,
            )
            assert not lost
            assert len(ids) == len(set(ids))


if __name__ == "__main__":
    count, place = (*sys.argv[1:], *("3", "")[len(sys.argv) - 1 :])
    run(int(count), Path(place) if place else None)
