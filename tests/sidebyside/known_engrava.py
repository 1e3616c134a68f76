"""Where engrava is known to answer otherwise, and what it then answers.

Each difference is read off the corpus and our own answer, never from the class of the case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.sidebyside.compare import Documented
from tests.sidebyside.ours import Rows, opened

from memoriter.core.explanation import Explanation
from memoriter.memory.facade import Memory
from memoriter.why.hit import Hit
from memoriter.why.result import Result

_WINDOW: Final = 25
"""Among so many of the best reflections are looked for,"""
_LENDING: Final = 5
"""and so many of them lend."""
_ALL: Final = 1000
_EXPANSION: Final = "graph_expansion"


@dataclass
class _Stated:
    """What is stated of the program's answer, as it is put together."""

    ask: dict[str, Any]
    names: list[str] = field(default_factory=list[str])
    apart: set[str] = field(default_factory=set[str])
    alike: dict[str, str] = field(default_factory=dict[str, str])
    above: float = float("-inf")


def known(case: Any, asked: Any, ask: dict[str, Any], within: float) -> Documented | None:
    """What the program answers to a question, if something that is documented applies."""
    with opened(case) as memory:
        return _known(memory, case, asked, ask, within)


def _known(
    memory: Memory, case: Any, asked: Any, ask: dict[str, Any], within: float
) -> Documented | None:
    stated = _Stated(ask)
    made = [note for note in (*case["notes"], *case["reflections"]) if note["kind"] == "REFLECTION"]
    if asked["archived"] and any(each["archived"] for each in made):
        live: Any = {"any": [{"not": {"kind": "reflection"}}, {"archived": False}]}
        stated.ask = {**ask, "where": {"all": [*ask["where"]["all"], live]}}
        stated.names.append("archived reflections that are asked for")
    listed = not asked["text"].strip() and asked["vector"] is None
    before = _before_expansion(memory, asked["text"], stated.ask)
    if not listed:
        sources = {each["id"]: each["sources"] for each in case["reflections"]}
        _tied(stated, before, sources, within)
        _right_angles(stated, before, within)
    _capped(stated, asked, before, within)
    return _documented(memory, asked, stated, before, listed=listed)


def _before_expansion(memory: Memory, text: str, ask: dict[str, Any]) -> Result:
    """All candidates with the scores that they have before reflections lend, or are boosted."""
    off = {"graph_expansion_enabled": False, "order.0.enabled": False, "reflection_boost": 1.0}
    plain: dict[str, Any] = {**ask, "overrides": {**ask["overrides"], **off}}
    return memory.recall(text, _ALL, **plain)


def _tied(stated: _Stated, before: Result, sources: Mapping[str, Any], within: float) -> None:
    """Of equal scores at the edge of the window any reflection may be inside there."""
    tied: set[str] = set()
    rows = before.rows()
    made = [(hit.id, hit.score) for hit in before if hit.record.kind == "reflection"]
    if len(rows) > _WINDOW and rows[_WINDOW - 1][1] - rows[_WINDOW][1] <= 2 * within:
        edge = rows[_WINDOW - 1][1]
        made = [row for row in made if row[1] >= edge - 2 * within]
        tied |= {id for id, score in made if abs(score - edge) <= 2 * within}
    if len(made) > _LENDING and made[_LENDING - 1][1] - made[_LENDING][1] <= 2 * within:
        edge = made[_LENDING - 1][1]
        tied |= {id for id, score in made if abs(score - edge) <= 2 * within}
    if tied:
        stated.names.append("equal scores at the edge of the window")
        stated.apart |= {id for name in tied for id, _ in sources.get(name, ())}
        stated.apart.add(_EXPANSION)


def _right_angles(stated: _Stated, before: Result, within: float) -> None:
    """A reflection whose score is what rounding left lends that here, and nothing there."""
    if any(hit.record.kind == "reflection" and abs(hit.score) <= within for hit in before):
        stated.names.append("reflections at right angles")
        stated.above = within
        stated.apart.add(_EXPANSION)


def _capped(stated: _Stated, asked: Any, before: Result, within: float) -> None:
    """Of equal reflections above the cap others are kept there."""
    made = [hit for hit in before if hit.record.kind == "reflection"]
    if not asked["reflections"] or len(made) <= int(0.3 * asked["top_k"]):
        return
    for hit in made:
        first = next(each for each in made if abs(each.score - hit.score) <= within)
        if first is not hit:
            stated.alike[hit.id] = stated.alike[first.id] = first.id
    if stated.alike:
        stated.names.append("equal reflections above the cap")


def _documented(
    memory: Memory, asked: Any, stated: _Stated, before: Result, *, listed: bool
) -> Documented | None:
    result = memory.recall(asked["text"], asked["top_k"], **stated.ask)
    rows, notes = result.rows(), sorted(result.signals)
    weight = asked["knobs"].get("recency_weight", 0.1)
    if asked["cycle"] is not None and not result:
        stated.names.append("an empty answer with a cycle")
        notes = sorted({*notes, "recency"})
    elif listed and asked["cycle"] is not None and weight > 0.0:
        stated.names.append("a plain list with a cycle")
        rows = _whole_recency(asked, before)
    parts = stated.apart, stated.alike, stated.above
    return Documented(stated.names, rows, notes, *parts) if stated.names else None


def _whole_recency(asked: Any, before: Result) -> Rows:
    """A list with recency as it is, where ours weighs it as every search does."""
    boost = asked["knobs"].get("reflection_boost", 1.0)
    scores = [
        (hit, _their_score(hit) * (boost if hit.record.kind == "reflection" else 1.0))
        for hit in before
    ]
    shown: list[tuple[str, float]] = []
    room = int(0.3 * asked["top_k"]) if asked["reflections"] else 0
    for hit, score in sorted(scores, key=lambda pair: -pair[1]):
        if hit.record.kind == "reflection":
            if not room:
                continue
            room -= 1
        shown.append((hit.id, score))
    return shown[: asked["top_k"]]


def _their_score(hit: Hit) -> float:
    parts = {part.label: part for part in _parts(hit.explanation)}
    recency: Any = parts["recency"].facts
    more = parts["priority"].value if "priority" in parts else 0.0
    return float(recency["score"]) + more


def _parts(explanation: Explanation) -> Iterator[Explanation]:
    yield explanation
    for part in explanation.parts:
        yield from _parts(part)
