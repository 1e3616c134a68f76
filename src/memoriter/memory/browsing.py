"""Browsing: records by date, in stable pages over one view."""

from __future__ import annotations

from dataclasses import dataclass

from memoriter.core.errors import BadQuery
from memoriter.core.names import choice, integer
from memoriter.core.options import check_known
from memoriter.core.other_words import Hinting
from memoriter.core.query import LIMIT_LIMIT, OFFSET_LIMIT
from memoriter.core.record import Record
from memoriter.core.scope import Scope
from memoriter.core.shown import shown
from memoriter.core.times import Now, TimeLike, micros
from memoriter.core.where import dated, parse, tagged
from memoriter.index.pages import SORTS, Cursor, Sort, browse_digest, page_rows
from memoriter.index.selection import Criteria, select
from memoriter.memory.engine import Engine
from memoriter.memory.options import Look


@dataclass(frozen=True, slots=True)
class Page(Hinting):
    """Some records of a view, the number of all, and where the next page begins."""

    records: tuple[Record, ...]
    total: int
    cursor: str | None
    """None on the last page."""

    def __repr__(self) -> str:
        more = "the last page" if self.cursor is None else "more follow"
        return shown("Page", f"{len(self.records):,} of {self.total:,} records, {more}")

    def to_dict(self) -> dict[str, object]:
        """The page as plain data."""
        records = [record.to_dict() for record in self.records]
        return {"records": records, "total": self.total, "cursor": self.cursor}


def browsed(
    engine: Engine, scope: Scope, look: Look, sort: Sort, cursor: str | None, limit: int
) -> Page:
    """One page."""
    if sort not in SORTS:
        raise BadQuery(f"sort: {sort!r} is not one of {', '.join(SORTS)}", field="sort")
    integer(limit, "limit", 1, LIMIT_LIMIT, BadQuery)
    skip = integer(look.get("offset", 0), "offset", 0, OFFSET_LIMIT, BadQuery)
    after = None if cursor is None else Cursor.read(cursor)
    check_known(look, Look, BadQuery, "sort", "cursor", "limit")
    scope = scope.narrowed(look)
    clock = engine.clock.now
    known_at = _time(look.get("known_at"), "known_at", clock)
    view = (
        engine.index_cache.index(scope.tenant).view(after.seq)
        if after
        else engine.view(scope.tenant, known_at)
    )
    criteria = _criteria(scope, look, after.now if after else clock())
    mark = browse_digest(criteria, sort)
    if after and after.request != mark:
        raise BadQuery(
            "cursor: belongs to another question", hint="begin again without it", field="cursor"
        )
    fetch = engine.fetch(scope.tenant)
    selection = select(view, criteria, fetch)
    rows, created = page_rows(view, selection, sort, after, skip + limit + 1)
    rows, created = rows[skip:], created[skip:]
    shown = [record for record in fetch(rows[:limit].tolist()) if record is not None]
    follow = None
    if rows.size > limit:
        last = int(created[limit - 1]), int(rows[limit - 1])
        follow = Cursor(view.seq, criteria.now, *last, mark).encoded()
    return Page(tuple(shown), selection.count, follow)


def matching(engine: Engine, scope: Scope, where: object) -> list[Record]:
    """Every record of a scope that passes a test, as it is now."""
    now = engine.clock.now()
    view, fetch = engine.view(scope.tenant, None), engine.fetch(scope.tenant)
    criteria = Criteria(scope, parse(dated(where, lambda: now)), now)
    rows = select(view, criteria, fetch).rows(view).tolist()
    return [record for record in fetch(rows) if record is not None]


def _criteria(scope: Scope, look: Look, now: int) -> Criteria:
    for key in ("archived", "expired", "superseded"):
        choice(look.get(key, "hide"), key, ("hide", "show"), BadQuery)
    return Criteria(
        scope,
        tagged(parse(dated(look.get("where"), lambda: now)), look.get("tags")),
        now,
        _time(look.get("as_of"), "as_of", lambda: now),
        None,
        look.get("archived", "hide"),
        look.get("expired", "hide"),
        look.get("superseded", "show"),
    )


def _time(value: TimeLike | None, field: str, now: Now) -> int | None:
    return None if value is None else micros(value, field, BadQuery, now)
