"""A server as people start it: a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

import memoriter

SRC = Path(memoriter.__file__).parents[1]


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MEMORITER_", "COLUMNS"))}
    own = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "PYTHONPATH": str(SRC)}
    return {**kept, **own, "PYTHONIOENCODING": "utf-8", **more}


@dataclass
class Started:
    """A server in a process, and the admin token of its first start."""

    process: subprocess.Popen[str]
    url: str
    token: str | None

    def client(self, token: str | None = None, timeout: float = 120) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token or self.token}"}
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=100)
        return httpx.Client(base_url=self.url, headers=headers, timeout=timeout, limits=limits)

    def stop(self, how: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(120)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        return code


@contextmanager
def started(home: Path, *args: str) -> Iterator[Started]:
    process = subprocess.Popen(  # noqa: S603  # our own program
        [sys.executable, "-m", "memoriter", "serve", "--port", "0", "--json", *args],
        cwd=home, env=environment(home), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    lines: list[str] = []
    while not lines or lines[-1] != "}\n":
        line = process.stdout.readline()
        assert line, process.stderr and process.stderr.read()
        lines.append(line)
    first = json.loads("".join(lines))
    made = Started(process, first["url"], first["token"])
    try:
        yield made
    finally:
        made.stop(signal.SIGKILL)
