"""The kill loop as a process of its own (`kills.py`), and what it counted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.crash import lab

LIMIT_S = 900


def killed(folder: Path, seed: str, kills: int, steps: int, how: str, **more: Any) -> Counter[str]:
    """What a kill loop found; it fails when a promise was broken."""
    output = lab.run(
        "kills", folder / "store", f"{lab.SEED}/{seed}", kills, steps, how,
        limit=LIMIT_S, MEMORITER_CHECKPOINT=40, OPENBLAS_NUM_THREADS=1, **more,
    )  # fmt: skip
    return Counter(json.loads(output))
