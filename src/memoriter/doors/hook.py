"""The recall hook: an agent loop calls it before each reply and gets a block for its prompt.

It asks as the operation `context` does, a memory in this process or a running server. Nobody asked
for its block, so it is stricter than a recall: `_is_wanted` has the rule. A memory that cannot be
reached never stops the agent: the block is then empty and its `problem` says why.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final, Self, Unpack, cast

from memoriter.core.errors import InputError, MemoriterError, Unavailable
from memoriter.core.names import number, text
from memoriter.core.options import check_known, takes
from memoriter.core.shown import counted, shown
from memoriter.doors.context_reply import ask_context
from memoriter.memory.facade import Memory
from memoriter.memory.options import QuestionOptions
from memoriter.text.moments import moment_of
from memoriter.text.question import has_topic, is_question, is_sentence, sentences_of

if TYPE_CHECKING:
    from memoriter.doors.remote import RemoteMemory

BUDGET_TOKENS: Final = 800
MESSAGE_LIMIT: Final = 8192
WORDS_LIMIT: Final = 48
"""Of a longer message the last question is asked, or else so many of its last words: relevance is
about the whole query, and most of a pasted log is no part of the question."""
_log = logging.getLogger(__name__)


class HookAnswer(str):
    """The block for a prompt; empty if nothing was found or the memory could not be reached."""

    __slots__ = ("citations", "problem", "receipt", "status", "strength")

    citations: Mapping[str, str]
    """The id of the memory behind each number in the block."""
    status: str
    """`complete`, `degraded`, or `failed`: the memory could not be reached."""
    receipt: str | None
    """The handle of the receipt; None if the block is empty for want of an answer."""
    problem: str | None
    """Why the memory could not be reached; None if it was."""
    strength: str | None
    """The strength of the answer; None if nothing was asked or the recipe has no relevance."""

    @classmethod
    def of(cls, reply: Mapping[str, Any], query: str) -> Self:
        """The reply of the operation `context` to a query as a block.

        Empty if the answer is too weak to be put into a prompt unasked. Raises KeyError if the
        reply is that of another operation.
        """
        strength = reply.get("strength")
        wanted = _is_wanted(query, reply)
        block = cls(reply["text"] if wanted else "")
        block.citations = dict(reply["citations"] if wanted else {})
        block.status, block.receipt, block.problem = reply["status"], reply["receipt"], None
        block.strength = strength
        return block

    def __repr__(self) -> str:
        # Made directly, as `HookAnswer(text)`, it lacks these attributes.
        memories = counted(len(getattr(self, "citations", ())), "memory", "memories")
        return shown("HookAnswer", f"{memories}, {getattr(self, 'status', 'failed')}")

    def to_dict(self) -> dict[str, object]:
        """The answer as plain data."""
        return {
            "text": str(self),
            "citations": dict(self.citations),
            "status": self.status,
            "receipt": self.receipt,
            "strength": self.strength,
            "problem": self.problem,
        }

    @classmethod
    def nothing(cls, problem: str | None = None) -> Self:
        """An empty block; a failed one if there is a problem."""
        block = cls()
        block.citations, block.receipt, block.problem, block.strength = {}, None, problem, None
        block.status = "complete" if problem is None else "failed"
        return block


class Hook:
    """Recalls before each reply of an agent. Safe to share between threads.

    Args:
        memory: An open memory, or the address of a running server.
        token: The token for a server; by default the environment variable MEMORITER_TOKEN.
        timeout: How many seconds a server may take.
        **ask: Options of every question, for example `agent`, `limit`, `recipe` or
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
        """Set the memory to ask and the options of every question."""
        check_known(ask, QuestionOptions, InputError, "memory", "token", "timeout")
        options: dict[str, Any] = dict(ask)
        has_budget = "budget_tokens" in ask or "budget_chars" in ask
        self._options = options if has_budget else {"budget_tokens": BUDGET_TOKENS, **options}
        seconds = number(timeout, "timeout", 0.001, 3600.0, InputError)
        self._memory = memory if isinstance(memory, Memory) else None
        self._server = None if isinstance(memory, Memory) else _server(memory, token, seconds)

    def __repr__(self) -> str:
        where = "a memory in this process" if self._server is None else self._server
        return shown("Hook", f"asks {where}")

    @takes(QuestionOptions, {"message": "What the user wrote; its last words are the query."})
    def __call__(self, message: str, **more: Unpack[QuestionOptions]) -> HookAnswer:
        """The memories for a message as a block; the options add to those of the hook.

        Raises InputError for a wrong option or message; any other failure is logged and makes an
        empty block.
        """
        check_known(more, QuestionOptions, InputError, "message")
        query = _asked(text(message, "message", InputError))
        if not query:
            return HookAnswer.nothing()
        try:
            return HookAnswer.of(self._reply(query, {**self._options, **more}), query)
        except InputError:  # a mistake of the programmer, who has to see it
            raise
        except MemoriterError as error:
            _log.warning("recall before the reply failed: %s", type(error).__name__)
            return HookAnswer.nothing(error.message)

    def _reply(self, query: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._memory is not None:
            return ask_context(self._memory, query, options)
        request = cast("dict[str, Any]", _as_json_values({**options, "query": query}))
        reply = cast("RemoteMemory", self._server).run("context", request)
        try:
            HookAnswer.of(reply, "")  # only to check its shape here, where a failure has a cause
        except (TypeError, KeyError):
            raise Unavailable(
                "the reply to the request `context` is not in the format of a Memoriter server",
                hint="check the address, and that the server and this client have the same version",
            ) from None
        return reply


def _as_json_values(value: object) -> object:
    """The value with times and durations as text, as a request takes them."""
    if isinstance(value, Mapping):
        return {k: _as_json_values(v) for k, v in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_as_json_values(each) for each in cast("Sequence[object]", value)]
    if isinstance(value, timedelta):
        return f"{value // timedelta(seconds=1):d}s"
    return value.isoformat() if isinstance(value, date) else value


def _is_wanted(query: str, reply: Mapping[str, Any]) -> bool:
    """Whether the memories of a reply belong into the prompt, though nobody asked for them.

    For a question they do if the best is nearer to strong than to none. Any other prompt must be a
    sentence, not a command of a shell, and needs a relevance nearer to 1 than to strong. Small talk
    gets none, nor do a prompt whose only topic is a time, and answers of unknown strength. Without
    a strength there is nothing to go by.
    """
    strength = reply.get("strength")
    if strength is None:
        return True
    if strength not in ("strong", "weak") or not has_topic(_without_time(query)):
        return False
    asks = any(map(is_question, sentences_of(query)))
    if not asks and not is_sentence(query):
        return False
    weak, strong = reply["thresholds"]["weak"], reply["thresholds"]["strong"]
    low, high = (weak, strong) if asks else (strong, 1.0)
    return reply["relevance"] >= (low + high) / 2


def _without_time(query: str) -> str:
    """A prompt without the words that name a time: they say when, not what."""
    moment = moment_of(query, 0)
    return query if moment is None else query.lower().replace(moment.text, " ")


def _asked(message: str) -> str:
    """What to ask for a message: all of it, or of a long one its last question or last words.

    >>> _asked("lorem ipsum, which port?")
    'lorem ipsum, which port?'
    """
    last = message[-MESSAGE_LIMIT:].strip()
    if len(last.split()) <= WORDS_LIMIT:
        return last
    questions = filter(is_question, reversed(sentences_of(last)))
    words = next(questions, last).split()
    return " ".join(words[-WORDS_LIMIT:])


def _server(address: object, token: str | None, seconds: float) -> RemoteMemory:
    if not isinstance(address, str) or "://" not in address:
        raise InputError(
            f"memory: {address!r} is neither an open memory nor the address of a server",
            hint='pass memoriter.open("agent.db"), or an address such as "http://127.0.0.1:8321"',
            field="memory",
        )
    from memoriter.doors.remote import RemoteMemory  # noqa: PLC0415  # with a server only

    return RemoteMemory(address, token, seconds)
