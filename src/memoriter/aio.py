"""`AsyncMemory`: every method of `Memory` as a coroutine that runs in a thread pool.

Cancelling a coroutine does not stop its thread, so that a commit is never cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, TypeVar, Unpack

from memoriter.core.errors import InputError, Unavailable
from memoriter.core.options import takes
from memoriter.core.other_words import NotAContainer, no_such_verb
from memoriter.core.scope import Scope
from memoriter.core.shown import shown
from memoriter.index.cache import CLOSE_S
from memoriter.memory.agents import Agents
from memoriter.memory.analyzers import Analyzers
from memoriter.memory.embedding import Embedding
from memoriter.memory.facade import Memory
from memoriter.memory.opening import open_memory
from memoriter.memory.options import PLACE, OpenOptions
from memoriter.memory.shared_answers import SharedAnswers

P = ParamSpec("P")
R = TypeVar("R")
Inner = TypeVar("Inner")


class _AsyncWrapper(Generic[Inner]):
    """An object with blocking methods, and the threads to run them in."""

    def __init__(self, inner: Inner, threads: ThreadPoolExecutor) -> None:
        self._inner = inner
        self._threads = threads

    def __repr__(self) -> str:
        return shown(f"Async{repr(self._inner)[1:-1]}")

    async def _run(self, act: Callable[[], R]) -> R:
        try:
            running = asyncio.get_running_loop().run_in_executor(self._threads, act)
        except RuntimeError as error:  # the pool was shut down by `close`
            hint = 'open it again: memory = await memoriter.aopen("agent.db")'
            raise Unavailable("this memory is closed", hint=hint) from error
        return await running


def _as_coroutine(
    method: Callable[Concatenate[Any, P], R],
) -> Callable[Concatenate[Any, P], Awaitable[R]]:
    """The method as a coroutine function with the same signature."""

    @wraps(method)
    async def run(self: _AsyncWrapper[Any], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._run(partial(method, self._inner, *args, **kwargs))  # pyright: ignore[reportPrivateUsage]  # of the same module

    return run


class AsyncAgents(_AsyncWrapper[Agents]):
    """The registry of agents, async."""

    upsert = _as_coroutine(Agents.upsert)
    describe = _as_coroutine(Agents.describe)
    alias = _as_coroutine(Agents.alias)
    get = _as_coroutine(Agents.get)
    list = _as_coroutine(Agents.list)
    search = _as_coroutine(Agents.search)


class AsyncAnalyzers(_AsyncWrapper[Analyzers]):
    """The analyzers whose words the store keeps, async."""

    list = _as_coroutine(Analyzers.list)
    add = _as_coroutine(Analyzers.add)
    remove = _as_coroutine(Analyzers.remove)


class AsyncEmbedding(_AsyncWrapper[Embedding]):
    """The vector spaces of the tenant, async."""

    status = _as_coroutine(Embedding.status)
    fill = _as_coroutine(Embedding.fill)
    migrate = _as_coroutine(Embedding.migrate)
    begin = _as_coroutine(Embedding.begin)
    promote = _as_coroutine(Embedding.promote)
    rollback = _as_coroutine(Embedding.rollback)


class AsyncMemory(NotAContainer, _AsyncWrapper[Memory]):
    """A memory whose methods are coroutines."""

    def __init__(
        self, inner: Memory | None = None, threads: ThreadPoolExecutor | None = None
    ) -> None:
        if not isinstance(inner, Memory) or threads is None:
            raise InputError(
                "an AsyncMemory cannot be constructed: open one instead",
                hint='memory = await memoriter.aopen("agent.db")',
            )
        super().__init__(inner, threads)

    if not TYPE_CHECKING:  # type checkers know what is there

        def __getattr__(self, name: str) -> None:
            raise no_such_verb(self, name)

    remember = _as_coroutine(Memory.remember)
    remember_many = _as_coroutine(Memory.remember_many)
    similar = _as_coroutine(Memory.similar)
    remember_messages = _as_coroutine(Memory.remember_messages)
    update = _as_coroutine(Memory.update)
    expire = _as_coroutine(Memory.expire)
    link = _as_coroutine(Memory.link)
    links = _as_coroutine(Memory.links)
    forget = _as_coroutine(Memory.forget)
    reflect = _as_coroutine(Memory.reflect)
    review = _as_coroutine(Memory.review)
    decide = _as_coroutine(Memory.decide)
    recall = _as_coroutine(Memory.recall)
    plan = _as_coroutine(Memory.plan)
    keywords = _as_coroutine(Memory.keywords)
    bundles = _as_coroutine(Memory.bundles)
    reflections = _as_coroutine(Memory.reflections)
    replay = _as_coroutine(Memory.replay)
    why_not = _as_coroutine(Memory.why_not)
    browse = _as_coroutine(Memory.browse)
    count = _as_coroutine(Memory.count)
    get = _as_coroutine(Memory.get)
    history = _as_coroutine(Memory.history)
    export = _as_coroutine(Memory.export)
    backup = _as_coroutine(Memory.backup)
    load = _as_coroutine(Memory.load)
    import_file = _as_coroutine(Memory.import_file)
    maintain = _as_coroutine(Memory.maintain)
    seq = _as_coroutine(Memory.seq)
    wait_for = _as_coroutine(Memory.wait_for)
    calibrate = _as_coroutine(Memory.calibrate)
    status = _as_coroutine(Memory.status)
    verify_store = _as_coroutine(Memory.verify_store)
    doctor = _as_coroutine(Memory.doctor)

    @property
    def memory(self) -> Memory:
        """The blocking memory."""
        return self._inner

    @property
    def scope(self) -> Scope:
        """The scope of this memory: tenant, agent, user, session."""
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
        """The vector spaces of the tenant, and how to change the embedder."""
        return AsyncEmbedding(self._inner.embedding, self._threads)

    def scoped(
        self, agent: str | None = None, user: str | None = None, session: str | None = None
    ) -> AsyncMemory:
        """The same memory for one agent, user or session."""
        return AsyncMemory(self._inner.scoped(agent, user, session), self._threads)

    scoped.__doc__ = Memory.scoped.__doc__  # with its arguments

    def with_ceiling(self, trust: str) -> AsyncMemory:
        """The same memory, whose writes may have at most this trust."""
        return AsyncMemory(self._inner.with_ceiling(trust), self._threads)

    with_ceiling.__doc__ = Memory.with_ceiling.__doc__  # with its arguments

    @property
    def shared_answers(self) -> SharedAnswers | None:
        """The answers that all machines of the store can find; None if the store keeps none."""
        return self._inner.shared_answers

    async def close(self, *, wait: float = CLOSE_S) -> None:
        """Wait for running methods, then close the store.

        Args:
            wait: How many seconds closing may take after that; upkeep gets three quarters of them.
        """
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self._inner.close, wait=wait)

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
    """The result of `aopen`: await it for an AsyncMemory, or use it with `async with`."""

    def __init__(self, open_memory: Callable[[], Memory]) -> None:
        self._open_memory = open_memory
        self._memory: AsyncMemory | None = None

    def __repr__(self) -> str:
        return shown("AsyncOpening", "to be awaited, or used with async with")

    if not TYPE_CHECKING:  # type checkers know what is there

        def __getattr__(self, name: str) -> None:
            hint = "write memory = await memoriter.aopen(…)"
            text = f"{type(self).__name__} has no {name!r} before it is awaited; {hint}"
            raise AttributeError(text, name=name)

    async def _open(self) -> AsyncMemory:
        memory = await asyncio.to_thread(self._open_memory)
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


@takes(OpenOptions, PLACE)
def aopen(
    place: str | Path = ":memory:", tenant: str = "default", **options: Unpack[OpenOptions]
) -> AsyncOpening:
    """Open a memory for async code, to be awaited or used with `async with`."""
    return AsyncOpening(partial(open_memory, place, tenant, **options))
