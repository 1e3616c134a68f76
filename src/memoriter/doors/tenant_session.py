"""Where a request meets the memory of its tenant; late answers are kept at hand."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Generator
from typing import Any, Final, cast

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import BadQuery, Corrupt, Forbidden, MemoriterError, NotFound
from memoriter.doors.requests import Request
from memoriter.memory.facade import Memory
from memoriter.why.case import receipt_from
from memoriter.why.receipt import Receipt
from memoriter.why.result import Result

KEPT_BYTES: Final = 32 * 1024 * 1024
"""How much the kept answers of one desk may weigh together."""
_CANDIDATE: Final = 256
"""Bytes that an answer holds for each of its candidates, about."""
_ROW: Final = 4
"""The same for each row of the view."""
TENANT: Final = ("tenant", "tenant_id", "tenantId")
"""Names under which a request may say its tenant, which has to be the caller's own."""


class Receipts:
    """Late answers by handle, the oldest let go first. Safe to share between threads.

    A receipt takes about as long to make as the answer itself and few are asked for, so it is made
    when somebody does.
    """

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        self._limit = limit
        self._kept: OrderedDict[str, tuple[Result, int]] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def keep(self, result: Result, handle: str | None = None) -> str:
        """Keep an answer and say its handle: the same for the same answer of the same view."""
        handle = handle or handle_of(result)
        weight = weight_of(result)
        with self._lock:
            if handle not in self._kept and weight <= self._limit:
                self._kept[handle] = result, weight
                self._weight += weight
            while self._weight > self._limit:
                _, (_, gone) = self._kept.popitem(last=False)
                self._weight -= gone
        return handle

    def find(self, handle: str) -> Receipt:
        """The receipt of the answer under a handle."""
        with self._lock:
            found = self._kept.get(handle)
        if found is None:
            raise NotFound(
                f"no receipt is kept under {handle[:80]!r}",
                hint="recall again and use the handle of that answer, or send the whole receipt",
                field="receipt",
            )
        return found[0].receipt


def handle_of(result: Result) -> str:
    """A name for an answer, from what it says."""
    told = [result.plan.to_dict(), result.total, *([hit.id, hit.score] for hit in result)]
    return digest("memoriter/answer/1", canonical(told)).hex()


def weight_of(result: Result) -> int:
    """How much memory a kept answer holds, about."""
    texts = sum(len(hit.record.text) for hit in result)
    return _CANDIDATE * result.total + _ROW * result.plan.seq + texts


class TenantSession:
    """One tenant's memory and its late answers."""

    def __init__(self, memory: Memory, receipts: Receipts | None = None) -> None:
        self._memory = memory
        self.receipts = receipts or Receipts()

    @property
    def tenant(self) -> str:
        """Whose desk it is."""
        return self._memory.scope.tenant

    def memory(self, asked: Request) -> Memory:
        """The memory as the request may see it."""
        scope = asked.whose()
        return self._memory.scoped(**scope) if scope else self._memory

    def handle(self, result: Result) -> str:
        """The handle of an answer, which is kept for those who ask about it."""
        return self.receipts.keep(result)

    def whole(self, result: Result) -> dict[str, Any]:
        """An answer in full: it names its receipt's digest, which is its handle then."""
        told = result.to_dict()
        self.receipts.keep(result, result.receipt.digest)
        return told

    def receipt(self, told: str | dict[str, Any]) -> Receipt | dict[str, Any]:
        """A receipt from its handle, or as it was sent."""
        return self.receipts.find(told) if isinstance(told, str) else told

    @contextlib.contextmanager
    def handed(self, told: str | dict[str, Any]) -> Generator[Receipt]:
        """A receipt to work with; one that was sent and cannot be used is the sender's matter."""
        try:
            yield receipt_from(self.receipt(told))
        except Exception as error:
            ours = isinstance(error, MemoriterError) and not isinstance(error, Corrupt)
            if ours or isinstance(told, str):
                raise
            reason = error.message if isinstance(error, Corrupt) else "it cannot be read"
            raise BadQuery(
                f"receipt: {reason}", hint="send it as it was answered", field="receipt"
            ) from error


def of_tenant(tenant: str, data: object) -> object:
    """The request without the tenant it names, which has to be the caller's own."""
    if not isinstance(data, dict):
        return data
    told = cast("dict[str, object]", data)
    for key in TENANT:
        if told.get(key, tenant) != tenant:
            raise Forbidden(
                f"{key}: this credential is for another tenant",
                hint="leave it out: the tenant comes from the credential",
                field=key,
            )
    return {key: value for key, value in told.items() if key not in TENANT}
