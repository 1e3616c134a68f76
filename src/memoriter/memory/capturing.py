"""`Memory.remember_messages`: the turns of a conversation as records.

A turn is written once: its idempotency key is made of agent, user, session and the id of the
message, so a caller may pass the whole conversation after every turn. What was recalled into a
prompt is taken out first, and a turn that holds a secret is refused. No model is asked unless
`facts` says so.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import BadRecord, Conflict
from memoriter.core.fields import Source
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import flag
from memoriter.core.options import check_known
from memoriter.core.record import NOWHERE
from memoriter.core.shown import counted, shown
from memoriter.imports.fields import parse_time
from memoriter.memory.engine import Engine
from memoriter.memory.facts_owed import owed_turns
from memoriter.memory.writing_options import MessagesKwargs
from memoriter.models.texts import encodable
from memoriter.text.messages import FOREIGN_ROLES, Message, parse_message
from memoriter.text.recalled import without_blocks
from memoriter.text.secrets import secret_kinds
from memoriter.write.owing import owing
from memoriter.write.writer import BATCH, Writer

if TYPE_CHECKING:
    from memoriter.memory.facts import FactsRead

_TRIES: Final = 3
"""How often turns are written, where others write turns of the same session at the same time."""


class RefusedMessage(NamedTuple):
    """A message that was not stored, and the kinds of the secrets in it."""

    message: int
    """Its place among the messages, counted from 0."""
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Captured:
    """What became of the messages of a conversation."""

    ids: tuple[str, ...]
    """The records of the turns that were written now."""
    already: int = 0
    """How many turns were written before."""
    empty: int = 0
    """How many messages have no text: images, calls of tools, a block of recalled memories."""
    refused: tuple[RefusedMessage, ...] = ()
    facts: tuple[str, ...] = ()
    """The records of facts that a language model read out of the new turns."""
    seq: int = 0
    """The last entry of the log when it was done; `wait_for` takes it elsewhere."""
    problem: str | None = None
    """Why there are no facts although they were asked for; None if there is no problem."""
    owed: int = 0
    """How many turns still lack facts that were asked for; a later call reads them."""

    def __repr__(self) -> str:
        kept = f"{counted(len(self.ids), 'turn')} written, {self.already:,} known before"
        return shown("Captured", f"{kept}, {len(self.refused):,} refused")

    def to_dict(self) -> dict[str, object]:
        """The report as plain data."""
        return {
            "ids": list(self.ids),
            "already": self.already,
            "empty": self.empty,
            "refused": [
                {"message": each.message, "kinds": list(each.kinds)} for each in self.refused
            ],
            "facts": list(self.facts),
            "seq": self.seq,
            "problem": self.problem,
            "owed": self.owed,
        }


class _Turn(NamedTuple):
    """A message that has text, its place in the list, and the key of its record."""

    at: int
    message: Message
    key: str


def capture_messages(
    engine: Engine, writer: Writer, messages: object, options: MessagesKwargs
) -> Captured:
    """Write the turns that are not in the log yet; see `Memory.remember_messages`."""
    check_known(options, MessagesKwargs, BadRecord, "messages")
    read = _facts_of(engine, writer) if flag(options.get("facts", False), "facts") else None
    _refuse_secret_names(writer, options)
    rows = _rows(messages)
    turns = list(_turns(rows, _owner(writer, options)))
    ids, refused = list[str](), list[RefusedMessage]()
    for first in range(0, len(turns), BATCH):  # what is written stays if the program is ended
        new, secret = _written(engine, writer, turns[first : first + BATCH], options)
        engine.index_cache.wrote(writer.tenant, len(new))
        ids += new
        refused += secret
    facts, problem = ((), None) if read is None else read()
    return Captured(
        ids=tuple(ids),
        already=len(turns) - len(ids) - len(refused),
        empty=len(rows) - len(turns),
        refused=tuple(refused),
        facts=facts,
        seq=engine.log.head(writer.tenant).seq,
        problem=problem,
        owed=0 if read is None else len(owed_turns(engine, writer.scope)),
    )


def _facts_of(engine: Engine, writer: Writer) -> Callable[[], FactsRead]:
    """Returns a function that reads facts; raises InputError if no language model is configured."""
    from memoriter.memory.facts import fact_reader, read_owed  # noqa: PLC0415  # rarely used

    reader = fact_reader()

    def read() -> FactsRead:
        facts = read_owed(engine, writer, reader)
        engine.index_cache.wrote(writer.tenant, len(facts.ids))
        return facts

    return read


def _written(
    engine: Engine,
    writer: Writer,
    turns: Sequence[_Turn],
    options: MessagesKwargs,
    tries: int = _TRIES,
) -> tuple[tuple[str, ...], tuple[RefusedMessage, ...]]:
    """Write the turns that the log lacks, at once; returns their ids and what holds secrets."""
    known = engine.log.keys(writer.tenant, [turn.key for turn in turns])
    new, refused = _new(turns, set(known))
    drafts = [_draft(turn, options) for turn in new]
    try:
        ids = writer.remember_many(drafts, _quiet).ids if drafts else ()
    except Conflict:  # another writer was first, with other text of a message: now it is known
        if tries == 1:
            raise
        return _written(engine, writer, turns, options, tries - 1)
    return ids, tuple(refused)


def _new(turns: Sequence[_Turn], known: set[str]) -> tuple[list[_Turn], list[RefusedMessage]]:
    """(the turns to write, those that hold secrets); of several with one id the first is taken."""
    new, refused = list[_Turn](), list[RefusedMessage]()
    for turn in turns:
        if turn.key in known:
            continue
        if kinds := message_kinds(turn.message):
            refused.append(RefusedMessage(turn.at, kinds))
        else:
            known.add(turn.key)
            new.append(turn)
    return new, refused


def message_kinds(message: Message) -> tuple[str, ...]:
    """The kinds of the secrets in what is stored of a message."""
    texts = (message.text, message.speaker or "", message.role)
    return tuple(dict.fromkeys(kind for text in texts for kind in secret_kinds(text)))


def _refuse_secret_names(writer: Writer, options: MessagesKwargs) -> None:
    """Raise BadRecord if a name that every turn would get is a secret; it is not repeated."""
    for name in ("session", "agent", "user", "channel", "tags"):
        value: object = options.get(name) or getattr(writer.scope, name, None)
        values = cast("Sequence[object]", value) if isinstance(value, list | tuple) else [value]
        for each in values:
            kinds = secret_kinds(each) if isinstance(each, str) else ()
            if kinds:
                raise BadRecord(
                    f"{name}: holds a secret ({', '.join(kinds)}); no message was stored",
                    hint=f"leave the secret out of `{name}`",
                    field=name,
                )


def _rows(messages: object) -> Sequence[Mapping[str, Any]]:
    """The messages as a list of mappings; raises BadRecord for anything else."""
    hint = 'pass a list such as [{"role": "user", "content": "…", "id": "m1"}]'
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        got = type(cast("object", messages)).__name__
        raise BadRecord(
            f"messages: expected a list of messages, got {got}",
            hint=hint,
            field="messages",
        )
    rows = list(cast("Iterable[object]", messages))
    for at, row in enumerate(rows):
        if not isinstance(row, Mapping):
            got = type(row).__name__
            raise BadRecord(f"messages[{at}]: expected an object, got {got}", hint=hint)
    return cast("list[Mapping[str, Any]]", rows)


def _owner(writer: Writer, options: MessagesKwargs) -> list[str | None]:
    """The agent, user and session of the turns: another's message is another message."""
    agent, user, session = (
        options.get(name) or getattr(writer.scope, name) for name in ("agent", "user", "session")
    )
    return [agent or "default", user, session]


