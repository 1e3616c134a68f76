"""Browsing: pages of records by date. The cursor pins the view, so that pages are stable."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final

from memoriter.core.edge import Edge, edge_of
from memoriter.core.errors import BadQuery, Corrupt, NotFound, TooCostly
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import choice, integer, name
from memoriter.core.options import check_known
from memoriter.core.other_words import Hinting, NotAsync
from memoriter.core.query import LIMIT_LIMIT, OFFSET_LIMIT
from memoriter.core.record import Record
from memoriter.core.scope import Scope
from memoriter.core.shown import shown
from memoriter.core.times import Now, TimeLike, micros
from memoriter.core.where import parse_where, tagged
from memoriter.core.where_times import dated
from memoriter.index.pages import SORTS, Cursor, Sort, browse_digest, page_rows
from memoriter.index.read_once import Reader
from memoriter.index.selection import Criteria, select
from memoriter.memory.engine import Engine
from memoriter.memory.options import BrowseKwargs

_SORTS: Final = {
    **dict.fromkeys(("desc", "descending", "created", "date", "time", "latest", "recent", "new"),
                    "newest"),
    **dict.fromkeys(("asc", "ascending", "old", "first", "chronological"), "oldest"),
}  # fmt: skip
"""Other words for the two orders."""
PART_ROWS: Final = 1024
"""How many records are read at a time, at most."""
PAGE_BYTES: Final = 2**22
"""How many bytes the records of a page take in the store, if it has more than one."""


@dataclass(frozen=True, slots=True)
class Page(Hinting, NotAsync):
    """Some records of a view, the total number, and the cursor of the next page."""

    records: tuple[Record, ...]
    total: int
    cursor: str | None
    """None on the last page."""

    def __repr__(self) -> str:
        more = "the last page" if self.cursor is None else "more follow"
        return shown("Page", f"{len(self.records):,} of {self.total:,} records, {more}")

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __getitem__(self, at: int) -> Record:
        return self.records[at]

    def to_dict(self) -> dict[str, object]:
        """The page as plain data."""
        records = [record.to_dict() for record in self.records]
        return {"records": records, "total": self.total, "cursor": self.cursor}


def browse_page(
    engine: Engine,
    scope: Scope,
    options: BrowseKwargs,
    sort: Sort,
    cursor: str | None,
    limit: int,
) -> Page:
    """One page of `limit` records, or fewer if they are large and a cursor follows.

    Raises BadQuery for an option that is not valid, or a cursor of other options.
    """
    if sort not in SORTS:
        meant = _SORTS.get(str(sort).lower().lstrip("-"))
        hint = f"did you mean {meant}?" if meant else "to search for words, use recall(query)"
        raise BadQuery(f"sort: {sort!r} is not one of {', '.join(SORTS)}", hint=hint, field="sort")
    integer(limit, "limit", 1, LIMIT_LIMIT, BadQuery)
    skip = integer(options.get("offset", 0), "offset", 0, OFFSET_LIMIT, BadQuery)
    after = None if cursor is None else Cursor.decoded(cursor)
    check_known(options, BrowseKwargs, BadQuery, "sort", "cursor", "limit")
    scope = scope.narrowed(options)
    clock = engine.clock.now
    known_at = _time(options.get("known_at"), "known_at", clock)
    view = (
        engine.index_cache.index(scope.tenant).view(after.seq)
        if after
        else engine.view(scope.tenant, known_at)
    )
    criteria = _criteria(scope, options, after.now if after else clock())
    mark = browse_digest(criteria, sort)
    if after and after.request != mark:
        raise BadQuery(
            "cursor: it comes from a call with other options",
            hint="pass the same options as in that call, or start again without a cursor",
            field="cursor",
        )
    fetch = engine.fetch(scope.tenant)
    selection = select(view, criteria, fetch, engine.filter_limit())
    # One row more than the page shows whether another page follows.
    rows, created = page_rows(view, selection, sort, after, skip + limit + 1)
    rows, created = rows[skip:], created[skip:]
    fitting = _fitting(engine, scope.tenant, rows[:limit].tolist())
    if "offset" in options and len(fitting) < min(limit, rows.size):
        # Who counts places instead of following cursors would skip the rest.
        raise TooCostly(
            f"limit: {limit} memories from place {skip} on are larger than a page may be",
            hint=f"ask for {len(fitting)} of them, or go on by `cursor` instead of `offset`",
            field="limit",
        )
    records = [record for record in fetch(fitting) if record is not None]
    follow = None
    if rows.size > len(fitting):
        last = int(created[len(fitting) - 1]), fitting[-1]
        follow = Cursor(view.seq, criteria.now, *last, mark).encoded()
    return Page(tuple(records), selection.count, follow)


def _fitting(engine: Engine, tenant: str, rows: list[int]) -> list[int]:
    """The first of these rows whose records fit a page together; at least one, if there is one."""
    ends = accumulate(engine.log.sizes(tenant, rows))
    return rows[: max(1, sum(end <= PAGE_BYTES for end in ends))]


def matching_records(
    engine: Engine, scope: Scope, where: object, damage: list[str] | None = None
) -> Iterator[Record]:
    """The current versions of all records in scope that pass a filter, read in parts.

    Raises Corrupt for a damaged one; with `damage`, it is left out and told there.
    """
    now = engine.clock.now()
    view, fetch = engine.view(scope.tenant, None), engine.fetch(scope.tenant)
    if damage is not None:
        fetch = _readable(fetch, damage)
    criteria = Criteria(scope, parse_where(dated(where, lambda: now)), now)
    rows = select(view, criteria, fetch, engine.filter_limit()).rows(view).tolist()
    return _in_parts(engine, scope.tenant, rows, fetch)


def _in_parts(engine: Engine, tenant: str, rows: list[int], fetch: Reader) -> Iterator[Record]:
    """The records of these rows, as many at a time as fit a page."""
    at = 0
    while part := rows[at : at + PART_ROWS]:
        fitting = _fitting(engine, tenant, part)
        yield from (record for record in fetch(fitting) if record is not None)
        at += len(fitting)


def _readable(fetch: Reader, damage: list[str]) -> Reader:
    """Reads records as another function does, and None for a damaged one."""

    def one(row: int) -> Record | None:
        try:
            return fetch([row])[0]
        except Corrupt as error:
            if error.message not in damage:
                damage.append(error.message)
            return None

    def read(rows: Sequence[int]) -> Sequence[Record | None]:
        try:
            return fetch(rows)
        except Corrupt:
            return [one(row) for row in rows]

    return Reader(read, fetch.sizes)


def latest_version(engine: Engine, scope: Scope, id: str, known_at: TimeLike | None) -> Record:
    """A record in scope, as known at a moment; raises NotFound."""
    seq = _seq_at(engine, scope, known_at)
    record = engine.log.latest(scope.tenant, name(id, "id", BadQuery), seq)
    if record is None or not scope.contains(record):
        raise _unknown(id)
    return record


def versions_of(
    engine: Engine, scope: Scope, id: str, known_at: TimeLike | None, limit: int, upto: int | None
) -> tuple[Record, ...]:
    """The newest versions of a record in scope, as known at a moment, up to a row; oldest first.

    At most `limit`, and fewer if they are large; none if the first one is after the row. Raises
    NotFound.
    """
    integer(limit, "limit", 1, LIMIT_LIMIT, BadQuery)
    last = latest_version(engine, scope, id, known_at).row
    if upto is not None:
        last = min(last, integer(upto, "upto", 0, 2**62, BadQuery))
    rows = engine.log.versions(scope.tenant, id, last)[: -limit - 1 : -1]
    versions = engine.log.records(scope.tenant, _fitting(engine, scope.tenant, rows)[::-1])
    return tuple(version for version in versions if version is not None)


def _seq_at(engine: Engine, scope: Scope, known_at: TimeLike | None) -> int:
    """The last sequence number at a moment, or now."""
    moment = _time(known_at, "known_at", engine.clock.now)
    log, tenant = engine.log, scope.tenant
    return log.head(tenant).seq if moment is None else log.seq_at(tenant, moment)


def _unknown(id: str) -> NotFound:
    return NotFound(
        f"there is no record {id!r}", hint="use browse to see the records that exist", field="id"
    )


def edges_at(engine: Engine, tenant: str, position: int) -> tuple[Edge, ...]:
    """The edges from and to the record at a position, the latest of each key."""
    rows = engine.log.edges(tenant, position, 2**62)
    edges = [edge_of(row.seq, json.loads(row.body)) for row in rows]
    latest = {(e.source, e.target, e.kind, e.valid_from): e for e in edges}
    return tuple(sorted(latest.values(), key=lambda e: e.seq))


def _criteria(scope: Scope, options: BrowseKwargs, now: int) -> Criteria:
    for key in ("archived", "expired", "superseded"):
        choice(options.get(key, "show"), key, ("hide", "show"), BadQuery)
    return Criteria(
        scope=scope,
        where=tagged(parse_where(dated(options.get("where"), lambda: now)), options.get("tags")),
        now=now,
        as_of=_time(options.get("as_of"), "as_of", lambda: now),
        trust=None,
        archived=options.get("archived", "hide"),
        expired=options.get("expired", "hide"),
        superseded=options.get("superseded", "show"),
    )


def _time(value: TimeLike | None, field: str, now: Now) -> int | None:
    return None if value is None else micros(value, field, BadQuery, now)
