"""Reads receipts: verifies one from the file alone, checks its digest, unpacks its columns.

Apart from `why.receipt`, which every search imports: the verifier is as large as a lane.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memoriter.core.canonical import canonical
from memoriter.core.errors import BadQuery, Corrupt, TooCostly
from memoriter.why import verify as verifier
from memoriter.why.receipt import CHANGED, Receipt, sealed
from memoriter.why.verify import Verified

if TYPE_CHECKING:
    from memoriter.why.result import Result

_HINT: Final = "give a receipt that recall(…).receipt.save(path) wrote"


def verify(
    receipt: Receipt | Result | Mapping[str, object] | bytes | str | Path,
    steps: int = verifier.STEPS,
) -> Verified:
    """Recompute every number of a receipt from the receipt alone; the report lists any problems.

    Raises BadQuery if it is not a receipt of this version, and TooCostly if it needs more steps
    than it may take: a receipt may come from anybody.

    Arguments:
        receipt: A result, its receipt, the path of a saved one, or its data.
        steps: How many numbers it may read and compute, about a thousand for each hit.

    """
    whole = getattr(receipt, "receipt", receipt)
    try:
        return verifier.verify(whole.to_bytes() if isinstance(whole, Receipt) else whole, steps)
    except verifier.NotAReceipt as error:
        raise BadQuery(str(error), hint=_HINT, field="receipt") from None
    except verifier.OverBudget as error:
        hint = "if you trust where it comes from, give verify more steps"
        raise TooCostly(str(error), hint=hint, field="receipt") from None


def read_receipt(path: str | Path) -> Receipt:
    """The receipt of a file, after its digest was checked.

    Raises BadQuery if it is not a receipt of this version, and Corrupt if the digest is wrong.
    """
    try:
        body = verifier.parse_receipt(Path(path))
    except verifier.NotAReceipt as error:
        raise BadQuery(str(error), hint=_HINT, field="receipt") from None
    rest = {key: value for key, value in body.items() if key != "digest"}
    if sealed(rest).digest != body.get("digest"):
        raise Corrupt(f"{path}: the receipt does not match its digest", hint=CHANGED)
    return Receipt(body)


def receipt_columns(body: Mapping[str, object]) -> dict[str, list[float | None]]:
    """The columns of a receipt's slate as plain numbers; None where a row has no value."""
    return verifier.unpacked_columns(json.loads(canonical(body["slate"]))["columns"])
