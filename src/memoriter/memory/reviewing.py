"""The review list: links by which a record speaks against one that is trusted more.

A recipe that hides superseded records lets no such link hide anything (`select.replaced_by`). Each
is listed until somebody decides: accepted, the record is trusted as much as the one it speaks
against; rejected, the link ends.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from memoriter.core.batch import Commit
from memoriter.core.errors import BadQuery, Conflict, NotFound
from memoriter.core.fields import TRUST
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import flag, integer, name, names
from memoriter.core.query import LIMIT_LIMIT
from memoriter.core.record import Record
from memoriter.core.scope import Scope
from memoriter.core.shown import named, plain, shown
from memoriter.core.times import to_datetime
from memoriter.index.columns import NO_TIME
from memoriter.memory.engine import Engine
from memoriter.write.ceiling import CLAIMING
from memoriter.write.writer import Writer


@dataclass(frozen=True, slots=True)
class Claim:
    """A record that would replace or contradicts a record that is trusted more."""

    source: Record
    """The record that makes the claim."""
    target: Record
    """The record that it speaks against."""
    kind: str
    """supersedes, corrects, invalidates or contradicts."""
    since: int | None = None
    """When the link begins, in microseconds."""

    def __repr__(self) -> str:
        ends = f"{named(self.source.id)} {plain(self.kind, 24)} {named(self.target.id)}"
        return shown(f"Claim {ends}", f"{self.source.trust} against {self.target.trust}")

    def to_dict(self) -> dict[str, object]:
        """The claim as plain data."""
        return {
            "kind": self.kind,
            "source": self.source.to_dict(),
            "target": self.target.to_dict(),
        }


def claims_to_review(engine: Engine, scope: Scope, limit: int) -> tuple[Claim, ...]:
    """The claims in force now whose source is trusted less than their target, oldest first."""
    integer(limit, "limit", 1, LIMIT_LIMIT, BadQuery)
    view, fetch = engine.view(scope.tenant, None), engine.fetch(scope.tenant)
    graph = view.graph
    edges = graph.edges
    at = np.flatnonzero(edges.holding(engine.clock.now(), CLAIMING))
    at = at[view.less_trusted(edges.sources[at], edges.targets[at])]
    claims: list[Claim] = []
    for edge in at.tolist():
        rows = [int(graph.rows[ends[edge]]) for ends in (edges.sources, edges.targets)]
        source, target = fetch(rows) if min(rows) >= 0 else (None, None)
        if source is None or target is None:
            continue
        if scope.contains(source) and scope.contains(target):
            since = int(edges.since[edge])
            kind = edges.names[edges.kinds[edge]]
            claims.append(Claim(source, target, kind, None if since == NO_TIME else since))
        if len(claims) == limit:
            break
    return tuple(claims)


def decide_claim(
    engine: Engine, writer: Writer, source: str, target: str | Sequence[str], *, accept: bool
) -> Commit:
    """Accept or reject what one record says against others; raises NotFound if it says nothing.

    Raises Forbidden if the writer may not give the trust of a target, Conflict if accepting puts
    claims into force that are not named: a record is trusted as a whole.
    """
    source = name(source, "source", BadQuery)
    several = (target,) if isinstance(target, str) else target
    targets = names(several, "target", BadQuery) or (name("", "target", BadQuery),)
    flag(accept, "accept", BadQuery)
    every = claims_to_review(engine, writer.scope, LIMIT_LIMIT)
    own = [claim for claim in every if claim.source.id == source]
    chosen = [claim for claim in own if claim.target.id in targets]
    for each in targets:
        if all(claim.target.id != each for claim in chosen):
            raise NotFound(
                f"memory {source!r} makes no open claim against memory {each!r}",
                hint="to see the open claims (links by which a memory replaces or contradicts a"
                " more trusted one), use review()",
                field="source",
            )
    if accept:
        trust = min((claim.target.trust for claim in chosen), key=TRUST.index)
        _check_only(own, targets, trust)
        return writer.update(source, {"trust": trust}, None)
    now = engine.clock.now()
    for claim in chosen[:-1]:
        _end(writer, claim, now)
    return _end(writer, chosen[-1], now)


def _check_only(own: Sequence[Claim], targets: Collection[str], trust: str) -> None:
    """Raise Conflict if a source of this trust would have other claims in force too."""
    others = [
        claim.target.id
        for claim in own
        if claim.target.id not in targets and TRUST.index(claim.target.trust) >= TRUST.index(trust)
    ]
    if others:
        listed = ", ".join(map(repr, dict.fromkeys(others)))
        raise Conflict(
            "if this claim is accepted, another one takes effect too: memory"
            f" {own[0].source.id!r} also supersedes or contradicts {listed}",
            hint="reject the other claim first, or accept both at once: give the ids of both as"
            " targets",
            field="target",
        )


def _end(writer: Writer, claim: Claim, now: int) -> Commit:
    """Write the link again with an end: a later link of the same key replaces it."""
    begun = claim.since
    until = now if begun is None else max(now, begun + 1)
    times = {"valid_from": None if begun is None else to_datetime(begun)}
    options = {**times, "valid_until": to_datetime(until)}
    return writer.link(claim.source.id, claim.target.id, claim.kind, options, None)
