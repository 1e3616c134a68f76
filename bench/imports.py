"""CPU milliseconds of `import memoriter` in a fresh process (row 6: at most 150, goal 80).

`import memoriter` loads nothing heavy; what the first use then loads is measured beside it.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

from bench.tools import Options, table

BARE = "python -c pass"
COMMANDS = {
    BARE: "pass",
    "import numpy": "import numpy",
    "import pydantic": "import pydantic",
    "import memoriter": "import memoriter",
    "… and open a memory": "import memoriter; memoriter.open()",
    "… and recall once": (
        "import memoriter; m = memoriter.open(); m.remember('the port is 22'); m.recall('port')"
    ),
}


def run(options: Options) -> None:
    rounds = 3 if options.small else 9
    spent: dict[str, list[float]] = {label: [] for label in COMMANDS}
    for _ in range(rounds + 1):
        for label, code in COMMANDS.items():
            spent[label].append(_cpu(code))
    middle = {label: statistics.median(times[1:]) for label, times in spent.items()}
    rows = [
        (label, f"{ms:.0f}", f"{ms - middle[BARE]:.0f}", f"{min(spent[label]):.0f}")
        for label, ms in middle.items()
    ]
    table([f"median of {rounds}", "CPU ms", "over bare", "least"], rows)


def _cpu(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603  # our own interpreter
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
