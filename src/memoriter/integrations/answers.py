"""What every adapter shares: its memory, ids and lists of its records, receipts of its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, cast

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import InputError, NotFound, NothingToRun
from memoriter.core.record import Record
from memoriter.doors.tenant_session import Receipts
from memoriter.memory.facade import Memory
from memoriter.memory.options import Show
from memoriter.memory.rewriting import forget_records, write_records
from memoriter.pipeline.load import order_with_copies, recipe_of
from memoriter.why.receipt import Receipt
from memoriter.why.result import Result

_PAGE: Final = 1000
_VALUES: Final = 10_000
"""How many values one test of a filter takes."""


class Adapter:
    """A memory behind another interface; tenant and scope are those of the memory."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._receipts = Receipts()

    def receipt(self, handle: str) -> Receipt:
        """The receipt of a recent answer, by the handle in the host's data; else NotFound."""
        return self._receipts.find(handle)

    def _get(self, id: str) -> Record | None:
        try:
            return self._memory.get(id)
        except NotFound:
            return None

    def _put(self, fields: Mapping[str, Mapping[str, Any]]) -> None:
        """Write records by their ids, new or as new versions; none if one of them is refused."""
        write_records(self._memory, list(fields), lambda id, old: _beside(fields[id], old))

    def _forget(self, ids: Iterable[str]) -> None:
        forget_records(self._memory, list(ids))

    def _recalled(
        self,
        query: str,
        limit: int,
        where: Mapping[str, object],
        is_own: Callable[[Record], bool],
        **options: Any,
    ) -> Result | None:
        """The answer of a recall that has records of this adapter alone; None without words.

        Somebody else may have given a record of theirs the kind of the adapter's.
        """
        answer = recalled(self._memory, query, limit, where=where, **options)
        if answer is None or all(is_own(hit.record) for hit in answer):
            return answer
        own = only(filter(is_own, every_record(self._memory, where)))
        return recalled(self._memory, query, limit, where=own, **options)


def recalled(memory: Memory, query: str, limit: int | None, **options: Any) -> Result | None:
    """The same as `recall_each`; None if the query has no words: a host expects no error then."""
    try:
        return recall_each(memory, query, limit, **options)
    except NothingToRun:
        return None


def recall_each(memory: Memory, query: str, limit: int | None, **options: Any) -> Result:
    """The answer of a recall where copies are hits of their own: a host knows each by its id.

    A recipe that the caller chose is left as it is.
    """
    if options.get("recipe") is None:
        options["overrides"] = {"order": _order_with_copies(), **(options.get("overrides") or {})}
    return memory.recall(query, limit, **options)


@cache
def _order_with_copies() -> list[object]:
    """The orderings of the default recipe but for the one that joins copies."""
    return order_with_copies(recipe_of("memoriter"))


def _beside(fields: Mapping[str, Any], old: Record | None) -> Mapping[str, Any]:
    """The fields to write; a new version keeps the metadata and tags that others gave it."""
    if old is None:
        return fields
    changes = {name: value for name, value in fields.items() if name not in ("kind", "tags")}
    return {**changes, "metadata": {**old.metadata, **fields["metadata"]}}


def checked_filter(given: object) -> Mapping[str, Any]:
    """A host's filter, empty if there is none; raises ValueError if it is no mapping."""
    if not isinstance(given, Mapping | None):
        raise ValueError(f"filter: expected a mapping, got {type(given).__name__}")  # noqa: TRY004  # what hosts catch
    return cast("Mapping[str, Any]", given or {})


def adapter_id(memory: Memory, *parts: object) -> str:
    """The id of an adapter's record, made of its key there and of the scope of the memory.

    Raises InputError if a part has a lone surrogate.
    """
    scope = memory.scope.filters()
    try:
        key = canonical([scope, *parts])
    except UnicodeEncodeError:
        raise InputError(
            f"id: {parts[1:]!a} has a lone surrogate (half a character)",
            hint="the text was decoded wrongly; decode it as UTF-8 or UTF-16",
            field="id",
        ) from None
    return digest("memoriter/adapter/1", key).hex()[:32]


def only(records: Iterable[Record]) -> dict[str, object]:
    """A filter that lets these records through, for filters of a host that we do not have."""
    ids = [record.id for record in records]
    return {"any": [{"id": ids[at : at + _VALUES]} for at in range(0, len(ids), _VALUES)]}


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
