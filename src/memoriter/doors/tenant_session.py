"""The session of a tenant: its memory, and the receipts of its recent answers.

Every handler takes a `TenantSession`. A server keeps one per tenant in `TenantSessions`; the hook
and MCP over the standard streams have a single one.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import Any, Final, cast

from memoriter.core.errors import BadQuery, Corrupt, Forbidden, MemoriterError, NotFound
from memoriter.doors.context_reply import handle_of
from memoriter.doors.requests import Request
from memoriter.memory.facade import Memory
from memoriter.memory.shared_answers import SharedAnswers
from memoriter.memory.tenants import Tenants
from memoriter.pipeline.numbers import NO_LIMITS
from memoriter.why.case import receipt_from
from memoriter.why.receipt import Receipt
from memoriter.why.result import Result

KEPT_BYTES: Final = 32 * 1024 * 1024
"""How much memory the kept answers of one tenant may take together, by estimate."""
KEPT_SESSIONS: Final = 16
"""How many sessions a server keeps; older ones lose the handles of their receipts."""
_ANSWER_BYTES: Final = 72 * 1024
"""What an answer holds in any case, about: its plan and the facts of its question."""
_HIT_BYTES: Final = 6656
"""What it holds for each hit, about: the record and its explanation."""
_CANDIDATE_BYTES: Final = 960
"""What it holds for each of its candidates, about: their columns."""
_ROW_BYTES: Final = 4
"""What it holds for each row of its view, about."""
_LATE_S: Final = 1.0
"""How long a request waits for an entry that another process wrote; the primary has it at once."""
TENANT: Final = ("tenant", "tenant_id", "tenantId")
"""Fields in which a request may name its tenant."""


Elsewhere = Callable[[str], dict[str, Any] | None]
"""Asks the other processes of a server for the receipt of a handle."""


class Receipts:
    """Recent answers by handle. Safe to share between threads.

    The answers that were not used for the longest time are dropped first.

    What is kept is the answer, not its receipt: a receipt takes about as long to make as the
    answer itself and few are asked for, so it is made on demand.
    """

    def __init__(
        self,
        limit: int = KEPT_BYTES,
        elsewhere: Elsewhere | None = None,
        shared: SharedAnswers | None = None,
    ) -> None:
        self._limit = limit
        self._elsewhere = elsewhere
        self._shared = shared
        """What other machines find too; None if the store keeps none."""
        self._kept: OrderedDict[str, tuple[Result, int]] = OrderedDict()
        """By handle: the answer and its weight in bytes, the least recently used first."""
        self._shared_at: dict[str, float] = {}
        """By handle of a kept answer: when it was last shared."""
        self._weight = 0
        self._lock = threading.Lock()

    def keep(self, result: Result, handle: str | None = None) -> str:
        """Keep an answer; returns its handle, which is the same for the same answer.

        An answer that alone exceeds the limit is not kept: `find` then raises for its handle.
        """
        handle = handle or handle_of(result)
        weight = weight_of(result)
        with self._lock:
            if handle not in self._kept and weight <= self._limit:
                self._kept[handle] = result, weight
                self._weight += weight
            while self._weight > self._limit:
                old, (_, dropped) = self._kept.popitem(last=False)
                self._weight -= dropped
                self._shared_at.pop(old, None)
        self._share(handle, result)
        return handle

    def _share(self, handle: str, result: Result) -> None:
        """Have an answer found by other machines, for as long as it is given now and then."""
        if self._shared is None:
            return
        now = time.monotonic()
        with self._lock:
            if now < self._shared_at.get(handle, -math.inf) + self._shared.renew_s:
                return
            if handle in self._kept:
                self._shared_at[handle] = now
        self._shared.keep(handle, result)

    def find(self, handle: str) -> Receipt:
        """The receipt of the answer with this handle; raises NotFound if it is not kept."""
        # Outside the lock: making a receipt takes long, and an answer never changes.
        kept = self.answer(handle)
        if kept is not None:
            return kept.receipt
        sent = self._elsewhere(handle) if self._elsewhere is not None else None
        if sent is not None:
            return receipt_from(sent)
        made = self._shared.find(handle) if self._shared is not None else None
        if made is None:
            raise NotFound(
                f"no receipt is kept under the handle {handle[:80]!r}",
                hint="recall again and use the handle of that answer, or send the whole receipt",
                field="receipt",
            )
        self.keep(made, handle)
        return made.receipt

    def answer(self, handle: str) -> Result | None:
        """The answer with this handle; None if it is not kept in this process."""
        with self._lock:
            kept = self._kept.get(handle)
            if kept is not None:
                self._kept.move_to_end(handle)
        return None if kept is None else kept[0]


def weight_of(result: Result) -> int:
    """About how many bytes a kept answer holds in memory."""
    texts = sum(len(hit.record.text) for hit in result)
    parts = _HIT_BYTES * len(result) + _CANDIDATE_BYTES * result.total
    return _ANSWER_BYTES + parts + _ROW_BYTES * result.plan.seq + texts


class TenantSession:
    """One tenant's memory and its recent answers."""

    def __init__(
        self,
        memory: Memory,
        receipts: Receipts | None = None,
        most: Mapping[str, int] = NO_LIMITS,
    ) -> None:
        self._memory = memory
        self.receipts = receipts or Receipts(shared=memory.shared_answers)
        self.most = most
        """The largest value that a server takes for an option of a lane, by its name."""
        self._with_ceiling: dict[str, TenantSession] = {}

    @property
    def tenant(self) -> str:
        """The name of the tenant."""
        return self._memory.scope.tenant

    def with_ceiling(self, trust: str) -> TenantSession:
        """The same session for a caller whose writes may have at most this trust."""
        session = self._with_ceiling.get(trust)
        if session is None:
            session = TenantSession(self._memory.with_ceiling(trust), self.receipts, self.most)
            self._with_ceiling[trust] = session
        return session

    def memory(self, request: Request) -> Memory:
        """The memory, narrowed to the agent, user and session that the request names."""
        scope = request.scope_names()
        return self._memory.scoped(**scope) if scope else self._memory

    def wait_for(self, seq: int) -> None:
        """See to it that answers know a log entry; Unavailable if no server of the store has it."""
        self._memory.wait_for(seq, timeout=_LATE_S)

    def handle(self, result: Result) -> str:
        """Keep an answer and return the handle of its receipt."""
        return self.receipts.keep(result)

    def full_reply(self, result: Result) -> dict[str, Any]:
        """An answer with all its numbers; the digest of its receipt is its handle."""
        reply = result.to_dict()
        self.receipts.keep(result, result.receipt.digest)
        return reply

    def answer(self, handle: str) -> Result:
        """The answer with this handle; run again by its receipt if another process gave it."""
        kept = self.receipts.answer(handle)
        return self._memory.replay(self.receipts.find(handle)).result if kept is None else kept

    def receipt(self, sent: str | dict[str, Any]) -> Receipt | dict[str, Any]:
        """The receipt of a handle; a whole receipt is returned as it was sent, unchecked."""
        return self.receipts.find(sent) if isinstance(sent, str) else sent

    @contextlib.contextmanager
    def usable_receipt(self, sent: str | dict[str, Any]) -> Generator[Receipt]:
        """A receipt whose digest was checked, to work with.

        Whatever fails in the body of the `with` because of a receipt that the caller sent becomes
        BadQuery: the caller can write anything into one, and that must not look like a damaged
        store or a bug of the server. A receipt that was kept here is ours: its errors stay.
        """
        try:
            yield receipt_from(self.receipt(sent))
        except Exception as error:
            expected = isinstance(error, MemoriterError) and not isinstance(error, Corrupt)
            if expected or isinstance(sent, str):
                raise
            reason = error.message if isinstance(error, Corrupt) else "it cannot be read"
            raise BadQuery(
                f"receipt: {reason}",
                hint="send the receipt exactly as the server returned it",
                field="receipt",
            ) from error


