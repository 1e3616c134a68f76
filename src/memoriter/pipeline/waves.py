"""The order in which lanes run: a lane with seeds runs after the lanes that seed it.

Used by `recipe` (validation), `plan` and `run`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from memoriter.core.errors import BadQuery
from memoriter.core.ranking import Ranking, Rows
from memoriter.lanes.port import Context, Seeded, Skipped


def waves_of(lanes: Mapping[str, object]) -> list[tuple[str, ...]]:
    """The labels in topological order, as waves of independent lanes.

    Raises ValueError for unknown seeds or a cycle.
    """
    needs = {label: set(_seeding(lane)) for label, lane in lanes.items()}
    for label, wanted in needs.items():
        if unknown := wanted - set(lanes):
            raise ValueError(
                f"lanes.{label}.seeds: there is no lane {', '.join(sorted(unknown))}; known:"
                f" {', '.join(lanes)}"
            )
    waves: list[tuple[str, ...]] = []
    done: set[str] = set()
    while len(done) < len(lanes):
        wave = tuple(label for label in lanes if label not in done and needs[label] <= done)
        if not wave:
            left = ", ".join(sorted(set(lanes) - done))
            raise ValueError(
                f"the lanes {left} take their seeds from each other in a cycle: remove one of"
                " these lanes from the `seeds` of another"
            )
        waves.append(wave)
        done |= set(wave)
    return waves


def _seeding(lane: object) -> tuple[str, ...]:
    return lane.seeds if isinstance(lane, Seeded) else ()


def cannot_start(label: str, lane: Seeded, ctx: Context, ready: Collection[str]) -> Skipped | None:
    """Why a lane cannot have seeds, as far as is known before others ran; None if it can.

    Raises BadQuery if the lane must have seeds (`must_start`) and none are possible.
    """
    if label in ctx.call.seeds or any(other in ready for other in lane.seeds):
        return None
    if lane.seeds:
        return Skipped(f"no lane that seeds it runs: {', '.join(lane.seeds)}")
    if lane.must_start:
        raise BadQuery(
            f"seeds: lane {label!r} has no memories to start from",
            hint=f"call recall(…, seeds={{{label!r}: [ids]}}), or name lanes in lanes.{label}.seeds"
            " to start from their best hits",
            field="seeds",
        )
    return Skipped("it has no seeds")


def seed_rows(label: str, lane: Seeded, ctx: Context, rankings: Mapping[str, Ranking]) -> Rows:
    """The seeds of a lane, each once: those of the call, then the best of each seeding lane."""
    none = np.zeros(0, np.int64)
    best = [rankings[other].rows[: lane.seed_count] for other in lane.seeds if other in rankings]
    rows = np.concatenate([ctx.call.seeds.get(label, none), *best])
    return rows[np.sort(np.unique(rows, return_index=True)[1])]
