"""Make the receipts that every later version must verify: `python -m tests.compat.make_receipts`.

One per library recipe, one per kind of fusion, of second pass and of ordering. Run it again only
while the receipt may still change; once released, `receipts/` is kept as it is and grows.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import memoriter
from memoriter.testing.fakes import CountedEntropy, HandClock, ToyEmbedder, ToyReranker

FOLDER: Final = Path(__file__).parent / "receipts"
Data = dict[str, Any]
_WORDS: Final[Data] = {
    "kind": "bm25", "pool": 50, "k1": 1.2, "b": 0.75, "fields": {"text": 1.0, "title": 2.0},
}  # fmt: skip
_ROW: Final[Data] = {**_WORDS, "form": "row", "idf": "floored"}
_MEANING: Final[Data] = {"kind": "vector", "pool": 50, "min_cosine": 0.0}
_LANES: Final[Data] = {"words": _WORDS, "meaning": _MEANING}
_RRF: Final[Data] = {"kind": "rrf", "k": 60.0, "scale": "unit", "weights": {"words": 1.5}}


def _recipe(name: str, *passes: Data, **more: Any) -> Data:
    return {
        "name": name, "version": 1, "analyzer": "memoriter", "lanes": _LANES,
        "pass": list(passes), **more,
    }  # fmt: skip


_BOOSTS: Final[Data] = {
    "recency": {"kind": "recency", "unit": "days", "alpha": 0.2},
    "importance": {"kind": "importance"},
    "confidence": {"kind": "confidence"},
    "session": {"kind": "session"},
    "reflected": {"kind": "reflection", "factor": 0.5},
}
_WEIGHTS: Final = {"words": 0.4, "meaning": 0.6}
ASKS: Final[dict[str, Data]] = {
    "memoriter": {"recipe": "memoriter"},
    "memoriter-rerank": {"recipe": "memoriter"},
    "lexical": {"recipe": "lexical"},
    "semantic": {"recipe": "semantic"},
    "linked": {"recipe": "linked"},
    "reflections": {"recipe": "reflections", "cycle": 40},
    "comis": {"recipe": "comis"},
    "engrava": {"recipe": "engrava", "cycle": 40},
    "jeffs-brain": {"recipe": "jeffs-brain"},
    "mentisdb": {"recipe": "mentisdb"},
    "mnestic": {"recipe": "mnestic"},
    "mentisdb-all": {
        "recipe": "mentisdb",
        "overrides": {"lanes.links.enabled": True, "pass.1.enabled": True},
    },
    "comis-rerank": {
        "recipe": "comis",
        "overrides": {"pass.1.enabled": True, "lanes.entity.enabled": True},
    },
    "mnestic-mmr": {"recipe": "mnestic", "overrides": {"mmr": True}},
    "engrava-graph": {"recipe": "engrava", "cycle": 40, "overrides": {"graph_weight": 0.2}},
    "rrf": {"recipe": _recipe("rrf", {"fuse": _RRF}, ties=["-created"])},
    "smooth": {
        "recipe": _recipe(
            "smooth", {"fuse": {"kind": "smooth", "base": "words", "lifted": "meaning"}}
        )
    },
    "weighted": {
        "recipe": _recipe(
            "weighted",
            {
                "fuse": {
                    "kind": "weighted", "scale": "min_max", "absent": "keep",
                    "weights": {**_WEIGHTS, "words": 0.1},
                },
                "boosts": list(_BOOSTS),
            },
            boosts=_BOOSTS,
            lanes={"words": _ROW, "meaning": _MEANING},
        )
    },
    "again": {
        "recipe": _recipe(
            "again",
            {"fuse": {"kind": "weighted", "scale": "max", "weights": _WEIGHTS}},
            {"head": {"count": 3, "by": ["words.score", "meaning.score"]}, "fuse": _RRF},
        )
    },
    "rerank": {"recipe": _recipe("rerank", {"fuse": _RRF}, {"head": 4, "rerank": {}})},
    "ordered": {
        "recipe": _recipe(
            "ordered",
            {"fuse": {"kind": "weighted", "scale": "max", "weights": _WEIGHTS}},
            order=[
                {"kind": "collapse", "keep": "newest"},
                {"kind": "cap"},
                {"kind": "mmr", "trade": 0.1},
            ],
            final={"min_score": 0.05},
        )
    },
}  # fmt: skip
_TEXTS: Final = (
    "Prod SSH port is 49222", "Prod SSH port is 49222", "The SSH port of staging is 22",
    "Ana likes the sea and its ports", "Which ports are open in prod?", "Ports of the sea",
    "The cache listens on port 6379", "Nothing of the kind",
)  # fmt: skip


def filled(reranker: ToyReranker | None = None) -> memoriter.Memory:
    """Few records, with something for every part of a recipe."""
    clock = HandClock()
    memory = memoriter.open(
        ":memory:", clock=clock, entropy=CountedEntropy(), embedder=ToyEmbedder(),
        reranker=reranker, maintenance="manual",
    )  # fmt: skip
    for n, text in enumerate(_TEXTS):
        kind = "reflection" if n % 3 == 2 else "note"
        more = {"importance": n / 8, "confidence": 0.5, "session": f"s{n // 4}", "cycle": n}
        memory.remember(text, id=f"r{n}", title="ports" if n % 2 else None, kind=kind, **more)
        clock.move(86_400)
    memory.link("r0", "r2", "supports")
    memory.link("r2", "r3", "related_to")
    return memory


def receipts() -> dict[str, bytes]:
    """Every receipt by its name."""
    plain, judged = filled(), filled(ToyReranker())
    question = "which ssh port is open in prod?"
    out: dict[str, bytes] = {}
    for name, ask in ASKS.items():
        memory = judged if name.endswith("rerank") else plain
        out[name] = memory.recall(question, 5, **ask).receipt.to_bytes()
    return out


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    for name, body in receipts().items():
        (FOLDER / f"v2-{name}.json").write_bytes(body + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
