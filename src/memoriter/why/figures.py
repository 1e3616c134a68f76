"""Formats numbers, facts and moves of an explanation as text, for terminal and HTML output."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol, cast

from memoriter.core.explanation import Explanation, Facts
from memoriter.text.safe import one_line

_TINY: Final = 1e-4
_SMALL: Final = 0.1
_LARGE: Final = 100
_OPS: Final = {
    "sum": "the sum of",
    "product": "the product of",
    "max": "the largest of",
    "min": "the least of",
}
_NOTES: Final = {"row": "from"}
"""Facts that are shown under another name."""
_IDLE: Final = {"sum": 0.0, "product": 1.0, "max": -math.inf, "min": math.inf}
"""The neutral element of each operation: a part of that value changes nothing."""
_SIGNS: Final = {"sum": "+", "product": "×", "max": "at least ", "min": "at most "}


def figure(value: float) -> str:
    """A number with three to four significant digits.

    >>> figure(0.75), figure(7.2123), figure(1234.5), figure(0.01639), figure(0.0)
    ('0.750', '7.212', '1234.5', '0.0164', '0')
    """
    if value == 0:
        return "0"
    size = abs(value)
    if size < _TINY:
        return f"{value:.2e}"
    return f"{value:.1f}" if size >= _LARGE else f"{value:.4f}" if size < _SMALL else f"{value:.3f}"


def pairs(facts: Mapping[str, object]) -> str:
    """Facts as `key value · key value`."""
    return " · ".join(f"{key} {short(value)}" for key, value in facts.items())


def short(value: object) -> str:
    """A value of an explanation as short text."""
    if isinstance(value, float):
        return f"{value:g}" if value == round(value, 3) else figure(value)
    if isinstance(value, list | tuple):
        return " ".join(map(short, cast("Sequence[object]", value)))
    if isinstance(value, Mapping):
        return _mapping({str(k): v for k, v in cast("Mapping[object, object]", value).items()})
    return str(value)


def _mapping(value: Mapping[str, object]) -> str:
    # Counts that are all 1 add nothing: the keys alone are shown.
    if value and all(item == 1 for item in value.values()):
        return " ".join(value)
    return ", ".join(f"{key} {short(item)}" for key, item in value.items())


# -- a node of an explanation ----------------------------------------------------------------------


class NodeText(NamedTuple):
    """A node of an explanation as text."""

    matched: str
    """The words that matched, empty if the node is not about words."""
    label: str
    detail: str
    """How its value was computed."""


def node_text(node: Explanation) -> NodeText:
    """The text beside the value of a node."""
    # Another package's lane may use one of these names for something else: all must be there.
    if {"term", "tf", "df", "idf"} <= node.facts.keys():
        return _term(node.facts)
    if {"asked", "met", "cosine", "norm"} <= node.facts.keys():
        return _met(node.facts)
    label = one_line(node.label)
    if node.op != "leaf":
        label += f", {_OPS[node.op]}"
    return NodeText("", label, _facts(node.facts))


def _term(facts: Facts) -> NodeText:
    """A BM25 term: term frequency, document frequency, idf and field length."""
    weight = facts.get("weight", 1.0)
    fields = cast("Sequence[str]", facts.get("fields", ()))  # of a score over the whole record
    where = f"in {facts.get('field') or ', '.join(fields) or 'the record'}"
    where += f", weight {short(weight)}" if weight != 1.0 else ""
    length = facts.get("length")
    words = "word" if length == 1 else "words"
    detail = (
        f"tf {facts.get('tf')} · df {facts.get('df')} of {facts.get('records')} records"
        f" · idf {short(facts.get('idf'))} · {length} {words}, mean {_mean(facts.get('mean'))}"
    )
    return NodeText(one_line(str(facts["term"])), where, detail)


def _met(facts: Facts) -> NodeText:
    """A kin match: the query's word, the record's word, their cosine and the word's weight."""
    near, weight, norm = (short(facts.get(key)) for key in ("cosine", "weight", "norm"))
    detail = (
        f"cosine {near} × weight {weight} · norm {norm}"
        f" · df {facts.get('df')} of {facts.get('records')} records · idf {short(facts.get('idf'))}"
    )
    return NodeText(one_line(f"{facts['asked']} ~ {facts['met']}"), "", detail)


