"""Receipts: canonical JSON with every input of a ranking, sealed with a digest.

The envelope is stable: `receipt` (the version), `recipe`, `query`, `view` and `digest`, the SHA-256
of the canonical JSON of everything else. The other keys may grow within a version; docs/receipts.md
describes them, `why.write_receipt` writes them, `why.verify` recomputes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memoriter.core.canonical import canonical, digest
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.other_words import Hinting
from memoriter.core.private_file import write_private
from memoriter.core.shown import counted, plain, shown

if TYPE_CHECKING:
    pass

VERSION: Final = 2
_TAG: Final = "memoriter/receipt/2"
RECEIPT_BEGINS: Final = (b'{"coverage":', b'{"digest":')
"""How the file of a receipt begins."""
CHANGED: Final = "it was changed or damaged after it was made: use the original, or recall again"


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
        write_private(Path(path), self.to_bytes() + b"\n", RECEIPT_BEGINS)


def sealed(body: Mapping[str, object]) -> Receipt:
    """The receipt of a body, with the digest added."""
    # Each value is serialised once and used twice: for the digest, and for the JSON with it.
    parts = {key: canonical(value) for key, value in body.items()}
    checksum = digest(_TAG, _joined(parts)).hex()
    return Receipt({**body, "digest": checksum}, _joined({**parts, "digest": canonical(checksum)}))


def _joined(parts: Mapping[str, bytes]) -> bytes:
    """The canonical JSON of an object, from the canonical JSON of its values."""
    return b"{" + b",".join(canonical(key) + b":" + parts[key] for key in sorted(parts)) + b"}"
