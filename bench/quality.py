"""How good is it? `recollect eval` on the public sets, where they are (row 28).

The sets are looked for where RECOLLECT_DATA says, and beside the project otherwise.
"""

from __future__ import annotations

import os
from pathlib import Path

from bench.tools import Options
from recollect.evaluate.command import run_eval

BESIDE = Path("../shared/data")


def run(options: Options) -> None:
    place = Path(os.environ.get("RECOLLECT_DATA") or BESIDE)
    if not place.exists():
        print("no data here: set RECOLLECT_DATA to a folder with locomo/, longmemeval/, scifact/")
        return
    named = [place / name for name in ("locomo", "longmemeval", "scifact")]
    for each in named[:1] if options.small else named:
        if each.exists():
            run_eval(each, [], 100 if options.small else None, json_out=False)
            print()