def _mean(value: object) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _facts(facts: Facts) -> str:
    """The facts of a lane: rank, score, and how the score became a contribution."""
    if {"score", "scaled", "weight"} <= set(facts):
        score, scaled, weight = (short(facts[key]) for key in ("score", "scaled", "weight"))
        made = f"{score} → scaled {scaled} × weight {weight}"
        return f"rank {facts['rank']} · {made}" if "rank" in facts else made
    parts: list[str] = []
    if {"window", "windows"} <= facts.keys():
        parts.append(f"window {facts['window']} of {facts['windows']}")
    known = ("path", "window", "windows")
    rest = {_NOTES.get(k, k): v for k, v in facts.items() if k not in known and v not in ([], {})}
    parts += [one_line(pairs(rest))] if rest else []
    if "path" in facts:
        parts.append(path_line(cast("list[dict[str, object]]", facts["path"])))
    return " · ".join(parts)


def path_line(path: Sequence[Mapping[str, object]]) -> str:
    """A path on one line: `a ←derived_from b`; a record outside the caller's scope is (hidden)."""
    out = ""
    for hop in path:
        name = one_line(str(hop["id"])) if "id" in hop else "(hidden)"
        if "kind" in hop:
            kind = one_line(str(hop["kind"]))
            out += f" {kind}→ " if hop["direction"] == "out" else f" ←{kind} "
        out += name
    return out


# -- a hit -----------------------------------------------------------------------------------------


def scale_of(root: Explanation) -> str:
    """The stage that produced a score; only scores of the same stage can be compared."""
    node = root
    while node.parts and node.parts[0].op != "leaf":
        node = node.parts[0]
    return node.label


def boosts_of(root: Explanation, lanes: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """(label, effect) of each boost or reranker that changed a score: `session +0.120`."""
    if root.op == "leaf":
        return
    for part in root.parts:
        if part.op != "leaf":
            yield from boosts_of(part, lanes)
        elif part.label == root.label:
            yield part.label, figure(part.value)
        elif (part.label not in lanes or root.label == "boosted") and part.value != _IDLE[root.op]:
            sign = "" if root.op == "sum" and part.value < 0 else _SIGNS[root.op]
            yield part.label, f"{sign}{figure(part.value)}"


def moves_of(moves: Mapping[str, Mapping[str, object]], rank: int) -> Iterator[tuple[str, str]]:
    """(stage, text) of each stage that moved a hit or noted something about it."""
    after = [*(cast("int", noted["from"]) for noted in moves.values()), rank][1:]
    for (stage, noted), place in zip(moves.items(), after, strict=True):
        notes = ", ".join(_notes(noted))
        if place != noted["from"]:
            way = f"#{noted['from']} → #{place}"
            yield one_line(stage), f"{way}, {notes}" if notes else way
        elif notes:
            yield one_line(stage), f"#{place}, {notes}"


def copies_line(ids: Sequence[str]) -> str:
    """The copies that a hit stands for; empty if there are none.

    >>> copies_line(["a", "b"]), copies_line(["a"]), copies_line([])
    ('(+2 copies: a, b)', '(+1 copy: a)', '')
    """
    if not ids:
        return ""
    noun = "copy" if len(ids) == 1 else "copies"
    return f"(+{len(ids)} {noun}: {', '.join(map(one_line, ids))})"


def _notes(noted: Mapping[str, object]) -> Iterator[str]:
    if "before" in noted:
        yield f"score {short(noted['before'])} → {short(noted['score'])}"
    elif "score" in noted:
        yield f"score {short(noted['score'])}"
    if noted.get("penalty"):
        because = f" for similarity to {one_line(str(noted['cause']))}" if "cause" in noted else ""
        yield f"penalty {short(noted['penalty'])}{because}"
    if "group" in noted:
        yield f"stands for a group of {noted['group']}"
    known = {"from", "before", "score", "penalty", "cause", "group", "tokens", "chars"}
    rest = {key: value for key, value in noted.items() if key not in known}
    if rest:
        yield one_line(pairs(rest))


class ShownHit(Protocol):
    """The attributes of a hit that are read here."""

    @property
    def explanation(self) -> Explanation:
        """The tree of its score."""
        ...

    @property
    def lanes(self) -> Mapping[str, object]:
        """The lanes that found it."""
        ...


def lanes_outside_score(hit: ShownHit) -> list[str]:
    """The lanes that found a hit but have no part in its final score, as a pass replaced it."""
    inside = set(_labels(hit.explanation))
    return [label for label in hit.lanes if label not in inside]


def _labels(node: Explanation) -> Iterator[str]:
    yield node.label
    for part in node.parts:
        yield from _labels(part)
