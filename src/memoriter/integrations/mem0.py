"""A class with the methods of mem0: change the import, and its calls run on Memoriter.

    from memoriter.integrations.mem0 import Mem0Memory as Memory  # was: from mem0 import Memory

It needs neither mem0 nor a key. `add` keeps messages as they are; with `infer=True` and a
configured language model it also adds the facts in them. `score` is the relevance, and `search`
answers with the handle of its receipt.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

import memoriter
from memoriter.core.errors import NotFound, Unavailable
from memoriter.core.query import LIMIT_LIMIT
from memoriter.core.record import Record
from memoriter.integrations import mem0_fields as fields
from memoriter.integrations.answers import Adapter, every_record, only, recalled
from memoriter.memory.capturing import message_kinds
from memoriter.memory.facade import Memory
from memoriter.memory.facts import FactReader
from memoriter.memory.options import Show
from memoriter.memory.rewriting import write_records
from memoriter.models.language_model import configured_model
from memoriter.text.secrets import secret_kinds
from memoriter.why.receipt import Receipt

P = ParamSpec("P")
R = TypeVar("R")
_UNSET: Final = object()
_THRESHOLD: Final = 0.1
_PROCEDURAL: Final = "procedural_memory"
_log = logging.getLogger(__name__)


class Mem0Memory(Adapter):
    """mem0's `Memory` on a memory of Memoriter; its ids narrow the scope of that memory."""

    def __init__(self, config: object = None, *, memory: Memory | None = None) -> None:
        """Use a memory, else the store that MEMORITER_STORE names (memoriter.db)."""
        del config  # models and vector stores of mem0 have no meaning here
        place = os.environ.get("MEMORITER_STORE", "memoriter.db")
        super().__init__(memory if memory is not None else memoriter.open(place))

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any] | None = None) -> Self:
        """The same as `Memory()`: nothing of mem0's configuration is needed."""
        return cls(config_dict)

    def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Keep messages; one of the three ids is required.

        A message that holds a secret is neither stored nor sent to a language model; `refused` of
        the answer has its place and the kinds. Of the options `timestamp`, `expiration_date` and
        `infer` count; `memory_type` and `prompt` have no effect.
        """
        if options.get("memory_type") not in (None, _PROCEDURAL):
            raise ValueError(f"Invalid 'memory_type'. Please pass {_PROCEDURAL!r} or none.")
        ids_of_scope = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        names = fields.scope_of(ids_of_scope)
        fields.refuse_secret_ids(names)
        scope = self._memory.scoped(**names)
        turns, marked = fields.turns_of(messages), fields.marks(metadata, agent_id)
        refused = {at: kinds for at, turn in turns.items() if (kinds := message_kinds(turn))}
        clean = [turn for at, turn in turns.items() if at not in refused]
        ids = scope.remember_many([fields.turn_draft(turn, marked, options) for turn in clean]).ids
        model = configured_model() if options.get("infer", True) else None
        if model is not None and ids:
            facts = self._facts(scope, FactReader(model), ids)
            drafts = [fields.fact_draft(fact, marked, options) for fact in facts]
            ids += scope.remember_many(drafts).ids
        named = [{"message": at, "kinds": list(kinds)} for at, kinds in refused.items()]
        events = [fields.event_of(scope.get(id)) for id in ids]
        return {"results": events, **({"refused": named} if named else {})}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: dict[str, Any] | None = None,
        threshold: float | None = _THRESHOLD,
        explain: bool = False,
        reference_date: Any = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Memories that answer a query; of the options, `show_expired` counts."""
        fields.check_search(query, top_k, threshold)
        scope = self._memory.scoped(**fields.filtered_scope(filters, options))
        shown: Show = "show" if options.get("show_expired") else "hide"
        asked: dict[str, Any] = {"overrides": {"select.expired": shown}}
        if reference_date is not None:
            asked["now"] = fields.unix_seconds(reference_date)
        if fields.has_conditions(filters):
            asked["where"] = only(fields.filtered_records(scope, filters, shown))
        answer = recalled(scope, query, min(top_k, LIMIT_LIMIT), **asked) if top_k else None
        hits = [fields.hit_item(hit, explain=explain) for hit in answer or ()]
        least = _THRESHOLD if threshold is None else threshold
        results = [item for item in hits if item["score"] >= least]
        handle = None if answer is None else self._receipts.keep(answer)
        return {"results": results, "receipt": handle}

    def get_all(
        self,
        *,
        filters: dict[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **options: Any,
    ) -> dict[str, Any]:
        """All memories of a user, agent or run, newest first."""
        fields.check_count(top_k)
        scope = self._memory.scoped(**fields.filtered_scope(filters, options))
        records = fields.filtered_records(scope, filters, "show" if show_expired else "hide")
        return {"results": [fields.mem0_item(each) for each in reversed(records)][:top_k]}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """One memory; None if there is none."""
        record = self._get(memory_id)
        return None if record is None else fields.mem0_item(record)

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: dict[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Change a memory; the old version stays in its history."""
        text = data if text is None else text
        changes: dict[str, Any] = {} if text is None else {"text": text}
        if expiration_date is not _UNSET:
            changes["expires"] = fields.end_of_day(expiration_date)
        if metadata is None and not changes:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")

        def changed(id: str, record: Record | None) -> dict[str, Any]:
            if record is None:
                raise _not_found(id)
            gained = (
                {} if metadata is None else {"metadata": fields.with_metadata(record, metadata)}
            )
            return {**changes, **gained}

        write_records(self._memory, [memory_id], changed)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Forget a memory: its bytes are erased."""
        try:
            self._memory.forget(memory_id)
        except NotFound:
            raise _not_found(memory_id) from None
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Forget all memories of a user, agent or run."""
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        scope = self._memory.scoped(**fields.scope_of(ids))
        if fields.is_unnamed("agent_id", agent_id):
            named = fields.filtered_records(scope, {"agent_id": agent_id}, "show")
            self._forget(each.id for each in named)
        else:
            scope.forget(where={})
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """The versions of a memory, oldest first; none of one that was forgotten."""
        versions: list[Record] = []
        try:
            while part := self._memory.history(
                memory_id, upto=versions[0].row - 1 if versions else None
            ):
                versions[:0] = part
        except NotFound:
            return []
        return fields.history_of(versions)

    def reset(self) -> None:
        """Forget every memory that `add` wrote, of all users, expired ones too."""
        every = every_record(self._memory, expired="show")
        self._forget(each.id for each in every if fields.is_own(each))

    def close(self) -> None:
        """Close the store."""
        self._memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @staticmethod
    def _facts(scope: Memory, reader: FactReader, ids: tuple[str, ...]) -> list[dict[str, Any]]:
        """The facts in new messages; none if the model fails, and none that holds a secret."""
        try:
            facts = reader.drafts([scope.get(id) for id in ids])
        except Unavailable as error:  # the messages are kept
            _log.warning("no facts were added: %s", error.message)
            return []
        return [fact for fact in facts if not secret_kinds(str(fact["text"]))]


def _in_thread(
    method: Callable[Concatenate[Mem0Memory, P], R],
) -> Callable[Concatenate[AsyncMem0Memory, P], Awaitable[R]]:
    """The method as a coroutine function with the same signature."""

    @wraps(method)
    async def run(self: AsyncMem0Memory, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, self.blocking, *args, **kwargs)

    return run


class AsyncMem0Memory:
    """mem0's `AsyncMemory`: the same methods as coroutines, each run in a thread."""

    def __init__(self, config: object = None, *, memory: Memory | None = None) -> None:
        """Use a memory, else the store that MEMORITER_STORE names (memoriter.db)."""
        self.blocking = Mem0Memory(config, memory=memory)

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any] | None = None) -> Self:
        """The same as `AsyncMemory()`: nothing of mem0's configuration is needed."""
        return cls(config_dict)

    add = _in_thread(Mem0Memory.add)
    search = _in_thread(Mem0Memory.search)
    get_all = _in_thread(Mem0Memory.get_all)
    get = _in_thread(Mem0Memory.get)
    update = _in_thread(Mem0Memory.update)
    delete = _in_thread(Mem0Memory.delete)
    delete_all = _in_thread(Mem0Memory.delete_all)
    history = _in_thread(Mem0Memory.history)
    reset = _in_thread(Mem0Memory.reset)

    def receipt(self, handle: str) -> Receipt:
        """The receipt of a recent answer, by its handle; else NotFound."""
        return self.blocking.receipt(handle)

    def close(self) -> None:
        """Close the store."""
        self.blocking.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


def _not_found(memory_id: str) -> ValueError:
    return ValueError(f"Memory with id {memory_id} not found")
