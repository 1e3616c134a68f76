"""The word lane of three of the five systems as a recipe: their numbers, and nothing else yet."""

from __future__ import annotations

from typing import Any, Final

Data = dict[str, Any]

_SHAPE: Final[Data] = {"kind": "bm25", "pool": 10_000, "k1": 1.2, "b": 0.75}
_ROW: Final[Data] = {**_SHAPE, "form": "row", "idf": "floored"}


def _recipe(name: str, analyzer: str, words: Data, **more: Any) -> Data:
    lanes: Data = {"words": words, **more.pop("lanes", {})}
    weights = dict.fromkeys(lanes, 1.0)
    fuse = {"kind": "weighted", "scale": "max", "weights": weights}
    return {
        "name": name,
        "version": 1,
        "analyzer": analyzer,
        "select": {"superseded": "show"},
        "lanes": lanes,
        "pass": [{"fuse": fuse}],
        "final": {"limit": 10_000},
        **more,
    }


MNESTIC: Final = _recipe(
    "mnestic",
    "simple",
    {**_SHAPE, "dialect": "mnestic", "records": "worded", "fields": {"text": 1.0}},
)

JEFFS_BRAIN: Final = _recipe(
    "jeffs-brain",
    "fts5-porter",
    {
        **_ROW,
        "pool": 60,
        "dialect": "jeffs-brain",
        "fields": {"path": 3.0, "title": 10.0, "summary": 5.0, "tags": 4.0, "text": 1.0},
        "ladder": True,
        "fuzzy": 0.3,
    },
    lanes={"vector": {"kind": "vector", "pool": 10_000, "min_cosine": -1.0}},
    modes={
        "auto": {"lanes": ["words", "vector"], "may_miss": ["vector"]},
        "bm25": {"lanes": ["words"]},
        "semantic": {"lanes": ["vector"], "otherwise": "words"},
        "hybrid": {"lanes": ["words", "vector"], "otherwise": "words"},
        "hybrid-rerank": {"lanes": ["words", "vector"], "otherwise": "words"},
    },
)

ENGRAVA: Final = _recipe(
    "engrava",
    "fts5-dashed",
    {**_ROW, "pool": 50, "dialect": "engrava", "fields": {"text": 1.0, "essence": 1.0}},
)


def with_vectors(recipe: Data) -> Data:
    """A recipe with a lane of vectors beside its words."""
    vector = {"kind": "vector", "pool": 60, "min_cosine": 0.0}
    return {
        **recipe,
        "lanes": {**recipe["lanes"], "vector": vector},
        "pass": [{"fuse": {**recipe["pass"][0]["fuse"], "weights": {"words": 1.0, "vector": 1.0}}}],
    }
