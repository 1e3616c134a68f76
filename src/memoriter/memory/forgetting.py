"""`Memory.forget`: which records go, the preview, and waiting until they are erased."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from memoriter.core.errors import BadQuery, InputError
from memoriter.core.names import flag
from memoriter.core.options import check_known
from memoriter.core.where import AllOf, AnyOf, Where, parse_where
from memoriter.core.where_times import dated
from memoriter.memory.browsing import edges_at, matching_records
from memoriter.memory.engine import Engine
from memoriter.memory.options import ForgetKwargs
from memoriter.write.erasure import Erasure
from memoriter.write.reflect import SOURCE
from memoriter.write.writer import Writer


def forget(engine: Engine, writer: Writer, id: object, options: ForgetKwargs) -> Erasure:
    """Forget records by id or by a filter; with `dry_run`, only say which."""
    check_known(options, ForgetKwargs, InputError, "id")
    where, key = options.get("where"), options.get("key")
    dry_run = flag(options.get("dry_run", False), "dry_run", InputError)
    now = _wants_now(options.get("now", False))
    if (id is None) == (where is None):
        hint = 'forget(id), or forget(where={"session": "s-12"})'
        raise InputError(
            "forget: expected either ids or the filter `where`, and not both", hint=hint, field="id"
        )
    if id is None:
        if key is not None:
            raise InputError(
                "key: can be used with ids, but not with `where`",
                hint="leave `key` out, or forget by ids",
                field="key",
            )
        ids = _matching(engine, writer, where)
    elif isinstance(id, str | list | tuple):
        ids = [id] if isinstance(id, str) else cast("Sequence[str]", id)  # the writer checks each
    else:
        raise BadQuery(
            f"id: expected a text such as hit.id, or a list of texts, got {type(id).__name__}",
            field="id",
        )
    reflections = _reflections(engine, writer, ids)
    if dry_run:
        return replace(writer.preview_forget(ids), reflections=reflections)
    erasure = replace(writer.forget(ids, key), reflections=reflections)
    if now:
        engine.index_cache.erase_now(writer.tenant)
        return erasure.erased()
    if erasure.ids:
        engine.index_cache.forgot(writer.tenant)
    return erasure


def _reflections(engine: Engine, writer: Writer, ids: Sequence[str]) -> tuple[str, ...]:
    """The reflections that were made from these records and do not go with them."""
    tenant, head = writer.tenant, engine.log.head(writer.tenant).seq
    going = set(filter(_is_text, ids))  # the writer refuses others
    records = (engine.log.latest(tenant, each, head) for each in going)
    made = (
        edge.source
        for record in records
        if record is not None
        for edge in edges_at(engine, tenant, record.position)
        if edge.kind == SOURCE and edge.target == record.id and edge.source not in going
    )
    return tuple(sorted(set(made)))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _wants_now(now: object) -> bool:
    """Whether to wait until all files are erased; raises InputError for a time."""
    if not isinstance(now, bool):
        raise InputError(
            "now: expected True or False, not a time",
            hint="now=True waits until the memories are erased from all files; to hide a memory"
            " from a certain time on, use expire(id, at)",
            field="now",
        )
    return now


def _matching(engine: Engine, writer: Writer, where: object) -> list[str]:
    """The ids of the records in scope that pass a filter, archived and expired ones too."""
    records = matching_records(engine, writer.scope, where)
    if not writer.scoped and _is_everything(parse_where(dated(where, engine.clock.now))):
        raise BadQuery(
            "where: an empty filter would forget every memory",
            hint='name the memories to forget, for example where={"user": "ann"}; an empty filter'
            " is allowed only in a memory opened for one user, agent or session, and forgets"
            " all of theirs",
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
