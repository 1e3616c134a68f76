"""Recipes: closed data, errors with a path, an identity that stays."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from recollect.core.errors import BadRecipe, UnknownRecipe
from recollect.pipeline.load import library, overridden, read, recipe_of, source

FINGERPRINTS = {
    "recollect": "c4766a38d4a8d4a0161f302498c429d8de0a1c0df698537b851486ff585f607c",
    "lexical": "153c96a0fc0f10d39b5069fa85a31a571da081d2e0a5c77041c7c09ca56ea46c",
    "linked": "a3675426933e09cc42acfcc6ebf9c03e198cb39a1d9a8a1699741819d2a19ffd",
    "semantic": "7613c9b3e89a20299ab51ff69278cfa8de1c9ce4d838915d2386bcf046ff5788",
    "reflections": "f232ea5e8e88e4aff788b6d8fce352c6015a518a500b2047dfe33e4f23722a31",
    "comis": "56b4518b5ba913e5d9173b2c00235f553a63c43ccbf4820f41b620dd9db10afa",
    "engrava": "f3aaefb2b975da0b2ff699735d6a46672ccf0c86c13cce70cececb414ff4bd70",
    "jeffs-brain": "b0ffb84daf3c0cdbdcacc028b3c83c7441992c3fd1c0bfe6588f5b4e2565ceb3",
    "mentisdb": "d9f37e7b2874656545c183c3e1fc3faa3d0d82dbe87d5526365fe7f0b979b41f",
    "mnestic": "acd4049dcc786d4e07a08ada2b4368a309f797dce0724c0af8a42591ed550294",
}


def test_a_fingerprint_changes_only_with_its_recipe() -> None:
    """When this fails, a recipe has changed: raise its version, then write the new one down."""
    assert {name: recipe_of(name).fingerprint for name in FINGERPRINTS} == FINGERPRINTS
    assert set(FINGERPRINTS) <= set(library())


MISTAKES: list[tuple[str, object, str]] = [
    ("name", "No Spaces", "name"),
    ("version", 0, "version"),
    ("format", 2, "format"),
    ("analyzer", "other", "analyzer"),
    ("colour", "red", "colour"),
    ("lanes", {}, "lanes"),
    ("lanes.words.kind", "magic", "lanes.words"),
    ("lanes.words.pool", 0, "lanes.words.pool"),
    ("lanes.words.k1", -1, "lanes.words.k1"),
    ("lanes.words.b", float("nan"), "lanes.words.b"),
    ("lanes.words.bb", 1, "lanes.words.bb"),
    ("lanes.kin.neighbours", 33, "lanes.kin.neighbours"),
    ("lanes.kin.min_cosine", -0.1, "lanes.kin.min_cosine"),
    ("lanes.meaning.min_cosine", 2, "lanes.meaning.min_cosine"),
    ("select.archived", "maybe", "select.archived"),
    ("select.trust", ["anyone"], "select.trust.0"),
    ("select.reflections", "some", "select.reflections"),
    ("final.limit", 0, "final.limit"),
    ("pass", [], "pass"),
    ("pass.0.fuse.kind", "rrrf", "pass.0.fuse"),
    ("pass.0.fuse.weights", {"words": 1.0}, "recipe"),
    ("pass.0.fuse.weights", {"words": 1.0, "kin": 1.0, "meaning": 1.0, "graph": 1.0}, "recipe"),
    ("pass.0.fuse.weights.words", -1.0, "pass.0.fuse.weights.words"),
]


@pytest.mark.parametrize(("path", "value", "place"), MISTAKES)
def test_every_mistake_names_its_path(path: str, value: object, place: str) -> None:
    data: Any = copy.deepcopy(recipe_of("recollect").to_data())
    at = data
    *keys, last = path.split(".")
    for key in keys:
        at = at[int(key)] if key.isdigit() else at[key]
    at[last] = value
    with pytest.raises(BadRecipe) as caught:
        recipe_of(data)
    assert caught.value.field == place
    assert place in caught.value.message


def test_overrides() -> None:
    base = recipe_of("recollect")
    assert overridden(base, {}) is base
    told = {"fusion.weights.words": 0.9, "lanes.words.pool": 7, "select.superseded": "show"}
    changed = overridden(base, told)
    told_now = {"words": 0.9, "kin": 0.4, "meaning": 0.3, "moment": 0.2}
    assert changed.to_data()["pass"][0]["fuse"]["weights"] == told_now
    assert changed.to_data()["lanes"]["words"]["pool"] == 7
    assert changed.select.superseded == "show"
    assert changed.fingerprint != base.fingerprint == recipe_of("recollect").fingerprint
    assert overridden(base, {"lanes.words.pool": base.to_data()["lanes"]["words"]["pool"]}) == base
    assert overridden(base, {"pass.0.fuse.absent": "keep"}) == overridden(
        base, {"fusion.absent": "keep"}
    )


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "nope",
        "lanes",
        "lanes.words",
        "lanes.words.k1.x",
        "pass.1.fuse.absent",
        "pass.x",
        "fusion.kk",
    ],
)
def test_an_override_must_name_something(path: str) -> None:
    with pytest.raises(BadRecipe) as caught:
        overridden(recipe_of("recollect"), {path: 1})
    assert caught.value.field is not None


def test_recipes_from_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        source("lexical").replace('name = "lexical"', 'name = "mine"'), encoding="utf-8"
    )
    mine = recipe_of(str(path))
    assert mine == recipe_of(path) == read(path)
    assert (mine.name, mine.fingerprint == FINGERPRINTS["lexical"]) == ("mine", False)
    for wrong in (b"not toml", b"\xff\xfe", b"name = 1"):
        path.write_bytes(wrong)
        with pytest.raises(BadRecipe, match=r"mine\.toml"):
            read(path)
    with pytest.raises(UnknownRecipe):
        read(tmp_path / "nothing.toml")
    with pytest.raises(UnknownRecipe):
        source("../recollect")
