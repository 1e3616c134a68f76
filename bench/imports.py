"""CPU milliseconds of a start: `import memoriter`, and commands in a fresh process.

`import memoriter` loads nothing heavy; what the first use then loads is measured beside it. The
commands ask a store of 10,000 records whose index is published. `hooks recall` is what a coding
agent runs before each reply. All are run in turns; `import numpy`, which every search needs, says
how busy the machine is.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

import memoriter
from bench.tools import Corpus, Options, folder, table

BARE = "python -c pass"
NUMPY = "import numpy"
CODE = {
    BARE: "pass",
    NUMPY: "import numpy",
    "import pydantic": "import pydantic",
    "import memoriter": "import memoriter",
    "… and open a memory": "import memoriter; memoriter.open()",
    "… and recall once": (
        "import memoriter; m = memoriter.open(); m.remember('the port is 22'); m.recall('port')"
    ),
}
COMMANDS = {
    "memoriter --help": ["--help"],
    "memoriter recall": ["recall", "which port for ssh?"],
    "memoriter hooks recall": ["hooks", "recall"],
}


def run(options: Options) -> None:
    rounds, records = (3, 1_000) if options.small else (9, 10_000)
    own = str(Path(sys.executable).with_name("memoriter"))
    calls = {label: [sys.executable, "-c", code] for label, code in CODE.items()}
    calls |= {label: [own, *words] for label, words in COMMANDS.items()}
    spent: dict[str, list[float]] = {label: [] for label in calls}
    with folder() as place:
        with memoriter.open(place / "memoriter.db") as memory:
            memory.remember_many(Corpus().records(records))
            memory.maintain()
        for _ in range(rounds + 1):
            for label, call in calls.items():
                spent[label].append(_cpu(call, place))
    middle = {label: statistics.median(times[1:]) for label, times in spent.items()}
    rows = [
        (label, f"{ms:.0f}", f"{ms - middle[BARE]:.0f}", f"{min(spent[label]):.0f}",
         f"{ms / middle[NUMPY]:.1f}")
        for label, ms in middle.items()
    ]  # fmt: skip
    heads = ["CPU ms", "over bare", "least", "times `import numpy`"]
    table([f"median of {rounds}, commands over {records:,} records", *heads], rows)


def _cpu(call: list[str], place: Path) -> float:
    """CPU milliseconds of a process; modules that were compiled once are kept, as users have it."""
    environ = {key: each for key, each in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603  # our own interpreter and command
        call, check=True, cwd=place, env=environ, input="which port for ssh?", encoding="utf-8",
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
