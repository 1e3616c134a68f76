"""Recipes: closed data, errors with a path, an identity that stays."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from memoriter.core.errors import BadRecipe, UnknownRecipe
from memoriter.pipeline.load import library, overridden, read_recipe, recipe_of, source

FINGERPRINTS = {
    "memoriter": "1b2f3d35044d266ce2757de304c7ee893afabb3d473db781a839e07bc3c9bbac",
    "lexical": "0d1c6b96350696bec4f0087ddeec7a23cd3807f4ddfc2a8e0ebf793b0c691a98",
    "linked": "7ac37abf9cf95abcca9bfeb8eca001bc76bdf5525a14ab716855fdda8ca54f59",
    "semantic": "6d92f4aa153329088b3e587e652c0db938f3587a533de8cb7ed01013da7c01e3",
    "reflections": "5fd896a6f0b6cec8fd584102a6f100ef8030100f374c02e3a83b209e69968afe",
    "comis": "89231241327a61a1c94900fbe6a8440f45967da9eba419e784f40917fcae9132",
    "engrava": "abc874254fa98d6588f668de7d304fbbf5348c64ac3808b762de1a1b173d1a46",
    "jeffs-brain": "3a4a7c93703e833ecaac5969deb11a97e02e6fc16dc86e63f7f756852b1e2303",
    "mentisdb": "bd06b9545979c969ac6b028cd3e0cb0bd16b664c571fe9134e718d791a5f41ed",
    "mnestic": "29a134d330edb5c495cfad0c5cedf641a6c065e09ed57007a1937427b0d62b15",
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
    ("lanes.words.k1", "1.2", "lanes.words.k1"),
    ("lanes.words.k1", True, "lanes.words.k1"),
    ("lanes.words.pool", True, "lanes.words.pool"),
    ("lanes.words.enabled", "no", "lanes.words.enabled"),
    ("lanes.words.fields.text", "1", "lanes.words.fields.text"),
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
    data: Any = copy.deepcopy(recipe_of("memoriter").to_data())
    at = data
    *keys, last = path.split(".")
    for key in keys:
        at = at[int(key)] if key.isdigit() else at[key]
    at[last] = value
    with pytest.raises(BadRecipe) as caught:
        recipe_of(data)
    assert caught.value.field == place
    assert place in caught.value.message
    assert not re.search("Input|Value error|expected tags|validation", caught.value.message)


def test_the_hint_shows_the_recipe_that_the_mistake_is_in() -> None:
    for name in ("lexical", "engrava"):
        with pytest.raises(BadRecipe) as caught:
            overridden(recipe_of(name), {"lanes.words.pool": 0})
        assert caught.value.hint == f"`memoriter recipe show {name} --json` prints every option"


def test_a_recipe_is_plain_data_in_any_mapping() -> None:
    data = recipe_of("memoriter").to_data()
    assert recipe_of(MappingProxyType({**data, "lanes": MappingProxyType(data["lanes"])})) == (
        recipe_of("memoriter")
    )
    with pytest.raises(BadRecipe, match="object is not a value of a recipe"):
        recipe_of({**data, "name": object()})


def test_overrides() -> None:
    base = recipe_of("memoriter")
    assert overridden(base, {}) is base
    overrides = {"fusion.weights.words": 0.9, "lanes.words.pool": 7, "select.superseded": "show"}
    changed = overridden(base, overrides)
    told_now = {"words": 0.9, "kin": 0.4, "meaning": 0.3, "moment": 0.2}
    assert changed.to_data()["pass"][0]["fuse"]["weights"] == told_now
    assert changed.to_data()["lanes"]["words"]["pool"] == 7
    assert changed.select.superseded == "show"
    assert changed.fingerprint != base.fingerprint == recipe_of("memoriter").fingerprint
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
        overridden(recipe_of("memoriter"), {path: 1})
    assert caught.value.field is not None


def test_recipes_from_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        source("lexical").replace('name = "lexical"', 'name = "mine"'), encoding="utf-8"
    )
    recipe = recipe_of(str(path))
    assert recipe == recipe_of(path) == read_recipe(path)
    assert (recipe.name, recipe.fingerprint == FINGERPRINTS["lexical"]) == ("mine", False)
    for wrong in (b"not toml", b"\xff\xfe", b"name = 1"):
        path.write_bytes(wrong)
        with pytest.raises(BadRecipe, match=r"mine\.toml"):
            read_recipe(path)
    with pytest.raises(UnknownRecipe):
        read_recipe(tmp_path / "nothing.toml")
    with pytest.raises(UnknownRecipe):
        source("../memoriter")
