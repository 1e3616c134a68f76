"""Numbers on the grid, columns and vectors: the arithmetic of IEEE 754 doubles, nothing else."""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

Column = list[float | None]
"""A number per row of the slate; None where there is none."""
Data = dict[str, Any]
"""A piece of the receipt."""
STEP: Final = 2.0**-32
"""The grid: scores are multiples of it, so sums are exact in any order."""


def snap(value: float) -> float:
    """The nearest multiple of 2^-32, half to even."""
    return round(value * 2.0**32) * STEP


def columns_of(columns: Mapping[str, Mapping[str, Sequence[float | None]]]) -> dict[str, Column]:
    """Columns by name, from what the receipt holds: `grid` steps, `whole` numbers, `float`s."""
    return {name: unpacked(packed) for name, packed in columns.items()}


def unpacked(packed: Mapping[str, Sequence[float | None]]) -> Column:
    """A column as plain numbers."""
    ((unit, values),) = packed.items()
    step = {"grid": STEP, "whole": 1.0, "float": 1.0}[unit]
    return [None if value is None else value * step for value in values]


def mapped(make: Callable[[float], float], column: Column) -> Column:
    """What is made of every known value."""
    return [None if value is None else make(value) for value in column]


def either(value: float | None, other: float) -> float:
    """The value, or another where there is none."""
    return other if value is None else value


def total_of(values: Iterable[float]) -> float:
    """The sum from left to right."""
    out = 0.0
    for value in values:
        out += value
    return out


def product_of(values: Iterable[float]) -> float:
    """The product from left to right."""
    out = 1.0
    for value in values:
        out *= value
    return out


OPS: Final[dict[str, Callable[[list[float]], float]]] = {
    "sum": math.fsum, "max": max, "min": min, "product": lambda values: snap(product_of(values)),
}  # fmt: skip
"""How parts make a whole; of a step, those that are known."""


def vector_of(spelled: str) -> tuple[float, ...]:
    """A vector from its float32 bytes in base64."""
    body = base64.b64decode(spelled, validate=True)
    return struct.unpack(f"<{len(body) // 4}f", body)


def dot_of(one: Sequence[float], other: Sequence[float]) -> float:
    """Exact: elements are multiples of 2^-23."""
    return total_of(a * b for a, b in zip(one, other, strict=True))


def unit_of(values: Sequence[float]) -> tuple[float, ...]:
    """At unit length, on the grid of vectors; zeros stay."""
    if not any(values):
        return tuple(0.0 for _ in values)
    wide = [math.ldexp(v, -math.frexp(max(map(abs, values)))[1]) for v in values]
    norm = math.sqrt(math.fsum(v * v for v in wide))
    return tuple(round(v / norm * 2.0**23) * 2.0**-23 for v in wide)


def canonical(value: object) -> bytes:
    """The one spelling of data as JSON: keys sorted, no spaces, shortest floats."""
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()
