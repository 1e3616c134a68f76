"""Minus the weight times the share that asks, which is attested: a receipt holds no text."""

from __future__ import annotations

from ..numbers import Column, mapped, snap
from ..rules import BoostColumn, BoostRule


def _values(b: BoostColumn) -> Column:
    shares = b.receipt.claimed[f"{b.label}.asks"]
    if not all(share is None or 0.0 < share <= 1.0 for share in shares):
        b.receipt.wrong(f"slate/columns/{b.label}.asks", "a share is above 0 and at most 1")
    return mapped(lambda share: snap(-b.spec["weight"] * share), shares)


RULE = BoostRule(values=_values)
