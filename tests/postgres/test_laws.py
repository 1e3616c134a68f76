"""The laws that speak of a store, run on PostgreSQL: few examples by day, more at night.

The laws are those of `tests/property`; only the home of their memories differs. The Parity law,
which compares kinds of stores, is in `test_identity`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from tests.night import NIGHT
from tests.postgres.server import emptied_stores
from tests.property import (
    test_laws_answers,
    test_laws_receipt,
    test_laws_round_trip,
    test_laws_signals,
    test_laws_views,
    worlds,
)
from tests.property.laws import run_law

EXAMPLES: Final = 100 if NIGHT else 2
LAWS: Final[tuple[Callable[..., None], ...]] = (
    test_laws_answers.test_determinism,
    test_laws_answers.test_reconciliation,
    test_laws_answers.test_prefix,
    test_laws_answers.test_filter,
    test_laws_signals.test_lane_order,
    test_laws_signals.test_silence,
    test_laws_signals.test_pool,
    test_laws_round_trip.test_round_trip_of_a_store,
    test_laws_views.test_isolation,
    test_laws_views.test_snapshot,
    test_laws_views.test_rebuild,
)
VIEWS: Final[tuple[Callable[[Path], None], ...]] = (
    test_laws_views.test_a_view_behind_the_horizon_is_refused_and_the_present_stays,
    test_laws_views.test_a_view_whose_only_vectors_were_forgotten_has_none,
    test_laws_views.test_an_end_is_remembered_through_every_merge,
    test_laws_views.test_what_a_forgotten_record_had_replaced_comes_back,
    test_laws_views.test_a_late_vector_of_a_published_record_is_published_too,
)


@pytest.fixture(autouse=True)
def _on_postgres(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "home", emptied_stores().place)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law: Callable[..., None]) -> None:
    before = emptied_stores().given
    run_law(law.__name__, EXAMPLES)
    assert emptied_stores().given >= before + EXAMPLES, "its memories are on the server"


@pytest.mark.parametrize("law", VIEWS, ids=lambda law: law.__name__)
def test_view(law: Callable[[Path], None], tmp_path: Path) -> None:
    law(tmp_path)


def test_receipt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_laws_receipt, "COUNT", 5 * test_laws_receipt.PARTS)
    test_laws_receipt.test_receipt(1)
