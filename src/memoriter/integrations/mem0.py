"""A class with the methods of mem0: change the import, and its calls run on Memoriter.

    from memoriter.integrations.mem0 import Mem0Memory as Memory  # was: from mem0 import Memory

It needs neither mem0 nor a key. `add` keeps messages as they are; with `infer=True` and a
configured language model it also adds the facts in them. `score` is the relevance, and `search`
answers with the handle of its receipt.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Any, Final, Self, TypedDict, Unpack, cast

import memoriter
from memoriter.core.errors import NotFound
from memoriter.core.record import Record
from memoriter.core.times import iso
from memoriter.integrations.answers import Answers, every_record
from memoriter.integrations.mem0_filters import passes, scope_of
from memoriter.memory.facade import Memory
from memoriter.memory.facts import FactReader
from memoriter.models.language_model import configured_model
from memoriter.text.messages import parse_message
from memoriter.why.receipt import Receipt

_OWN: Final = "mem0"
_MOST: Final = 1000
_UNSET: Final = object()


class AddOptions(TypedDict, total=False):
    """The rarer options of `add`."""

    timestamp: Any
    """When it was said; mem0's open version refuses it."""
    expiration_date: Any
    infer: bool
    """Whether a configured language model is asked for facts (True)."""
    memory_type: str | None
    """Unused."""
    prompt: str | None
    """Unused."""


