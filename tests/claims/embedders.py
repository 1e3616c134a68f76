"""An embedder that keeps count, and a lane of vectors, for the claims about meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memoriter.embed.static import Static
from memoriter.pipeline.load import recipe_of

Data = dict[str, Any]


class Counting(Static):
    """The packaged embedder; it notes what it is asked, and fails when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, ...]] = []
        self.failing = False

    def embed(self, texts: Sequence[str], side: Any) -> list[Any]:
        if side == "query":
            self.asked.append(tuple(texts))
        if self.failing:
            raise ConnectionError("away")
        return super().embed(texts, side)


def worded(name: str) -> Data:
    """The word lane of a recipe of the library, alone."""
    data = recipe_of(name).to_data()
    (words,) = [lane for lane in data["lanes"].values() if lane["kind"] == "bm25"]
    return {
        "name": name,
        "version": 1,
        "analyzer": data["analyzer"],
        "select": {"superseded": "show"},
        "lanes": {"words": words},
        "pass": [{"fuse": {"kind": "weighted", "scale": "max", "weights": {"words": 1.0}}}],
        "final": {"limit": 10_000},
    }


def with_lane(recipe: Data, **vector: Any) -> Data:
    """A recipe with a lane `vector` of these settings beside its words."""
    lane = {"kind": "vector", "pool": 256, "min_cosine": 0.0, **vector}
    weights = {"words": 1.0, "vector": 1.0}
    return {
        **recipe,
        "lanes": {**recipe["lanes"], "vector": lane},
        "pass": [{"fuse": {**recipe["pass"][0]["fuse"], "weights": weights}}],
    }


def alone(**vector: Any) -> Data:
    """A recipe of one lane of vectors."""
    lane = {"kind": "vector", "pool": 256, "min_cosine": 0.0, **vector}
    return {
        "name": "vectors",
        "version": 1,
        "analyzer": "memoriter",
        "lanes": {"vector": lane},
        "pass": [{"fuse": {"kind": "weighted", "scale": "max", "weights": {"vector": 1.0}}}],
        "final": {"limit": 1000},
    }
