"""Recipes: closed data, errors with a path, an identity that stays."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from recollect.core.errors import BadRecipe, UnknownRecipe
from recollect.pipeline.recipe import library, read, recipe_of, source

FINGERPRINTS = {
    "recollect": "89c6e88a1210457c1d5b77e9f78795aa20510f03b0b9405e8ee85048e37c570c",
    "lexical": "534b2257b3e2437b4d8c6ba007d0575d6e7d3218edf3531129f7c5bcc0ebd31a",
    "linked": "23406c314c812e213578e65eb77102517406d11b2b880c5706bf712fa060928f",
    "semantic": "95f6a11d6f726e5ffe52e60bdfa798e3621a48fc0f0e83628f88f1fa3f061eb4",
    "reflections": "f101c7c7d87847752385e3d159a201b8c01c17f53162620e8ca024c95962abbc",
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
    ("lanes.words.pool", 0, "lanes.words.bm25.pool"),
    ("lanes.words.k1", -1, "lanes.words.bm25.k1"),
    ("lanes.words.b", float("nan"), "lanes.words.bm25.b"),
    ("lanes.words.bb", 1, "lanes.words.bm25.bb"),
    ("lanes.kin.neighbours", 33, "lanes.kin.kin.neighbours"),
    ("lanes.kin.min_cosine", -0.1, "lanes.kin.kin.min_cosine"),
    ("lanes.meaning.min_cosine", 2, "lanes.meaning.vector.min_cosine"),
    ("select.archived", "maybe", "select.archived"),
    ("select.trust", ["anyone"], "select.trust.0"),
    ("select.reflections", "some", "select.reflections"),
    ("final.limit", 0, "final.limit"),
    ("pass", [], "pass"),
    ("pass.0.fuse.kind", "rrrf", "pass.0.fuse.kind"),
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
    assert base.overridden({}) is base
    told = {"fusion.weights.words": 0.9, "lanes.words.pool": 7, "select.superseded": "show"}
    changed = base.overridden(told)
    told_now = {"words": 0.9, "kin": 0.4, "meaning": 0.3, "moment": 0.2}
    assert changed.passes[0].fuse.weights == told_now
    assert changed.lanes["words"].pool == 7
    assert changed.select.superseded == "show"
    assert changed.fingerprint != base.fingerprint == recipe_of("recollect").fingerprint
    assert base.overridden({"lanes.words.pool": base.lanes["words"].pool}) == base
    assert base.overridden({"pass.0.fuse.absent": "keep"}) == base.overridden(
        {"fusion.absent": "keep"}
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
        recipe_of("recollect").overridden({path: 1})
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
