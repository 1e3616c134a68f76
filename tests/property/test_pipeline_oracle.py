"""Any recipe, in any small world, answers as the oracle does."""

from __future__ import annotations

from hypothesis import given, settings
from tests.property.pipelines import Data, World, asks, lived, pipelines, questions, worlds
from tests.property.strategies import EXAMPLES
from tests.property.worlds import asked, expected, open_toy

from recollect.testing.fakes import HandClock


@settings(max_examples=5 * EXAMPLES)
@given(worlds, pipelines(), questions, asks())
def test_any_recipe_answers_as_the_oracle_does(
    world: World, recipe: Data, text: str, ask: Data
) -> None:
    clock = HandClock()
    memory = lived(open_toy(clock=clock), clock, world)
    assert asked(memory, text, recipe, **ask) == expected(memory, text, recipe, **ask)
