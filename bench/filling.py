"""How good is it while vectors are still owed? A part of them, at random, on the development sets.

`tools/bench_data.py` says where the sets are.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, cast
from unittest.mock import patch

from tests.inside import context_of, log_of, view_of
from tools.bench_data import MISSING, bench_data

from bench.tools import SHOWN, Options, figures, table
from memoriter.core.errors import NothingToRun
from memoriter.core.scope import Scope
from memoriter.evaluate.data import EvalCase
from memoriter.evaluate.find import find_datasets
from memoriter.evaluate.metrics import DEPTH
from memoriter.evaluate.run import SetClock, steps_of
from memoriter.memory.facade import Memory
from memoriter.memory.opening import open_memory
from memoriter.memory.options import DraftFields
from memoriter.write import prepare
from memoriter.write.writer import Writer

SETS = ("everyday", "locomo")
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
SEED = 7
PATIENCE = 3600.0
"""Seconds that the model has: a busy machine changes no figure."""
Answers = list[tuple[Sequence[str], frozenset[str]]]
"""The ids that were answered to a question, and those that are right."""


def answers(case: EvalCase, embedder: str, share: float) -> Answers:
    """The answers of the default recipe while a part of the vectors is computed."""
    clock = SetClock(0)
    opened: Any = {"clock": clock, "embed_timeout": PATIENCE, "maintenance": "manual"}
    out: Answers = []
    with open_memory(":memory:", embedder=embedder, **opened) as memory:
        for step in steps_of(case):
            clock.at = step.now
            with patch.object(prepare, "AT_ONCE", -1):  # also small writes leave their vectors owed
                memory.remember_many(
                    [cast("DraftFields", record.to_draft()) for record in step.records]
                )
            compute(memory, share)
            for _, question in step.questions:
                if question.gold:
                    out.append((ids(memory, question.text, question.now), question.gold))
    return out


def compute(memory: Memory, share: float) -> None:
    """Compute this part of the vectors; a larger part contains every smaller one."""
    view = view_of(memory)
    pairs = zip(view.segments, view.unembedded, strict=True)
    owed = [row for segment, lacking in pairs for row in segment.rows[lacking].tolist()]
    rows = [row for row in owed if Random(f"{SEED}/{row}").random() < share]
    writer = Writer(log_of(memory), context_of(memory), Scope.of(memory.scope.tenant))
    for portion in writer.embed_rows(rows):
        assert portion.failed is None, portion.failed


def ids(memory: Memory, text: str, now: int | None) -> Sequence[str]:
    """The ids of the hits."""
    try:
        return [hit.id for hit in memory.recall(text, DEPTH, now=now)]
    except NothingToRun:
        return []


def run(options: Options) -> None:
    if (place := bench_data()) is None:
        print(MISSING)
        return
    sets = [
        each for name in SETS if (place / name).exists() for each in find_datasets(place / name)
    ]
    kinds = [(f"{share:.0%} of the vectors", "memory-en", share) for share in SHARES]
    rows: list[tuple[str, ...]] = []
    for label, embedder, share in [*kinds, ("the packaged table", "table", 1.0)]:
        own = [label]
        for dataset in sets:
            cases = dataset.cases[:1] if options.small else dataset.cases
            every = [each for case in cases for each in answers(case, embedder, share)]
            own.append(" / ".join(figures(every)))
        rows.append(tuple(own))
        print(" | ".join(own), flush=True)
    print(f"\n{' / '.join(SHOWN)}\n")
    table(["computed", *(dataset.name for dataset in sets)], rows)
