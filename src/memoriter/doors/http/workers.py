"""The threads of a server, shared fairly among tenants.

Requests of one tenant wait in a queue of their own. A thread that becomes free goes to the tenant
that runs least, and of those to the one that used least processor time lately. A tenant may use
only some of the threads. While others are active too it gets two, and the one that used most
processor time gets one: threads share one interpreter, so each further one would slow others down.
Of a tenant's large requests one runs at a time. After a long or a large one a thread rests for as
long as it worked, if others are active, and then until no request of theirs runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from memoriter.core.errors import TooMany, Unavailable
from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors.http.heap import Heap
from memoriter.doors.http.limits import Limits

_T = TypeVar("_T")
HALF_LIFE_S: Final = 2.0
"""After so many seconds, used processor time counts half."""
BUSY_S: Final = 0.1
"""Below this much processor time, a tenant is not taken for the one that uses most."""
BOUND_S: Final = 1.0
"""From this much processor time on, a tenant is bound by the processors and not by waiting."""
SHARED: Final = 2
"""How many threads a tenant has while others are active."""
LARGE: Final = 64 * 1024
"""From this many bytes of its body on, a request counts as large."""
LONG_S: Final = 0.05
"""From this much processor time on, a request counts as long; most questions take less."""
SHORT_S: Final = 0.002
"""Below this much processor time, a large request counts as any other."""
MOST_REST_S: Final = 1.0
"""How long a thread rests at most."""
TURN_S: Final = 0.001
"""After how many seconds a thread of a server lets another one run."""
SHORT_TURN_S: Final = 0.0001
"""The same while several tenants are active: who computes long delays the others less."""
ACTIVE_S: Final = 2.0
"""A tenant is active until so many seconds after its last request ended."""
_TENANTS: Final = 1024
"""Of how many tenants the use is remembered."""
_QUEUES: Final = 4
"""All queues together are at most so many times as long as one may be."""


@dataclass(slots=True, eq=False)
class _Job:
    """Work that waits or runs; `answer` gets its outcome, in the thread of the event loop."""

    tenant: str
    work: Callable[[], Any]
    large: bool
    answer: asyncio.Future[Any]
    started: float | None = None
    deadline: asyncio.TimerHandle | None = None


class UseLedger:
    """How much processor time tenants used lately, and which are active."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._of: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """By tenant: seconds used, and when that was; the longest idle first."""

    def add(self, tenant: str, seconds: float) -> None:
        """Count processor time that a tenant used until now."""
        self._of[tenant] = self.used(tenant) + seconds, self._clock()
        self._of.move_to_end(tenant)
        if len(self._of) > _TENANTS:
            self._of.popitem(last=False)

    def used(self, tenant: str) -> float:
        """The seconds that a tenant used lately; older ones count less."""
        seconds, then = self._of.get(tenant, (0.0, 0.0))
        return seconds * 0.5 ** ((self._clock() - then) / HALF_LIFE_S)

    def active(self) -> Iterator[str]:
        """The tenants of which a request ended a short while ago."""
        now = self._clock()
        for tenant, (_, then) in reversed(self._of.items()):
            if now - then > ACTIVE_S:
                return
            yield tenant


class WorkerPool:
    """Runs blocking functions in threads; one that has started is never interrupted.

    The deadline of a request frees its caller, not its thread: a tenant's threads are free again
    when their work has ended.
    """

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        set_turn: Callable[[float], None] = sys.setswitchinterval,
    ) -> None:
        self._limits = limits
        self._sleep = sleep
        self._set_turn, self._turn = set_turn, 0.0
        self._threads: list[threading.Thread] = []
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        """Jobs for which there is a free thread; None ends a thread."""
        self._waiting: OrderedDict[str, deque[_Job]] = OrderedDict()
        self._running: Counter[str] = Counter()
        self._large: set[str] = set()
        """The tenants of which a large request runs, or its thread rests."""
        self.uses = UseLedger(clock)
        self._clock = clock
        self._open = 0
        self._lock = threading.Lock()
        self._ends = threading.Condition(self._lock)
        """Notified when a request was answered."""
        self._working: Counter[str] = Counter()
        """By tenant: how many requests are not yet answered; threads that rest are `_running`."""
        self._closed = False

    async def run(
        self, tenant: str, work: Callable[[], _T], *, deadline: bool, size: int = 0
    ) -> _T:
        """The result of `work`, run in a thread for a tenant; `size` is that of its body.

        With a deadline, both the time in the queue and the run are limited to `answer_s` seconds.
        Raises TooMany if the queue is full or the work never started, Unavailable if the deadline
        has passed or the server stops.
        """
        loop = asyncio.get_running_loop()
        job = _Job(tenant, work, size >= LARGE, loop.create_future())
        self._admit(job)
        if deadline:
            job.deadline = loop.call_later(self._limits.answer_s, self._late, job)
        try:
            return await job.answer
        finally:
            if job.deadline is not None:
                job.deadline.cancel()
            del job, work  # an error has this frame in its traceback: see `_do`

    def _late(self, job: _Job) -> None:
        """The deadline of a job has passed."""
        # Leaving succeeds only if the work is still in the queue: then nothing was done, and
        # the caller may try again. Else it gets the rest of its time from its own start.
        if self._left(job):
            _answer(job, None, _busy())
            return
        now = self._clock()
        left = (now if job.started is None else job.started) + self._limits.answer_s - now
        job.deadline = job.answer.get_loop().call_later(max(0.0, left), self._overdue, job)

    def _overdue(self, job: _Job) -> None:
        """A job has had all its time since it began."""
        late = Unavailable(
            f"the answer was not ready within {self._limits.answer_s:g} s",
            hint="ask for less, for example with a smaller limit, or try again later",
        )
        _answer(job, None, late)

    def close(self) -> None:
        """Wait until all work has ended, that in the queues too."""
        with self._ends:
            self._closed = True
            self._ends.wait_for(lambda: not self._waiting)
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _admit(self, job: _Job) -> None:
        """Put a job into the queue of its tenant; raises TooMany or Unavailable."""
        limits = self._limits
        most = min(limits.per_tenant, limits.threads) + limits.waiting
        with self._lock:
            if self._closed:
                raise Unavailable("the server is shutting down", hint="try again later")
            queue = self._waiting.get(job.tenant)
            own = (len(queue) if queue else 0) + self._running[job.tenant]
            if own >= most or self._open >= limits.threads + _QUEUES * limits.waiting:
                raise _busy()
            self._open += 1
            if queue is None:
                queue = self._waiting[job.tenant] = deque()
            queue.append(job)
            self._start()

    def _start(self) -> None:
        """Give free threads to waiting jobs; the lock is held."""
        while sum(self._running.values()) < self._limits.threads:
            ready = {each: job for each in self._waiting if (job := self._next(each)) is not None}
            if not ready:
                return
            # Among equals the one that waits longest; `min` takes the first.
            tenant, *others = ready
            if others:
                tenant = min(ready, key=lambda each: (self._running[each], self.uses.used(each)))
            job, queue = ready[tenant], self._waiting.pop(tenant)
            queue.remove(job)
            if queue:
                self._waiting[tenant] = queue  # at the end: the others come first
            _count(self._running, tenant, 1)
            _count(self._working, tenant, 1)
            if job.large:
                self._large.add(tenant)
            self._take_turns(SHORT_TURN_S if self._others(tenant) else TURN_S)
            if len(self._threads) < sum(self._running.values()):
                name = f"memoriter-http_{len(self._threads)}"
                thread = threading.Thread(target=self._work, name=name, daemon=True)
                thread.start()
                self._threads.append(thread)
            self._jobs.put(job)

    def _next(self, tenant: str) -> _Job | None:
        """The job of a tenant that may start now; small ones pass a large one that has to wait."""
        if not self._may_start(tenant):
            return None
        busy = tenant in self._large
        return next((job for job in self._waiting[tenant] if not (busy and job.large)), None)

    def _may_start(self, tenant: str) -> bool:
        """Whether a tenant may use one more thread."""
        running = self._running[tenant]
        if running == 0:
            return True
        others = self._others(tenant)
        if not others and self.uses.used(tenant) < BOUND_S:
            return running < self._limits.per_tenant
        if not others:  # more threads than processors do no more, and somebody may come
            return running < min(max(SHARED, os.cpu_count() or 1), self._limits.per_tenant)
        shared = 1 if self._is_heaviest(tenant, others) else SHARED
        return running < min(shared, self._limits.per_tenant)

    def _take_turns(self, turn: float) -> None:
        """Set how long a thread runs before it lets another one run; the lock is held."""
        if turn != self._turn:
            self._turn = turn
            self._set_turn(turn)

    def _others(self, tenant: str) -> set[str]:
        return {*self._waiting, *self._running, *self.uses.active()} - {tenant}

    def _is_heaviest(self, tenant: str, others: set[str]) -> bool:
        most = max(BUSY_S, *(self.uses.used(other) for other in others))
        return self.uses.used(tenant) > most

    def _work(self) -> None:
        """Run jobs, in a thread of the pool, until it is closed."""
        while (job := self._jobs.get()) is not None:
            self._do(job)
            del job  # it must not be kept until the next one comes

    def _do(self, job: _Job) -> None:
        """Run a job in a thread of the pool."""
        began = time.thread_time()
        job.started = self._clock()
        result: Any = None
        failed: BaseException | None = None
        try:
            if not job.answer.cancelled():
                result = job.work()
        except BaseException as error:
            # The caller gets it without the frames of the work: they hold the request's body, and
            # would be kept, in a circle with the error, until the garbage collector comes.
            failed = error.with_traceback(None)
        rest = self._worked(job, time.thread_time() - began)
        # Last, unless the thread rests: the thread of the event loop then need not wait for it.
        _deliver(job, result, failed)
        if rest:  # the caller does not wait for it
            self._sleep(rest)
            self._give_way(job.tenant)
            with self._lock:
                self._ended(job)

    def _worked(self, job: _Job, seconds: float) -> float:
        """Count processor time; returns how long the thread has to rest before the next request."""
        with self._lock:
            self.uses.add(job.tenant, seconds)
            rests = seconds >= (SHORT_S if job.large else LONG_S) and self._others(job.tenant)
            _count(self._working, job.tenant, -1)
            self._ends.notify_all()  # those who gave way to it may go on
            if not rests:  # the caller may send its next request at once
                self._ended(job)
            return min(seconds, MOST_REST_S) if rests else 0.0

    def _give_way(self, tenant: str) -> None:
        """Wait until no request of another tenant runs, for a short while at most."""
        with self._ends:
            self._ends.wait_for(lambda: not {*self._working} - {tenant}, self._limits.give_way_s)

    def _ended(self, job: _Job) -> None:
        """Give the thread of a job to the next one; the lock is held."""
        _count(self._running, job.tenant, -1)
        if job.large:
            self._large.discard(job.tenant)
        self._open -= 1
        if self._waiting:
            self._start()
            self._ends.notify_all()  # for `close`

    def _left(self, job: _Job) -> bool:
        """Take a job out of its queue; False if it has started."""
        with self._lock:
            queue = self._waiting.get(job.tenant)
            if queue is None or job not in queue:
                return False
            queue.remove(job)
            if not queue:
                del self._waiting[job.tenant]
            self._open -= 1
            self._ends.notify_all()
            return True


def _deliver(job: _Job, result: object, failed: BaseException | None) -> None:
    """Have the event loop give a job's outcome to its caller."""
    with contextlib.suppress(RuntimeError):  # it was closed: nobody waits any more
        job.answer.get_loop().call_soon_threadsafe(_answer, job, result, failed)


def _answer(job: _Job, result: object, failed: BaseException | None) -> None:
    """Give a job's outcome to its caller, unless that has one already or left."""
    if job.answer.done():
        return
    if failed is None:
        job.answer.set_result(result)
    else:
        job.answer.set_exception(failed)


def _count(counts: Counter[str], tenant: str, change: int) -> None:
    """Count more or less of a tenant; one without any is left out."""
    counts[tenant] += change
    if not counts[tenant]:
        del counts[tenant]


def _busy() -> TooMany:
    return TooMany("the server is busy", hint="try again in a moment")


def share_fairly(heap: Heap) -> None:
    """Bound what one tenant takes from others: memory kept, pauses, turns of threads."""
    heap.limit_arenas()
    heap.freeze()
    # Threads that compute give way to those that answer others five times as often as usual.
    sys.setswitchinterval(TURN_S)
