"""The defects that a hostile report found, each looked for as the report did.

`python -m bench defects` prints their figures; docs/resiliency.md has them beside those of the
version before, on which every one of these tests fails.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.defects import PROBES
from bench.defects_served import SERVED

TIMED = {"D12 close waits for upkeep"}
"""Seen by the clock alone; tests/unit/test_forgetting.py has tests of its steps."""
CASES = {name: probe for name, probe in {**PROBES, **SERVED}.items() if name not in TIMED}


@pytest.mark.parametrize("name", CASES)
def test_a_defect_of_the_report_is_gone(name: str, tmp_path: Path) -> None:
    finding = CASES[name](tmp_path)
    if finding is None:
        pytest.skip("NO SMALL DISK: a tmpfs cannot be mounted here")
    assert not finding.there, finding.figure


def test_every_defect_of_the_report_is_looked_for() -> None:
    numbers = sorted(int(name.partition(" ")[0][1:]) for name in {**PROBES, **SERVED})
    assert numbers == list(range(1, 17))
