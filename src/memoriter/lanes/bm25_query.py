"""Binds a parsed query to a view: each leaf is analysed and its document frequency looked up.

The lane `bm25` calls it once per query text; `maxscore` runs the bound tree.
"""

from __future__ import annotations

from collections.abc import Sequence

from memoriter.index.match import NearPattern, PhrasePattern
from memoriter.lanes.bm25_score import BoundLeaf, Scorer
from memoriter.lanes.maxscore import BoundTree, Every, Minus, Some
from memoriter.text.port import Analyzer
from memoriter.text.tree import And, Leaf, NearLeaves, Node, Or, Term, Without, tree_text


class Binder:
    """Binds query trees to one view."""

    def __init__(self, scorer: Scorer, analyzer: Analyzer) -> None:
        self._scorer = scorer
        self._analyzer = analyzer

    def bound(self, node: Node) -> BoundTree | None:
        """The tree with df and idf of every leaf; None if the analyzer finds no word in it."""
        match node:
            case Term() | Leaf() | NearLeaves():
                return self._kept_leaf(node)
            case Without():
                keep, drop = self.bound(node.keep), self.bound(node.drop)
                return keep if keep is None or drop is None else Minus(keep, drop)
            case And() | Or():
                return self._several(node)

    def _kept_leaf(self, node: Term | Leaf | NearLeaves) -> BoundLeaf | None:
        known = self._scorer.leaves
        try:
            return known[node]
        except KeyError:
            pass
        if len(known) >= _KEPT:
            known.clear()
        made = known[node] = self._leaf(node)
        return made

    def _several(self, node: And | Or) -> BoundTree | None:
        bound_parts = [self.bound(part) for part in node.parts]
        parts = tuple(part for part in bound_parts if part is not None)
        if isinstance(node, Or) and self._scorer.adds:
            # MaxScore handles one flat list of leaves; nested ones would be evaluated node by node.
            parts = _flat(parts)
        if len(parts) <= 1:
            return next(iter(parts), None)
        return Every(parts) if isinstance(node, And) else Some(parts)

    def _leaf(self, node: Term | Leaf | NearLeaves) -> BoundLeaf | None:
        if isinstance(node, Term):
            return self._scorer.bound_leaf(node.term, PhrasePattern(((node.term, 0),)), 1.0)
        if isinstance(node, NearLeaves):
            return self._near(node)
        pattern = self._sought(node)
        return self._scorer.bound_leaf(tree_text(node), pattern, node.boost) if pattern else None

    def _near(self, node: NearLeaves) -> BoundLeaf | None:
        bound_parts = [self._sought(leaf) for leaf in node.leaves]
        parts = tuple(part for part in bound_parts if part is not None)
        if not parts:
            return None
        boost = sum(leaf.boost for leaf in node.leaves)
        pattern = NearPattern(parts, node.distance, node.chained)
        return self._scorer.bound_leaf(tree_text(node), pattern, boost)

    def _sought(self, leaf: Leaf) -> PhrasePattern | None:
        tokens = leaf.tokens or self._analyzer.tokens(leaf.text, prefix=leaf.prefix)
        if not tokens:
            return None
        tokens = tuple(unstacked(tokens)[:_LONGEST])
        if not leaf.fields:
            return PhrasePattern(tokens, leaf.prefix)
        names = self._scorer.stats.names
        fields = frozenset(names.index(name) for name in leaf.fields if name in names)
        # An empty set means "any field", so a leaf limited to unknown fields needs a field number
        # that no posting has.
        return PhrasePattern(tokens, leaf.prefix, fields or frozenset({_NOWHERE}))


_KEPT = 4_096
"""How many leaves are kept; more are bound again."""
_NOWHERE = 255
"""A field number that no field has."""
_LONGEST = 64
"""Maximum words of a phrase; further words are ignored."""


def unstacked(tokens: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """One token per position: the parts of an identifier, not the whole of it.

    The quoted phrase "main.py" then matches src/main.py, which shares its parts but not the whole.
    """
    return list({place: (term, place) for term, place in tokens}.values())


def _flat(parts: tuple[BoundTree, ...]) -> tuple[BoundTree, ...]:
    """Nested alternatives as one list; a repeated leaf is kept once, with the number of times."""
    out: dict[object, BoundTree] = {}
    for part in parts:
        for one in part.parts if isinstance(part, Some) else (part,):
            if not isinstance(one, BoundLeaf):
                out[len(out)] = one
                continue
            key = (one.pattern, one.boost)
            known = out.get(key)
            again = isinstance(known, BoundLeaf)
            out[key] = one._replace(times=one.times + known.times) if again else one
    return tuple(out.values())
