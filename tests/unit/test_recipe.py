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
    "memoriter": "dd8c6846f3cd2aaa8ba0459bb706ad64eb366686637ac298d3f29e5684be3742",
    "lexical": "856d7a2074157c0b4bc7e2ba897ac892bd95f2369f2a2dd7fa3b6ed70485a0f5",
    "linked": "da403db36c51a9862dd379d165de75b8692185d0124e764976eb0378f8155673",
    "semantic": "0f7e1721f7b2be766929b9f0b20c8c773152cd635d71f616787f7c88e06e1f19",
    "reflections": "b7c49264750e37ebed8a36d987ccc1758fae4ae848f33b71636e764cc70a4fc4",
    "comis": "6ee610e4a36bb747f9c58e4cf2dcc0cdb44a894a28d090b090c98ac042d13b4c",
    "engrava": "2e9192a5fb5e798b8b1eea88f4c8b9ec690d6a013a1d065e47f5934739ef9614",
    "jeffs-brain": "1d547931c07eb7064cd8d2b943216a05e484f5d7f0936438d4310858eb389183",
    "mentisdb": "4e9573445a30619aa26fed271a4b854b8dc9ceb9a7e11ee69be75bdb49efe06f",
    "mnestic": "a034a3f38b0f9d9f86bd9fc147cf31316d971ad013cbbaa57e29cf9fa20e3403",
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
        ("apart", ["x"], "there is no lane 'x'; known: words, kin", "every option"),
        ("pass.1.head", "x", "expected a number of candidates, or a table", "every option"),
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
    with pytest.raises(BadRecipe, match="object cannot be a value in a recipe"):
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
