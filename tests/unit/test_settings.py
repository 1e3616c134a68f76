"""Settings of another system as a recipe, and recipes as TOML."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from memoriter.core.errors import BadRecipe, NotFound
from memoriter.pipeline.load import library, recipe_of, value_at
from memoriter.pipeline.settings import recipe_from_settings, settings_formats
from memoriter.pipeline.toml import to_toml

FILE = """\
# engrava.yaml
services:
  embedding:
    provider: openai
  list:
    - one
    - {two: 2}
search:          # of the search
  default_fts_weight: 0.4
  "default_recency_weight": .2   # quoted

  graph_edge_decay: 1.5
  max_neighbors_per_candidate: 7
  graph_expansion_top_n: 3
  recency_half_life: 1_000
  reflection_boost: null
  collapse_pool_factor: 8
extensions:
  search: no
manifests:
- one
"""


def made(text: str) -> dict[str, Any]:
    recipe = recipe_from_settings("engrava", text, "mine").recipe
    return recipe.to_data()


def test_the_settings_of_a_file_stand_in_the_recipe() -> None:
    data = made(FILE)
    values = {
        "name": "mine",
        "fusion.weights.words": 0.4, "fusion.weights.meaning": 0.55,
        "fusion.weights.recency": 0.2, "fusion.weights.recency_now": 0.2,
        "boosts.graph.decay": 1.5, "boosts.graph.most": 7, "boosts.recency.half_life": 1000.0,
        "boosts.expansion.reflections": 3, "boosts.expansion.window": 15,
        "boosts.reflections.factor": 1.0,
    }  # fmt: skip
    assert {path: value_at(data, path) for path in values} == values


def test_what_has_no_place_is_named() -> None:
    left = recipe_from_settings("engrava", FILE, "mine").left_out
    assert left == {"collapse_pool_factor": "a collapse looks at every candidate here"}


@pytest.mark.parametrize(
    "text", ["search:", "---\nsearch: {}", "ttl: {}\nsearch:\n", "search: ~\n# none"]
)
def test_without_settings_the_recipe_does_what_the_program_does(text: str) -> None:
    expected = recipe_of("engrava").to_data()
    own = {"name": "mine", "version": 1, "about": "engrava, with settings of your own."}
    expected |= own
    expected["lanes"]["origins"]["enabled"] = expected["boosts"]["expansion"]["enabled"] = True
    expected["order"][0]["enabled"] = True
    assert made(text) == expected


def test_an_expansion_and_a_cap_can_be_switched_off() -> None:
    text = "search:\n  graph_expansion_enabled: false\n  reflection_topk_cap: 1.0\n"
    data = made(text)
    off = ("lanes.origins.enabled", "boosts.expansion.enabled", "order.0.enabled")
    assert [value_at(data, path) for path in off] == [False, False, False]


def test_numbers_that_only_limit_may_be_large() -> None:
    names = ("max_sources_per_reflection", "reflection_source_ceiling")
    data = made("search:\n" + "".join(f"  graph_expansion_{name}: 1000000\n" for name in names))
    paths = ("boosts.expansion.sources", "boosts.expansion.ceiling")
    assert [value_at(data, path) for path in paths] == [1_000_000, 1_000_000]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("search:\n  fts: 1", "line 2: search has no key 'fts'", "default_fts_weight"),
        ("search:\n  graph_edge_decay: high", "line 2: graph_edge_decay is 'high'", "a number"),
        ("search:\n  graph_edge_decay: '1'", "line 2: graph_edge_decay is", "a number"),
        ("search:\n  graph_expansion_top_n: 1.5", "is '1.5'", "a whole number"),
        ("search:\n  graph_expansion_enabled: maybe", "is 'maybe'", "true or false"),
        ("search:\n  graph_edge_decay: 1\n  graph_edge_decay: 2", "line 3: ", "leave one"),
        ("search:\n  graph_edge_decay: 1\nsearch:\n", "line 3: a second", "leave one"),
        ("search: {graph_edge_decay: 1}", "line 1: search: has a value", "one `key: number`"),
        ("search:\n  graph_edge_decay: 1\n    reflection_boost: 1", "line 3: another", "indent"),
        ("search:\n  - graph_edge_decay", "line 2: '- graph_edge_decay'", "one `key: number`"),
        ("search:\nsearch:\n  graph_edge_decay: 1", "line 2: a second", "leave one"),
        ("search: {}\n  graph_edge_decay: 1", "line 2: another", "one `key: number`"),
        ("  search:\n    graph_edge_decay: 1", "line 1: an indent before", "start of a line"),
        ('{"search": {"graph_edge_decay": 1}}', "line 1: '{", "write `search:`"),
        ("\tsearch:\n", "line 1: '\\tsearch:'", "write `search:`"),
        ("search:\n\tgraph_edge_decay: 1", "line 2: ", "write `search:`"),
        ("search:\n  graph_edge_decay: 1\n\treflection_boost: 2", "line 3: ", "write `search:`"),
        ("search:\ngraph_edge_decay: 1", "line 2: graph_edge_decay has no indent", "indent"),
        ("search:\n- graph_edge_decay: 1", "line 2: '- graph_edge_decay: 1' opens", "`search:`"),
        ("ttl:\n  days: 1\nserach:\n  x: 1", "line 3: engrava has no section 'serach'", "search,"),
        ("database:\n  path: a.db\n", "the file has no section `search:`", "write `search:`"),
        ("", "the file has no section `search:`", "write `search:`"),
        ("# a comment\n", "the file has no section `search:`", "write `search:`"),
        ("All our settings.\n", "line 1: 'All our settings.' opens no section", "`search:`"),
        ("[search]\ngraph_edge_decay = 1", "line 1: '[search]' opens no section", "`search:`"),
        ("search:\n---\nsearch:\n", "line 2: '---' opens no section", "write `search:`"),
        ("search:\n  graph_edge_decay: -1", "graph_edge_decay: -1.0 cannot be used", ""),
        ("search:\n  graph_edge_decay: 1001", "graph_edge_decay: 1001.0 cannot be used", ""),
        ("search:\n  recency_half_life: 0", "recency_half_life: 0.0 cannot be used", ""),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_line(text: str, message: str, hint: str) -> None:
    with pytest.raises(BadRecipe) as raised:
        made(text)
    assert message in raised.value.message
    assert hint in raised.value.hint


def test_a_system_without_a_reader_is_named_with_those_that_have_one() -> None:
    assert "engrava" in settings_formats()
    with pytest.raises(NotFound, match="no reader for the settings of 'nobody'") as raised:
        recipe_from_settings("nobody", "", "mine")
    assert "engrava" in raised.value.hint


@pytest.mark.parametrize("name", library())
def test_every_recipe_is_what_its_toml_reads(name: str) -> None:
    recipe = recipe_of(name)
    for data in (recipe.to_data(), recipe.spelled_out()):
        assert recipe_of(tomllib.loads(to_toml(data))) == recipe
    text = recipe_from_settings("engrava", FILE, "mine").text
    assert recipe_of(tomllib.loads(text)) == recipe_of(made(FILE))
