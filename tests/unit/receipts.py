"""Receipts to change and to verify again."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from tests.compat.make_receipts import receipts

from memoriter.core.canonical import canonical
from memoriter.why.receipt import sealed

Data = dict[str, Any]
ALL = {name: json.loads(body) for name, body in receipts().items()}


def resealed(body: Data) -> Data:
    """The receipt under a digest and a fingerprint that fit again."""
    rest = {key: value for key, value in body.items() if key != "digest"}
    rest["recipe"]["fingerprint"] = hashlib.sha256(canonical(rest["recipe"]["data"])).hexdigest()
    return dict(sealed(rest).body)


def copied(name: str) -> Data:
    return json.loads(canonical(ALL[name]))
