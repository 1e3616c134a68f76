"""Recipes: closed data, errors with a path, an identity that stays."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from recollect.core.errors import BadRecipe, UnknownRecipe
from recollect.pipeline.load import library, overridden, read, recipe_of, source

FINGERPRINTS = {
    "recollect": "953779449d97b6e1b9190eb1096a2399ee10316eb93714549f866afbacc8b6e0",
    "lexical": "195a6d3886c9fe054ac17be979a7e3ccc6866cf559c09b86cc54711db6101179",
    "linked": "e44fcd8e2c2bf402dde687846db2b3184d1abd9c85e6591c03b8eac02f42ea69",
    "semantic": "4046aa0bd53c0a3ab81fd111dabaff2c4d81ce7bcf0ce997e600b36325d7b474",
    "reflections": "782b6f5099578a94c7b05d2245eca51835fe30c187cd8f4a56d17f8937e88748",
    "comis": "a988dfa3dad14dac159f0808d6f2bcb750cf87f41ad4838c30eb8d8dd7a54c4d",
    "engrava": "214451b88b79304a67bcdf619bcf3dccb0445d61e47b8f8ed8ed274683ea2200",
    "jeffs-brain": "d6a0b8332f37d91e0b5d5a024748a66287215f2cfccf063d7c8616a8b1523b90",
    "mentisdb": "5fbb43ceff55d684470e6f2d763740446de23082cad800a631714c42d84229cb",
    "mnestic": "3d1aca45f6e2d0fea0e706d9fdf255bb4f3dfac121f58793c3ed86077a1360ec",
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
