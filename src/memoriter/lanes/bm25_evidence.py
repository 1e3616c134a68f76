"""Explains BM25 scores: for each row a sum whose parts carry term frequency, df, idf and length.

Called by the lane `bm25` for the final hits only, because it reads posting lists again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Final, cast

import numpy as np

from memoriter.core.explanation import Explanation, Facts
from memoriter.core.ranking import Rows
from memoriter.index.match import NearPattern
from memoriter.index.term_lists import Postings
from memoriter.lanes.bm25_score import BoundLeaf, LeafScores, Scorer
from memoriter.lanes.maxscore import BoundTree, Every, Minus, Some
from memoriter.lanes.port import WordMatch
from memoriter.text.figures import NodeText, short
from memoriter.text.safe import one_line

Parts = dict[tuple[int, int], list[Explanation]]
"""By (identity of a leaf, row): what the leaf adds. An empty list: it matches and adds nothing."""


def bm25_evidence(scorer: Scorer, tree: BoundTree, rows: Rows) -> list[Explanation]:
    """One explanation per row, in the order of `rows`; all of them must match the tree."""
    parts: Parts = {}
    segments = scorer.stats.view.segments
    sought = [(n, s, np.sort(s.places(rows)[0])) for n, s in enumerate(segments) if rows.size]
    # A word that the query has twice may be the same leaf twice.
    leaves = {id(leaf): leaf for leaf in _leaves(tree)} if rows.size else {}
    for leaf in leaves.values():
        for n, segment, places in sought:
            postings = scorer.stats.occurrences(n, leaf.pattern) if places.size else None
            if postings is None:
                continue
            few = postings.at(places)
            if not few.docs.size:
                continue
            for row in segment.rows[few.docs].tolist():
                # A match counts for AND and NOT even if it adds nothing to the score.
                parts[id(leaf), row] = []
            for scored in scorer.leaf_scores(n, leaf, few):
                _add_evidence(scorer, n, leaf=leaf, scored=scored, few=few, parts=parts)
    trees = _Trees(scorer, parts)
    return [trees.whole(tree, row) for row in rows.tolist()]


def _leaves(node: BoundTree) -> list[BoundLeaf]:
    match node:
        case BoundLeaf():
            return [node]
        case Minus():
            return _leaves(node.keep) + _leaves(node.drop)
        case Every() | Some():
            return [leaf for part in node.parts for leaf in _leaves(part)]


def _add_evidence(
    scorer: Scorer, n: int, leaf: BoundLeaf, scored: LeafScores, few: Postings, parts: Parts
) -> None:
    """Add to `parts` what a leaf contributes in the n-th segment, with the counts behind it."""
    stats, rows = scorer.stats, scorer.stats.view.segments[n].rows
    common: dict[str, object] = {"term": leaf.label, "df": leaf.df, "records": stats.total}
    common |= _tokens(leaf)
    if scorer.formula.score != "tf":
        common["idf"] = leaf.idf
    if leaf.boost != 1.0:
        common["boost"] = leaf.boost
    if leaf.times > 1:
        common["times"] = leaf.times
    if scored.field is None:
        lengths = stats.row_lengths(n)[scored.docs]
    else:
        lengths = stats.lengths(n, scored.field, scored.docs)
    mean = scorer.mean(scored.field)
    columns = (scored.docs, rows[scored.docs], lengths, scored.tfs, scored.values)
    counts = [column.tolist() for column in columns]
    for doc, row, length, tf, value in zip(*counts, strict=True):
        if scored.field is not None:
            name = stats.names[scored.field]
            place = {"field": name, "weight": scored.weight, "tf": int(tf)}
            label = f"{leaf.label} in {name}"
        else:
            place = {"fields": _fields(scorer, few, doc), "tf": tf}
            label = leaf.label
        facts = {**common, **place, "length": length, "mean": mean}
        parts[id(leaf), row].append(Explanation(label, value, facts=facts))


def _tokens(leaf: BoundLeaf) -> dict[str, object]:
    """The index terms of a leaf; nothing if its label is its only term."""
    parts = leaf.pattern.parts if isinstance(leaf.pattern, NearPattern) else (leaf.pattern,)
    begun = [part.tokens[-1][0] for part in parts if part.prefix]
    whole = [t for part in parts for t, _ in part.tokens[: -1 if part.prefix else None]]
    if whole == [leaf.label]:
        return {}
    out: dict[str, object] = {"tokens": whole}
    return {**out, "beginnings": begun} if begun else out


def _fields(scorer: Scorer, few: Postings, doc: int) -> dict[str, int]:
    """Unweighted term frequency by field name."""
    at = few.docs == doc
    names = scorer.stats.names
    pairs = zip(few.fields[at].tolist(), few.tfs[at].tolist(), strict=True)
    return {names[field]: tf for field, tf in pairs}


class _Trees:
    """Builds explanation trees in the shape of the query tree."""

    def __init__(self, scorer: Scorer, parts: Parts) -> None:
        self._name = scorer.formula.score
        self._adds = self._name == "bm25"
        self._parts = parts

    def whole(self, tree: BoundTree, row: int) -> Explanation:
        """The row's score; nested sums are flattened into one."""
        parts = self._node(tree, row) or []
        if len(parts) == 1 and parts[0].op != "leaf":
            return parts[0]
        total = sum(part.value for part in parts)
        ordered = tuple(sorted(parts, key=lambda part: (-part.value, part.label)))
        return Explanation(self._name, total, "sum", ordered)

    def _node(self, node: BoundTree, row: int) -> list[Explanation] | None:
        """The parts that a node adds to a row; None if the row does not match the node."""
        match node:
            case BoundLeaf():
                return self._parts.get((id(node), row))
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


