"""How good is it? `memoriter eval` on the public sets, where they are (row 28).

The sets are looked for where MEMORITER_DATA says.
"""

from __future__ import annotations

import os
from pathlib import Path

from bench.tools import Options
from memoriter.evaluate.command import run_eval


def run(options: Options) -> None:
    folder = os.environ.get("MEMORITER_DATA")
    if not folder or not (place := Path(folder)).exists():
        print("no data here: set MEMORITER_DATA to a folder with locomo/, longmemeval/, scifact/")
        return
    named = [place / name for name in ("locomo", "longmemeval", "scifact")]
    for each in named[:1] if options.small else named:
        if each.exists():
            run_eval(each, [], 100 if options.small else None, json_out=False)
            print()
