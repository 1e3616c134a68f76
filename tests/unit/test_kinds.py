"""Every kind of lane, boost and ordering is known to the engine, the verifier and the oracle."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from tests.oracle import kinds as oracle

from memoriter.pipeline.kinds import kind_of, kinds
from memoriter.why.verify import kinds as verifier

OTHERS: dict[str, tuple[Collection[str], Collection[str]]] = {
    "lanes": (verifier.lane_rules(), oracle.lanes()),
    "boosts": (verifier.boost_rules(), oracle.boosts()),
    "orderings": (verifier.ordering_rules(), oracle.orderings()),
}


@pytest.mark.parametrize("group", OTHERS)
def test_engine_verifier_and_oracle_know_the_same_kinds(group: str) -> None:
    ours = {kind_of(each) for each in kinds(group)}
    assert ours == set(OTHERS[group][0]) == set(OTHERS[group][1])
