"""`Memory.forget`: which records go, the preview, and waiting until they are erased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple, cast

from memoriter.core.errors import BadQuery, InputError, NotFound
from memoriter.core.names import flag, name
from memoriter.core.options import check_known
from memoriter.core.scope import Scope
from memoriter.core.where import AllOf, AnyOf, Where, parse_where
from memoriter.core.where_times import dated
from memoriter.index.selection import Criteria, select
from memoriter.memory.browsing import edges_at, matching_records
from memoriter.memory.engine import Engine
from memoriter.memory.options import ForgetKwargs
from memoriter.write.ceiling import MADE_FROM
from memoriter.write.erasure import Erasure
from memoriter.write.reflect import is_ours, members_of
from memoriter.write.writer import Writer

_TRIES: Final = 5


def forget(engine: Engine, writer: Writer, id: object, options: ForgetKwargs) -> Erasure:
    """Forget records by id or by a filter; with `dry_run`, only say which."""
    check_known(options, ForgetKwargs, InputError, "id")
    where, key = options.get("where"), options.get("key")
    dry_run = flag(options.get("dry_run", False), "dry_run", InputError)
    now = _wants_now(options.get("now", False))
    if (id is None) == (where is None):
        hint = 'forget(id), or forget(where={"session": "s-12"})'
        raise InputError("forget: expected either ids or the filter `where`", hint=hint, field="id")
    if id is None:
        if key is not None:
            raise InputError(
                "key: can be used with ids, but not with `where`",
                hint="leave `key` out, or forget by ids",
                field="key",
            )
        ids = _matching(engine, writer, where)
    elif isinstance(id, str | list | tuple):
        given = [id] if isinstance(id, str) else cast("Sequence[object]", id)
        ids = [name(each, "id") for each in given]  # before the store is asked for them
    else:
        raise BadQuery(
            f"id: expected a text such as hit.id, or a list of texts, got {type(id).__name__}",
            field="id",
        )
    keep = flag(options.get("keep_reflections", False), "keep_reflections", InputError)
    if dry_run:
        asked = [writer.current(each).id for each in dict.fromkeys(ids)]
        made = _made_from(engine, writer, ids, keep=keep)
        every = (*asked, *made.reflections)
        return Erasure(every, made.head, "preview", made.reflections, made.derived)
    erasure = _forgotten(engine, writer, ids, key, keep=keep)
    if now:
        engine.index_cache.erase_now(writer.tenant)
        return erasure.erased()
    if erasure.ids:
        engine.index_cache.tidy_soon(writer.tenant)
    return erasure


class _MadeFrom(NamedTuple):
    """What was made from some records."""

    reflections: tuple[str, ...]
    """Reflections that go with them."""
    derived: tuple[str, ...]
    """Records that stay and may quote them."""
    head: int
    """The last entry of the log that was read."""


def _forgotten(
    engine: Engine, writer: Writer, ids: Sequence[str], key: str | None, *, keep: bool
) -> Erasure:
    """Forget records and the reflections that quote them, all or none."""
    made = _made_from(engine, writer, ids, keep=keep)
    for attempt in range(_TRIES):
        try:
            erasure = writer.forget(ids, key, made.reflections)
            break
        except NotFound:
            again = _made_from(engine, writer, ids, keep=keep)
            # Only if another writer took a reflection meanwhile is it worth another try.
            if again.reflections == made.reflections or attempt == _TRIES - 1:
                raise
            made = again
    else:
        raise AssertionError("unreachable")
    if not keep and erasure.seq > made.head + erasure.count:
        # Others wrote between the reading and the commit: maybe a reflection of these records.
        late = _late_reflections(engine, writer, ids, made.head)
        if late:
            more = writer.forget((), None, late)
            erasure = replace(erasure, ids=(*erasure.ids, *late), seq=more.seq)
            made = made._replace(reflections=(*made.reflections, *late))
    return replace(erasure, reflections=made.reflections, derived=made.derived)


def _made_from(engine: Engine, writer: Writer, ids: Sequence[str], *, keep: bool) -> _MadeFrom:
    """What was made from these records and is not among them: `reflect` made it, or others did."""
    tenant, head = writer.tenant, engine.log.head(writer.tenant).seq
    going = set(ids)
    members = [engine.log.latest(tenant, each, head) for each in going]
    made = {
        (edge.source, member.agent, member.user)
        for member in members
        if member is not None
        for edge in edges_at(engine, tenant, member.position)
        if edge.kind in MADE_FROM and edge.target == member.id and edge.source not in going
    }
    reflections: set[str] = set()
    derived: set[str] = set()
    for id, agent, user in made:
        record = engine.log.latest(tenant, id, head)
        if record is None:
            continue
        # What `reflect` made has the owner of its members, so it may be taken out of any scope.
        if is_ours(record) and (record.agent, record.user) == (agent, user) and not keep:
            reflections.add(id)
        elif writer.scope.contains(record):
            derived.add(id)
    return _MadeFrom(tuple(sorted(reflections)), tuple(sorted(derived - reflections)), head)


def _late_reflections(
    engine: Engine, writer: Writer, ids: Sequence[str], head: int
) -> tuple[str, ...]:
    """The reflections of these records that came into the log behind `head`."""
    view = engine.view(writer.tenant, None)
    criteria = Criteria(Scope(writer.tenant), now=engine.clock.now(), reflections="only")
    fetch = engine.fetch(writer.tenant)
    rows = select(view, criteria, fetch).rows(view)
    records = fetch(rows[rows > head].tolist())
    return tuple(
        record.id
        for record in records
        if record is not None
        and is_ours(record)
        and not set(ids).isdisjoint(members_of(record) or ())
    )


def _wants_now(now: object) -> bool:
    """Whether to wait until all files are erased; raises InputError for a time."""
    if not isinstance(now, bool):
        raise InputError(
            "now: expected True or False, not a time",
            hint="to wait until the memories are erased from all files, pass now=True; to hide a"
            " memory from a certain time on, use expire(id, at)",
            field="now",
        )
    return now


def _matching(engine: Engine, writer: Writer, where: object) -> list[str]:
    """The ids of the records in scope that pass a filter, archived and expired ones too."""
    records = matching_records(engine, writer.scope, where)
    if not writer.scoped and _is_everything(parse_where(dated(where, engine.clock.now))):
        raise BadQuery(
            "where: an empty filter would forget every memory",
            hint='name the memories to forget, for example where={"user": "ann"}; to forget'
            " all memories of one user, open the memory for that user first",
            field="where",
        )
    return [record.id for record in records]


def _is_everything(where: Where) -> bool:
    """Whether a filter has no test that a record could fail."""
    match where:
        case AllOf(parts):
            return all(map(_is_everything, parts))
        case AnyOf(parts):
            return any(map(_is_everything, parts))
        case _:
            return False
