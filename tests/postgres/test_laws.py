"""The laws that speak of a store, run on PostgreSQL: few examples by day, more at night.

The laws are those of `tests/property`; only the home of their memories differs. The Parity law,
which compares kinds of stores, is in `test_identity`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

import psycopg
import pytest
from tests.night import NIGHT
from tests.postgres.server import server
from tests.property import (
    test_laws_answers,
    test_laws_receipt,
    test_laws_round_trip,
    test_laws_signals,
    test_laws_views,
    worlds,
)
from tests.property.laws import run_law

EXAMPLES: Final = 100 if NIGHT else 4
KEPT: Final = 6
"""So many stores are in use at a time: no example of a law has more than four."""
_EMPTIED: Final = "DELETE FROM memoriter.{}"
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


class Stores:
    """Empty stores on the server. The one that was taken first is emptied and given again."""

    def __init__(self) -> None:
        self._urls = deque(server().database() for _ in range(KEPT))
        self._at: dict[Path, str] = {}
        self.given = 0

    def place(self, place: str | Path) -> str:
        """The store of a path; for `:memory:` one of its own."""
        if isinstance(place, Path) and place in self._at:
            return self._at[place]
        url = self._urls[0]
        self._urls.rotate(-1)
        self._at = {path: taken for path, taken in self._at.items() if taken != url}
        if isinstance(place, Path):
            self._at[place] = url
        if self.given >= KEPT:
            _empty(url)
        self.given += 1
        return url


def _empty(url: str) -> None:
    """Delete every row but the format's; as superuser, since row-level security binds others."""
    with psycopg.connect(url, user="postgres") as db:
        names = db.execute("SELECT tablename FROM pg_tables WHERE schemaname='memoriter'")
        for (name,) in names.fetchall():
            if name != "format":
                db.execute(_EMPTIED.format(name).encode())


@pytest.fixture(scope="module")
def stores() -> Stores:
    return Stores()


@pytest.fixture(autouse=True)
def _on_postgres(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worlds, "home", stores.place)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law: Callable[..., None], stores: Stores) -> None:
    before = stores.given
    run_law(law.__name__, EXAMPLES)
    assert stores.given >= before + EXAMPLES, "its memories are on the server"


@pytest.mark.parametrize("law", VIEWS, ids=lambda law: law.__name__)
def test_view(law: Callable[[Path], None], tmp_path: Path) -> None:
    law(tmp_path)


def test_receipt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_laws_receipt, "COUNT", 10 * test_laws_receipt.PARTS)
    test_laws_receipt.test_receipt(1)
