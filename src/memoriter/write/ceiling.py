"""The ceiling of a writer: the highest trust that what it writes may have.

A caller of the library may give any trust. A token or an MCP host has a ceiling, `learned` unless
it was made with another: text of trust `system` reaches a prompt without a fence, so a payload
cannot decide about it. What lies above the ceiling is refused, never lowered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from memoriter.core.draft import Draft
from memoriter.core.edge import REPLACING
from memoriter.core.errors import Forbidden, NotFound
from memoriter.core.fields import TRUST
from memoriter.core.record import Content, Record
from memoriter.store.rows import EdgeRow

FREE: Final = TRUST[0]
"""The ceiling of a caller of the library: the highest trust."""
USUAL: Final = "learned"
"""The ceiling of a token or an MCP host, and the trust of a record that names none."""
MADE_FROM: Final = ("consolidated_from", "derived_from", "summarizes")
"""Kinds of edges to what a record was made from."""
CLAIMING: Final = (*REPLACING, "contradicts")
"""Kinds of edges that speak against their target."""
Current = Callable[[str], Content]
"""The current version of the record with an id; raises NotFound."""
ReadEdges = Callable[[], Sequence[EdgeRow]]
"""The edges from and to a record."""


def exceeds(trust: str, limit: str) -> bool:
    """Whether a trust is higher than a limit.

    >>> exceeds("system", "learned"), exceeds("external", "learned")
    (True, False)
    """
    return TRUST.index(trust) < TRUST.index(limit)


def least_trust(trusts: Iterable[str]) -> str:
    """The lowest of some trusts: what is made from them is trusted no more.

    >>> least_trust(["system", "external", "learned"])
    'external'
    """
    return max(trusts, key=TRUST.index)


def limited_draft(draft: Draft, ceiling: str, current: Current) -> Draft:
    """The draft, if its trust is at most the ceiling and that of what it says it was made from.

    One without a trust gets the lower of `learned` and the ceiling. Raises Forbidden.
    """
    if ceiling == FREE:
        return draft
    given = draft.fields.get("trust")
    trust = str(given) if given is not None else least_trust([USUAL, ceiling])
    _check(trust, ceiling)
    check_sources(trust, [edge.target for edge in draft.edges if edge.kind in MADE_FROM], current)
    return draft if given == trust else replace(draft, fields={**draft.fields, "trust": trust})


def check_batch(drafts: Sequence[Draft], ceiling: str) -> None:
    """Raise Forbidden if a draft is trusted more than another of them that it was made from."""
    if ceiling == FREE:
        return
    trusts = {draft.id: str(draft.fields["trust"]) for draft in drafts if draft.id is not None}
    for draft in drafts:
        for edge in draft.edges:
            if edge.kind in MADE_FROM and edge.target in trusts:
                _check_source(str(draft.fields["trust"]), edge.target, trusts[edge.target])


def check_sources(trust: str, sources: Iterable[str], current: Current) -> None:
    """Raise Forbidden if a trust is more than that of a record that something was made from."""
    for id in sources:
        try:
            source = current(id).trust
        except NotFound:  # not there yet: the store refuses it, or writes both (`check_batch`)
            continue
        _check_source(trust, id, source)


def _check_source(trust: str, id: str, source: str) -> None:
    if exceeds(trust, source):
        raise Forbidden(
            f"trust: {trust} is higher than the trust of {id!r}, which this memory was made from",
            hint=f"give the trust {source!r}",
            field="trust",
        )


def check_new_version(
    record: Record, content: Content, ceiling: str, edges: ReadEdges, current: Current
) -> None:
    """Raise Forbidden if a record or its new version is trusted above the ceiling.

    So what is trusted more than a writer may give cannot be changed by that writer either. Nor can
    the trust rise above that of what the record was made from.
    """
    _check(record.trust, ceiling)
    _check(content.trust, ceiling)
    if ceiling != FREE and exceeds(content.trust, record.trust):
        own = [json.loads(edge.body) for edge in edges() if edge.source == record.position]
        sources = [body["target"] for body in own if body["kind"] in MADE_FROM]
        check_sources(content.trust, sources, current)


def check_link(kind: str, source: str, target: tuple[str, str] | None, ceiling: str) -> None:
    """Raise Forbidden if a writer may not add such an edge.

    None may speak against its target in the name of a higher trust than the writer's, or say that
    a record was made from a less trusted one.
    `source` is the trust of the record that the edge starts from, `target` the id and the trust of
    the other; None if that is written with the edge.
    """
    if kind in CLAIMING:
        _check(source, ceiling)
    if kind in MADE_FROM and ceiling != FREE and target is not None:
        _check_source(source, *target)


def _check(trust: str, ceiling: str) -> None:
    if exceeds(trust, ceiling):
        raise Forbidden(
            f"trust: {trust} is higher than this caller may give; the highest is {ceiling}",
            hint="an operator can allow it: memoriter token create --trust, or memoriter mcp"
            " --trust",
            field="trust",
        )
