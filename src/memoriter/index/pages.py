"""Pages of records by creation date, for `memory.browse`: stable, because all read one view."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import BadQuery
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.ranking import Rows
from memoriter.core.where import to_data
from memoriter.index.selection import Criteria, Selection
from memoriter.index.view import View

Sort = Literal["newest", "oldest"]
SORTS: Final = ("newest", "oldest")
_LONGEST: Final = 256


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where the next page begins: the view, and the last (created, row) of the page before."""

    seq: int
    now: int
    created: int
    row: int
    request: str
    """Digest of the request (`browse_digest`): a cursor serves no other one."""

    def encoded(self) -> str:
        """The cursor as text for the caller, in base64."""
        body = canonical([self.seq, self.now, self.created, self.row, self.request])
        return base64.urlsafe_b64encode(body).decode().rstrip("=")

    @classmethod
    def decoded(cls, text: str) -> Cursor:
        """The cursor in a text that `encoded` made; BadQuery for any other text."""
        try:
            text = str(text)[:_LONGEST]
            padded = text.encode("ascii") + b"=" * (-len(text) % 4)
            seq, now, created, row, request = json.loads(base64.urlsafe_b64decode(padded))
            return cls(int(seq), int(now), int(created), int(row), str(request))
        except (ValueError, TypeError, OverflowError, binascii.Error):
            raise BadQuery(
                "cursor: this text is not a cursor that a page returned",
                hint="ask for the first page, without a cursor",
                field="cursor",
            ) from None


def browse_digest(criteria: Criteria, sort: Sort) -> str:
    """A short digest of the request, the same for every page."""
    request = [
        criteria.scope.tenant, criteria.scope.filters(), to_data(criteria.where), criteria.as_of,
        criteria.archived, criteria.expired, criteria.superseded, criteria.trust, sort,
    ]  # fmt: skip
    return digest("memoriter/browse/1", canonical(request)).hex()[:16]


def page_rows(
    view: View, selection: Selection, sort: Sort, after: Cursor | None, limit: int
) -> tuple[Rows, NDArray[np.int64]]:
    """(the rows of the page after a cursor, when each was created in microseconds)."""
    parts = list(zip(view.segments, selection.masks, strict=True))
    rows = np.concatenate([np.zeros(0, np.int64), *(s.rows[mask] for s, mask in parts)])
    created = np.concatenate(
        [
            np.zeros(0, np.int64),
            *(s.arrays["created"][mask] for s, mask in parts),
        ]
    )
    if after is not None:
        later = (created > after.created) | ((created == after.created) & (rows > after.row))
        earlier = (created < after.created) | ((created == after.created) & (rows < after.row))
        kept = earlier if sort == "newest" else later
        rows, created = rows[kept], created[kept]
    order = np.lexsort((rows, created))
    order = order[::-1][:limit] if sort == "newest" else order[:limit]
    return rows[order], created[order]
