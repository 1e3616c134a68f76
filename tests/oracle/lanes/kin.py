"""Similar words: each word of the query against each word of each window, in plain Python.

It shares the table with the engine (the words of a text, their rows, the list of nearest words),
and nothing that counts, looks up or scores.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import SHARE, LaneCall, LaneOracle
from tests.oracle.world import embedded

from memoriter.embed.kin import neighbours
from memoriter.embed.static import Static, table

_STATIC: Final = Static()
_WINDOW: Final = 64
_STRIDE: Final = 32


@lru_cache(maxsize=50_000)
def _row(token: int) -> tuple[int, ...]:
    return tuple(table().rows[token].tolist())


@lru_cache(maxsize=50_000)
def cosine(one: int, other: int) -> float:
    """The cosine of two rows of the table; their scales cancel."""
    a, b = _row(one), _row(other)
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return grid(dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b)))


def tokens(text: str) -> list[int]:
    """The words of a text."""
    return _STATIC.tokens(text)


def windows(text: str) -> list[list[int]]:
    """The words of a text, 64 at a time, 32 further each time, until its end is reached."""
    every = tokens(text)
    out = [every[:_WINDOW]] if every else []
    while out and (len(out) - 1) * _STRIDE + _WINDOW < len(every):
        begin = len(out) * _STRIDE
        out.append(every[begin : begin + _WINDOW])
    return out


class _Lane:
    """The kin lane of a recipe over the texts of a whole view."""

    def __init__(self, spec: Mapping[str, Any], texts: Mapping[int, str]) -> None:
        self.spec = spec
        self.windows = {row: windows(text) for row, text in texts.items()}

    def answer(self, text: str, rows: Sequence[int]) -> dict[int, float]:
        """The score of every row with a word like one of the query's."""
        weights = self.weights(text)
        out: dict[int, float] = {}
        for row in rows:
            scores = [self._score(weights, set(window)) for window in self.windows[row]]
            best = max(scores, default=Fraction(0))
            if best > 0:
                out[row] = float(best)
        return out

    def weights(self, text: str) -> dict[int, float]:
        """Each distinct word of the query: norm times idf, as a share of the whole."""
        asked = list(dict.fromkeys(tokens(text)))
        weighed = {token: self._norm(token) * self._idf(token) for token in asked}
        light = self.spec.get("ignore", 0.0) * math.fsum(weighed.values())
        kept = {
            token: one
            for token, one in weighed.items()
            if math.fsum(other for other in weighed.values() if other <= one) > light
        }
        whole = math.fsum(kept.values())
        return {token: one / whole for token, one in kept.items()}

    def _norm(self, token: int) -> float:
        return math.sqrt(sum(x * x for x in _row(token))) * float(table().scales[token])

    def _idf(self, token: int) -> float:
        total = len(self.windows)
        df = sum(any(token in window for window in own) for own in self.windows.values())
        return grid(math.log(1.0 + (total - df + 0.5) / (df + 0.5)))

    def _score(self, weights: Mapping[int, float], window: set[int]) -> Fraction:
        score = Fraction(0)
        for token, weight in weights.items():
            near = neighbours()[token].tolist()[: self.spec["neighbours"]]
            met = [cosine(token, one) for one in near if one in window]
            met = [one for one in met if one >= self.spec["min_cosine"] and one > 0.0]
            score += Fraction(grid(weight * max(met, default=0.0)))
        return score


def _scores(call: LaneCall) -> Column:
    texts = {record.row: embedded(record) for record in call.world.records}
    return _Lane(call.spec, texts).answer(call.ask.text, call.rows)


def _runs(call: LaneCall) -> bool:
    return bool(tokens(call.ask.text))


ORACLE = LaneOracle(_scores, _runs, independent=True, coverage=lambda _: SHARE)
