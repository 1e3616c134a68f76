"""Nearness to the time that a question names."""

from __future__ import annotations

from tests.oracle.numbers import Column
from tests.oracle.rules import SHARE, LaneCall, LaneOracle, nearness

from memoriter.text.moments import moment_of


def _scores(call: LaneCall) -> Column:
    moment = moment_of(call.ask.text, call.ask.now)
    assert moment is not None
    span, now = (moment.since, moment.until), call.ask.now
    every = {record.row: nearness(record, span, now) or 0.0 for record in call.chosen}
    return {row: score for row, score in every.items() if score >= call.spec["min_score"]}


def _runs(call: LaneCall) -> bool:
    return moment_of(call.ask.text, call.ask.now) is not None


ORACLE = LaneOracle(_scores, _runs, independent=True, coverage=lambda _: SHARE)
