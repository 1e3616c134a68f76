"""Programs of coding agents: where they are, and a call of one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PLACES = os.pathsep.join([str(ROOT / ".venv-host-programs/node_modules/.bin"), os.environ["PATH"]])

SECONDS = 240


def program(name: str) -> str:
    place = shutil.which(name, path=PLACES)
    if place is None:
        pytest.skip(f"{name} is not installed; `make hosts ARGS=programs` runs this")
    return place


def call(*words: str, stdin: str = "", errors: bool = False, **environ: str) -> str:
    done = subprocess.run(  # noqa: S603  # the programs under test
        words, input=stdin, capture_output=True, encoding="utf-8", timeout=SECONDS,
        env={**os.environ, **environ}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + (done.stderr if errors else "")
