"""Hits by their words, each with the records that hang on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from memoriter.core.errors import BadQuery, NothingToRun
from memoriter.core.ranking import Ranking, Rows
from memoriter.core.record import Record
from memoriter.core.shown import counted, named, quoted, shown
from memoriter.index.filter import Fetch
from memoriter.lanes.bm25 import Bm25Lane
from memoriter.lanes.graph_lane import on_paths
from memoriter.lanes.port import Context, Skipped
from memoriter.lanes.walk import Walked, WalkLane
from memoriter.pipeline.recipe import Recipe
from memoriter.why.result import Hit, LaneScore


@dataclass(frozen=True, slots=True)
class Support:
    """A record that hangs on a seed."""

    record: Record
    depth: int
    seed_paths: int
    """How many seeds reach it."""
    kinds: tuple[str, ...]
    path: tuple[dict[str, object], ...]
    superseded_by: tuple[str, ...] = ()
    """As of a hit."""

    def __repr__(self) -> str:
        kind = f"Support {named(self.record.id)}"
        return shown(kind, f"depth {self.depth}, {quoted(self.record.text, 48)}")

    def to_dict(self) -> dict[str, object]:
        """The record and how it hangs there, as plain data."""
        return {
            "record": self.record.to_dict(),
            "superseded_by": list(self.superseded_by),
            "depth": self.depth,
            "seed_paths": self.seed_paths,
            "kinds": list(self.kinds),
            "path": [dict(hop) for hop in self.path],
        }


@dataclass(frozen=True, slots=True)
class Bundle:
    """A hit, and what hangs on it, nearest first."""

    seed: Hit
    support: tuple[Support, ...]

    def __repr__(self) -> str:
        beside = counted(len(self.support), "record")
        return shown("Bundle", f"{named(self.seed.id)} and {beside} linked to it")

    def to_dict(self) -> dict[str, object]:
        """The bundle as plain data."""
        return {"seed": self.seed.to_dict(), "support": [each.to_dict() for each in self.support]}


@dataclass(frozen=True)
class Bundles(Sequence[Bundle]):
    """One page of bundles, best hit first; a sequence."""

    bundles: tuple[Bundle, ...]
    total: int
    """How many there are in all."""
    offset: int

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
        return {"total": self.total, "offset": self.offset, "bundles": bundles}


_Known = dict[int, tuple[Record | None, tuple[str, ...]]]
"""Of each row the record, unless it was forgotten since, and what took its place."""


def bundle(recipe: Recipe, ctx: Context, fetch: Fetch, offset: int) -> Bundles:
    """The hits of the recipe's word lane in its order, each with what its walk lane reaches.

    A hit hangs on no other hit. Only the best `seed_count` hits are walked from; the page has no
    say in it. Without words there are no bundles, without a walk lane they are bare.
    """
    if ctx.call.seeds:
        raise BadQuery("seeds: bundles begin at hits by their words", field="seeds")
    if ctx.query.budget:
        raise BadQuery("budget: bundles are not packed into one", hint="use recall", field="budget")
    lanes = recipe.lanes.items()
    label, words = next(
        ((name, lane) for name, lane in lanes if isinstance(lane, Bm25Lane)), ("", None)
    )
    ready = Skipped("the recipe has no word lane") if words is None else words.ready(ctx)
    if words is None or isinstance(ready, Skipped):
        if words is None or ctx.wording.unread is not None:
            raise NothingToRun(f"bundles: {getattr(ready, 'reason', '')}", hint="use recipe linked")
        return Bundles((), 0, offset)
    ranking = words.rank(ctx)
    page = ranking.rows[offset : offset + ctx.query.limit]
    hung = _hung(recipe, ctx, ranking.rows)
    wanted = [*page.tolist(), *(row for seed in page.tolist() for row in hung.rows(seed))]
    replaced = ctx.replaced_by(np.array(wanted, np.int64))
    records = dict(zip(wanted, zip(fetch(wanted), replaced, strict=True), strict=True))
    made = [
        Bundle(hit, hung.support(hit.record.row, records))
        for hit in _hits(ctx, _Page(label, words, ranking, page, offset), records)
    ]
    return Bundles(tuple(made), int(ranking.rows.size), offset)


@dataclass(frozen=True, slots=True)
class _Page:
    """Some rows of a ranking of the word lane."""

    label: str
    words: Bm25Lane
    ranking: Ranking
    rows: Rows
    offset: int
    """How many rows stand before them."""


def _hits(ctx: Context, page: _Page, records: _Known) -> Iterator[Hit]:
    reasons = page.words.evidence(ctx, page.ranking, page.rows)
    for at, (row, why) in enumerate(
        zip(page.rows.tolist(), reasons, strict=True), start=page.offset
    ):
        record, replaced = records[row]
        if record is not None:  # forgotten since the view was opened
            score = float(page.ranking.scores[at])
            yield Hit(
                record=record,
                rank=at + 1,
                score=score,
                explanation=why,
                lanes={page.label: LaneScore(at + 1, score, why)},
                moves={},
                _analyzer=ctx.wording.analyzer,
                superseded_by=replaced,
            )


class _Hung:
    """What hangs on each of the seeds that were walked from."""

    def __init__(self, walked: Walked, seeds: Rows) -> None:
        self._walked = walked
        walk_graph = walked.walk_graph
        taken = set(walk_graph.graph.positions(seeds).tolist())
        reached = walked.reached
        self._seeds = dict(zip(reached.nodes.tolist(), reached.seeds.tolist(), strict=True))
        self._places: dict[int, tuple[int, list[int]]] = {}
        for n, tree in enumerate(walked.trees):
            nodes = tree.nodes.tolist()
            keep = [
                at for at, one in enumerate(nodes) if walk_graph.inside[one] and one not in taken
            ]
            keep.sort(key=lambda at, tree=tree: (int(tree.depths[at]), int(tree.nodes[at])))
            self._places[int(walk_graph.graph.rows[nodes[0]])] = n, keep

    def rows(self, seed: int) -> list[int]:
        """The rows that hang on a seed, nearest first, then oldest."""
        n, places = self._places.get(seed, (0, []))
        if not places:
            return []
        nodes = self._walked.trees[n].nodes[np.array(places)]
        return self._walked.walk_graph.graph.rows[nodes].tolist()

    def support(self, seed: int, records: _Known) -> tuple[Support, ...]:
        """The records that hang on a seed."""
        walked = self._walked
        n, places = self._places.get(seed, (0, []))
        if not places:
            return ()
        tree = walked.trees[n]
        names = walked.walk_graph.names(on_paths([(tree, at) for at in places]))
        out: list[Support] = []
        for at, row in zip(places, self.rows(seed), strict=True):
            record, replaced = records[row]
            if record is None:  # as above
                continue
            path = walked.walk_graph.path(tree, at, names, walked.worth)
            kinds = tuple(walked.walk_graph.kinds(tree, at))
            seeds = self._seeds[int(tree.nodes[at])]
            depth = int(tree.depths[at])
            out.append(Support(record, depth, seeds, kinds, tuple(path), replaced))
        return tuple(out)


def _hung(recipe: Recipe, ctx: Context, seeds: Rows) -> _Hung:
    walks = [lane for lane in recipe.lanes.values() if isinstance(lane, WalkLane) and lane.enabled]
    lane = walks[0] if walks else WalkLane(kind="walk", max_depth=0)
    count = lane.seed_count if walks else 0
    return _Hung(lane.walked(ctx.at("", {"": seeds[:count].astype(np.int64)})), seeds)
