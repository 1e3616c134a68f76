"""Tests of memories and claims of the five systems, a slice of them, run on PostgreSQL.

The tests are those of `tests/unit` and `tests/claims`; only the fixture `memory` differs.
"""

from __future__ import annotations

import inspect
from types import ModuleType

from tests.claims import test_comis_time, test_engrava_graph, test_mentisdb_graph
from tests.unit import (
    test_bad_input,
    test_idempotency,
    test_memory,
    test_replay,
    test_superseded,
)

_OURS = {"memory", "clock", "tmp_path"}
_MODULES: tuple[ModuleType, ...] = (
    test_bad_input,
    test_comis_time,
    test_engrava_graph,
    test_memory,
    test_mentisdb_graph,
    test_replay,
    test_idempotency,
    test_superseded,
)
_taken = {
    f"{name}__{module.__name__.rpartition('.')[2]}": test
    for module in _MODULES
    for name, test in vars(module).items()
    if name.startswith("test_") and "memory" in (asks := set(inspect.signature(test).parameters))
    if asks <= _OURS
}
globals().update(_taken)


def test_the_slice_is_not_empty() -> None:
    assert len(_taken) > 30
