"""Tests of memories and claims of the five systems, a slice of them, run on PostgreSQL.

The tests are those of `tests/unit` and `tests/claims`; only the fixture `memory` differs. At night
all claims are run that ask for nothing else. The Parity law is in `test_identity`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

import tests.claims
from tests.claims import test_comis_time, test_engrava_graph, test_mentisdb_graph
from tests.night import NIGHT
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
    *(
        importlib.import_module(f"tests.claims.{each.name}")
        for each in pkgutil.iter_modules(tests.claims.__path__)
        if each.name.startswith("test_") and NIGHT
    ),
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
