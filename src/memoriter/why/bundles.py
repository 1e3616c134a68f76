"""Bundles: the hits of the word lane, each with the records that are linked to it.

`Memory.bundles` calls `bundle`; the linked records come from the recipe's walk lane.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import overload

import numpy as np

from memoriter.core.errors import BadQuery, NothingToRun
from memoriter.core.explanation import Explanation
from memoriter.core.later import Later
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.other_words import Hinting
from memoriter.core.ranking import Ranking, Rows
from memoriter.core.record import Record
from memoriter.core.shown import counted, named, quoted, shown
from memoriter.index.read_once import Fetch
from memoriter.lanes.graph_lane import SeedWalkLane, Walked, on_paths
from memoriter.lanes.port import Context, Lane, Skipped
from memoriter.pipeline.passes import not_asked
from memoriter.pipeline.recipe import Recipe
from memoriter.why.hit import Hit, HitReasons
from memoriter.why.lane_score import LaneScore


@dataclass(frozen=True, slots=True)
class Support:
    """A record that is linked to a seed, directly or over other records."""

    record: Record
    depth: int
    """Links between the seed and the record."""
    seed_paths: int
    """How many seeds reach it."""
    kinds: tuple[str, ...]
    """The kinds of the links on the path."""
    path: tuple[dict[str, object], ...]
    superseded_by: tuple[str, ...] = ()
    """As in `Hit.superseded_by`."""

    def __repr__(self) -> str:
        kind = f"Support {named(self.record.id)}"
        return shown(kind, f"depth {self.depth}, {quoted(self.record.text, 48)}")

    def to_dict(self) -> dict[str, object]:
        """The record and its path as plain data."""
        return {
            "record": self.record.to_dict(),
            "superseded_by": list(self.superseded_by),
            "depth": self.depth,
            "seed_paths": self.seed_paths,
            "kinds": list(self.kinds),
            "path": [dict(hop) for hop in self.path],
        }


@dataclass(frozen=True, slots=True)
class Bundle(Hinting):
    """A hit (the seed) and the records linked to it, nearest first."""

    seed: Hit
    support: tuple[Support, ...]

    def __repr__(self) -> str:
        linked = counted(len(self.support), "record")
        return shown("Bundle", f"{named(self.seed.id)} and {linked} linked to it")

    def to_dict(self) -> dict[str, object]:
        """The bundle as plain data."""
        return {"seed": self.seed.to_dict(), "support": [each.to_dict() for each in self.support]}


@dataclass(frozen=True)
class Bundles(Sequence[Bundle]):
    """A page of bundles, best hit first; a sequence."""

    bundles: tuple[Bundle, ...]
    total: int
    """The number of bundles on all pages."""
    offset: int
    skipped: Mapping[str, str] = field(default_factory=dict[str, str])
    """What was left out → why: a reranker, if the memory has one."""

    def __repr__(self) -> str:
        return shown("Bundles", f"{len(self):,} of {self.total:,}, from {self.offset:,}")

    def __len__(self) -> int:
        return len(self.bundles)

    @overload
    def __getitem__(self, index: int) -> Bundle: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Bundle, ...]: ...
    def __getitem__(self, index: int | slice) -> Bundle | tuple[Bundle, ...]:
        return self.bundles[index]

    def __iter__(self) -> Iterator[Bundle]:
        return iter(self.bundles)

    def to_dict(self) -> dict[str, object]:
        """The page as plain data."""
        bundles = [bundle.to_dict() for bundle in self.bundles]
        return {
            "total": self.total,
            "offset": self.offset,
            "skipped": dict(self.skipped),
            "bundles": bundles,
        }


_Known = dict[int, tuple[Record | None, tuple[str, ...]]]
"""Row → (its record, None if it was forgotten since; ids of the records that superseded it)."""


def bundle(recipe: Recipe, ctx: Context, fetch: Fetch, offset: int) -> Bundles:
    """The hits of the recipe's word lane, each with the records that its walk lane reaches.

    A hit is never listed below another hit. Only the best `seed_count` hits are walked from, on
    whichever page they are. A query without words has no bundles; without a walk lane, bundles
    have no linked records. Raises BadQuery for seeds, a budget or a cycle, and NothingToRun if the
    recipe has no word lane.
    """
    if ctx.call.seeds:
        raise BadQuery(
            "seeds: `bundles` takes no seeds, because it starts from the hits of the word lane",
            hint="leave `seeds` out, or use recall",
            field="seeds",
        )
    if ctx.query.budget:
        raise BadQuery(
            "budget: `bundles` does not use a budget",
            hint="leave the budget out, or use recall",
            field="budget",
        )
    if ctx.query.cycle is not None:
        raise BadQuery(
            "cycle: `bundles` does not use the option `cycle`",
            hint="leave `cycle` out, or use recall",
            field="cycle",
        )
    skipped = {} if ctx.effects.reranker is None else {"rerank": not_asked("bundles")}
    lanes = recipe.lanes.items()
    label, words = next(
        ((name, lane) for name, lane in lanes if lane.generation == "words"), ("", None)
    )
    ready = Skipped("the recipe has no word lane") if words is None else words.ready(ctx)
    if words is None or isinstance(ready, Skipped):
        if words is None or ctx.wording.unread is not None:
            raise NothingToRun(
                f"bundles: {getattr(ready, 'reason', '')}",
                hint='use a recipe whose word lane can run here, for example recipe="linked"',
            )
        return Bundles((), 0, offset, skipped)
    ranking = words.rank(ctx)
    page = ranking.rows[offset : offset + ctx.query.limit]
    linked = _linked(recipe, ctx, ranking.rows)
    # All records of the page are fetched at once: one read instead of one per bundle.
    wanted = [*page.tolist(), *(row for seed in page.tolist() for row in linked.rows(seed))]
    replaced = ctx.replacing_ids(np.array(wanted, np.int64))
    records = dict(zip(wanted, zip(fetch(wanted), replaced, strict=True), strict=True))
    bundles = [
        Bundle(hit, linked.support(hit.record.row, records))
        for hit in _hits(recipe, ctx, _Page(label, words, ranking, page, offset), records)
    ]
    return Bundles(tuple(bundles), int(ranking.rows.size), offset, skipped)


@dataclass(frozen=True, slots=True)
class _Page:
    """The rows of one page of the word lane's ranking."""

    label: str
    words: Lane
    ranking: Ranking
    rows: Rows
    offset: int
    """How many rows are on the pages before."""


