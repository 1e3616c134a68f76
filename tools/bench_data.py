"""Where the benchmark data lies: the one place that tests and `bench` ask.

`MEMORITER_DATA` names its folder; without it, that is `shared/data` beside the project.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

VARIABLE: Final = "MEMORITER_DATA"
BESIDE: Final = Path(__file__).resolve().parents[2] / "shared" / "data"
MISSING: Final = f"no data here: {VARIABLE} names no folder with it, and there is no ../shared/data"


def bench_data(name: str = "") -> Path | None:
    """The folder of the data, or the one of that name in it; None if it does not exist."""
    folder = os.environ.get(VARIABLE)
    place = (Path(folder) if folder else BESIDE) / name
    return place if place.is_dir() else None
