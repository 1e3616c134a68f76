"""How good is it? `memoriter eval` on the public sets, where they are (row 28).

The sets are looked for where MEMORITER_DATA says.
"""

from __future__ import annotations

import os
from pathlib import Path

from bench.tools import Options
from memoriter.evaluate.command import EvalData, run_eval


def run(options: Options) -> None:
    folder = os.environ.get("MEMORITER_DATA")
    if not folder or not (place := Path(folder)).exists():
        print("no data here: MEMORITER_DATA names a folder with locomo/, scifact/, everyday/ …")
        return
    named = [place / name for name in ("locomo", "longmemeval", "scifact", "everyday")]
    for each in named[:1] if options.small else named:
        if each.exists():
            run_eval(EvalData(each, 100 if options.small else None), [], json_out=False)
            print()
