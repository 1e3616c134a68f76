"""Make one environment for each host of an adapter, and run its tests and type check there.

`make hosts` calls it. The packages are pinned here and not in constraints.txt: they are large, and
nothing of ours needs them. Each environment is `.venv-host-NAME`; it is made once. A table at the
end says what passed, what failed and what could not be installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
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


class NotInstalled(Exception):
    """A host that cannot be installed here, and why."""


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201  # a script for people


def _run(*words: str, **environ: str) -> bool:
    """Whether a command succeeds."""
    _print(f"$ {' '.join(words)}")
    done = subprocess.run(words, cwd=ROOT, check=False, env={**os.environ, **environ})  # noqa: S603  # of this file
    return done.returncode == 0


def _environment(name: str) -> str:
    """The Python of a host's environment, which is made if it is not there."""
    place = ROOT / f".venv-host-{name}"
    python, ready = str(place / "bin" / "python"), place / "ready"
    wanted = "\n".join(HOSTS[name])
    if not ready.exists() or ready.read_text() != wanted:
        install = (python, "-m", "pip", "install", "-qq", "--disable-pip-version-check")
        steps = (
            (sys.executable, "-m", "venv", "--clear", str(place)),
            (*install, "pytest", *HOSTS[name]),
            (*install, "-e", "."),
        )
        if not all(_run(*words) for words in steps):
            raise NotInstalled(f"{', '.join(HOSTS[name])} cannot be installed with pip")
        ready.write_text(wanted)
    return python


def _test_adapter(name: str) -> bool:
    """Run the tests of an adapter beside its host, and check its types; whether both pass."""
    python = _environment(name)
    tests = ("-m", "pytest", "-q", "-c", "tests/hosts/hosts.ini", f"tests/hosts/test_{name}.py")
    steps = os.environ.get("MEMORITER_HOST_STEPS", _STEPS)
    passed = _run(python, *tests, MEMORITER_HOST_STEPS=steps)
    sources = [str(path) for path in (ROOT / "src/memoriter/integrations").glob(f"{name}*.py")]
    typed = _run(sys.executable, "-m", "pyright", "--pythonpath", python, *sorted(sources))
    return passed and typed


def _test_programs(name: str) -> bool:
    """Install the programs where they are not, and run their tests; whether these pass."""
    place = ROOT / f".venv-host-{name}"
    claude = place / "node_modules" / "@anthropic-ai" / "claude-code"
    ready, wanted = place / "ready", "\n".join(PROGRAMS)
    if shutil.which("npm") is None:
        raise NotInstalled("the programs need npm, which is not installed")
    if not ready.exists() or ready.read_text() != wanted:
        words = ("npm", "install", "--no-audit", "--no-fund", "--prefix", str(place), *PROGRAMS)
        if not _run(*words) or not _run("node", str(claude / "install.cjs")):
            raise NotInstalled(f"{', '.join(PROGRAMS)} cannot be installed with npm")
        ready.write_text(wanted)
    tests = ("-m", "pytest", "-q", "-rs", "tests/hosts/test_programs.py")
    return _run(sys.executable, *tests, "tests/hosts/test_plugins.py")


def main(names: list[str]) -> int:
    """Test the named hosts, else all; 1 if one failed or could not be installed."""
    runs: dict[str, Callable[[str], bool]] = dict.fromkeys(sorted(HOSTS), _test_adapter)
    runs["programs"] = _test_programs
    if unknown := set(names) - set(runs):
        _print(f"no host is called {min(unknown)!r}; known: {', '.join(runs)}")
        return 2
    lines: list[tuple[bool, str]] = []
    for name in names or runs:
        start = time.monotonic()
        try:
            passed = runs[name](name)
            outcome = "passed" if passed else "FAILED"
        except NotInstalled as missing:
            passed, outcome = False, f"NOT RUN: {missing}"
        lines.append((passed, f"{name:12}{time.monotonic() - start:6.0f} s  {outcome}"))
    for _, line in lines:
        _print(line)
    return int(not all(passed for passed, _ in lines))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
