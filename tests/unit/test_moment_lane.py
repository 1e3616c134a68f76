"""The time that a question names: hints, spans, and the lane that ranks by nearness."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

import memoriter
from memoriter.testing.fakes import HandClock
from memoriter.text.moments import moment_of

NOW = datetime(2026, 4, 18, 15, 30, tzinfo=UTC)  # a Saturday


def micros(when: datetime) -> int:
    return int(when.timestamp()) * 1_000_000


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("where was I yesterday", "2026-04-17", "2026-04-18"),
        ("what happened today?", "2026-04-18", "2026-04-19"),
        ("three days ago I ran", "2026-04-15", "2026-04-16"),
        ("what did I do 2 weeks ago", "2026-04-01", "2026-04-08"),
        ("two months ago", "2026-02-01", "2026-03-01"),
        ("a year ago", "2025-01-01", "2026-01-01"),
        ("what happened last week", "2026-04-06", "2026-04-13"),
        ("in the past week", "2026-04-11", "2026-04-19"),
        ("this month", "2026-04-01", "2026-05-01"),
        ("last month", "2026-03-01", "2026-04-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("what did I watch last Friday?", "2026-04-17", "2026-04-18"),
        ("last saturday", "2026-04-11", "2026-04-12"),
        ("on 2026-03-05", "2026-03-05", "2026-03-06"),
        ("the report of 2026/03", "2026-03-01", "2026-04-01"),
        ("on May 7, 2023", "2023-05-07", "2023-05-08"),
        ("on the 7th of May 2023", "2023-05-07", "2023-05-08"),
        ("on 12 May", "2025-05-12", "2025-05-13"),
        ("in March 2024", "2024-03-01", "2024-04-01"),
        ("in 2022", "2022-01-01", "2023-01-01"),
        ("in December", "2025-12-01", "2026-01-01"),
    ],
)
def test_a_hint_of_time_is_a_span(text: str, since: str, until: str) -> None:
    span = moment_of(text, micros(NOW))
    assert span is not None
    spelled = [
        datetime.fromtimestamp(each / 1_000_000, UTC).date().isoformat()
        for each in (span.since, span.until)
    ]
    assert spelled == [since, until]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "which port for ssh?",
        "on 31 February 2024",
        "2024-13-40",
        "may I ask",
        "\ud800 \x00",
        "9" * 5000,
    ],
)
def test_a_text_without_a_date_has_no_hint(text: str) -> None:
    assert moment_of(text, micros(NOW)) is None


def test_the_lane_prefers_what_happened_then_and_is_an_option() -> None:
    clock = HandClock()
    clock.time = micros(NOW)
    with memoriter.open(":memory:", clock=clock) as memory:
        memory.remember("we ran along the river", id="then", occurred="2026-04-08")
        memory.remember("we ran along the river", id="long ago", occurred="2024-01-01")
        text = "where did we run last week?"
        plain = memory.recall(text)
        assert {hit.score for hit in plain} == {plain[0].score}
        on: dict[str, Any] = {"overrides": {"lanes.moment.enabled": True}}
        result = memory.recall(text, **on)
        assert [hit.id for hit in result] == ["then", "long ago"]
        why = result[0].lanes["moment"].why
        assert (why.value, why.facts["phrase"]) == (1.0, "last week")
        assert "2026-04-08" in str(why.facts["time"])
        silent = memory.recall("where did we run?", **on)
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
