"""A receipt: canonical JSON with every input of a ranking, bound by a digest.

The envelope is final: `receipt` (its version), `recipe`, `query`, `view`, `digest`, where the
digest is SHA-256 over the canonical JSON of everything else. What stands inside grows under that
version; docs/receipts.md tells it, `why.account` writes it, `why.verify` derives it again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import BadQuery, Corrupt
from memoriter.core.other_words import Hinting
from memoriter.core.shown import counted, plain, shown
from memoriter.why import verify as alone
from memoriter.why.verify import Verified

if TYPE_CHECKING:
    from memoriter.why.result import Result

VERSION: Final = 2
_TAG: Final = "memoriter/receipt/2"
_HINT: Final = "recall(…).receipt.save(path) writes one"


@dataclass(frozen=True, slots=True)
class Receipt(Hinting):
    """The account of one search."""

    body: Mapping[str, object]
    _spelled: bytes | None = field(default=None, compare=False)
    """Its canonical JSON, where that is known already."""

    def __repr__(self) -> str:
        hits = self.body.get("hits")
        told = counted(len(hits), "hit") if isinstance(hits, list) else ""  # pyright: ignore[reportUnknownArgumentType]  # JSON
        return shown(f"Receipt {plain(self.digest[:12], 14)}", told)

    @property
    def digest(self) -> str:
        """Binds everything in the receipt."""
        return str(self.body["digest"])

    def to_bytes(self) -> bytes:
        """The receipt as canonical JSON."""
        return canonical(self.body) if self._spelled is None else self._spelled

    def save(self, path: str | Path) -> None:
        """Write the receipt to a file."""
        Path(path).write_bytes(self.to_bytes() + b"\n")


def sealed(body: Mapping[str, object]) -> Receipt:
    """A receipt with its digest."""
    parts = {key: canonical(value) for key, value in body.items()}
    mark = digest(_TAG, _joined(parts)).hex()
    return Receipt({**body, "digest": mark}, _joined({**parts, "digest": canonical(mark)}))


def _joined(parts: Mapping[str, bytes]) -> bytes:
    """The canonical JSON of an object from that of its values."""
    return b"{" + b",".join(canonical(key) + b":" + parts[key] for key in sorted(parts)) + b"}"


def verify(
    receipt: Receipt | Result | Mapping[str, object] | bytes | str | Path,
) -> Verified:
    """Derive every number of a receipt again, from the receipt alone; what was found is told."""
    whole = getattr(receipt, "receipt", receipt)
    try:
        return alone.verify(whole.to_bytes() if isinstance(whole, Receipt) else whole)
    except alone.NotAReceipt as error:
        raise BadQuery(str(error), hint=_HINT, field="receipt") from None


def read(path: str | Path) -> Receipt:
    """A receipt from a file, after its digest was checked."""
    try:
        body = alone.read(Path(path))
    except alone.NotAReceipt as error:
        raise BadQuery(str(error), hint=_HINT, field="receipt") from None
    rest = {key: value for key, value in body.items() if key != "digest"}
    if sealed(rest).digest != body.get("digest"):
        raise Corrupt(f"{path}: the receipt does not match its digest")
    return Receipt(body)


def columns_of(body: Mapping[str, object]) -> dict[str, list[float | None]]:
    """The columns of a receipt's slate as plain numbers; None where one says nothing of a row."""
    return alone.columns_of(json.loads(canonical(body["slate"]))["columns"])
