"""What must hold of every hit of every search, whatever a test asks for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

from memoriter.core.explanation import reconciles
from memoriter.why.result import Result

DROPPING = ("cap", "min_score", "budget")
"""Orderings that move nothing: what is left keeps its order."""


def sound(result: Result) -> Result:
    """The result, after every number of every hit was checked."""
    for rank, hit in enumerate(result, start=1):
        assert hit.rank == rank
        assert hit.explanation.value == hit.score
        assert reconciles(hit.explanation)
        for lane in hit.lanes.values():
            assert lane.why.value == lane.score
            assert reconciles(lane.why)
    _journeys(result)
    return result


def _journeys(result: Result) -> None:
    """Nobody shares a place with another, at no stage; the last place is the rank."""
    hits = list(result)
    counts = {step.name: step.rows for step in result.plan.steps}
    for label in {label for hit in hits for label in hit.lanes}:
        # A completed lane ranks every candidate, not only those of its pool.
        most = counts["fuse"] if result.plan.recipe.passes[0].complete else counts[label]
        _places([hit.lanes[label].rank for hit in hits if label in hit.lanes], most)
    for hit in hits:
        assert hit.journey[-1][1] == hit.rank
        assert list(hit.moves) == list(hits[0].moves)
    stages = list(hits[0].moves) if hits else []
    places = [[cast("int", hit.moves[stage]["from"]) for hit in hits] for stage in stages]
    places.append([hit.rank for hit in hits])
    standing = counts.get("fuse")
    for stage, (before, after) in zip(stages, pairwise(places), strict=True):
        _places(before, standing)
        if stage.partition(".")[0] in DROPPING:
            assert [place for _, place in sorted(zip(after, before, strict=True))] == sorted(before)
        standing = counts.get(stage, standing)
    assert result.total >= len(hits)
    if not hits or not hits[0].moves:
        assert all(one.score >= two.score for one, two in pairwise(hits))


def _places(places: Sequence[int], most: int | None) -> None:
    assert len(set(places)) == len(places)
    assert all(place >= 1 for place in places)
    assert most is None or all(place <= most for place in places)
