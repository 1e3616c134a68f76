"""What REST, JSON-RPC and MCP over HTTP share: sessions, tokens, limits, threads, counters."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar

from memoriter.core.errors import MemoriterError, TooMany, Unavailable
from memoriter.doors.http.bodies import to_json
from memoriter.doors.http.limits import Limits, RateLimiter
from memoriter.doors.http.metrics import Metrics
from memoriter.doors.port import Invocable
from memoriter.doors.public import public
from memoriter.doors.tenant_session import TenantSessions
from memoriter.doors.tokens import Credential, Tokens
from memoriter.memory.tenants import Tenants

DONE: Final = 200
_LOG: Final = logging.getLogger("memoriter.http")
_T = TypeVar("_T")


class ServerState:
    """The shared state of one server. Every request that runs something goes through `answer`."""

    def __init__(self, tenants: Tenants, tokens: Tokens, limits: Limits | None = None) -> None:
        self.tenants = tenants
        self.tokens = tokens
        self.limits = limits or Limits()
        self.tenant_sessions = TenantSessions(tenants)
        self.metrics = Metrics()
        self.rates = RateLimiter(self.limits)
        self.workers = WorkerPool(self.limits)

    async def answer(
        self,
        credential: Credential,
        target: Invocable,
        read: Callable[[], object],
        *,
        spelled: bool = False,
    ) -> bytes:
        """Run an operation, tool or method for a caller; returns its reply as JSON.

        `read` returns the fields of the request. It is called in the worker thread, as is the
        encoding of the reply, so that large ones do not block the event loop. Raises only errors
        that a remote caller may see.
        """

        def work() -> bytes:
            try:
                data = self.limits.check(read(), view=target.right == "read")
                tenant_session = self.tenant_sessions.of(credential.tenant)
                tenant_session = tenant_session.with_ceiling(credential.trust)
                reply = target.run(tenant_session, data, spelled=spelled)
                body = to_json(reply)
            except Exception as error:
                raise public(error) from None
            self.metrics.count_reply(credential.tenant, target.name, reply)
            return body

        began = time.perf_counter()
        status = DONE
        try:
            credential.need(target.right)
            # A write has no deadline: an error would leave the caller unsure whether it happened.
            return await self.workers.run(work, deadline=target.right == "read")
        except MemoriterError as error:
            status = error.status
            raise
        finally:
            spent = time.perf_counter() - began
            self.metrics.count_request(credential.tenant, target.name, status, spent)
            _LOG.info("%s by %s: %d, %.1f ms", target.name, credential.id, status, 1000 * spent)

    def close(self) -> None:
        """Wait for running requests, then close the store."""
        self.workers.close()
        self.tenants.close()


class WorkerPool:
    """Runs blocking functions in threads; one that has started is never interrupted."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.threads, "memoriter-http")
        self._open = 0
        self._lock = threading.Lock()

    async def run(self, work: Callable[[], _T], *, deadline: bool) -> _T:
        """The result of `work`, run in a thread.

        With a deadline, both the time in the queue and the run are limited to `answer_s` seconds.
        Raises TooMany if the queue is full or the work never started, Unavailable if the deadline
        has passed or the server stops.
        """
        with self._lock:
            if self._open >= self._limits.threads + self._limits.waiting:
                raise _busy()
            self._open += 1
        started: list[float] = []

        def timed() -> _T:
            started.append(time.monotonic())
            return work()

        try:
            running = self._threads.submit(timed)
        except RuntimeError:  # the pool was shut down
            self._done()
            raise Unavailable("the server stops", hint="try again later") from None
        running.add_done_callback(self._done)
        awaited = asyncio.wrap_future(running)
        awaited.add_done_callback(_retrieve)
        limit = self._limits.answer_s if deadline else None
        done, _ = await asyncio.wait({awaited}, timeout=limit)
        if limit is not None and not done:
            # Cancelling succeeds only if the work is still in the queue: then nothing was done,
            # and the caller may try again. Else it gets the rest of its time from its own start.
            if running.cancel():
                raise _busy()
            now = time.monotonic()
            left = (started[0] if started else now) + limit - now
            done, _ = await asyncio.wait({awaited}, timeout=max(0.0, left))
            if not done:
                raise Unavailable(
                    f"no answer within {limit:g} s", hint="ask for less, or try again later"
                )
        return awaited.result()

    def _done(self, _: Future[_T] | None = None) -> None:
        with self._lock:
            self._open -= 1

    def close(self) -> None:
        """Wait until all work has ended, that in the queue too."""
        self._threads.shutdown(wait=True)


def _busy() -> TooMany:
    return TooMany("the server is busy", hint="try again in a moment")


def _retrieve(awaited: asyncio.Future[_T]) -> None:
    """Read the exception: asyncio logs one that nobody reads, as after a deadline."""
    if not awaited.cancelled():
        awaited.exception()
