"""Words: a query tree over plain lists, one record at a time.

It shares the analyzer, the dialects and the pure text functions of the ladder with the engine, and
nothing that counts, looks up or scores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Any

from tests.oracle.numbers import Column, Knots, grid
from tests.oracle.pages import Page, Spots
from tests.oracle.rules import LaneCall, LaneOracle

from memoriter.systems.jeffs_brain.dialect import longest_word
from memoriter.text import retry
from memoriter.text.dialects import Options, dialect, read_query
from memoriter.text.port import Analyzer
from memoriter.text.tree import And, Leaf, NearLeaves, Node, Or, Term, Without, tree_text

Scored = dict[int, float | None]
"""What records that satisfy something get for it; None where it counts nothing."""


def _joined(parts: Sequence[float | None], join: Any) -> float | None:
    known = [part for part in parts if part is not None]
    return join(known) if known else None


class _Lane:
    """The word lane of a recipe over the pages of a whole view."""

    def __init__(
        self, spec: Mapping[str, Any], pages: Mapping[int, Page], analyzer: Analyzer
    ) -> None:
        self.spec = spec
        self.pages = pages
        self.analyzer = analyzer

    @cached_property
    def total(self) -> int:
        """N."""
        if self.spec["records"] == "all":
            return len(self.pages)
        return sum(any(page.lengths.values()) for page in self.pages.values())

    def mean(self, field: str) -> float:
        """The mean length of a field."""
        whole = sum(page.lengths[field] for page in self.pages.values())
        return whole / self.total if self.total else 0.0

    def read(self, text: str, aliases: Mapping[str, Sequence[str]]) -> Node | None:
        """The tree of a text."""
        options = Options(self.spec["expert"], self.spec["stop"], aliases)
        return read_query(self.spec["dialect"], text, self.analyzer, options).tree

    # -- counting ------------------------------------------------------------------------------

    def tfs(self, leaf: Term | Leaf | NearLeaves, page: Page) -> dict[str, int]:
        """How often a leaf occurs in each field of a record."""
        out: dict[str, int] = {}
        for field, spots in page.spots.items():
            named = isinstance(leaf, Leaf) and field in leaf.fields
            if field not in self.spec["fields"] and not named:
                continue
            if isinstance(leaf, NearLeaves):
                count = self._near(leaf, field, spots)
            else:
                count = len(self._begins(leaf, field, spots))
            if count:
                out[field] = count
        return out

    def _begins(self, leaf: Term | Leaf, field: str, spots: Spots) -> set[int]:
        if isinstance(leaf, Term):
            return set(spots.get(leaf.term, ()))
        if leaf.fields and field not in leaf.fields:
            return set()
        stacked = self.analyzer.tokens(leaf.text, prefix=leaf.prefix)
        tokens = [(term, place) for place, term in {p: t for t, p in stacked}.items()][:64]
        begins: set[int] | None = None
        for at, (term, offset) in enumerate(tokens):
            goes_on = leaf.prefix and at == len(tokens) - 1
            fits = [t for t in spots if t == term or (goes_on and t.startswith(term))]
            here = {place - offset for t in fits for place in spots[t]}
            begins = here if begins is None else begins & here
        return begins or set()

    def _near(self, near: NearLeaves, field: str, spots: Spots) -> int:
        """Groups scored by moving the earliest member on, as the engine says it counts them."""
        begins = [sorted(self._begins(leaf, field, spots)) for leaf in near.leaves]
        if not all(begins) or field == "agent_registry":
            return 0
        if near.chained:
            places = set(begins[0])
            for own in begins[1:]:
                close = product(places, own)
                places = {min(pair) for pair in close if abs(pair[0] - pair[1]) <= near.distance}
            return len(places)
        widths = [self._width(leaf) for leaf in near.leaves]
        at, count = [0] * len(begins), 0
        while all(n < len(own) for n, own in zip(at, begins, strict=True)):
            here = sorted((m[n], w) for m, n, w in zip(begins, at, widths, strict=True))
            count += here[-1][0] - here[0][0] - here[0][1] <= near.distance
            at[min(range(len(at)), key=lambda n: (begins[n][at[n]], widths[n]))] += 1
        return count

    def _width(self, leaf: Leaf) -> int:
        return max(p for _, p in self.analyzer.tokens(leaf.text, prefix=leaf.prefix)) + 1

    # -- scoring -------------------------------------------------------------------------------

    def leaf(self, leaf: Term | Leaf | NearLeaves) -> Scored:
        """What every record that has a leaf gets for it."""
        scored = {row: tfs for row, page in self.pages.items() if (tfs := self.tfs(leaf, page))}
        df = len(scored)
        boost = 1.0
        if isinstance(leaf, Leaf):
            boost = leaf.boost
        elif isinstance(leaf, NearLeaves):
            boost = sum(each.boost for each in leaf.leaves)
        out: Scored = {}
        for row, tfs in scored.items():
            weights = {f: w for f, w in self._weights(df).items() if f in tfs}
            here = {f: tfs[f] for f in weights}
            out[row] = self._shares(row, here, weights, (df, boost)) if weights else None
        return out

    def _weights(self, df: int) -> dict[str, float]:
        spec, total = self.spec, self.total
        gated = bool(spec["gate"]) and total >= spec["gate_from"]
        return {
            field: weight
            for field, weight in spec["fields"].items()
            if weight and not (gated and df > spec["gate"].get(field, 1.0) * total)
        }

    def _shares(
        self, row: int, tfs: dict[str, int], weights: dict[str, float], rare: tuple[int, float]
    ) -> float:
        df, boost = rare
        rarity = self._idf(df)
        page = self.pages[row]
        if self.spec["form"] == "row":
            freq = sum(grid(weights[f] * tfs[f]) for f in tfs)
            length = sum(page.lengths.values())
            mean = max(sum(self.mean(f) for f in page.lengths), self.spec["least_mean"]) or 1.0
            return self._value(freq, length, mean, boost * rarity, boost)
        return sum(
            self._value(
                tfs[f], page.lengths[f], max(self.mean(f), self.spec["least_mean"]) or 1.0,
                weights[f] * boost * rarity, weights[f] * boost,
            )
            for f in tfs
        )  # fmt: skip

    def _idf(self, df: int) -> float:
        odds = (self.total - df + 0.5) / (df + 0.5)
        if self.spec["idf"] == "positive":
            return grid(math.log(1.0 + odds))
        return grid(math.log(odds) if odds > 1.0 else 1e-6)

    def _value(self, tf: float, length: int, mean: float, rare: float, plain: float) -> float:
        k1, b = self.spec["k1"], self.spec["b"]
        match self.spec["score"]:
            case "tf":
                return grid(plain * tf)
            case "tf_idf":
                return grid(rare * tf)
            case _:
                norm = k1 * (1.0 - b + b * (length / mean))
                return grid(rare * (tf * (k1 + 1.0) / (tf + norm)))

    def tree(self, node: Node) -> Scored | None:
        """What every record that satisfies a tree gets; None where it holds no word at all."""
        match node:
            case Leaf():
                has = self.analyzer.tokens(node.text, prefix=node.prefix)
                return self.leaf(node) if has else None
            case Term() | NearLeaves():
                return self.leaf(node)
            case Without():
                keep, drop = self.tree(node.keep), self.tree(node.drop)
                if keep is None or drop is None:
                    return keep
                return {row: score for row, score in keep.items() if row not in drop}
            case And():
                return self._all(
                    [scored for p in node.parts if (scored := self.tree(p)) is not None]
                )
            case Or():
                return self._any(
                    [scored for p in node.parts if (scored := self.tree(p)) is not None]
                )

    def _all(self, scored: list[Scored]) -> Scored | None:
        if not scored:
            return None
        both = set(scored[0]).intersection(*scored[1:])
        return {row: _joined([each[row] for each in scored], sum) for row in both}

    def _any(self, scored: list[Scored]) -> Scored | None:
        if not scored:
            return None
        join = sum if self.spec["score"] == "bm25" else max
        rows = set[int]().union(*scored)
        return {row: _joined([e[row] for e in scored if row in e], join) for row in rows}

    # -- the ladder ----------------------------------------------------------------------------

    def answer(
        self, text: str, chosen: Sequence[int], aliases: Mapping[str, Sequence[str]]
    ) -> dict[int, float]:
        """The score of every chosen record that a text finds, or a rung above it."""
        scored = self._unmisspelt(text, chosen, aliases)
        if scored or not self.is_fuzzy(text, chosen, aliases):
            return scored
        return self._fuzzy(retry.content_words(text), chosen)

    def is_fuzzy(
        self, text: str, chosen: Sequence[int], aliases: Mapping[str, Sequence[str]]
    ) -> bool:
        """Whether the last rung, misspelt words, finds what no rung before it found."""
        if not self.spec["ladder"] or not chosen or self._strict(text, aliases):
            return False
        if self._unmisspelt(text, chosen, aliases):
            return False
        return bool(self._fuzzy(retry.content_words(text), chosen))

    def _unmisspelt(
        self, text: str, chosen: Sequence[int], aliases: Mapping[str, Sequence[str]]
    ) -> dict[int, float]:
        """What the text or a rung before the last finds."""
        scored = self.find(text, chosen, aliases)
        if scored or not self.spec["ladder"] or not chosen or self._strict(text, aliases):
            return scored
        if dialect(self.spec["dialect"]).looser is None:
            return {}
        strongest = self._strongest(text, aliases)
        clean = retry.sanitised(text)
        tries = [strongest if strongest != text.strip().lower() else None, clean or None]
        tries.append(self._strongest(clean, aliases) if clean else None)
        for again in tries:
            if again is not None and (scored := self.find(again, chosen, aliases)):
                return scored
        return {}

    def mass(self, node: Node) -> float:
        """The idf of every word that a row should have, once for each time that it is asked for."""
        match node:
            case Term() | Leaf() | NearLeaves():
                boost = 1.0
                if isinstance(node, Leaf):
                    if not self.analyzer.tokens(node.text, prefix=node.prefix):
                        return 0.0
                    boost = node.boost
                elif isinstance(node, NearLeaves):
                    boost = sum(each.boost for each in node.leaves)
                return boost * self._idf(len(self.leaf(node)))
            case Without():
                return self.mass(node.keep)
            case And() | Or():
                return math.fsum(map(self.mass, node.parts))

    def _strict(self, text: str, aliases: Mapping[str, Sequence[str]]) -> bool:
        options = Options(self.spec["expert"], self.spec["stop"], aliases)
        asked = read_query(self.spec["dialect"], text, self.analyzer, options)
        return (
            asked.tree is not None
            and asked.expert
            and (self.spec["dialect"] == "bare" or "NOT" in tree_text(asked.tree).split())
        )

    def find(
        self, text: str, chosen: Sequence[int], aliases: Mapping[str, Sequence[str]]
    ) -> dict[int, float]:
        """The score of every chosen record that a text finds."""
        tree = self.read(text, aliases)
        scored = (None if tree is None else self.tree(tree)) or {}
        return {row: score for row in chosen if (score := scored.get(row)) is not None}

    def _strongest(self, text: str, aliases: Mapping[str, Sequence[str]]) -> str | None:
        def df(word: str) -> int:
            tree = self.read(word, aliases)
            if not isinstance(tree, Term | Leaf | NearLeaves):
                return 0
            return sum(bool(self.tfs(tree, page)) for page in self.pages.values())

        return longest_word(text, df)

    def _fuzzy(self, typed: Sequence[str], chosen: Sequence[int]) -> dict[int, float]:
        out: dict[int, float] = {}
        for row, word in product(chosen, typed):
            page = self.pages[row]
            for surface in page.surfaces:
                near = retry.jaccard(retry.trigrams(word), retry.trigrams(surface))
                tokens = self.analyzer.tokens(surface)
                if near < self.spec["fuzzy"] or not tokens:
                    continue
                if self.tfs(Leaf(surface), page):
                    out[row] = max(out.get(row, 0.0), grid(near))
        return out


def _pages(call: LaneCall) -> Mapping[int, Page]:
    return call.world.pages(list(call.spec["fields"]), call.spec["agents"])


def _scores(call: LaneCall) -> Column:
    lane = _Lane(call.spec, _pages(call), call.world.analyzer)
    return lane.answer(call.ask.text, call.rows, call.ask.aliases)


def _runs(call: LaneCall) -> bool:
    always = call.spec["ladder"] or call.spec["wordless"] == "empty"
    loosely = always and call.ask.text.strip()
    tree = _Lane(call.spec, {}, call.world.analyzer).read(call.ask.text, call.ask.aliases)
    return tree is not None or bool(loosely)


def _coverage(call: LaneCall) -> Knots | None:
    """The most that the words of the query can score, or for misspelt words one n-th each."""
    spec, ask = call.spec, call.ask
    if spec["score"] != "bm25":
        return None
    lane = _Lane(spec, _pages(call), call.world.analyzer)
    if lane.is_fuzzy(ask.text, call.rows, ask.aliases):
        return ((0.0, 0.0), (1.0, 1.0 / len(retry.content_words(ask.text))))
    tree = lane.read(ask.text, ask.aliases)
    mass = 0.0 if tree is None else lane.mass(tree)
    return ((0.0, 0.0), (grid(mass * (spec["k1"] + 1.0)), 1.0)) if mass else None


ORACLE = LaneOracle(_scores, _runs, independent=True, coverage=_coverage)
