"""What is near to a new memory: `Memory.similar`, and `on_similar` of `Memory.remember`.

Candidates come from an ordinary recall in the scope of the caller, for a new memory among those of
its own agent and user; `text.likeness` decides. What is found is reported, or done with as the
caller said: nothing is replaced without their word.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any, Final, cast, get_args

from memoriter.core.batch import Commit
from memoriter.core.draft import Draft
from memoriter.core.errors import BadRecord
from memoriter.core.names import choice, integer, listed, text
from memoriter.core.scope import Scope
from memoriter.core.similar import TOOL_ROLE, OnSimilar, SimilarRecord
from memoriter.core.times import to_datetime
from memoriter.memory.build_query import build_query
from memoriter.memory.engine import Engine
from memoriter.memory.options import SearchKwargs
from memoriter.memory.search import search
from memoriter.memory.standing import has_all, if_outlasted, of_speaker
from memoriter.pipeline.load import order_with_copies, overridden, recipe_of
from memoriter.pipeline.recipe import Recipe
from memoriter.text.changes import Closeness
from memoriter.text.likeness import Likening, likeness_of
from memoriter.write.ceiling import USUAL, least_trust
from memoriter.write.writer import Writer

CANDIDATES: Final = 100
"""How many memories are compared with a new one."""
_WORDS: Final = 48
"""So many words of a new text are searched for."""
_CHARACTERS: Final = 4_096
"""So many characters of these: some languages put no spaces between words."""
_MOST: Final = 100
_LOOSELY: Final = 3
"""So many of the best hits are compared by what they are about, not only by their wording."""
_STRONG: Final = 0.75
"""From this relevance on the best hit is on the same topic."""
_SURE: Final = ("copy", "other value")
"""What a new memory replaces if the caller says so; `may replace` is only reported."""
_ORDER: Final[tuple[str, ...]] = get_args(Likening)


def similar_records(
    engine: Engine,
    scope: Scope,
    new: str,
    limit: int,
    options: SearchKwargs | None = None,
) -> tuple[SimilarRecord, ...]:
    """The memories that a new text may copy, contradict or replace, nearest first."""
    words = text(new, "text").split()
    integer(limit, "limit", 1, _MOST, BadRecord)
    if not words:
        raise BadRecord("text: must not be empty", field="text")
    near: list[SimilarRecord] = []
    query, now = " ".join(words[:_WORDS])[:_CHARACTERS], engine.clock.now
    asked = {**(options or {}), "recipe": _recipe()}
    place = 0
    for hit in search(
        engine, *build_query(query, CANDIDATES, cast("SearchKwargs", asked), scope, now)
    ):
        place += 1
        like = likeness_of(new, hit.record.text, _closeness(place, hit.relevance))
        if like is not None:
            near.append(SimilarRecord(hit.record, *like))
            place -= like.relation == "copy"
    return _ordered(near)[:limit]


@cache
def _recipe() -> Recipe:
    """The default recipe for a text that is no question: copies are hits, words no operators."""
    recipe = recipe_of("memoriter")
    return overridden(
        recipe,
        {
            "order": order_with_copies(recipe),
            "lanes.words.expert": False,
            "boosts.echo.factor": 1.0,
            "select.superseded": "hide",
        },
    )


def _closeness(place: int, relevance: float | None) -> Closeness | None:
    """What the place and the relevance of a hit say; copies take no place."""
    if place > _LOOSELY:
        return None
    if place > 1:
        return "near"
    return "same topic" if relevance is not None and relevance >= _STRONG else "nearest"


def remember_beside(
    engine: Engine, writer: Writer, fields: dict[str, Any], on_similar: OnSimilar
) -> Commit:
    """Write a memory with regard to those near to it; `near` of the commit lists them."""
    choice(on_similar, "on_similar", get_args(OnSimilar))
    if on_similar == "keep":
        return writer.remember(fields)
    draft = writer.stamped(fields)  # refused before anything is searched for
    if draft.key is not None and engine.log.keys(writer.tenant, [draft.key.name]):
        return writer.remember(fields)  # a retry: what it wrote must not be taken for a copy
    new = draft.complete(engine.clock.now())
    if "trust" not in draft.fields:
        new = replace(new, trust=least_trust([USUAL, writer.context.ceiling]))
    around = similar_records(engine, writer.scope, new.text, _MOST, _own(draft))
    others = (each for each in around if each.record.role != TOOL_ROLE)
    near = _ordered(filter(None, (of_speaker(each, new) for each in others)))
    copies = (each.record for each in near if each.relation == "copy")
    standing = [each.id for each in copies if has_all(each, draft, new)]
    if on_similar == "skip" and standing:
        head = engine.log.head(writer.tenant)
        return Commit(writer.tenant, head.seq, to_datetime(head.time), (standing[0],), near=near)
    if on_similar == "supersede":
        near = _ordered(if_outlasted(each, new) for each in near)
        given = fields.get("supersedes") or ()
        named = [given] if isinstance(given, str) else listed(given)
        sure = [each.id for each in near if each.relation in _SURE]
        replacing = writer.stamped({**fields, "supersedes": list(dict.fromkeys([*named, *sure]))})
        draft = replace(replacing, key=draft.key)  # a retry makes the same request, without links
    return replace(writer.remember(draft), near=near)


def _ordered(near: Iterable[SimilarRecord]) -> tuple[SimilarRecord, ...]:
    return tuple(sorted(near, key=lambda each: _ORDER.index(each.relation)))


def _own(draft: Draft) -> SearchKwargs:
    """The options of a search among the memories of the agent and user of a draft."""
    agent, user = (cast("str | None", draft.fields.get(name)) for name in ("agent", "user"))
    if user is None:
        return {"agent": agent or "default", "where": {"user": {"exists": False}}}
    return {"agent": agent or "default", "user": user}
