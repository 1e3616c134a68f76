"""Make the store of format 1 that every later version must open: `python -m tests.compat.make_v1`.

Clock and randomness are fixed, so the same code gives the same log. Run it again only while the
format may still change; once released, `v1/` is kept as it is and this script is history.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from tests.inside import log_of

import memoriter
from memoriter.embed.static import Static
from memoriter.testing.fakes import CountedEntropy, HandClock

FOLDER = Path(__file__).parent / "v1"
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("which port for ssh?", {}),
    ("ssh port", {"recipe": "lexical"}),
    ("who likes the sea", {"recipe": "semantic"}),
    ("東京 café", {"where": {"tags": {"any_fold": ["TRAVEL"]}}}),
    ("port", {"as_of": "2026-09-21T14:00:00Z"}),
    ("port", {"overrides": {"select.superseded": "show", "fusion.weights.words": 0.9}}),
]
_FIELDS = (
    "text", "title", "summary", "tags", "concepts", "entities", "agent", "path", "agent_registry",
)  # fmt: skip
AS_THEN: dict[str, Any] = {
    "format": 1,
    "name": "as-then",
    "version": 1,
    "analyzer": "memoriter",
    "lanes": {
        "words": {
            "kind": "bm25", "pool": 1000, "k1": 1.2, "b": 0.75, "expert": True, "ladder": True,
            "fuzzy": 0.3, "fields": dict.fromkeys(_FIELDS, 1.0),
        },
        "meaning": {"kind": "vector", "pool": 1000, "min_cosine": 0.0},
    },
    "boosts": {"session": {"kind": "session", "weight": 0.3}},
    "pass": [
        {
            "fuse": {
                "kind": "weighted", "scale": "max", "weights": {"words": 0.5, "meaning": 0.5},
                "absent": "redistribute",
            },
            "boosts": ["session"],
        },
    ],
}  # fmt: skip
"""The default recipe of then, in full: a later default leaves the expected answers alone."""


class Moody(Static):
    """The packaged embedder, which can be told to fail: a record then owes its vector."""

    failing = False

    def embed(self, texts: Sequence[str], side: Any) -> list[NDArray[np.float32] | None]:
        if self.failing:
            raise ConnectionError("told to fail")
        return super().embed(texts, side)


class Failing(Protocol):
    """An embedder that can be told to fail."""

    failing: bool


def write(memory: memoriter.Memory, clock: HandClock, embedder: Failing) -> None:
    """Every kind of entry once, and some twice."""
    memory.remember("Prod SSH port is 22", id="old", kind="fact", tags=["ops"], key="first")
    clock.move(60)
    memory.remember_many([
        {"text": "Ana likes the sea at Nazaré.", "id": "sea", "entities": ["Ana", "Nazaré"],
         "title": "Holiday", "tags": ["travel"], "importance": 0.8, "session": "s-1"},
        {"text": "東京 has a café near the port 🎉", "id": "tokyo", "tags": ["travel", "food"],
         "metadata": {"rating": 4.5, "deep": {"a": [1, True, None]}}, "user": "ana"},
        {"text": "Deploys wait for the queue to drain.", "id": "queue", "refs": [0],
         "vector": [0.25, -1.5, 3.0], "source": {"who": "bot", "path": "notes/deploy.md"}},
    ])  # fmt: skip
    clock.move(60)
    memory.remember(
        "Prod SSH port is 49222", id="new", kind="fact", tags=["ops"], supersedes="old",
        valid_from="2026-09-21T15:00:00Z", confidence=0.9,
    )  # fmt: skip
    memory.link("sea", "tokyo", "related_to", weight=0.5, metadata={"why": "travel"})
    memory.link("sea", "tokyo", "related_to", weight=0.75)
    clock.move(-30)
    memory.update("sea", summary="Ana, sea", expires="2027-01-01")
    memory.remember("A secret to be forgotten", id="secret", entities=["Eve"], vector=[1, 2, 3])
    memory.link("secret", "old")
    clock.move(90)
    memory.forget("secret")
    memory.agents.upsert("bot", description="deploys and watches", owner="ana")
    memory.agents.alias("bot", "deployer")
    embedder.failing = True
    memory.remember("This port owes its vector.", id="owing", agent="bot", archived=True)
    memory.remember("So does this one, about the port.", id="owing too")


def answers(memory: memoriter.Memory) -> list[Any]:
    """What the store answers to the questions."""
    out = []
    for text, ask in QUESTIONS:
        asked = {"recipe": AS_THEN, **ask}
        result = memory.recall(text, 10, now="2026-09-21T16:00:00Z", **asked)
        out.append([[hit.id, hit.score] for hit in result])
    return out


def main() -> None:
    """Write the store, its export, and what they answer."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    clock, embedder = HandClock(), Moody()
    path = FOLDER / "store.db"
    with memoriter.open(
        path, tenant="acme", clock=clock, entropy=CountedEntropy("v1"), embedder=embedder
    ) as memory:
        write(memory, clock, embedder)
        embedder.failing = False
        memory.export(FOLDER / "store.jsonl")
        head = log_of(memory).head("acme")  # what the chain ends with
        expected = {
            "seq": head.seq,
            "positions": head.positions,
            "time": head.time,
            "link": head.link.hex(),
            "answers": answers(memory),
        }
    for beside in ("lock", "reserve"):  # made anew by whoever opens it
        (FOLDER / f"store.db.{beside}").unlink(missing_ok=True)
    shutil.rmtree(FOLDER / "store.db.idx", ignore_errors=True)
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")
    sys.stdout.write(f"{[(p.name, p.stat().st_size) for p in sorted(FOLDER.iterdir())]}\n")


if __name__ == "__main__":
    main()
