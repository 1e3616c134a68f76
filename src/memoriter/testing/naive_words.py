"""The oracle's word lane: a query tree over plain lists, one record at a time.

It shares the analyzer, the dialects and the pure text functions of the ladder with the engine, and
nothing that counts, looks up or scores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from memoriter.core.words import Words
from memoriter.text import retry
from memoriter.text.dialects import Options, read
from memoriter.text.port import Analyzer
from memoriter.text.tree import All, Leaf, Near, Node, Term, Without, spelled
from memoriter.text.tree import Any as AnyOf

Spots = dict[str, list[int]]
"""Where in one field each term stands."""


Found = dict[int, float | None]
"""What records that satisfy something get for it; None where it counts nothing."""


def _joined(parts: Sequence[float | None], join: Any) -> float | None:
    known = [part for part in parts if part is not None]
    return join(known) if known else None


def grid(value: float) -> float:
    """The nearest multiple of 2^-32, half to even."""
    return round(value * 2**32) / 2**32


@dataclass(frozen=True)
class Page:
    """What the lane sees of one record: for each field the spots of its terms, and its length."""

    spots: Mapping[str, Spots]
    lengths: Mapping[str, int]
    surfaces: frozenset[str]


def page(words: Words, registry: Words | None, analyzer: Analyzer, wanted: Sequence[str]) -> Page:
    """The wanted fields of a record; `registry` is what is said of its agent."""
    spots: dict[str, Spots] = {}
    lengths: dict[str, int] = {}
    for at, name in enumerate(analyzer.fields):
        spots[name] = _spots(words, at)
        if name in wanted:
            lengths[name] = words.lengths[at]
    if "agent_registry" in wanted:
        spots["agent_registry"] = {} if registry is None else _spots(registry, 0)
        lengths["agent_registry"] = 0 if registry is None else registry.lengths[0]
    return Page(spots, lengths, frozenset(words.surfaces))


def _spots(words: Words, field: int) -> Spots:
    tokens = words.tokens[field]
    places = words.positions[field] if words.positions is not None else range(len(tokens))
    out: Spots = {}
    for ordinal, place in zip(tokens, places, strict=True):
        out.setdefault(words.terms[ordinal], []).append(place)
    return out


class Lane:
    """The word lane of a recipe over the pages of a whole view."""

    def __init__(
        self, told: Mapping[str, Any], pages: Mapping[int, Page], analyzer: Analyzer
    ) -> None:
        self.told = told
        self.pages = pages
        self.analyzer = analyzer

    @cached_property
    def total(self) -> int:
        """N."""
        if self.told["records"] == "all":
            return len(self.pages)
        return sum(any(page.lengths.values()) for page in self.pages.values())

    def mean(self, field: str) -> float:
        """The mean length of a field."""
        whole = sum(page.lengths[field] for page in self.pages.values())
        return whole / self.total if self.total else 0.0

    def read(self, text: str, aliases: Mapping[str, Sequence[str]]) -> Node | None:
        """The tree of a text."""
        options = Options(self.told["expert"], self.told["stop"], aliases)
        return read(self.told["dialect"], text, self.analyzer, options).tree

    # -- counting ------------------------------------------------------------------------------

    def tfs(self, leaf: Term | Leaf | Near, page: Page) -> dict[str, int]:
        """How often a leaf occurs in each field of a record."""
        out: dict[str, int] = {}
        for field, spots in page.spots.items():
            named = isinstance(leaf, Leaf) and field in leaf.fields
            if field not in self.told["fields"] and not named:
                continue
            if isinstance(leaf, Near):
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

    def _near(self, near: Near, field: str, spots: Spots) -> int:
        """Groups found by moving the earliest member on, as the engine says it counts them."""
        begins = [sorted(self._begins(leaf, field, spots)) for leaf in near.leaves]
        if not all(begins) or field == "agent_registry":
            return 0
        widths = [self._width(leaf) for leaf in near.leaves]
        at, count = [0] * len(begins), 0
        while all(n < len(mine) for n, mine in zip(at, begins, strict=True)):
            here = sorted((m[n], w) for m, n, w in zip(begins, at, widths, strict=True))
            count += here[-1][0] - here[0][0] - here[0][1] <= near.distance
            at[min(range(len(at)), key=lambda n: (begins[n][at[n]], widths[n]))] += 1
        return count

    def _width(self, leaf: Leaf) -> int:
        return max(p for _, p in self.analyzer.tokens(leaf.text, prefix=leaf.prefix)) + 1

    # -- scoring -------------------------------------------------------------------------------

    def leaf(self, leaf: Term | Leaf | Near) -> Found:
        """What every record that has a leaf gets for it."""
        found = {row: tfs for row, page in self.pages.items() if (tfs := self.tfs(leaf, page))}
        df = len(found)
        boost = 1.0
        if isinstance(leaf, Leaf):
            boost = leaf.boost
        elif isinstance(leaf, Near):
            boost = sum(each.boost for each in leaf.leaves)
        out: Found = {}
        for row, tfs in found.items():
            weights = {f: w for f, w in self._weights(df).items() if f in tfs}
            here = {f: tfs[f] for f in weights}
            out[row] = self._shares(row, here, weights, (df, boost)) if weights else None
        return out

    def _weights(self, df: int) -> dict[str, float]:
        told, total = self.told, self.total
        gated = bool(told["gate"]) and total >= told["gate_from"]
        return {
            field: weight
            for field, weight in told["fields"].items()
            if weight and not (gated and df > told["gate"].get(field, 1.0) * total)
        }

    def _shares(
        self, row: int, tfs: dict[str, int], weights: dict[str, float], rare: tuple[int, float]
    ) -> float:
        df, boost = rare
        rarity = self._idf(df)
        page = self.pages[row]
        if self.told["form"] == "row":
            freq = sum(grid(weights[f] * tfs[f]) for f in tfs)
            length = sum(page.lengths.values())
            mean = max(sum(self.mean(f) for f in page.lengths), self.told["least_mean"]) or 1.0
            return self._value(freq, length, mean, boost * rarity, boost)
        return sum(
            self._value(
                tfs[f], page.lengths[f], max(self.mean(f), self.told["least_mean"]) or 1.0,
                weights[f] * boost * rarity, weights[f] * boost,
            )
            for f in tfs
        )  # fmt: skip

    def _idf(self, df: int) -> float:
        odds = (self.total - df + 0.5) / (df + 0.5)
        if self.told["idf"] == "positive":
            return grid(math.log(1.0 + odds))
        return grid(math.log(odds) if odds > 1.0 else 1e-6)

    def _value(self, tf: float, length: int, mean: float, rare: float, plain: float) -> float:
        k1, b = self.told["k1"], self.told["b"]
        match self.told["score"]:
            case "tf":
                return grid(plain * tf)
            case "tf_idf":
                return grid(rare * tf)
            case _:
                norm = k1 * (1.0 - b + b * (length / mean))
                return grid(rare * (tf * (k1 + 1.0) / (tf + norm)))

    def tree(self, node: Node) -> Found | None:
        """What every record that satisfies a tree gets; None where it holds no word at all."""
        match node:
            case Leaf():
                has = self.analyzer.tokens(node.text, prefix=node.prefix)
                return self.leaf(node) if has else None
            case Term() | Near():
                return self.leaf(node)
            case Without():
                keep, drop = self.tree(node.keep), self.tree(node.drop)
                if keep is None or drop is None:
                    return keep
                return {row: score for row, score in keep.items() if row not in drop}
            case All():
                return self._all([found for p in node.parts if (found := self.tree(p)) is not None])
            case AnyOf():
                return self._any([found for p in node.parts if (found := self.tree(p)) is not None])

    def _all(self, found: list[Found]) -> Found | None:
        if not found:
            return None
        both = set(found[0]).intersection(*found[1:])
        return {row: _joined([each[row] for each in found], sum) for row in both}

    def _any(self, found: list[Found]) -> Found | None:
        if not found:
            return None
        join = sum if self.told["score"] == "bm25" else max
        rows = set[int]().union(*found)
        return {row: _joined([e[row] for e in found if row in e], join) for row in rows}

    # -- the ladder ----------------------------------------------------------------------------

    def answer(
        self, text: str, chosen: Sequence[int], aliases: Mapping[str, Sequence[str]]
    ) -> dict[int, float]:
        """The score of every chosen record that a text finds, or a rung above it."""
        found = self.find(text, chosen, aliases)
        if found or not self.told["ladder"] or not chosen or self._strict(text, aliases):
            return found
        strongest = self._strongest(text, aliases)
        clean = retry.sanitised(text)
        tries = [strongest if strongest != text.strip().lower() else None, clean or None]
        tries.append(self._strongest(clean, aliases) if clean else None)
        for again in tries:
            if again is not None and (found := self.find(again, chosen, aliases)):
                return found
        return self._fuzzy(retry.tokens(text), chosen)

    def _strict(self, text: str, aliases: Mapping[str, Sequence[str]]) -> bool:
        options = Options(self.told["expert"], self.told["stop"], aliases)
        asked = read(self.told["dialect"], text, self.analyzer, options)
        return (
            asked.tree is not None
            and asked.expert
            and (self.told["dialect"] == "bare" or "NOT" in spelled(asked.tree).split())
        )

    def find(
        self, text: str, chosen: Sequence[int], aliases: Mapping[str, Sequence[str]]
    ) -> dict[int, float]:
        """The score of every chosen record that a text finds."""
        tree = self.read(text, aliases)
        found = (None if tree is None else self.tree(tree)) or {}
        return {row: score for row in chosen if (score := found.get(row)) is not None}

    def _strongest(self, text: str, aliases: Mapping[str, Sequence[str]]) -> str | None:
        def df(word: str) -> int:
            tree = self.read(word, aliases)
            if not isinstance(tree, Term | Leaf | Near):
                return 0
            return sum(bool(self.tfs(tree, page)) for page in self.pages.values())

        return retry.strongest(text, df)

    def _fuzzy(self, typed: Sequence[str], chosen: Sequence[int]) -> dict[int, float]:
        out: dict[int, float] = {}
        for row, word in product(chosen, typed):
            page = self.pages[row]
            for surface in page.surfaces:
                near = retry.jaccard(retry.trigrams(word), retry.trigrams(surface))
                tokens = self.analyzer.tokens(surface)
                if near < self.told["fuzzy"] or not tokens:
                    continue
                if self.tfs(Leaf(surface), page):
                    out[row] = max(out.get(row, 0.0), grid(near))
        return out
