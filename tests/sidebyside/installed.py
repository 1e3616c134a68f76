"""The other programs in an environment of their own, and what they answer there."""

from __future__ import annotations

import json
import os
import subprocess
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from tests.sidebyside.programs import PROGRAMS

OPT_IN: Final = "MEMORITER_SIDEBYSIDE"
_HERE: Final = Path(__file__).parent


def install(place: Path) -> Path:
    """An interpreter that has the programs, below `place` or where MEMORITER_SIDEBYSIDE_VENV says.

    Raises OSError with pip's reason if they cannot be installed.
    """
    kept = os.environ.get(f"{OPT_IN}_VENV")
    folder = Path(kept) if kept else place
    program = folder / "bin" / "python"
    if not program.exists():
        venv.create(folder, with_pip=True)
    packages = [each.package for each in PROGRAMS.values() if each.package is not None]
    call = [str(program), "-m", "pip", "install", "-q", *packages]
    done = subprocess.run(call, check=False, timeout=600, capture_output=True, text=True)  # noqa: S603  # as pinned
    if done.returncode:
        reason = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise OSError(" ".join(reason[:1]) or f"pip ended with {done.returncode}")
    return program


def theirs(python: Path, name: str, asked: Sequence[Mapping[str, Any]]) -> list[Any]:
    """What the other program answers to every case; RuntimeError with its last words if not all."""
    script = str(_HERE / f"their_{name}.py")
    lines = "".join(json.dumps(case) + "\n" for case in asked)
    call = [str(python), script]
    done = subprocess.run(  # noqa: S603  # our own script
        call, input=lines, text=True, capture_output=True, check=False, timeout=7200
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(asked):
        raise RuntimeError(f"{name} answered {len(answers)} of {len(asked)}: {done.stderr[-2000:]}")
    return answers


asked_for = pytest.mark.skipif(OPT_IN not in os.environ, reason=f"{OPT_IN}=1 installs the others")
