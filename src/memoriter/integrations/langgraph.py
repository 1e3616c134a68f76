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

from memoriter.core.errors import NotFound
from memoriter.core.record import Record
from memoriter.integrations.answers import Answers, adapter_id, every_record
from memoriter.memory.facade import Memory
from memoriter.why.receipt import Receipt

KIND: Final = "langgraph-item"
_OWN: Final = "langgraph"
_MOST: Final = 1000


class ExplainedItem(SearchItem):
    """An item of a search, with the handle of the receipt of the answer."""

    __slots__ = ("receipt",)

    def __init__(self, *, receipt: str | None, **fields: Any) -> None:
        super().__init__(**fields)
        self.receipt = receipt


class MemoriterStore(BaseStore):
    """A store of LangGraph in a memory; tenant and scope are those of the memory."""

    __slots__ = ("_answers", "_memory")

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._answers = Answers()

    def receipt(self, handle: str) -> Receipt:
        """The receipt of a search whose items have this handle."""
        return self._answers.receipt(handle)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: reads see what was there before, of several writes to a key the last."""
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            if isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
            results.append(self._read(op))
        for op in puts.values():
            self._put(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                record = self._current(op.namespace, op.key)
                return None if record is None else Item(**_fields(record))
            case SearchOp():
                return cast("Result", list(self._search(op)))
            case ListNamespacesOp():
                return self._namespaces(op)
            case PutOp():
                return None
        raise ValueError(f"unknown operation: {type(op).__name__}")

    def _current(self, namespace: tuple[str, ...], key: str) -> Record | None:
        try:
            return self._memory.get(adapter_id(self._memory, KIND, namespace, key))
        except NotFound:
            return None

    def _put(self, op: PutOp) -> None:
        id, known = adapter_id(self._memory, KIND, op.namespace, op.key), True
        if self._current(op.namespace, op.key) is None:
            known = False
        if op.value is None:
            if known:
                self._memory.forget(id)
            return
        texts = _texts(op)
        fields: dict[str, Any] = {
            # What is not to be found by a search is kept out of recalls.
            "archived": not texts,
            "metadata": {_OWN: {"at": list(op.namespace), "key": op.key, "value": dict(op.value)}},
        }
        text = "\n".join(texts) or op.key or "item"
        if known:
            self._memory.update(id, text=text, **fields)
        else:
            tags = [_tag(self._memory, op.namespace[:n]) for n in range(1, len(op.namespace) + 1)]
            self._memory.remember(text, id=id, kind=KIND, tags=tags, **fields)

    def _search(self, op: SearchOp) -> Iterator[SearchItem]:
        """Items of a namespace: ranked by a query, the others after them, oldest first."""
        stop = op.offset + op.limit
        handle, ranked = None, dict[str, tuple[Record, float | None]]()
        if op.query:
            options: dict[str, Any] = {"where": self._where(op.namespace_prefix)}
            limit = min(_MOST, stop) if not op.filter else _MOST
            answer = self._memory.recall(op.query, max(1, limit), **options)
            handle = self._answers.handle(answer)
            ranked |= {hit.id: (hit.record, hit.score) for hit in answer}
        rest = () if not op.filter and len(ranked) >= stop else self._items(op.namespace_prefix)
        for record in rest:
            ranked.setdefault(record.id, (record, None))
        passing = [
            (record, score) for record, score in ranked.values() if _passes(op.filter, record)
        ]
        for record, score in passing[op.offset : stop]:
            yield ExplainedItem(**_fields(record), score=score, receipt=handle)

    def _items(self, prefix: tuple[str, ...]) -> Iterable[Record]:
        return every_record(self._memory, where=self._where(prefix))

    def _where(self, prefix: tuple[str, ...]) -> dict[str, object]:
        return {"tags": _tag(self._memory, prefix)} if prefix else {"kind": KIND}

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        known = {_fields(record)["namespace"] for record in self._items(())}
        wanted = op.match_conditions or ()
        passing = [each for each in known if all(_does_match(one, each) for one in wanted)]
        return sorted({each[: op.max_depth] for each in passing})[op.offset : op.offset + op.limit]


def _tag(memory: Memory, prefix: tuple[str, ...]) -> str:
    """The tag of every item below a namespace."""
    return f"namespace:{adapter_id(memory, KIND, prefix)}"


def _texts(op: PutOp) -> list[str]:
    """What a search reads of a value: the paths of `index`, by default every text in it."""
    if op.index is None:
        texts = list(_leaves(op.value))
    else:
        paths = op.index or []
        texts = [each for path in paths for each in get_text_at_path(op.value, path)]
    return [text for text in texts if text.strip()]


def _leaves(value: object) -> Iterator[str]:
    """The texts and numbers in a value, in order."""
    if isinstance(value, Mapping):
        for inner in cast("Mapping[str, object]", value).values():
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in cast("list[object]", value):
            yield from _leaves(inner)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def _passes(filter: Mapping[str, Any] | None, record: Record) -> bool:
    value = cast("dict[str, Any]", _fields(record)["value"])
    return all(_compare_values(value.get(key), want) for key, want in (filter or {}).items())


def _fields(record: Record) -> dict[str, Any]:
    """The fields of an item."""
    own = cast("dict[str, Any]", record.metadata[_OWN])
    return {
        "namespace": tuple(own["at"]),
        "key": own["key"],
        "value": own["value"],
        "created_at": record.created,
        "updated_at": record.committed,
    }
