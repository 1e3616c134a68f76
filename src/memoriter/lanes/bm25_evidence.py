"""How a row came by its words' score: every count behind every share."""

from __future__ import annotations

import numpy as np

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Rows
from memoriter.index.match import NearPattern
from memoriter.index.segment import Postings
from memoriter.lanes.maxscore import Bound, Every, Minus, Some
from memoriter.lanes.scoring import Counted, Scorer, Share

Parts = dict[tuple[int, int], list[Explanation]]
"""What a leaf (by identity) adds to a row that has it; perhaps nothing."""


def bm25_evidence(scorer: Scorer, tree: Bound, rows: Rows) -> list[Explanation]:
    """The score of each of these rows, which satisfy the tree."""
    parts: Parts = {}
    segments = scorer.ground.view.segments
    sought = [(n, s, np.sort(s.places(rows)[0])) for n, s in enumerate(segments) if rows.size]
    for leaf in _leaves(tree) if rows.size else ():
        for n, segment, places in sought:
            postings = scorer.ground.occurrences(n, leaf.what) if places.size else None
            few = None if postings is None else postings.at(places)
            for doc in () if few is None else few.docs.tolist():
                parts.setdefault((id(leaf), int(segment.rows[doc])), [])
            for share in () if few is None else scorer.shares(n, leaf, few):
                _note(scorer, n, leaf, share, few, parts)
    trees = _Trees(scorer, parts)
    return [trees.whole(tree, int(row)) for row in rows]


def _leaves(node: Bound) -> list[Counted]:
    match node:
        case Counted():
            return [node]
        case Minus():
            return _leaves(node.keep) + _leaves(node.drop)
        case Every() | Some():
            return [leaf for part in node.parts for leaf in _leaves(part)]


def _note(
    scorer: Scorer, n: int, leaf: Counted, share: Share, few: Postings | None, parts: Parts
) -> None:
    """What a leaf adds to rows of the n-th segment, with every count behind it."""
    ground, rows = scorer.ground, scorer.ground.view.segments[n].rows
    common: dict[str, object] = {"term": leaf.label, "df": leaf.df, "records": ground.total}
    common |= _tokens(leaf)
    if scorer.formula.measure != "tf":
        common["idf"] = leaf.idf
    if leaf.boost != 1.0:
        common["boost"] = leaf.boost
    if leaf.times > 1:
        common["times"] = leaf.times
    if share.field is None:
        lengths = ground.row_lengths(n)[share.docs]
    else:
        lengths = ground.lengths(n, share.field, share.docs)
    mean = scorer.mean(share.field)
    counts = (share.docs.tolist(), lengths.tolist(), share.tfs.tolist(), share.values.tolist())
    for doc, length, tf, value in zip(*counts, strict=True):
        if share.field is not None:
            name = ground.names[share.field]
            place = {"field": name, "weight": share.weight, "tf": int(tf)}
            label = f"{leaf.label} in {name}"
        else:
            place = {"fields": _fields(scorer, few, doc), "tf": tf}
            label = leaf.label
        place |= {"length": length, "mean": mean}
        facts = {**common, **place}
        key = id(leaf), int(rows[doc])
        parts.setdefault(key, []).append(Explanation(label, value, facts=facts))


def _tokens(leaf: Counted) -> dict[str, object]:
    """The terms of the index behind a leaf; nothing for one that is named by its term."""
    parts = leaf.what.parts if isinstance(leaf.what, NearPattern) else (leaf.what,)
    begun = [part.tokens[-1][0] for part in parts if part.prefix]
    whole = [t for part in parts for t, _ in part.tokens[: -1 if part.prefix else None]]
    if whole == [leaf.label]:
        return {}
    out: dict[str, object] = {"tokens": whole}
    return {**out, "beginnings": begun} if begun else out


def _fields(scorer: Scorer, few: Postings | None, doc: int) -> dict[str, int]:
    """How often in each field, unweighted."""
    if few is None:
        return {}
    at = few.docs == doc
    names = scorer.ground.names
    pairs = zip(few.fields[at].tolist(), few.tfs[at].tolist(), strict=True)
    return {names[field]: tf for field, tf in pairs}


class _Trees:
    def __init__(self, scorer: Scorer, parts: Parts) -> None:
        self._name = scorer.formula.measure
        self._adds = self._name == "bm25"
        self._engine = parts

    def whole(self, tree: Bound, row: int) -> Explanation:
        """The row's score; plain sums within sums are one sum."""
        parts = self._node(tree, row) or []
        if len(parts) == 1 and parts[0].op != "leaf":
            return parts[0]
        total = sum(part.value for part in parts)
        ordered = tuple(sorted(parts, key=lambda part: (-part.value, part.label)))
        return Explanation(self._name, total, "sum", ordered)

    def _node(self, node: Bound, row: int) -> list[Explanation] | None:
        """The parts that a row gets from a node, to be added; None when it does not satisfy it."""
        match node:
            case Counted():
                return self._engine.get((id(node), row))
            case Minus():
                dropped = self._node(node.drop, row) is not None
                return None if dropped else self._node(node.keep, row)
            case Every():
                every = [self._node(part, row) for part in node.parts]
                return None if None in every else [one for some in every for one in some or ()]
            case Some():
                there = [some for part in node.parts if (some := self._node(part, row)) is not None]
                if self._adds or len(there) <= 1:
                    return [one for some in there for one in some] if there else None
                each = tuple(_sum(self._name, some) for some in there if some)
                if not each:
                    return []
                return [Explanation("best", max(e.value for e in each), "max", each)]


def _sum(label: str, parts: list[Explanation]) -> Explanation:
    if len(parts) == 1:
        return parts[0]
    return Explanation(label, sum(part.value for part in parts), "sum", tuple(parts))
