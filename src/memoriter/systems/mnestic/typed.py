"""mnestic's typed call: `HybridSearch` with its `GraphLeg`s, `HybridList`s and `MmrParams`.

They hold fields of mnestic by name and build the recipe and the arguments of `recall`. Fields that
name relations, indexes or the columns of an edge have no counterpart here: an edge has a source, a
target, a kind and a weight, a record one text, one vector and one id. docs/recipes/mnestic.md lists
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol

from memoriter import Result
from memoriter.core.errors import BadQuery
from memoriter.core.lazy_dataclass import dataclass
from memoriter.pipeline.load import overridden, recipe_of
from memoriter.pipeline.recipe import Recipe

_MOST_SEEDS: Final = 1000
"""How many hits of a list a graph leg can start from."""


class Recaller(Protocol):
    """A memory."""

    def recall(self, query: str, limit: int | None = None, **options: Any) -> Result:
        """Search."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MmrParams:
    """Diversity: λ · score − (1 − λ) · the largest cosine to what is taken."""

    trade: float = 0.5
    """λ: mnestic's `lambda`, a keyword of Python; recipes and `rank.mmr` say `trade` too."""
    k: int = 10
    """How many are taken; 0 means all."""
    embedding_col: str = "emb"
    """Any name: a record has one vector here, and it is compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphLeg:
    """Records near the seeds, by hops or, with `max_nodes`, by the cost of the way."""

    label: str = "graph"
    edge_relation: str | None = None
    """The kind of links that are followed; None means all kinds."""
    seeds: Sequence[str] = ()
    max_hops: int = 2
    undirected: bool = False
    max_nodes: int | None = None
    """The budget of records, seeds included. Only with it do the fields below count."""
    max_cost: float | None = None
    weight_col: str | None = None
    """Any name: the weight of a link is its cost. None: a link costs 1."""
    seed_from_legs: bool = True
    """Whether the hits of the vector and the keyword list are seeds too."""

    def lane(self, lists: Sequence[str], most: int) -> dict[str, object]:
        """The lane of a recipe; `lists` may seed it, with at most so many hits of each."""
        out: dict[str, object] = {
            "kind": "hops",
            "max_hops": self.max_hops,
            "direction": "both" if self.undirected else "out",
        }
        if self.edge_relation is not None:
            out["kinds"] = [self.edge_relation]
        if self.max_nodes is None:
            for field in ("max_cost", "weight_col"):
                if getattr(self, field) is not None:
                    raise BadQuery(
                        f"graph leg {self.label}: `{field}` can be used only together with"
                        " `max_nodes`",
                        hint="set `max_nodes` too",
                        field=field,
                    )
            return out
        out |= {"kind": "cheapest", "max_nodes": self.max_nodes}
        out["cost"] = "hop" if self.weight_col is None else "weight"
        if self.max_cost is not None:
            out["max_cost"] = self.max_cost
        if self.seed_from_legs and lists:
            out |= {"seeds": list(lists), "seed_count": min(most, _MOST_SEEDS)}
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridList:
    """A list of your own that joins the fusion."""

    label: str
    scores: Sequence[tuple[str, float]] | str
    """(id, score), the higher the better; or the name of an attribute of records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridSearch:
    """One search: every list that has its input is fused. The defaults are those of mnestic.

    >>> search = HybridSearch(query_text="pricing", limit=3)
    >>> search.call()["query"], search.recipe().final.limit
    ('pricing', 3)
    """

    query_text: str = ""
    """An expression; empty means no keyword list."""
    fts_k: int = 10
    score_kind: Literal["bm25", "tf_idf", "tf"] = "bm25"
    k1: float = 1.2
    b: float = 0.75
    query_vector: Sequence[float] = ()
    """Empty means no vector list."""
    vector_k: int = 10
    ef: int = 50
    graph_legs: Sequence[GraphLeg] = ()
    extra_lists: Sequence[HybridList] = ()
    rrf_k: float = 60.0
    mmr: MmrParams | None = None
    limit: int = 10
    detailed: bool = False

    def recipe(self) -> Recipe:
        """The recipe `mnestic` with the values of this search."""
        _distinct(["semantic", "text", *self._labels()])
        return overridden(recipe_of("mnestic"), self._overrides())

    def call(self) -> dict[str, Any]:
        """The arguments of `memory.recall`, or of `memory.plan`, which is the script here."""
        out: dict[str, Any] = {"query": self.query_text, "recipe": self.recipe()}
        if len(self.query_vector):
            out["vector"] = list(self.query_vector)
        if seeds := {leg.label: list(leg.seeds) for leg in self.graph_legs if leg.seeds}:
            out["seeds"] = seeds
        if self.extra_lists:
            out["lists"] = {each.label: each.scores for each in self.extra_lists}
        return out

    def run(self, memory: Recaller) -> list[tuple[Any, ...]]:
        """The rows of the answer: [id, score], or with `detailed` one for each list."""
        return [tuple(row) for row in memory.recall(**self.call()).rows(detailed=self.detailed)]

    def _overrides(self) -> Mapping[str, object]:
        given = {"semantic": bool(len(self.query_vector)), "text": bool(self.query_text)}
        out: dict[str, object] = {f"lanes.{label}.enabled": has for label, has in given.items()}
        out |= {
            "lanes.semantic.pool": self.vector_k,
            "lanes.semantic.ef": self.ef,
            "lanes.text.pool": self.fts_k,
            "lanes.text.score": self.score_kind,
            "lanes.text.k1": self.k1,
            "lanes.text.b": self.b,
            "fusion.k": self.rrf_k,
            "final.limit": self.limit,
        }
        lists = [label for label, has in given.items() if has]
        most = max(self.vector_k, self.fts_k)
        out |= {f"lanes.{leg.label}": leg.lane(lists, most) for leg in self.graph_legs}
        if self.mmr is not None:
            out |= {"order.0.enabled": True, "order.0.trade": min(max(self.mmr.trade, 0.0), 1.0)}
            out["order.0.take"] = self.mmr.k
        return out

    def _labels(self) -> list[str]:
        return [each.label for each in (*self.graph_legs, *self.extra_lists)]


def _distinct(labels: Sequence[str]) -> None:
    for at, label in enumerate(labels):
        if label in labels[:at]:
            raise BadQuery(
                f"the label {label!r} is given twice",
                hint="every list needs a label of its own; semantic and text are reserved",
                field="label",
            )