class Mem0Memory:
    """mem0's `Memory` on a memory of Memoriter; its ids narrow the scope of that memory."""

    def __init__(self, config: object = None, *, memory: Memory | None = None) -> None:
        """Use a memory, else the store that MEMORITER_STORE names (memoriter.db)."""
        del config  # models and vector stores of mem0 have no meaning here
        place = os.environ.get("MEMORITER_STORE", "memoriter.db")
        self._memory = memory if memory is not None else memoriter.open(place)
        self._answers = Answers()

    @classmethod
    def from_config(cls, config_dict: Mapping[str, Any] | None = None) -> Self:
        """The same as `Memory()`: nothing of mem0's configuration is needed."""
        return cls(config_dict)

    def receipt(self, handle: str) -> Receipt:
        """The receipt of a search, by the `receipt` of its answer."""
        return self._answers.receipt(handle)

    def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        **options: Unpack[AddOptions],
    ) -> dict[str, Any]:
        """Keep messages; one of the three ids is required."""
        scope = self._memory.scoped(**scope_of({
            "user_id": user_id, "agent_id": agent_id, "run_id": run_id
        }))  # fmt: skip
        turns = _turns(messages)
        drafts: list[dict[str, Any]] = []
        for turn in turns:
            own = {"role": turn.role, "actor": turn.speaker, "metadata": metadata or {}}
            draft = {"text": turn.text, "role": turn.role or "user", "metadata": {_OWN: own}}
            times = {
                "created": options.get("timestamp"),
                "expires": options.get("expiration_date"),
            }
            drafts.append(draft | {name: at for name, at in times.items() if at is not None})
        ids = scope.remember_many(cast("Any", drafts)).ids
        model = configured_model() if options.get("infer", True) else None
        if model is not None and ids:
            facts = FactReader(model).drafts([scope.get(id) for id in ids])
            ids += scope.remember_many(cast("Any", facts)).ids
        results = [self._item(scope.get(id)) for id in ids]
        return {"results": [_event(each) for each in results]}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: dict[str, Any] | None = None,
        threshold: float = 0.1,
        explain: bool = False,
        reference_date: Any = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Memories that answer a query. `rerank`, `show_expired`: unused."""
        scope = self._scoped(filters, options, "search")
        when = {} if reference_date is None else {"now": reference_date}
        answer = scope.recall(query.strip(), _MOST if _has_more(filters) else top_k, **when)
        results: list[dict[str, Any]] = []
        for hit in answer:
            score = hit.score if hit.relevance is None else hit.relevance
            item = {**self._item(hit.record), "score": score}
            if score >= threshold and passes(filters or {}, item):
                details = {"score_details": hit.to_dict()["explanation"]} if explain else {}
                results.append(item | details)
        return {"results": results[:top_k], "receipt": self._answers.handle(answer)}

    def get_all(
        self,
        *,
        filters: dict[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **options: Any,
    ) -> dict[str, Any]:
        """All memories of a user, agent or run, newest first."""
        scope = self._scoped(filters, options, "get_all")
        records = list(every_record(scope, expired="show" if show_expired else "hide"))
        items = [item for item in map(self._item, reversed(records)) if passes(filters or {}, item)]
        return {"results": items[:top_k]}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """One memory; None if there is none."""
        try:
            return self._item(self._memory.get(memory_id))
        except NotFound:
            return None

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
            changes["expires"] = expiration_date
        if metadata is not None:
            own = dict(self._own(self._existing(memory_id)))
            own["metadata"] = {**cast("dict[str, Any]", own.get("metadata", {})), **metadata}
            changes["metadata"] = {_OWN: own}
        if not changes:
            raise ValueError("At least one of text, metadata, or expiration_date must be provided.")
        self._existing(memory_id)
        self._memory.update(memory_id, **changes)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Forget a memory: its bytes are erased."""
        self._memory.forget(self._existing(memory_id).id)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Forget all memories of a user, agent or run."""
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        self._memory.scoped(**scope_of(ids)).forget(where={})
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """The versions of a memory, oldest first; none of one that was forgotten."""
        try:
            versions = self._memory.history(memory_id)
        except NotFound:
            return []
        return [
            {
                "id": f"{memory_id}:{record.row}",
                "memory_id": memory_id,
                "old_memory": versions[at - 1].text if at else None,
                "new_memory": record.text,
                "event": "UPDATE" if at else "ADD",
                "created_at": iso(versions[0].created),
                "updated_at": iso(record.committed) if at else None,
                "is_deleted": False,
                "actor_id": self._own(record).get("actor"),
                "role": self._own(record).get("role"),
            }
            for at, record in enumerate(versions)
        ]

    def reset(self) -> None:
        """Forget every memory that `add` wrote, of all users."""
        gone = [each.id for each in every_record(self._memory) if _OWN in each.metadata]
        if gone:
            self._memory.forget(gone)

    def close(self) -> None:
        """Close the store."""
        self._memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _existing(self, memory_id: str) -> Record:
        try:
            return self._memory.get(memory_id)
        except NotFound:
            raise ValueError(f"Memory with id {memory_id} not found") from None

    def _scoped(
        self, filters: dict[str, Any] | None, options: dict[str, Any], method: str
    ) -> Memory:
        for name in ("user_id", "agent_id", "run_id"):
            if name in options:
                raise ValueError(f"{method}: pass filters={{'{name}': …}} instead of {name}=…")
        return self._memory.scoped(**scope_of(filters or {}))

    @staticmethod
    def _own(record: Record) -> dict[str, Any]:
        return cast("dict[str, Any]", record.metadata.get(_OWN, {}))

    def _item(self, record: Record) -> dict[str, Any]:
        """A memory in mem0's fields."""
        own = self._own(record)
        agent = None if record.agent == "default" else record.agent
        optional = {
            "user_id": record.user,
            "agent_id": agent,
            "run_id": record.session,
            "actor_id": own.get("actor"),
            "role": own.get("role"),
            "expiration_date": record.expires and iso(record.expires)[:10],
            "metadata": own.get("metadata"),
        }
        return {
            "id": record.id,
            "memory": record.text,
            "hash": hashlib.md5(record.text.encode(), usedforsecurity=False).hexdigest(),
            "created_at": iso(record.created),
            "updated_at": iso(record.committed),
            **{name: value for name, value in optional.items() if value},
        }


def _has_more(filters: dict[str, Any] | None) -> bool:
    """Whether filters ask for more than a user, an agent or a run."""
    return bool(set(filters or ()) - {"user_id", "agent_id", "run_id"})


def _turns(messages: Any) -> list[Any]:
    """The messages that have text; those of the system are instructions, not memories."""
    if isinstance(messages, str | dict):
        messages = [
            {"role": "user", "content": messages} if isinstance(messages, str) else messages
        ]
    if not isinstance(messages, list):
        raise ValueError("messages must be str, dict, or list[dict]")  # noqa: TRY004  # as mem0
    turns = [parse_message(cast("dict[str, Any]", each)) for each in cast("list[Any]", messages)]
    return [turn for turn in turns if turn.text and turn.role != "system"]


def _event(item: dict[str, Any]) -> dict[str, Any]:
    kept = {name: item[name] for name in ("actor_id", "role") if name in item}
    return {"id": item["id"], "memory": item["memory"], "event": "ADD", **kept}
