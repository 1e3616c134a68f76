"""The calibration of a vector space: the cosines that unrelated texts have in it.

Cosines of two embedders cannot be compared: .3 is near in one space and nothing in another. A
calibration says how large the cosine of a question and an unrelated text gets in a space, so that a
cosine can be judged on one scale. It has numbers only, no text and no vector.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Final, Self, cast

from memoriter.core.errors import InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.shown import shown

LEVELS: Final = (0.5, 0.9, 0.99, 0.999, 0.9999)
"""The shares of unrelated pairs whose cosines a calibration has."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """For each of `LEVELS` the cosine that this share of unrelated pairs does not exceed."""

    cosines: tuple[float, ...]
    """Ascending, from -1 to 1, one per level."""

    def __post_init__(self) -> None:
        ascending = all(low <= high for low, high in pairwise(self.cosines))
        inside = all(math.isfinite(each) and -1.0 <= each <= 1.0 for each in self.cosines)
        if len(self.cosines) != len(LEVELS) or not (ascending and inside):
            raise InputError(
                f"calibration: expected {len(LEVELS)} ascending cosines from -1 to 1,"
                f" got {list(self.cosines)}",
                field="calibration",
            )

    def __repr__(self) -> str:
        pairs = zip(LEVELS, self.cosines, strict=True)
        return shown("Calibration", ", ".join(f"{level:g}: {cos:.3f}" for level, cos in pairs))

    def to_dict(self) -> dict[str, float]:
        """The cosines by level, as plain data."""
        return dict(zip(map(str, LEVELS), self.cosines, strict=True))

    @classmethod
    def of_dict(cls, data: object) -> Self:
        """Read what `to_dict` wrote; raises InputError if it is something else.

        >>> one = Calibration((0.0, 0.125, 0.25, 0.375, 0.5))
        >>> Calibration.of_dict(one.to_dict()) == one
        True
        """
        empty: Mapping[object, object] = {}
        given = cast("Mapping[object, object]", data) if isinstance(data, Mapping) else empty
        values = [given.get(str(level)) for level in LEVELS]
        if len(given) != len(LEVELS) or not all(type(each) in (int, float) for each in values):
            raise InputError(
                "calibration: expected an object with one cosine for each of these quantiles:"
                f" {', '.join(map(str, LEVELS))}",
                field="calibration",
            )
        return cls(tuple(float(cast("float", each)) for each in values))