def _hits(recipe: Recipe, ctx: Context, page: _Page, records: _Known) -> Iterator[Hit]:
    reasons = page.words.evidence(ctx, page.ranking, page.rows)
    for at, (row, why) in enumerate(
        zip(page.rows.tolist(), reasons, strict=True), start=page.offset
    ):
        record, replaced = records[row]
        if record is not None:  # None: forgotten after the view was opened
            score = float(page.ranking.scores[at])
            yield Hit(
                record=record,
                rank=at + 1,
                score=score,
                _reasons=Later(partial(_reasons, page.label, at + 1, score, why)),
                recipe=recipe,
                _analyzer=ctx.wording.analyzer,
                superseded_by=replaced,
            )


def _reasons(label: str, rank: int, score: float, why: Explanation) -> HitReasons:
    """The reasons of a hit that one lane found and nothing moved."""
    return HitReasons(
        {label: LaneScore(rank, score, Later(lambda: why))},
        explanation=Later(lambda: why),
        moves=Later(dict[str, Mapping[str, object]]),
        relevance=Later(lambda: None),
    )


class _Linked:
    """The records linked to each of the seeds that were walked from."""

    def __init__(self, walked: Walked | None, seeds: Rows) -> None:
        self._places: dict[int, tuple[int, list[int]]] = {}
        """Row of a seed → (number of its tree, places in that tree, nearest first)."""
        self._seeds: dict[int, int] = {}
        """Node → number of seeds that reach it."""
        self._walked = walked
        if walked is None:
            return
        walk_graph, reached = walked.walk_graph, walked.reached
        self._seeds = dict(zip(reached.nodes.tolist(), reached.seeds.tolist(), strict=True))
        hits = set(walk_graph.graph.positions(seeds).tolist())
        for n, tree in enumerate(walked.trees):
            nodes = tree.nodes.tolist()  # the first node of a tree is its seed
            keep = [
                at for at, one in enumerate(nodes) if walk_graph.inside[one] and one not in hits
            ]
            keep.sort(key=lambda at, tree=tree: (int(tree.depths[at]), int(tree.nodes[at])))
            self._places[int(walk_graph.graph.rows[nodes[0]])] = n, keep

    def rows(self, seed: int) -> list[int]:
        """The rows linked to a seed, nearest first, then oldest first."""
        n, places = self._places.get(seed, (0, []))
        if self._walked is None or not places:
            return []
        nodes = self._walked.trees[n].nodes[np.array(places)]
        return self._walked.walk_graph.graph.rows[nodes].tolist()

    def support(self, seed: int, records: _Known) -> tuple[Support, ...]:
        """The records linked to a seed, in the order of `rows`."""
        walked = self._walked
        n, places = self._places.get(seed, (0, []))
        if walked is None or not places:
            return ()
        tree = walked.trees[n]
        names = walked.walk_graph.names(on_paths([(tree, at) for at in places]))
        out: list[Support] = []
        for at, row in zip(places, self.rows(seed), strict=True):
            record, replaced = records[row]
            if record is None:  # forgotten after the view was opened
                continue
            path = walked.walk_graph.path(tree, at, names, walked.worth)
            kinds = tuple(walked.walk_graph.kinds(tree, at))
            seeds = self._seeds[int(tree.nodes[at])]
            depth = int(tree.depths[at])
            out.append(
                Support(
                    record,
                    depth,
                    seed_paths=seeds,
                    kinds=kinds,
                    path=tuple(path),
                    superseded_by=replaced,
                )
            )
        return tuple(out)


def _linked(recipe: Recipe, ctx: Context, seeds: Rows) -> _Linked:
    lanes = (lane for lane in recipe.lanes.values() if isinstance(lane, SeedWalkLane))
    lane = next((lane for lane in lanes if lane.enabled), None)
    if lane is None:
        return _Linked(None, seeds)
    return _Linked(lane.walked(ctx.at("", {"": seeds[: lane.seed_count].astype(np.int64)})), seeds)
