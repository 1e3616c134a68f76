"""The arithmetic of receipts with plain Python floats: the grid, columns, vectors, canonical JSON.

Python floats are IEEE 754 doubles, so the results here are those of the engine, bit for bit.
"""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import mul
from typing import Any, Final

Column = list[float | None]
"""One number per row of the slate; None if the row has no value."""
Data = dict[str, Any]
"""A part of the receipt, as parsed from JSON."""
STEP: Final = 2.0**-32
"""The grid step: scores are multiples of it, so sums are exact in any order."""


def snap(value: float) -> float:
    """The nearest multiple of 2^-32, half to even."""
    return round(value * 2.0**32) * STEP


def unpacked_columns(
    columns: Mapping[str, Mapping[str, Sequence[float | None]]],
) -> dict[str, Column]:
    """The columns of a receipt as plain numbers, by name."""
    return {name: unpacked(packed) for name, packed in columns.items()}


def unpacked(packed: Mapping[str, Sequence[float | None]]) -> Column:
    """A column as plain numbers; it is stored as `grid` steps, `whole` numbers or `float`s."""
    ((unit, values),) = packed.items()
    step = {"grid": STEP, "whole": 1.0, "float": 1.0}[unit]
    return [None if value is None else value * step for value in values]


def mapped(make: Callable[[float], float], column: Column) -> Column:
    """The column with a function applied to every value that is not None."""
    return [None if value is None else make(value) for value in column]


def either(value: float | None, other: float) -> float:
    """The value, or `other` if it is None."""
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
"""Operation of a step or a node → function of its parts."""


def decoded_vector(encoded: str) -> tuple[float, ...]:
    """A vector from base64 of little-endian float32 numbers."""
    body = base64.b64decode(encoded, validate=True)
    return struct.unpack(f"<{len(body) // 4}f", body)


def dot_of(one: Sequence[float], other: Sequence[float]) -> float:
    """The dot product; exact in any order, as elements of unit vectors are multiples of 2^-23."""
    if len(one) != len(other):
        raise ValueError(
            f"two vectors of the receipt have different sizes: {len(one)} and {len(other)} numbers"
        )
    return sum(map(mul, one, other), 0.0)


def unit_of(values: Sequence[float]) -> tuple[float, ...]:
    """The vector at unit length, elements rounded to 2^-23; a zero vector stays zero."""
    if not any(values):
        return tuple(0.0 for _ in values)
    # First scaled by a power of two, which is exact, so that squares neither overflow nor vanish.
    power = -math.frexp(max(map(abs, values)))[1]
    wide = [math.ldexp(v, power) for v in values]
    norm = math.sqrt(math.fsum(v * v for v in wide))
    return tuple(round(v / norm * 2.0**23) * 2.0**-23 for v in wide)


def canonical(value: object) -> bytes:
    """Canonical JSON: sorted keys, no spaces, shortest floats, UTF-8."""
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode()
