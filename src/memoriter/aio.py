"""The same memory for async code: verbs run in threads; cancelling never cancels a commit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar, Unpack

from memoriter.core.errors import Unavailable
from memoriter.core.shown import shown
from memoriter.memory.facade import Memory
from memoriter.memory.opening import Options, open_memory

P = ParamSpec("P")
R = TypeVar("R")


def _lifted(
    verb: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate[AsyncMemory, P], Awaitable[R]]:
    """The verb, run in a thread of the memory."""

    @wraps(verb)
    async def run(self: AsyncMemory, *args: P.args, **kwargs: P.kwargs) -> R:
        act = partial(verb, self.memory, *args, **kwargs)
        try:
            running = asyncio.get_running_loop().run_in_executor(self.threads, act)
        except RuntimeError as error:  # the threads have gone
            raise Unavailable("this memory is closed", hint="open it again") from error
        return await running

    return run


class AsyncMemory:
    """A memory whose verbs are awaited."""

    def __init__(self, memory: Memory, threads: ThreadPoolExecutor) -> None:
        self.memory = memory
        self.threads = threads

    def __repr__(self) -> str:
        return shown(f"Async{repr(self.memory)[1:-1]}")

    remember = _lifted(Memory.remember)
    remember_many = _lifted(Memory.remember_many)
    update = _lifted(Memory.update)
    expire = _lifted(Memory.expire)
    link = _lifted(Memory.link)
    links = _lifted(Memory.links)
    forget = _lifted(Memory.forget)
    reflect = _lifted(Memory.reflect)
    recall = _lifted(Memory.recall)
    plan = _lifted(Memory.plan)
    keywords = _lifted(Memory.keywords)
    bundles = _lifted(Memory.bundles)
    reflections = _lifted(Memory.reflections)
    replay = _lifted(Memory.replay)
    why_not = _lifted(Memory.why_not)
    browse = _lifted(Memory.browse)
    get = _lifted(Memory.get)
    history = _lifted(Memory.history)
    export = _lifted(Memory.export)
    load = _lifted(Memory.load)
    import_file = _lifted(Memory.import_file)
    maintain = _lifted(Memory.maintain)
    verify_store = _lifted(Memory.verify_store)
    doctor = _lifted(Memory.doctor)

    def scoped(
        self, agent: str | None = None, user: str | None = None, session: str | None = None
    ) -> AsyncMemory:
        """The same memory for one agent, user or session."""
        return AsyncMemory(self.memory.scoped(agent, user, session), self.threads)

    async def close(self) -> None:
        """Wait for running verbs, then close the store."""
        await asyncio.to_thread(self.threads.shutdown)
        await asyncio.to_thread(self.memory.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


async def aopen(
    place: str | Path = ":memory:", tenant: str = "default", **options: Unpack[Options]
) -> AsyncMemory:
    """Open a memory for async code; takes what `open` takes."""
    memory = await asyncio.to_thread(partial(open_memory, place, tenant, **options))
    return AsyncMemory(memory, ThreadPoolExecutor(8, "memoriter"))
