"""What REST, JSON-RPC and MCP over HTTP share: sessions, tokens, limits, threads, counters."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final

from memoriter.core.errors import MemoriterError, TooMany
from memoriter.doors.http.headers import Headers, entry_to_see
from memoriter.doors.http.heap import Heap
from memoriter.doors.http.limits import Limits, RateLimiter
from memoriter.doors.http.logs import log_event
from memoriter.doors.http.metrics import Metrics
from memoriter.doors.http.processes import Siblings
from memoriter.doors.http.workers import WorkerPool
from memoriter.doors.json_bodies import to_json
from memoriter.doors.port import Invocable
from memoriter.doors.public import public
from memoriter.doors.tenant_session import TenantSessions
from memoriter.doors.tokens import Credential, Tokens
from memoriter.memory.tenants import Tenants

DONE: Final = 200


class ServerState:
    """The shared state of one server. Every request that runs something goes through `answer`."""

    def __init__(
        self,
        tenants: Tenants,
        tokens: Tokens,
        limits: Limits | None = None,
        siblings: Siblings | None = None,
    ) -> None:
        self.tenants = tenants
        self.tokens = tokens
        self.limits = limits or Limits()
        self.tenant_sessions = TenantSessions(
            tenants, siblings.ask if siblings else None, self.limits.work
        )
        if siblings is not None:
            siblings.listen(self.tenant_sessions.kept_receipt)
        self.metrics = Metrics()
        self.rates = RateLimiter(self.limits)
        self.workers = WorkerPool(self.limits)
        self.heap = Heap()

    async def admit(self, id: str, count: int = 1) -> None:
        """Count requests of a credential; if they are too many, wait a while and raise TooMany."""
        try:
            self.rates.take(id, count)
        except TooMany:
            await asyncio.sleep(self.rates.pause(id))
            raise

    async def answer(
        self,
        credential: Credential,
        target: Invocable,
        read: Callable[[], object],
        *,
        size: int,
        headers: Headers,
        spelled: bool = False,
    ) -> bytes:
        """Run an operation, tool or method for a caller; returns its reply as JSON.

        `size` is that of the request's body. `read` returns the fields of the request. It is called
        in the worker thread, as is the encoding of the reply, so that large ones do not block the
        event loop. Raises only errors that a remote caller may see.
        """

        def work() -> bytes:
            try:
                data = self.limits.check(read(), view=target.right == "read")
                tenant_session = self.tenant_sessions.of(credential.tenant)
                tenant_session = tenant_session.with_ceiling(credential.trust)
                if (entry := entry_to_see(headers)) is not None:
                    tenant_session.wait_for(entry)
                reply = target.run(tenant_session, data, spelled=spelled)
                body = to_json(reply)
            except Exception as error:
                raise public(error) from None
            self.metrics.count_reply(credential.tenant, target.name, reply)
            return body

        began = time.perf_counter()
        status, failed = DONE, None
        try:
            credential.need(target.right)
            # A write has no deadline: an error would leave the caller unsure whether it happened.
            deadline = target.right == "read"
            run = self.workers.run
            return await run(credential.tenant, work, deadline=deadline, size=size)
        except MemoriterError as error:
            status, failed = error.status, type(error).__name__
            raise
        finally:
            spent = time.perf_counter() - began
            self.metrics.count_request(credential.tenant, target.name, status, spent)
            log_event(
                logging.INFO, "request", operation=target.name, token=credential.id,
                tenant=credential.tenant, status=status, error=failed, ms=round(1000 * spent, 1),
            )  # fmt: skip

    def close(self) -> None:
        """Wait for running requests, then close the store."""
        self.workers.close()
        self.tenants.close()