# -- a term for people -----------------------------------------------------------------------------


TERM_WORDS: Final = MappingProxyType(
    {
        "term": "the word of the question",
        "tokens": "its form in the index (stemmed)",
        "beginnings": "what a word of the record begins with",
        "tf": "how often it is in this field",
        "df": "how many memories have it",
        "records": "how many memories there are",
        "idf": "how rare the word is: the fewer memories have it, the higher",
        "field": "where it is",
        "fields": "where it is, and how often",
        "weight": "what this field counts for",
        "length": "how long this field is, in words",
        "mean": "how long this field is on average",
        "boost": "what the question multiplies it by",
        "times": "how often the question has it",
        "typed": "the word as it was typed",
        "word": "the word of the memory that resembles it",
        "similarity": "the share of letter triples that both have",
    }
)
"""What each fact of a term means."""


def matched_term(facts: Facts) -> WordMatch:
    """The words of a term: its index terms, or the word that a misspelt one resembles."""
    term = str(facts["term"])
    fields = [facts["field"]] if "field" in facts else cast("Iterable[object]", facts["fields"])
    return WordMatch(
        term=term,
        fields=tuple(map(str, fields)),
        tokens=tuple(cast("Sequence[str]", facts.get("tokens", [term]))),
        prefixes=tuple(cast("Sequence[str]", facts.get("beginnings", []))),
        words=(str(facts["word"]),) if "word" in facts else (),
    )


def term_text(facts: Facts) -> NodeText:
    """A term as text: term frequency, document frequency, idf and field length."""
    weight = facts.get("weight", 1.0)
    fields = cast("Sequence[str]", facts.get("fields", ()))  # of a score over the whole record
    where = f"in {facts.get('field') or ', '.join(fields) or 'the record'}"
    where += f", weight {short(weight)}" if weight != 1.0 else ""
    length, mean = facts.get("length"), facts.get("mean")
    words = "word" if length == 1 else "words"
    detail = (
        f"tf {facts.get('tf')} · df {facts.get('df')} of {facts.get('records')} records"
        f" · idf {short(facts.get('idf'))} · {length} {words}"
        f", mean {f'{mean:.1f}' if isinstance(mean, float) else mean}"
    )
    return NodeText(one_line(str(facts["term"])), where, detail)
