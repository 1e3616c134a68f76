"""Where a request meets the memory of its tenant; receipts of late answers are kept at hand."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import OrderedDict
from collections.abc import Generator
from typing import Any, Final, cast

from recollect.core.errors import BadQuery, Corrupt, Forbidden, NotFound, RecollectError
from recollect.doors.requests import Request
from recollect.memory.facade import Memory
from recollect.why.case import handed
from recollect.why.receipt import Receipt
from recollect.why.result import Result

KEPT_BYTES: Final = 16 * 1024 * 1024
"""How much the kept receipts of one desk may weigh together."""
TENANT: Final = ("tenant", "tenant_id", "tenantId")
"""Names under which a request may say its tenant, which has to be the caller's own."""


class Receipts:
    """Receipts by handle, the oldest let go first. Safe to share between threads."""

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        self._limit = limit
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._weight = 0
        self._lock = threading.Lock()

    def keep(self, receipt: Receipt) -> str:
        """Keep a receipt and answer with its handle, which is its digest."""
        spelled = receipt.to_bytes()
        with self._lock:
            if receipt.digest not in self._kept and len(spelled) <= self._limit:
                self._kept[receipt.digest] = spelled
                self._weight += len(spelled)
            while self._weight > self._limit:
                _, gone = self._kept.popitem(last=False)
                self._weight -= len(gone)
        return receipt.digest

    def find(self, handle: str) -> Receipt:
        """The receipt of a handle."""
        with self._lock:
            found = self._kept.get(handle)
        if found is None:
            raise NotFound(
                f"no receipt is kept under {handle[:80]!r}",
                hint="recall again and use the handle of that answer, or send the whole receipt",
                field="receipt",
            )
        return Receipt(json.loads(found), found)


class Desk:
    """One tenant's memory and the receipts of its late answers."""

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

    def answered(self, result: Result) -> Result:
        """The answer, after its receipt was kept."""
        self.receipts.keep(result.receipt)
        return result

    def receipt(self, told: str | dict[str, Any]) -> Receipt | dict[str, Any]:
        """A receipt from its handle, or as it was sent."""
        return self.receipts.find(told) if isinstance(told, str) else told

    @contextlib.contextmanager
    def handed(self, told: str | dict[str, Any]) -> Generator[Receipt]:
        """A receipt to work with; one that was sent and cannot be used is the sender's matter."""
        try:
            yield handed(self.receipt(told))
        except Exception as error:
            ours = isinstance(error, RecollectError) and not isinstance(error, Corrupt)
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
