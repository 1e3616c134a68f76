"""The law of round trips: recipes, stores, filters, records."""

from __future__ import annotations

import json
import tempfile
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.changes import Change, Corpus, change, changes
from tests.property.laws import law
from tests.property.pipelines import Data, any_recipes, pipelines
from tests.property.strategies import EXAMPLES, drafts, queries, wheres
from tests.property.worlds import asked, dump_of, open_toy

from memoriter.core.canonical import canonical
from memoriter.core.draft import Draft
from memoriter.core.record import decode, encode
from memoriter.core.times import iso, to_datetime
from memoriter.core.where import parse_where, to_data
from memoriter.pipeline.load import library, overridden, recipe_of, source
from memoriter.pipeline.recipe import Recipe
from memoriter.testing.fakes import START, HandClock

corpora = st.lists(drafts(), min_size=1, max_size=4)
options: dict[str, st.SearchStrategy[Any]] = {
    "lanes.words.k1": st.floats(0, 100),
    "lanes.words.b": st.floats(0, 1),
    "lanes.words.pool": st.integers(1, 100_000),
    "lanes.words.enabled": st.booleans(),
    "final.limit": st.integers(1, 10_000),
    "select.archived": st.sampled_from(["hide", "show"]),
    "select.reflections": st.sampled_from(["show", "hide", "only"]),
    "fusion.weights.words": st.floats(0, 1000),
}
shares = {"fusion.absent": st.sampled_from(["keep", "redistribute"])}
"""Not of the default recipe: its relevance needs fixed weights."""
overrides = st.tuples(
    st.just("memoriter"), st.fixed_dictionaries({}, optional=options)
) | st.tuples(st.just("lexical"), st.fixed_dictionaries({}, optional=options | shares))


def toml(value: Any) -> str:
    """TOML of a recipe's data, inline tables throughout; what is None is left out."""
    if isinstance(value, dict):
        parts = (f"{json.dumps(k)} = {toml(v)}" for k, v in value.items() if v is not None)
        return "{ " + ", ".join(parts) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def as_toml(recipe: Recipe) -> str:
    return "\n".join(f"{k} = {toml(v)}" for k, v in recipe.to_data().items() if v is not None)


def test_every_library_recipe_is_its_toml() -> None:
    for name in library():
        recipe = recipe_of(name)
        assert recipe_of(tomllib.loads(source(name))) == recipe
        assert recipe_of(recipe.to_data()) == recipe


@given(overrides)
def test_round_trip_of_overrides(pair: tuple[str, dict[str, Any]]) -> None:
    name, changed = pair
    comes_back(overridden(recipe_of(name), changed))


@settings(max_examples=3 * EXAMPLES)
@given(pipelines())
def test_round_trip(data: Data) -> None:
    comes_back(recipe_of(data))


def comes_back(recipe: Recipe) -> None:
    again = recipe_of(tomllib.loads(as_toml(recipe)))
    assert again == recipe
    assert again.fingerprint == recipe.fingerprint
    assert again.to_data() == recipe.to_data()
    assert json.loads(canonical(recipe.to_data())) == recipe.to_data()


@settings(max_examples=max(EXAMPLES // 2, 10))
@law(corpora, changes, queries, any_recipes, st.none() | wheres())
def test_round_trip_of_a_store(
    corpus: Corpus, done: list[Change], text: str, recipe: Any, where: dict[str, Any] | None
) -> None:
    clock = HandClock()
    memory = open_toy(clock=clock)
    change(memory, clock, done, list(memory.remember_many(corpus).ids))
    memory.agents.alias("bot", "b64:AAAA")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "all.jsonl"
        memory.export(path)
        for place in (":memory:", Path(folder) / "m.db"):
            copy = open_toy(place, clock)
            copy.load(path)
            assert replace(dump_of(copy), words=[]) == dump_of(memory)
            assert asked(copy, text, recipe, where=where) == asked(
                memory, text, recipe, where=where
            )
            copy.export(Path(folder) / "again.jsonl")
            assert (Path(folder) / "again.jsonl").read_bytes() == path.read_bytes()
            assert copy.remember("next", id="next").seq == dump_of(memory).head.seq + 2
            copy.close()


@given(wheres())
def test_round_trip_of_a_filter(data: dict[str, Any]) -> None:
    where = parse_where(data)
    spelled = to_data(where)
    assert parse_where(spelled) == where
    assert parse_where(json.loads(canonical(spelled))) == where
    assert to_data(parse_where(spelled)) == spelled


def _spelled(body: dict[str, Any]) -> dict[str, Any]:
    """What the log keeps, with times as people read them."""
    times = ("created", "occurred", "valid_from", "valid_until", "expires")
    return {k: iso(to_datetime(v)) if k in times and v is not None else v for k, v in body.items()}


DEFAULTS = {
    "agent": "default", "archived": False, "importance": 0.5, "kind": "note", "pinned": False,
    "memory_type": "semantic", "priority": "P3", "role": "memory", "trust": "learned",
}  # fmt: skip
"""What a body leaves out. They are part of the format: a change here would change old records."""


@given(drafts())
def test_round_trip_of_a_record(data: dict[str, Any]) -> None:
    content = Draft.of(data).complete(START)
    body = encode("some id", content)
    record = decode(body, 7, 3, START)
    assert encode(record.id, record) == body
    given = json.loads(body)
    assert not any(given.get(name) == value for name, value in DEFAULTS.items())
    assert {**record.to_dict(), "id": "", "row": 0, "position": 0, "committed": 0} == {
        **DEFAULTS, **_spelled(given), "id": "", "row": 0, "position": 0, "committed": 0,
    }  # fmt: skip
    for name in content.__slots__:
        assert getattr(record, name) == getattr(content, name)