class TenantSessions:
    """The sessions of a server, one per tenant. Safe to share between threads.

    REST, JSON-RPC and MCP share them, so a handle from one is valid at the others.
    """

    def __init__(
        self,
        tenants: Tenants,
        siblings: Callable[[str, str], Any] | None = None,
        most: Mapping[str, int] = NO_LIMITS,
    ) -> None:
        self._tenants = tenants
        self._most = most
        self._siblings = siblings
        """Asks the other processes of the server for a tenant's receipt."""
        self._kept: OrderedDict[str, TenantSession] = OrderedDict()
        """By tenant, the least recently used first."""
        self._lock = threading.Lock()

    def of(self, tenant: str) -> TenantSession:
        """The session of a tenant, made on first use."""
        with self._lock:
            if tenant not in self._kept:
                elsewhere = partial(self._siblings, tenant) if self._siblings else None
                memory = self._tenants.memory(tenant)
                receipts = Receipts(elsewhere=elsewhere, shared=memory.shared_answers)
                self._kept[tenant] = TenantSession(memory, receipts, self._most)
            self._kept.move_to_end(tenant)
            while len(self._kept) > KEPT_SESSIONS:
                self._kept.popitem(last=False)
            return self._kept[tenant]

    def kept_receipt(self, tenant: str, handle: str) -> bytes | None:
        """The receipt of an answer that this process gave, as JSON; None if it is not kept."""
        with self._lock:
            session = self._kept.get(tenant)
        answer = None if session is None else session.receipts.answer(handle)
        return None if answer is None else answer.receipt.to_bytes()


def without_tenant(tenant: str, data: object) -> object:
    """The fields of a request without those that name its tenant.

    Raises Forbidden if they name another tenant than the caller's: the credential decides, and a
    request that expects another one must not silently run on the wrong data.
    """
    if not isinstance(data, dict):
        return data
    fields = cast("dict[str, object]", data)
    for key in TENANT:
        if fields.get(key, tenant) != tenant:
            raise Forbidden(
                f"{key}: this credential is for another tenant",
                hint=f"leave out {key}: the tenant comes from the credential",
                field=key,
            )
    return {key: value for key, value in fields.items() if key not in TENANT}
