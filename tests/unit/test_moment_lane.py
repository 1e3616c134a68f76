"""The lane that ranks by nearness to the time that a question names."""

from __future__ import annotations

from datetime import UTC, datetime

import memoriter
from memoriter.testing.fakes import HandClock

NOW = datetime(2026, 4, 18, 15, 30, tzinfo=UTC)  # a Saturday


def micros(when: datetime) -> int:
    return int(when.timestamp()) * 1_000_000


def test_the_lane_prefers_what_happened_then_and_can_be_switched_off() -> None:
    clock = HandClock()
    clock.time = micros(NOW)
    with memoriter.open(":memory:", clock=clock) as memory:
        memory.remember("we ran along the river", id="then", occurred="2026-04-08")
        memory.remember("we ran along the river", id="long ago", occurred="2024-01-01")
        text = "where did we run last week?"
        plain = memory.recall(text, overrides={"lanes.moment.enabled": False})
        assert {hit.score for hit in plain} == {plain[0].score}
        result = memory.recall(text)
        assert [hit.id for hit in result] == ["then", "long ago"]
        why = result[0].lanes["moment"].why
        assert (why.value, why.facts["phrase"]) == (1.0, "last week")
        assert "2026-04-08" in str(why.facts["time"])
        silent = memory.recall("where did we run?")
        assert (silent.status, "moment" in silent.used) == ("complete", False)


def test_nearness_falls_with_the_distance_and_is_cut() -> None:
    clock = HandClock()
    clock.time = micros(NOW)
    with memoriter.open(":memory:", embedder=None, clock=clock) as memory:
        for days, name in enumerate(("2026-04-17", "2026-04-16", "2026-04-10")):
            memory.remember("x", id=str(days), occurred=name)
        recipe = {
            "name": "mine", "version": 1, "analyzer": "memoriter",
            "lanes": {"moment": {"kind": "moment", "pool": 10, "min_score": 0.4}},
            "pass": [{"fuse": {"kind": "weighted", "scale": "max", "weights": {"moment": 1.0}}}],
        }  # fmt: skip
        result = memory.recall("yesterday", recipe=recipe)
    assert [hit.id for hit in result] == ["0", "1"]
    assert result[1].lanes["moment"].score == 0.5


def test_only_what_occurs_then_is_near_a_time_ahead() -> None:
    clock = HandClock()
    clock.time = micros(NOW)
    with memoriter.open(":memory:", embedder=None, clock=clock) as memory:
        memory.remember("training at the mill", id="planned", occurred="2026-04-21")
        memory.remember("training at the mill", id="written today")
        hits = memory.recall("which training is next week?")
    assert {hit.id: "moment" in hit.lanes for hit in hits} == {
        "planned": True, "written today": False,
    }  # fmt: skip
