"""What every adapter shares: handles of receipts for its answers, ids and lists of its records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from memoriter.core.canonical import canonical, digest
from memoriter.core.record import Record
from memoriter.doors.tenant_session import Receipts
from memoriter.memory.facade import Memory
from memoriter.memory.options import Show
from memoriter.why.receipt import Receipt
from memoriter.why.result import Result

_PAGE: Final = 1000


class Answers:
    """The recent answers of an adapter, kept by the handles that it put into the host's data."""

    def __init__(self) -> None:
        self._receipts = Receipts()

    def handle(self, result: Result) -> str:
        """Keep an answer and return its handle."""
        return self._receipts.keep(result)

    def receipt(self, handle: str) -> Receipt:
        """The receipt of an answer; raises NotFound if it is not kept any more."""
        return self._receipts.find(handle)


def adapter_id(memory: Memory, *parts: object) -> str:
    """The id of an adapter's record, made of its key there and of the scope of the memory."""
    scope = memory.scope.filters()
    return digest("memoriter/adapter/1", canonical([scope, *parts])).hex()[:32]


def every_record(
    memory: Memory, where: Mapping[str, object] | None = None, expired: Show = "hide"
) -> Iterator[Record]:
    """All records that pass, archived ones too, oldest first."""
    cursor = None
    while True:
        page = memory.browse(
            "oldest", cursor=cursor, limit=_PAGE, where=where, archived="show", expired=expired
        )
        yield from page.records
        if (cursor := page.cursor) is None:
            return
