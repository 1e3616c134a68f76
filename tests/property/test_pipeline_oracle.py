"""Any recipe, in any small world, answers as the oracle does."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.pipelines import (
    MODE,
    Data,
    World,
    asks,
    known,
    listings,
    lived,
    pipelines,
    questions,
    worlds,
)
from tests.property.strategies import EXAMPLES
from tests.property.worlds import asked, expected, open_toy

from memoriter.testing.fakes import HandClock, ToyReranker


@settings(max_examples=5 * EXAMPLES)
@given(
    worlds, pipelines(), questions, asks(), st.none() | listings,
    st.sampled_from(["plain", MODE, "failing"]),
)  # fmt: skip
def test_any_recipe_answers_as_the_oracle_does(
    world: World, recipe: Data, text: str, ask: Data, lists: Data | None, how: str
) -> None:
    clock, toy = HandClock(), ToyReranker()
    memory = lived(open_toy(clock=clock, reranker=toy), clock, world)
    toy.failing = how == "failing"
    ask |= {"lists": known(memory, lists or {}), "mode": MODE if how == MODE else None}
    assert asked(memory, text, recipe, **ask) == expected(memory, text, recipe, **ask)
