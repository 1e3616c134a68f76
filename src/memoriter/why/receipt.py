"""Receipts: canonical JSON with every input of a ranking, sealed with a digest.

The envelope is stable: `receipt` (the version), `recipe`, `query`, `view` and `digest`, the SHA-256
of the canonical JSON of everything else. The other keys may grow within a version; docs/receipts.md
describes them, `why.write_receipt` writes them, `why.verify` recomputes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import BadQuery, Corrupt, TooCostly
from memoriter.core.other_words import Hinting
from memoriter.core.private_file import write_private
from memoriter.core.shown import counted, plain, shown
from memoriter.why import verify as verifier
from memoriter.why.verify import Verified

if TYPE_CHECKING:
    from memoriter.why.result import Result

VERSION: Final = 2
_TAG: Final = "memoriter/receipt/2"
CHANGED: Final = "it was changed or damaged after it was made: use the original, or recall again"
_HINT: Final = "recall(…).receipt.save(path) writes one"


@dataclass(frozen=True, slots=True)
class Receipt(Hinting):
    """The receipt of one search."""

    body: Mapping[str, object]
    _json: bytes | None = field(default=None, compare=False)
    """Its canonical JSON, if it was serialised already."""

    def __repr__(self) -> str:
        hits = self.body.get("hits")
        count = counted(len(hits), "hit") if isinstance(hits, list) else ""  # pyright: ignore[reportUnknownArgumentType]  # JSON
        return shown(f"Receipt {plain(self.digest[:12], 14)}", count)

    @property
    def digest(self) -> str:
        """The SHA-256 over everything else in the receipt."""
        return str(self.body["digest"])

    def to_bytes(self) -> bytes:
        """The receipt as canonical JSON."""
        return canonical(self.body) if self._json is None else self._json

    def to_dict(self) -> dict[str, object]:
        """The receipt as plain data."""
        return dict(self.body)

    def save(self, path: str | Path) -> None:
        """Write the receipt to a file; a new one is readable by its owner alone."""
        write_private(Path(path), self.to_bytes() + b"\n")


def sealed(body: Mapping[str, object]) -> Receipt:
    """The receipt of a body, with the digest added."""
    # Each value is serialised once and used twice: for the digest, and for the JSON with it.
    parts = {key: canonical(value) for key, value in body.items()}
    checksum = digest(_TAG, _joined(parts)).hex()
    return Receipt({**body, "digest": checksum}, _joined({**parts, "digest": canonical(checksum)}))


def _joined(parts: Mapping[str, bytes]) -> bytes:
    """The canonical JSON of an object, from the canonical JSON of its values."""
    return b"{" + b",".join(canonical(key) + b":" + parts[key] for key in sorted(parts)) + b"}"


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
