"""The same memory for async code: verbs run in threads; cancelling never cancels a commit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, Unpack

from memoriter.core.errors import Unavailable
from memoriter.core.options import takes
from memoriter.core.other_words import no_such_verb
from memoriter.core.scope import Scope
from memoriter.core.shown import shown
from memoriter.memory.agents import Agents
from memoriter.memory.analyzers import Analyzers
from memoriter.memory.embedding import Embedding
from memoriter.memory.facade import Memory
from memoriter.memory.opening import open_memory
from memoriter.memory.options import OpenOptions

P = ParamSpec("P")
R = TypeVar("R")
Inner = TypeVar("Inner")


class _Awaited(Generic[Inner]):
    """Something whose verbs block, and the threads that they run in."""

    def __init__(self, inner: Inner, threads: ThreadPoolExecutor) -> None:
        self._inner = inner
        self._threads = threads

    def __repr__(self) -> str:
        return shown(f"Async{repr(self._inner)[1:-1]}")

    async def _run(self, act: Callable[[], R]) -> R:
        try:
            running = asyncio.get_running_loop().run_in_executor(self._threads, act)
        except RuntimeError as error:  # the threads have gone
            raise Unavailable("this memory is closed", hint="open it again") from error
        return await running


def _lifted(
    verb: Callable[Concatenate[Any, P], R],
) -> Callable[Concatenate[Any, P], Awaitable[R]]:
    """The verb, run in a thread of the memory."""

    @wraps(verb)
    async def run(self: _Awaited[Any], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._run(partial(verb, self._inner, *args, **kwargs))  # pyright: ignore[reportPrivateUsage]  # of the same module

    return run


class AsyncAgents(_Awaited[Agents]):
    """The registry of agents, awaited."""

    upsert = _lifted(Agents.upsert)
    describe = _lifted(Agents.describe)
    alias = _lifted(Agents.alias)
    get = _lifted(Agents.get)
    list = _lifted(Agents.list)
    search = _lifted(Agents.search)


class AsyncAnalyzers(_Awaited[Analyzers]):
    """The analyzers whose words the store keeps, awaited."""

    list = _lifted(Analyzers.list)
    add = _lifted(Analyzers.add)
    remove = _lifted(Analyzers.remove)


class AsyncEmbedding(_Awaited[Embedding]):
    """The spaces that records are embedded into, awaited."""

    status = _lifted(Embedding.status)
    migrate = _lifted(Embedding.migrate)
    begin = _lifted(Embedding.begin)
    promote = _lifted(Embedding.promote)
    rollback = _lifted(Embedding.rollback)


class AsyncMemory(_Awaited[Memory]):
    """A memory whose verbs are awaited."""

    if not TYPE_CHECKING:  # type checkers know what is there

        def __getattr__(self, name: str) -> None:
            raise no_such_verb(self, name)

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
    count = _lifted(Memory.count)
    get = _lifted(Memory.get)
    history = _lifted(Memory.history)
    export = _lifted(Memory.export)
    load = _lifted(Memory.load)
    import_file = _lifted(Memory.import_file)
    maintain = _lifted(Memory.maintain)
    status = _lifted(Memory.status)
    verify_store = _lifted(Memory.verify_store)
    doctor = _lifted(Memory.doctor)

    @property
    def memory(self) -> Memory:
        """The memory itself, for code that may wait."""
        return self._inner

    @property
    def scope(self) -> Scope:
        """Who asks."""
        return self._inner.scope

    @property
    def agents(self) -> AsyncAgents:
        """The registry of agents."""
        return AsyncAgents(self._inner.agents, self._threads)

    @property
    def analyzers(self) -> AsyncAnalyzers:
        """The analyzers whose words the store keeps."""
        return AsyncAnalyzers(self._inner.analyzers, self._threads)

    @property
    def embedding(self) -> AsyncEmbedding:
        """The spaces that records are embedded into, and which one serves."""
        return AsyncEmbedding(self._inner.embedding, self._threads)

    def scoped(
        self, agent: str | None = None, user: str | None = None, session: str | None = None
    ) -> AsyncMemory:
        """The same memory for one agent, user or session."""
        return AsyncMemory(self._inner.scoped(agent, user, session), self._threads)

    async def close(self) -> None:
        """Wait for running verbs, then close the store."""
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self._inner.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


class AsyncOpening:
    """A memory that is being opened: await it, or use it with `async with`."""

    def __init__(self, make: Callable[[], Memory]) -> None:
        self._make = make
        self._memory: AsyncMemory | None = None

    def __repr__(self) -> str:
        return shown("AsyncOpening", "to be awaited, or used with async with")

    if not TYPE_CHECKING:  # type checkers know what is there

        def __getattr__(self, name: str) -> None:
            hint = "await it first: memory = await memoriter.aopen(…)"
            raise AttributeError(f"{type(self).__name__} has no {name!r}: {hint}", name=name)

    async def _open(self) -> AsyncMemory:
        memory = await asyncio.to_thread(self._make)
        return AsyncMemory(memory, ThreadPoolExecutor(8, "memoriter"))

    def __await__(self) -> Generator[Any, None, AsyncMemory]:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncMemory:
        self._memory = await self._open()
        return self._memory

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._memory is not None:
            await self._memory.close()


@takes(OpenOptions)
def aopen(
    place: str | Path = ":memory:", tenant: str = "default", **options: Unpack[OpenOptions]
) -> AsyncOpening:
    """Open a memory for async code, to be awaited or used with `async with`."""
    return AsyncOpening(partial(open_memory, place, tenant, **options))
