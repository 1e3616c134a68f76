"""A LangGraph store: `MemoriterStore(memory)` is a `langgraph.store.base.BaseStore`.

An item is a record: its key and namespace are kept in the metadata, the texts of its value are what
a search reads. An overwritten item is a new version, a deleted one is forgotten. Items of
`search(query=…)` have the handle of the receipt: `store.receipt(item.receipt)`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
)
from langgraph.store.memory import _compare_values, _does_match  # pyright: ignore[reportPrivateUsage]  # its own rules of filters

from memoriter.core.record import Record
from memoriter.integrations.answers import Adapter, adapter_id, every_record, only
from memoriter.integrations.values import is_value, kept_value, read_value

KIND: Final = "langgraph-item"
_OWN: Final = "langgraph"
_MOST: Final = 1000
"""How many hits a recall has at most."""


class ExplainedItem(SearchItem):
    """An item of a search, with the handle of the receipt of the answer."""

    __slots__ = ("receipt",)

    def __init__(self, *, receipt: str | None, **fields: Any) -> None:
        super().__init__(**fields)
        self.receipt = receipt


class MemoriterStore(Adapter, BaseStore):
    """A store of LangGraph in a memory; tenant and scope are those of the memory."""

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: reads see what was there before, of several writes to a key the last."""
        listed = list(ops)
        results = [self._read(op) for op in listed]
        # All ids first: one that is not valid must not leave half of the batch written.
        puts = {self._id(op.namespace, op.key): op for op in listed if isinstance(op, PutOp)}
        self._put({id: self._item(op) for id, op in puts.items() if op.value is not None})
        self._forget(id for id, op in puts.items() if op.value is None)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                record = self._get(self._id(op.namespace, op.key))
                return None if record is None else Item(**_fields(record))
            case SearchOp():
                return cast("Result", list(self._search(op)))
            case ListNamespacesOp():
                return self._namespaces(op)
            case PutOp():
                return None
        raise ValueError(f"the operation {type(op).__name__} of LangGraph is not supported")

    def _item(self, op: PutOp) -> dict[str, Any]:
        """The record of an item."""
        kept = kept_value(op.value)
        texts = _texts(op)
        return {
            "text": "\n".join(texts) or op.key.strip() or KIND,
            # What is not to be found by a search is kept out of recalls.
            "archived": not texts,
            "kind": KIND,
            "tags": [self._tag(op.namespace[:n]) for n in range(1, len(op.namespace) + 1)],
            "metadata": {_OWN: {"at": list(op.namespace), "key": op.key, **kept}},
        }

    def _search(self, op: SearchOp) -> Iterator[SearchItem]:
        """Items of a namespace: ranked by a query, the others after them, oldest first."""
        stop, where = op.offset + op.limit, self._where(op.namespace_prefix)
        every = self._all(where)
        if op.filter:
            every = [record for record in every if _passes(op.filter, record)]
            where = only(every)
        handle, ranked = None, dict[str, tuple[Record, float | None]]()
        if op.query:
            answer = self._recalled(op.query, max(1, min(_MOST, stop)), where, _is_own)
            handle = None if answer is None else self._receipts.keep(answer)
            ranked |= {hit.id: (hit.record, hit.score) for hit in answer or ()}
        if len(ranked) < stop:
            for record in every:
                ranked.setdefault(record.id, (record, None))
        for record, score in list(ranked.values())[op.offset : stop]:
            yield ExplainedItem(**_fields(record), score=score, receipt=handle)

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        known = {_fields(each)["namespace"] for each in self._all(self._where(()))}
        wanted = op.match_conditions or ()
        passing = [each for each in known if all(_does_match(one, each) for one in wanted)]
        return sorted({each[: op.max_depth] for each in passing})[op.offset : op.offset + op.limit]

    def _all(self, where: Mapping[str, object]) -> Iterator[Record]:
        return filter(_is_own, every_record(self._memory, where))

    def _id(self, *parts: object) -> str:
        return adapter_id(self._memory, KIND, *parts)

    def _tag(self, prefix: tuple[str, ...]) -> str:
        """The tag of every item below a namespace."""
        return f"namespace:{self._id(prefix)}"

    def _where(self, prefix: tuple[str, ...]) -> dict[str, object]:
        return {"tags": self._tag(prefix)} if prefix else {"kind": KIND}


def _texts(op: PutOp) -> list[str]:
    """What a search reads of a value: the paths of `index`, by default every text in it."""
    if op.index is None:
        texts = list(_leaves(op.value))
    else:
        texts = [each for path in op.index or () for each in get_text_at_path(op.value, path)]
    return [text for text in texts if text.strip()]


def _leaves(value: object) -> Iterator[str]:
    """The texts and numbers in a value, in order."""
    if isinstance(value, Mapping):
        value = list(cast("Mapping[str, object]", value).values())
    if isinstance(value, list | tuple):
        for inner in cast("list[object]", value):
            yield from _leaves(inner)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def _passes(filter: Mapping[str, Any], record: Record) -> bool:
    value: dict[str, Any] = _fields(record)["value"]
    return all(_compare_values(value.get(key), want) for key, want in filter.items())


def _is_own(record: Record) -> bool:
    """Whether a record of our kind is an item of this adapter, and nobody else's."""
    own = record.metadata.get(_OWN)
    return isinstance(own, dict) and {"at", "key"} <= own.keys() and is_value(own)


def _fields(record: Record) -> dict[str, Any]:
    own: Any = record.metadata[_OWN]
    times = {"created_at": record.created, "updated_at": record.committed}
    return {"namespace": tuple(own["at"]), "key": own["key"], "value": read_value(own), **times}
