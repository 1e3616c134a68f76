"""The ceiling of a writer: the highest trust that what it writes may have.

A caller of the library may give any trust. A token or an MCP host has a ceiling, `learned` unless
it was made with another: text of trust `system` reaches a prompt without a fence, so a payload
cannot decide about it. What lies above the ceiling is refused, never lowered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from memoriter.core.draft import Draft
from memoriter.core.edge import REPLACING
from memoriter.core.errors import Forbidden, NotFound
from memoriter.core.fields import TRUST
from memoriter.core.record import Content

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
    for tie in draft.ties:
        source = _trust_of_source(tie.target, current) if tie.kind in MADE_FROM else None
        if source is not None and exceeds(trust, source):
            raise Forbidden(
                f"trust: {trust} is higher than the trust of {tie.target!r}, which this memory"
                " was made from",
                hint=f"give trust {source}",
                field="trust",
            )
    return draft if given == trust else replace(draft, fields={**draft.fields, "trust": trust})


def _trust_of_source(id: str, current: Current) -> str | None:
    """The trust of a record; None if it is not there yet: the store refuses it, or writes both."""
    try:
        return current(id).trust
    except NotFound:
        return None


def check_trust(content: Content, ceiling: str) -> None:
    """Raise Forbidden if a new version would have a trust above the ceiling.

    So what is trusted more than a writer may give cannot be changed by that writer either.
    """
    _check(content.trust, ceiling)


def check_link(kind: str, source: str, ceiling: str) -> None:
    """Raise Forbidden if an edge speaks against its target in the name of a higher trust.

    `source` is the trust of the record that the edge starts from.
    """
    if kind in CLAIMING:
        _check(source, ceiling)


def _check(trust: str, ceiling: str) -> None:
    if exceeds(trust, ceiling):
        raise Forbidden(
            f"trust: {trust} is higher than this caller may give; the highest is {ceiling}",
            hint="an operator can allow it: memoriter token create --trust, or memoriter mcp"
            " --trust",
            field="trust",
        )
