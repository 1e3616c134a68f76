"""The recall hook: an agent loop asks once before each reply and gets the block for its prompt.

It asks a memory in this process or a running server; both run the operation `context`. A memory
that is away never stops an agent: the block is then empty, and says why.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final, Self, Unpack, cast

from memoriter.core.errors import InputError, MemoriterError, Unavailable
from memoriter.core.names import number, text
from memoriter.core.options import check_known, takes
from memoriter.core.shown import counted, shown
from memoriter.doors.operations import BY_NAME
from memoriter.doors.tenant_session import TenantSession
from memoriter.memory.facade import Memory
from memoriter.memory.options import QuestionOptions
from memoriter.models.http_client import Post, Server, ServerRole, key_for, parse_base_url

BUDGET_TOKENS: Final = 800
MESSAGE_LIMIT: Final = 8192
WORDS_LIMIT: Final = 256
"""Of a longer message its last words are asked with: what is wanted stands at the end."""
_WANT: Final = ServerRole("memory", "MEMORITER_TOKEN", {}, "memory.example.com:8321")
_CONTEXT: Final = BY_NAME["context"]
_log = logging.getLogger(__name__)


class HookAnswer(str):
    """The block for a prompt, empty where nothing fits or nothing could be asked."""

    __slots__ = ("citations", "problem", "receipt", "status")

    citations: Mapping[str, str]
    """The id that each number of the block stands for."""
    status: str
    """`complete`, `degraded`, or `failed`."""
    receipt: str | None
    """The handle of the answer."""
    problem: str | None
    """Why nothing could be asked."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        """A block from the answer of the operation."""
        made = cls(told["text"])
        made.citations = dict(told["citations"])
        made.status, made.receipt, made.problem = told["status"], told["receipt"], None
        return made

    def __repr__(self) -> str:
        told = counted(len(getattr(self, "citations", ())), "memory", "memories")
        return shown("HookAnswer", f"{told}, {getattr(self, 'status', 'failed')}")

    @classmethod
    def nothing(cls, problem: str | None = None) -> Self:
        """An empty block."""
        made = cls()
        made.citations, made.receipt, made.problem = {}, None, problem
        made.status = "complete" if problem is None else "failed"
        return made


class Hook:
    """Asks before each reply. Safe to share between threads.

    Args:
        memory: An open memory, or the address of a running server.
        token: For a server; MEMORITER_TOKEN by default.
        timeout: How many seconds a server may take.
        **ask: What every question says beside its text, for example `agent`, `limit`, `recipe` or
            `budget_tokens`, which is 800 unless a budget is given.

    """

    @takes(QuestionOptions)
    def __init__(
        self,
        memory: Memory | str,
        *,
        token: str | None = None,
        timeout: float = 2.0,
        **ask: Unpack[QuestionOptions],
    ) -> None:
        """Say whom to ask, and what every question says."""
        check_known(ask, QuestionOptions, InputError, "memory", "token", "timeout")
        given: dict[str, Any] = dict(ask)
        budgets = {"budget_tokens", "budget_chars"} & set(ask)
        self._ask = given if budgets else {"budget_tokens": BUDGET_TOKENS, **given}
        self._seconds = number(timeout, "timeout", 0.001, 3600.0, InputError)
        self._desk = TenantSession(memory) if isinstance(memory, Memory) else None
        self._server = None if isinstance(memory, Memory) else _server(memory)
        self._key = "" if self._server is None else key_for(self._server, token, _WANT)

    def __repr__(self) -> str:
        where = "a memory in this process" if self._server is None else self._server
        return shown("Hook", f"asks {where}")

    @takes(QuestionOptions)
    def __call__(self, message: str, **more: Unpack[QuestionOptions]) -> HookAnswer:
        """The block for the reply to a message."""
        check_known(more, QuestionOptions, InputError, "message")
        asked = _end(text(message, "message", InputError))
        if not asked:
            return HookAnswer.nothing()
        request = cast("dict[str, Any]", _spelled({**self._ask, **more, "query": asked}))
        try:
            return HookAnswer.of(self._answer(request))
        except InputError:
            raise
        except MemoriterError as error:
            _log.warning("recall before the reply failed: %s", type(error).__name__)
            return HookAnswer.nothing(error.message)

    def _answer(self, request: dict[str, Any]) -> Mapping[str, Any]:
        if self._desk is not None:
            return _CONTEXT.run(self._desk, request)
        try:
            body = json.dumps(request, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise InputError(f"an option is no JSON: {error}", hint="give plain values") from None
        with _Ask(cast("Server", self._server), self._key, self._seconds, tries=2) as post:
            content = post.send(_CONTEXT.path, body)
        try:
            told = json.loads(content)
            HookAnswer.of(told)
        except (ValueError, TypeError, KeyError):
            raise Unavailable("the server answers something else than a block") from None
        return told


class _Ask(Post):
    """A request to a server of ours; what it cannot understand is an error as it is in process."""

    def declined(self, status: int, content: bytes) -> MemoriterError:
        """The error that the server tells."""
        try:
            told = json.loads(content)
            message, hint, field = told["message"], told["hint"], told["field"]
        except (ValueError, TypeError, KeyError):
            return super().declined(status, content)
        if status == InputError.status:
            return InputError(str(message), hint=str(hint), field=field)
        return super().declined(status, str(message).encode())


def _spelled(value: object) -> object:
    """The value as a door takes it: times as text."""
    if isinstance(value, Mapping):
        return {k: _spelled(v) for k, v in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_spelled(each) for each in cast("Sequence[object]", value)]
    if isinstance(value, timedelta):
        return f"{value // timedelta(seconds=1):d}s"
    return value.isoformat() if isinstance(value, date) else value


def _end(message: str) -> str:
    """The last words of a message.

    >>> _end("lorem ipsum, which port?")
    'lorem ipsum, which port?'
    """
    last = message[-MESSAGE_LIMIT:].strip()
    starts = [found.start() for found in re.finditer(r"\S+", last)]
    return last[starts[-WORDS_LIMIT] :] if len(starts) > WORDS_LIMIT else last


def _server(address: object) -> Server:
    if not isinstance(address, str) or "://" not in address:
        raise InputError(
            f"memory: {address!r} is neither an open memory nor an address",
            hint='memoriter.open("agent.db"), or "http://127.0.0.1:8321"',
            field="memory",
        )
    return parse_base_url(address, _WANT)
