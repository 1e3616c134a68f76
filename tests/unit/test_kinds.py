"""Every kind of lane, boost and ordering is known to the engine, the verifier and the oracle."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from tests.oracle import kinds as oracle

from memoriter.lanes.spec import options_of
from memoriter.pipeline.kinds import kinds
from memoriter.why.verify import kinds as verifier

OTHERS: dict[str, tuple[Collection[str], Collection[str]]] = {
    "lanes": (verifier.lane_rules(), oracle.lanes()),
    "boosts": (verifier.boost_rules(), oracle.boosts()),
    "orderings": (verifier.ordering_rules(), oracle.orderings()),
}


@pytest.mark.parametrize("group", OTHERS)
def test_engine_verifier_and_oracle_know_the_same_kinds(group: str) -> None:
    ours = {each.kind_name() for each in kinds(group)}
    assert ours == set(OTHERS[group][0]) == set(OTHERS[group][1])


@pytest.mark.parametrize("group", OTHERS)
def test_a_kind_has_a_file_of_its_name_and_every_option_a_meaning(group: str) -> None:
    for each in kinds(group):
        assert each.__module__.rpartition(".")[2] == each.kind_name()
        assert each.about
        assert all(field.description for field in options_of(each).values()), each
