"""How good is it? `memoriter eval` on the public sets, where they are (row 28).

`tools/bench_data.py` says where they are.
"""

from __future__ import annotations

from tools.bench_data import MISSING, bench_data

from bench.tools import Options
from memoriter.evaluate.command import EvalData, run_eval


def run(options: Options) -> None:
    if (place := bench_data()) is None:
        print(MISSING)
        return
    named = [place / name for name in ("locomo", "longmemeval", "scifact", "everyday")]
    for each in named[:1] if options.small else named:
        if each.exists():
            run_eval(EvalData(each, 100 if options.small else None), [], json_out=False)
            print()
