"""The lane `entity`: records that mention the same people and things as the seeds.

One hop: the entities of the seeds, then other records that mention any of them; records that share
most come first. Two names are one entity if their keys are equal or their Dice coefficient over
character bigrams reaches `alike`. Without entities or seeds the ranking is empty and the answer
still counts as complete.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.explanation import Explanation
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Mask, Ranking, Rows, Scores
from memoriter.index.columns import dictionary_of
from memoriter.index.segment import Segment
from memoriter.lanes.port import Context, Miss, Ready, Seeded, Skipped
from memoriter.lanes.spec import option
from memoriter.rank.grid import snap_one
from memoriter.text.entities import bigrams, dice, entity_key

_HALF = 0.5


class EntityLane(Seeded):
    """The score is tanh(½ · number of shared entities)."""

    about: ClassVar[str] = "records that name the same people and things as good hits"
    fact_words: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"shared": "how many names both have", "entities": "the names that both have"}
    )

    kind: Literal["entity"]
    pool: int = option("how many candidates the lane returns at most", 200, ge=1, le=100_000)
    seed_count: int = option(
        "how many seeds are taken from each lane in `seeds`, best candidates first",
        5,
        ge=1,
        le=1000,
    )
    alike: float = option(
        "minimum similarity (0 to 1) of two spellings that count as one name", 0.6, gt=0.0, le=1.0
    )
    within: Literal["agent", "tenant"] = option(
        "which records are found by a name that they share with a seed",
        "agent",
        values={"agent": "records of the seed's agent", "tenant": "all records of the tenant"},
    )

    def ready(self, ctx: Context) -> Ready | Skipped:
        """Always ready: the seeds are known only when other lanes have run."""
        del ctx
        shows = {"seeds": list(self.seeds), "seed_count": self.seed_count, "pool": self.pool}
        return Ready({**shows, "together": True} if self.together else shows)

    def rank(self, ctx: Context) -> Ranking:
        """Rows that share entities with the seeds, without the seeds themselves."""
        join = _Join(self, ctx)
        rows: list[Rows] = [np.zeros(0, np.int64)]
        scores: list[Scores] = [np.zeros(0)]
        for segment, mask in zip(ctx.view.segments, ctx.selection.masks, strict=True):
            counts = join.shared(segment)
            counts[~mask] = 0
            counts[segment.places(ctx.seeds)[0]] = 0
            hit = counts > 0
            rows.append(segment.rows[hit])
            scores.append(join.worth[counts[hit]])
        every, values = np.concatenate(rows), np.concatenate(scores)
        order = ctx.best(values, every, self.pool)
        shows = {"entities": len(join.clusters)}
        return Ranking(every[order], values[order], shows=shows, memo=join)

    def evidence(self, ctx: Context, ranking: Ranking, rows: Rows) -> list[Explanation]:
        """The number and names of the entities that each row shares."""
        join = cast("_Join", ranking.memo)
        score = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
        out: list[Explanation] = []
        for row in rows.tolist():
            names = [name for s in ctx.view.segments for name in join.names(s, row)]
            facts = {"shared": len(set(names)), "entities": sorted(set(names))}
            out.append(Explanation("shared entities", score[row], facts=facts))
        return out

    def missed(self, ctx: Context, row: int) -> Miss:
        """The record shares no entity."""
        del ctx, row
        return Miss("it shares no entity with the best hits")


@dataclass(frozen=True, slots=True)
class _Names:
    """The entity names of a segment: their keys, and an inverted index of character bigrams."""

    keys: tuple[str, ...]
    exact: dict[str, list[int]]
    sizes: NDArray[np.int64]
    having: dict[str, NDArray[np.int64]]

    @classmethod
    def of(cls, segment: Segment) -> _Names:
        # A segment never changes, so the index is built once and cached on it.
        known = segment.memo.get("entity names")
        if known is None:
            known = cls._made(
                [entity_key(name) for name in dictionary_of(segment.arrays, "entities")]
            )
            segment.remember("entity names", known)
        return known

    @classmethod
    def _made(cls, keys: list[str]) -> _Names:
        exact: dict[str, list[int]] = {}
        having: dict[str, list[int]] = {}
        sizes = np.zeros(len(keys), np.int64)
        for at, folded in enumerate(keys):
            exact.setdefault(folded, []).append(at)
            pairs = bigrams(folded)
            sizes[at] = len(pairs)
            for pair in pairs:
                having.setdefault(pair, []).append(at)
        arrays = {pair: np.array(each, np.int64) for pair, each in having.items()}
        return cls(tuple(keys), exact, sizes, arrays)

    def alike(self, folded: str) -> NDArray[np.float64]:
        """The Dice coefficient of each name with a key; 1 for the key itself."""
        pairs = bigrams(folded)
        shared = np.zeros(len(self.keys), np.int64)
        for pair in pairs:
            if pair in self.having:
                shared[self.having[pair]] += 1
        out = 2.0 * shared / np.maximum(self.sizes + len(pairs), 1)
        out[self.exact.get(folded, [])] = 1.0
        return out


class _Join:
    """The entities of the seeds as clusters of similar keys, and the rows that share them."""

    def __init__(self, lane: EntityLane, ctx: Context) -> None:
        self._lane = lane
        self.clusters: list[str] = []
        self._of_agent: dict[str, set[int]] = {}
        for row in ctx.seeds.tolist():
            for segment in ctx.view.segments:
                places, _ = segment.places(np.array([row]))
                for place in places.tolist():
                    own = {self._cluster(name) for name in _entities(segment, place)} - {-1}
                    self._of_agent.setdefault(self._agent(segment, place), set()).update(own)
        most = len(self.clusters)
        self.worth = np.array([snap_one(math.tanh(_HALF * n)) for n in range(most + 1)])

    def _cluster(self, name: str) -> int:
        """The cluster of a name: the most similar one, or a new one; -1 for an empty name."""
        folded = entity_key(name)
        if not folded:
            return -1
        if folded in self.clusters:
            return self.clusters.index(folded)
        near = [dice(folded, other) for other in self.clusters]
        if near and max(near) >= self._lane.alike:
            return near.index(max(near))
        self.clusters.append(folded)
        return len(self.clusters) - 1

    def _agent(self, segment: Segment, place: int) -> str:
        if self._lane.within == "tenant":
            return ""
        code = int(segment.arrays["agent.codes"][place])
        return "" if code < 0 else dictionary_of(segment.arrays, "agent")[code]

    def _assigned(self, segment: Segment) -> NDArray[np.int64]:
        """The cluster of every entity name of a segment; -1 for none."""
        names = _Names.of(segment)
        best = np.full(len(names.keys), -1.0)
        out = np.full(len(names.keys), -1, np.int64)
        for at, folded in enumerate(self.clusters):
            near = names.alike(folded)
            better = (near >= self._lane.alike) & (near > best)
            best[better], out[better] = near[better], at
        return out

    def _pairs(self, segment: Segment) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(row place, cluster) for every shared entity of a segment, each once."""
        starts = segment.arrays["entities.starts"]
        codes = segment.arrays["entities.codes"]
        if not codes.size or not self.clusters:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        clusters = self._assigned(segment)[codes]
        docs = np.repeat(np.arange(len(segment)), np.diff(starts))
        kept = (clusters >= 0) & self._allowed(segment)[docs, np.maximum(clusters, 0)]
        # (row, cluster) packed into one integer, so that one `unique` drops repeated mentions.
        each = np.unique(docs[kept] * len(self.clusters) + clusters[kept])
        return each // len(self.clusters), each % len(self.clusters)

    def _allowed(self, segment: Segment) -> Mask:
        """(rows × clusters): whether a seed of the row's agent has the cluster."""
        if self._lane.within == "tenant":
            return np.ones((len(segment), len(self.clusters)), np.bool_)
        names = dictionary_of(segment.arrays, "agent")
        table = np.zeros((len(names) + 1, len(self.clusters)), np.bool_)
        for agent, clusters in self._of_agent.items():
            code = names.find(agent) if agent else -1
            # Rows without an agent have code -1, which indexes the last line of the table.
            if code >= 0 or not agent:
                table[code, list(clusters)] = True
        return table[segment.arrays["agent.codes"]]

    def shared(self, segment: Segment) -> NDArray[np.int64]:
        """How many entities each row of a segment shares with the seeds."""
        docs, _ = self._pairs(segment)
        return np.bincount(docs, minlength=len(segment))

    def names(self, segment: Segment, row: int) -> list[str]:
        """The shared entities of one row, by key."""
        places, _ = segment.places(np.array([row]))
        if not places.size:
            return []
        docs, clusters = self._pairs(segment)
        return [self.clusters[n] for n in clusters[docs == places[0]].tolist()]


def _entities(segment: Segment, place: int) -> list[str]:
    starts = segment.arrays["entities.starts"]
    codes = segment.arrays["entities.codes"][int(starts[place]) : int(starts[place + 1])]
    names = dictionary_of(segment.arrays, "entities")
    return [names[int(code)] for code in codes]
