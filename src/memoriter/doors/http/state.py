"""What every way into the server shares: desks, tokens, limits, threads, counters."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Final

from memoriter.core.errors import MemoriterError
from memoriter.doors.http.bodies import dumped
from memoriter.doors.http.limits import Limits
from memoriter.doors.http.metrics import Metrics
from memoriter.doors.http.rates import Rates
from memoriter.doors.http.workers import Work
from memoriter.doors.port import Offered
from memoriter.doors.public import public
from memoriter.doors.tenant_sessions import TenantSessions
from memoriter.doors.tokens import Credential, Tokens
from memoriter.memory.tenants import Tenants

DONE: Final = 200
_LOG: Final = logging.getLogger("memoriter.http")


class ServerState:
    """One server's means. Everything that works for a caller goes through `answered`."""

    def __init__(self, tenants: Tenants, tokens: Tokens, limits: Limits | None = None) -> None:
        self.tenants = tenants
        self.tokens = tokens
        self.limits = limits or Limits()
        self.tenant_sessions = TenantSessions(tenants)
        self.metrics = Metrics()
        self.rates = Rates(self.limits)
        self.work = Work(self.limits)

    async def answered(
        self,
        who: Credential,
        what: Offered,
        ask: Callable[[], object],
        *,
        spelled: bool = False,
    ) -> bytes:
        """The answer as JSON; what was asked is read in the thread that answers."""

        def act() -> bytes:
            try:
                data = self.limits.check(ask(), view=what.right == "read")
                reply = what.run(self.tenant_sessions.of(who.tenant), data, spelled=spelled)
                spelt = dumped(reply)
            except Exception as error:
                raise public(error) from None
            self.metrics.answered(who.tenant, what.name, reply)
            return spelt

        began = time.perf_counter()
        status = DONE
        try:
            who.need(what.right)
            return await self.work.run(act, deadline=what.right == "read")
        except MemoriterError as error:
            status = error.status
            raise
        finally:
            spent = time.perf_counter() - began
            self.metrics.asked(who.tenant, what.name, status, spent)
            _LOG.info("%s by %s: %d, %.1f ms", what.name, who.id, status, 1000 * spent)

    def close(self) -> None:
        """Finish what was begun, then close the store."""
        self.work.close()
        self.tenants.close()
