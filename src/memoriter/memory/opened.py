"""What `Memory` is before it has verbs: an engine, a scope and a writer, opened and closed."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from memoriter.core.errors import InputError
from memoriter.core.other_words import NotAContainer, no_such_verb
from memoriter.core.scope import Scope
from memoriter.core.shown import named, shown
from memoriter.index.cache import CLOSE_S
from memoriter.memory.engine import Engine
from memoriter.write.writer import Writer

if TYPE_CHECKING:
    from memoriter.memory.shared_answers import SharedAnswers
    from memoriter.write.prepare import WriteContext


class OpenedMemory(NotAContainer):
    """An opened memory, limited to one scope."""

    def __init__(
        self,
        engine: Engine | None = None,
        context: WriteContext | None = None,
        scope: Scope | None = None,
    ) -> None:
        if not isinstance(engine, Engine) or context is None or scope is None:
            raise InputError(
                "a Memory cannot be constructed: open one instead",
                hint='memory = memoriter.open("agent.db")',
            )
        self._engine = engine
        self._scope = scope
        self._writer = Writer(engine.log, context, scope)

    def __repr__(self) -> str:
        parts = self._scope.to_dict().items()
        scope = ", ".join(f"{key} {named(value)}" for key, value in parts)
        return shown(f"Memory {self._engine.place}", scope)

    if not TYPE_CHECKING:  # type checkers know what is there

        def __getattr__(self, name: str) -> None:
            raise no_such_verb(self, name)

    def __bool__(self) -> bool:
        return True  # without this, an empty memory would be false, by its length

    @property
    def scope(self) -> Scope:
        """The scope of this memory: tenant, agent, user, session."""
        return self._scope

    @property
    def shared_answers(self) -> SharedAnswers | None:
        """The answers that all machines of the store can find; None if the store keeps none."""
        if self._engine.answers is None:
            return None
        from memoriter.memory.shared_answers import SharedAnswers  # noqa: PLC0415  # servers use it

        return SharedAnswers(self._engine.answers, self._engine, self._scope.tenant)

    def close(self, *, wait: float = CLOSE_S) -> None:
        """Publish and erase what upkeep has to, then close the store; twice is fine.

        Args:
            wait: How many seconds closing may take. Upkeep gets three quarters of them at most;
                what it does not finish is left to the next process.
        """
        self._engine.close(wait)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()
