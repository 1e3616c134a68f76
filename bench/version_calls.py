"""Calls for `bench versions`, run by the version of the package that PYTHONPATH names.

It imports nothing of this repository but the public package, so that an older version can run it.
Each line of its input names a call and a turn; it answers with the CPU seconds of that call.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import memoriter

RECIPES = ("lexical", "semantic")


def serve(store: Path, texts: Path) -> None:
    material = json.loads(texts.read_text())
    questions, more = material["questions"], material["more"]
    turns = len(questions)
    memory = memoriter.open(store, maintenance="manual")
    memory.remember_many(
        [{"text": text, "id": f"r{n}"} for n, text in enumerate(material["records"])]
    )
    memory.maintain()
    calls: dict[str, Callable[[int], object]] = {
        f"recall, {name}": lambda n, name=name: list(memory.recall(questions[n], recipe=name))
        for name in RECIPES
    }
    calls["recall, lexical, explained"] = lambda n: [
        hit.explanation.to_dict() for hit in memory.recall(questions[n], recipe="lexical")
    ]
    calls["recall, lexical, verified"] = lambda n: memoriter.verify(
        memory.recall(questions[n], recipe="lexical").receipt.body
    )
    calls["get, 20"] = lambda n: [memory.get(f"r{at}") for at in range(n, n + 20)]
    calls["remember"] = lambda n: memory.remember(more[n])
    calls["update"] = lambda n: memory.update(f"r{n}", text=more[turns + n])
    calls["remember_many, 100, and a recall"] = lambda n: (
        memory.remember_many(more[2 * turns + 100 * n :][:100]),
        memory.recall(questions[n], recipe="lexical"),  # the index takes up what was written
    )
    for call in calls.values():
        call(0)  # what loads once
    print(json.dumps({"package": memoriter.__file__, "calls": list(calls)}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        began = time.process_time()
        calls[request["call"]](request["turn"])
        print(json.dumps({"cpu": time.process_time() - began}), flush=True)
    memory.close()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), Path(sys.argv[2]))