def _turns(rows: Sequence[Mapping[str, Any]], owner: Sequence[str | None]) -> Iterator[_Turn]:
    """The messages that have text, without the blocks of recalled memories in them."""
    seen: Counter[tuple[object, ...]] = Counter()
    for at, row in enumerate(rows):
        message = _encodable(parse_message(row))
        message = message._replace(text=without_blocks(message.text).strip())
        if not message.text:
            continue
        if message.time is not None and parse_time(message.time) is None:
            raise BadRecord(
                f"messages[{at}].time: {json.dumps(message.time, default=str)} is not a time",
                hint="give an ISO 8601 text or seconds since 1970, or leave the time out",
                field="messages",
            )
        named: list[object] = ["id", message.id]
        if message.id is None:
            # Without an id it is known by what it says; a repeat in the list is another message.
            own = (message.role, message.speaker, message.text, str(message.time))
            seen[own] += 1
            named = ["text", *own, seen[own]]
        of_owner = digest("memoriter/message/1", canonical([*owner, *named])).hex()
        yield _Turn(at, message, f"message:{of_owner[:32]}")


def _encodable(message: Message) -> Message:
    """The message without halves of characters: programs that cut texts leave them behind."""
    texts = {"text": message.text, "id": message.id, "speaker": message.speaker}
    return message._replace(**{name: text and encodable(text) for name, text in texts.items()})


def _draft(turn: _Turn, options: MessagesKwargs) -> dict[str, object]:
    """The draft of a turn, as `remember` takes it."""
    message = turn.message
    trust = "external" if message.role in FOREIGN_ROLES else options.get("trust")
    source = Source(message.speaker, options.get("channel"))
    draft: dict[str, object] = {
        "text": message.text,
        "role": message.role or "user",
        "kind": "message",
        "memory_type": "episodic",
        "source": source if source != NOWHERE else None,
        "created": parse_time(message.time),
        "trust": trust,
        "key": turn.key,
        **{name: options.get(name) for name in ("session", "agent", "user", "tags")},
    }
    given = {name: value for name, value in draft.items() if value is not None}
    return owing(given) if options.get("facts") else given


def _quiet(done: int) -> None:
    """Show no progress."""
    del done
