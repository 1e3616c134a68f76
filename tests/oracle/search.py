"""The oracle's lanes at work: what each finds, and which run after which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.oracle.graph import Reached
from tests.oracle.kinds import lanes
from tests.oracle.numbers import Column, Knots
from tests.oracle.passes import first
from tests.oracle.rules import LaneCall, LaneOracle
from tests.oracle.table import Scene, tied
from tests.oracle.world import Ask, World, by_append, readable

from memoriter.core.record import Record


def scene_of(
    world: World, ask: Ask, chosen: Sequence[Record], candidates: Mapping[str, Column]
) -> Scene:
    """What passes and orderings may look at."""
    known = world.by_then(ask.time).links if by_append(ask) else world.links
    return Scene(
        ask.recipe,
        {record.row: record for record in world.records},
        world.vectors,
        [link for link in known if link.holds(ask.time)],
        {record.position for record in world.records if readable(world, ask, record)},
        {record.row for record in chosen},
        candidates,
        ask.text,
        ask.now,
        ask.cycle,
        ask.judge,
        has_model=world.has_model,
    )


class Search:
    """The lanes of one question, each after those that seed it."""

    def __init__(self, world: World, ask: Ask, chosen: Sequence[Record]) -> None:
        self.world, self.ask, self.chosen = world, ask, chosen
        self.lanes: Mapping[str, Any] = ask.recipe["lanes"]
        self.records = {record.row: record for record in chosen}
        self.walks: dict[str, dict[int, Reached]] = {}
        self.whole: dict[str, Column] = {}
        """What each lane says of every row, best first."""

    def coverage(self) -> dict[str, Knots | None]:
        """What share of the question a score of each lane covers."""
        return {label: self._oracle(label).coverage(self._call(label)) for label in self.whole}

    def owed(self) -> dict[str, set[int]]:
        """The rows of which each lane lacks what is computed later."""
        return {label: self._oracle(label).owed(self._call(label)) for label in self.whole}

    def candidates(self) -> dict[str, Column]:
        """What each lane finds, best first, in the recipe's order."""
        ready = self._ready()
        out: dict[str, Column] = {}
        waiting = list(ready)
        while waiting:
            label = next(n for n in waiting if not {*waiting} & {*self.lanes[n].get("seeds", ())})
            waiting.remove(label)
            scores = self._scores(label, out)
            if scores is not None:
                best = self._best(scores, self._order(label))
                self.whole[label] = {row: scores[row] for row in best}
                pool = best[: self.lanes[label]["pool"]]
                out[label] = {row: scores[row] for row in pool}
        return {label: out[label] for label in self.lanes if label in out}

    def parts(self, ranked: Mapping[str, Column]) -> dict[str, Column]:
        """What graph lanes add up, for the rows that were found, by the name of the column."""
        out: dict[str, Column] = {}
        for label, walked in self.walks.items():
            for row in ranked[label]:
                for name, value in walked[row].parts.items():
                    out.setdefault(f"{label}.{name}", {})[row] = value
        return out

    def _ready(self) -> list[str]:
        """The lanes that can run; if none, the one kept for that case."""
        out: list[str] = []
        waiting = [n for n in self.ask.lanes if self.lanes[n]["enabled"]]
        while waiting:
            label = next(n for n in waiting if not {*waiting} & {*self.lanes[n].get("seeds", ())})
            waiting.remove(label)
            seeds = self.lanes[label].get("seeds")
            started = label in self.ask.seeds or (seeds is not None and {*seeds} & {*out})
            if started if seeds is not None else self._runs(label):
                out.append(label)
        last = self.ask.otherwise
        if not out and last is not None:
            fits = "seeds" in self.lanes[last] or self._runs(last)
            out = [last] if fits else []
        return out

    def _order(self, label: str) -> list[str]:
        ties = self._oracle(label).ties(self.lanes[label])
        return self.ask.ties if ties is None else ties

    def _best(self, scores: Mapping[int, float], ties: Sequence[str]) -> list[int]:
        def key(row: int) -> tuple[Any, ...]:
            return (-scores[row], *(tied(name, self.records[row]) for name in ties), row)

        return sorted(scores, key=key)

    def _scores(self, label: str, ranked: Mapping[str, Column]) -> Column | None:
        """The score of every row that a lane finds; None when it has nowhere to start."""
        seeds: Sequence[int] = ()
        if "seeds" in self.lanes[label]:
            seeds = self._seeds(label, ranked)
            if not seeds:
                return None
        return self._oracle(label).scores(self._call(label, seeds))

    def _oracle(self, label: str) -> LaneOracle:
        return lanes()[self.lanes[label]["kind"]]

    def _call(self, label: str, seeds: Sequence[int] = ()) -> LaneCall:
        def scene() -> Scene:
            return scene_of(self.world, self.ask, self.chosen, {})

        return LaneCall(self.world, self.ask, label, self.chosen, seeds, scene, self.walks)

    def _runs(self, label: str) -> bool:
        return self._oracle(label).runs(self._call(label))

    def _seeds(self, label: str, ranked: Mapping[str, Column]) -> list[int]:
        """The rows that a lane starts from."""
        known = {record.id: record.row for record in self.world.records}
        seeds = [known[one] for one in self.ask.seeds.get(label, ())]
        for rows in self._starts(label, ranked):
            seeds += rows[: self.lanes[label]["seed_count"]]
        return list(dict.fromkeys(seeds))

    def _starts(self, label: str, ranked: Mapping[str, Column]) -> list[list[int]]:
        """What each lane that seeds it ranked, best first; or all of them together, fused."""
        lane = self.lanes[label]
        own = {n: ranked[n] for n in self.lanes if n in lane["seeds"] and n in ranked}
        if not lane["together"]:
            return [list(ranked[other]) for other in lane["seeds"] if other in ranked]
        scene = scene_of(self.world, self.ask, self.chosen, own)
        scene = replace(scene, coverage=self.coverage(), owed=self.owed())
        one: dict[str, Any] = {**self.ask.recipe["pass"][0], "boosts": [], "complete": False}
        return [first(replace(scene, recipe={**scene.recipe, "boosts": {}, "pass": [one]})).rows]
