"""Make one environment for each host of an adapter, and run its tests and type check there.

`make hosts` calls it. The packages are pinned here and not in constraints.txt: they are large, and
nothing of ours needs them. Each environment is `.venv-host-NAME`; it is made once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
HOSTS: Final = {
    "anthropic": ("anthropic==2.8.0",),
    "langchain": ("langchain-core==1.7.2", "langchain-tests==1.1.9"),
    "langgraph": ("langgraph==1.2.20",),
    "mem0": ("mem0ai==2.2.1",),
}
PROGRAMS: Final = (
    "@anthropic-ai/claude-code@2.1.197",
    "@openai/codex@0.169.0",
    "@google/gemini-cli@0.61.0",
    "@anthropic-ai/mcpb@2.1.2",
)
"""Coding agents, and the validator of bundles; from npm, into `.venv-host-programs`."""
_STEPS: Final = "500"
"""Of each comparison; MEMORITER_HOST_STEPS=10000 has more."""


def _run(*words: str, **environ: str) -> int:
    print("$", " ".join(words), flush=True)  # noqa: T201  # a script for people
    return subprocess.run(words, cwd=ROOT, check=False, env={**os.environ, **environ}).returncode  # noqa: S603  # of this file


def _environment(name: str) -> Path:
    """The Python of a host's environment, which is made if it is not there."""
    place = ROOT / f".venv-host-{name}"
    python, ready = place / "bin" / "python", place / "ready"
    wanted = "\n".join(HOSTS[name])
    if not ready.exists() or ready.read_text() != wanted:
        steps = (
            (sys.executable, "-m", "venv", "--clear", str(place)),
            (str(python), "-m", "pip", "install", "-q", "pytest", *HOSTS[name]),
            (str(python), "-m", "pip", "install", "-q", "-e", "."),
        )
        if any(_run(*words) for words in steps):
            raise SystemExit(f"the environment of {name} cannot be made")
        ready.write_text(wanted)
    return python


def _programs() -> int:
    """Install the programs where they are not, and run their tests; 1 if these fail."""
    place = ROOT / ".venv-host-programs"
    claude = place / "node_modules" / "@anthropic-ai" / "claude-code"
    if shutil.which("npm") is None:
        print("the tests of real programs are skipped: npm is not installed")  # noqa: T201  # as above
        return 0
    if not claude.exists():
        failed = _run(
            "npm", "install", "--no-audit", "--no-fund", "--prefix", str(place), *PROGRAMS
        )
        if failed or _run("node", str(claude / "install.cjs")):
            raise SystemExit("the programs cannot be installed")
    tests = ("-m", "pytest", "-q", "tests/hosts/test_programs.py", "tests/hosts/test_plugins.py")
    return int(_run(sys.executable, *tests) != 0)


def main(names: list[str]) -> int:
    """Test the named hosts, else all; returns how many failed."""
    failed = 0
    wanted = names or [*sorted(HOSTS), "programs"]
    failed += _programs() if "programs" in wanted else 0
    for name in [each for each in wanted if each != "programs"]:
        python = str(_environment(name))
        tests = (
            "-m",
            "pytest",
            "-q",
            "-c",
            "tests/hosts/hosts.ini",
            f"tests/hosts/test_{name}.py",
        )
        steps = os.environ.get("MEMORITER_HOST_STEPS", _STEPS)
        failed += _run(python, *tests, MEMORITER_HOST_STEPS=steps) != 0
        checked = f"src/memoriter/integrations/{name}.py"
        failed += _run(sys.executable, "-m", "pyright", "--pythonpath", python, checked) != 0
    return failed


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
