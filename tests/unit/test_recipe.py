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
    "memoriter": "84329c5d733faf8990d4c73594ac34e0f5c78ba4a73a10f0bd71b8ba53896ce4",
    "lexical": "0f0c780f949bdf7d5368d0b6a3c816b04e7f9d6fcdab226cab439842f16cf3a9",
    "linked": "645baaabd9dda7043708728705a5475942337002c1816efc4e49cf14ec44d697",
    "semantic": "7c242c416b745cb422f0b7428a7360cba4c23ce7018a4764d1437a5eb7888c1c",
    "reflections": "7365179eda3b329a8d40043f9262e7082cab2e827f4cc70ad36d2562608acfa3",
    "comis": "04caf7997393d72285dea7ade8e735651d8b16444368b14728004d65db6f9aca",
    "engrava": "90af5d407a3bba44da977ca651ea3bca1ebf6ffd1f983f00ad564d270ecb0ad0",
    "jeffs-brain": "7d80f9fc22c717b7814a68092d778f5354bfd5532e3219a065d26d8e8b43d8c8",
    "mentisdb": "3b2656ad85c1a0a8ff7825e108ceccd13f698976477fa7e269cfc349f7a99b5c",
    "mnestic": "121395531831d14fb76e601313508f32f2f21aaddd96a907d684150984db7788",
}


def test_a_fingerprint_changes_only_with_its_recipe() -> None:
    """When this fails, a recipe has changed: raise its version, then write the new one down."""
    assert {name: recipe_of(name).fingerprint for name in FINGERPRINTS} == FINGERPRINTS
    assert set(FINGERPRINTS) <= set(library())


_WEIGHTED: dict[str, Any] = {"kind": "weighted", "scale": "max"}
_EACH = {"words": 1.0, "kin": 1.0, "meaning": 1.0, "moment": 1.0}
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
    ("pass.0.fuse", _WEIGHTED | {"weights": {"words": 1.0}}, "recipe"),
    ("pass.0.fuse", _WEIGHTED | {"weights": _EACH | {"graph": 1.0}}, "recipe"),
    ("pass.0.fuse.weights", {"words": 1.0}, "pass.0.fuse"),
    ("pass.0.fuse.model_weights", {"graph": 1.0}, "pass.0.fuse"),
    ("pass.0.fuse.weights.words", -1.0, "pass.0.fuse.weights.words"),
]


@pytest.mark.parametrize(("path", "value", "place"), MISTAKES)
def test_every_mistake_names_its_path(path: str, value: object, place: str) -> None:
    with pytest.raises(BadRecipe) as caught:
        recipe_of(_changed(path, value))
    assert caught.value.field == place
    assert place in caught.value.message
    assert not re.search("Input|Value error|expected tags|validation", caught.value.message)


@pytest.mark.parametrize(
    ("path", "value", "message", "hint"),
    [
        ("lanes.words.pool", True, "expected an integer, not true", "every option"),
        ("lanes.words.pool", 0, "must be at least 1, not 0", "every option"),
        ("lanes.words.stop", "x", "expected 'none' or 'latin', not 'x'", "every option"),
        ("lanes.words.kind", "x", "there is no kind 'x'", "bm25, kin, vector"),
        ("pass.0.fuse", {}, "has no kind", "weighted, rrf, smooth"),
        (
            "relevance.knots",
            [[0.0, 0.0]],
            "has 1 entries, at least 2 must be given",
            "every option",
        ),
        ("name", "My own", "'My own' is not a valid name: use a small letter", "complete example"),
        ("relevance.lane", "x", "there is no lane 'x'; known: words, kin", "every option"),
        ("pass.1.head", "x", "expected a number of rows, or a table", "every option"),
        ("lanes.words.pol", 1, "there is no such option", "known there: enabled, kind, pool"),
    ],
)
def test_a_mistake_says_what_is_allowed(path: str, value: object, message: str, hint: str) -> None:
    with pytest.raises(BadRecipe) as caught:
        recipe_of(_changed(path, value))
    assert message in caught.value.message
    assert hint in str(caught.value.hint)


def _changed(path: str, value: object) -> dict[str, Any]:
    data: Any = copy.deepcopy(recipe_of("memoriter").to_data())
    at = data
    *keys, last = path.split(".")
    for key in keys:
        at = at[int(key)] if key.isdigit() else at[key]
    at[last] = value
    return data


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
    weights = {"words": 0.9, "kin": 0.45, "meaning": 0.3, "moment": 0.3}
    assert changed.to_data()["pass"][0]["fuse"]["weights"] == weights
    assert changed.to_data()["lanes"]["words"]["pool"] == 7
    assert changed.select.superseded == "show"
    assert changed.fingerprint != base.fingerprint == recipe_of("memoriter").fingerprint
    assert overridden(base, {"lanes.words.pool": base.to_data()["lanes"]["words"]["pool"]}) == base
    lexical = recipe_of("lexical")
    kept = overridden(lexical, {"pass.0.fuse.absent": "keep"})
    assert kept == overridden(lexical, {"fusion.absent": "keep"}) != lexical


def test_a_relevance_refuses_an_override_that_makes_scores_incomparable() -> None:
    with pytest.raises(BadRecipe, match="relevance needs scores that can be compared"):
        overridden(recipe_of("memoriter"), {"fusion.absent": "keep"})


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
