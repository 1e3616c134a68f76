"""Calibrations of vector spaces as entries of the log.

`memory.calibrate` commits one per tenant and space. It lies in the registry of agents under a
reserved name, as the settings of the embedder do, so views, exports and digests cover it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, cast, get_args

from memoriter.core.calibration import Calibration
from memoriter.core.canonical import canonical
from memoriter.core.errors import Corrupt, InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.store.rows import RESERVED, AgentRow

_PREFIX: Final = f"{RESERVED}calibration "
Compared = Literal["records", "probes"]
"""What the probe questions were compared with: records of the tenant, or the probe notes."""


@dataclass(frozen=True, slots=True)
class CalibrationEntry:
    """A calibration that was committed, and how it came about."""

    calibration: Calibration
    compared: Compared
    texts: int
    """How many records or notes were compared with each question."""
    time: int
    """When it was committed, in microseconds."""
    agent: str | None = None
    """The agent in whose scope it was made."""

    def encode(self, space: str) -> tuple[str, bytes]:
        """The name and the body of the entry in the registry."""
        key = _PREFIX + space
        body: dict[str, object] = {
            "agent": key,
            "aliases": [],
            "by": self.agent,
            "compared": self.compared,
            "cosines": self.calibration.to_dict(),
            "texts": self.texts,
            "time": self.time,
        }
        return key, canonical(body)


def committed_calibration(registry: Iterable[AgentRow], space: str) -> CalibrationEntry | None:
    """The entry of a space among rows of the registry; None if it was never calibrated.

    Raises Corrupt if the entry cannot be read.
    """
    for row in registry:
        if row.agent == _PREFIX + space:
            return _decoded(row)
    return None


def _decoded(row: AgentRow) -> CalibrationEntry:
    try:
        body = cast("dict[str, Any]", json.loads(row.body))
        numbers = Calibration.of_dict(body["cosines"])
        _check_types(body)
        return CalibrationEntry(
            numbers, body["compared"], body["texts"], body["time"], body.get("by")
        )
    except (ValueError, KeyError, TypeError, AttributeError, InputError) as error:
        raise Corrupt(
            f"the calibration at entry {row.seq} of the log cannot be read ({error})",
            hint="calibrate the vector space again: memoriter calibrate",
        ) from None


def _check_types(body: Mapping[str, Any]) -> None:
    """Raise ValueError if a field has a value that `encode` never writes."""
    right = {
        "compared": body["compared"] in get_args(Compared),
        "texts": type(body["texts"]) is int and body["texts"] >= 0,
        "time": type(body["time"]) is int,
        "by": body.get("by") is None or isinstance(body["by"], str),
    }
    wrong = [name for name, holds in right.items() if not holds]
    if wrong:
        raise ValueError(f"these fields have wrong values: {', '.join(wrong)}")
