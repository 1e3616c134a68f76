"""Reflection: finds clusters of related memories and makes records that summarise them.

Pure functions, without a language model; `memory.reflecting` reads the memories and commits the
result. The id of a reflection is a hash of its members' ids, so that reflecting again, or in two
processes at once, makes no duplicates.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from operator import attrgetter
from typing import Final, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from memoriter.core.batch import Act, Vector
from memoriter.core.canonical import canonical
from memoriter.core.draft import Draft, with_changes
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.names import Json
from memoriter.core.record import Record
from memoriter.core.shown import counted, named, plain, quoted, shown
from memoriter.core.times import iso
from memoriter.core.work_limit import WorkLimit
from memoriter.embed.vector_space import VectorSpace
from memoriter.rank.cluster import (
    ROUNDS,
    clusters,
    middle,
    near,
    propagated,
    propagated_along,
    single_link,
)
from memoriter.rank.units import nearest_bytes, widened
from memoriter.text.keywords import Phrases, frequent_words
from memoriter.write.ceiling import FREE, least_trust
from memoriter.write.gates import DREAMING, Group, entities_of, refusal
from memoriter.write.prepare import SALT_BYTES, Derived, WriteContext, prepare_version, put_of

REFLECTION: Final = "reflection"
"""The kind of a reflection record."""
SOURCE: Final = "consolidated_from"
"""The kind of the edges from a reflection to its members."""
ASSOCIATED: Final = ("associated",)
"""The kind of the links that `linked` goes by."""
MOST_STEPS: Final = 1_000_000_000
"""How many steps a reflection may take; a step is about one operation on an array's element."""
_PAIR: Final = 16
"""What comparing one pair of a cluster costs, in steps: it takes three arrays of float64."""
_LETTER: Final = 250
"""What finding the phrases of a text costs for each letter, in steps; it is done twice."""
Algorithm = Literal["propagation", "agglomerative", "linked"]
ALGORITHMS: Final = ("propagation", "agglomerative", "linked")
Summary = Callable[[Sequence[Record]], str]
"""A caller's function that summarises the members of a cluster."""
_VERSION: Final = 2
_HASH: Final = 16
_EXCERPTS: Final = 5
_EXCERPT: Final = 150
_SUMMARY_WORDS: Final = 3
_DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class Rule:
    """When memories form a cluster, and which may be members."""

    algorithm: Algorithm = "propagation"
    similarity: float = 0.7
    """The least cosine of a near pair."""
    min_size: int = 3
    max_size: int = 200
    kinds: tuple[str, ...] | None = None
    """The kinds of records that may be members; None for all."""
    archived: bool = False
    """Whether archived records may be members."""


@dataclass(frozen=True, slots=True)
class Reflection:
    """One reflection: made, or to be made."""

    id: str
    members: tuple[str, ...]
    """Sorted."""
    keywords: tuple[str, ...]
    summary: str

    def __repr__(self) -> str:
        detail = f"{counted(len(self.members), 'member')}, {quoted(self.summary, 48)}"
        return shown(f"Reflection {named(self.id)}", detail)

    def to_dict(self) -> dict[str, object]:
        """The reflection as plain data."""
        lists = {"members": list(self.members), "keywords": list(self.keywords)}
        return {"id": self.id, "summary": self.summary, **lists}


@dataclass(frozen=True, slots=True)
class Rejected:
    """A cluster that a gate rejected, and the reason."""

    members: tuple[str, ...]
    reason: str

    def __repr__(self) -> str:
        return shown("Rejected", f"{counted(len(self.members), 'member')}, {plain(self.reason)}")

    def to_dict(self) -> dict[str, object]:
        """The cluster as plain data."""
        return {"members": list(self.members), "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Reflected:
    """The result of `reflect`; with `dry_run`, what it would do."""

    created: tuple[Reflection, ...] = ()
    kept: tuple[str, ...] = ()
    """Reflections that existed already."""
    retired: tuple[str, ...] = ()
    """Reflections that were archived, because a member was forgotten, hidden or superseded."""
    rejected: tuple[Rejected, ...] = ()
    considered: int = 0
    """How many memories were compared."""
    left_out: int = 0
    """How many were not: older than the newest `candidates`, of another kind, without a vector."""
    dry_run: bool = False
    seq: int = 0
    """The last entry of the log when it was done; `wait_for` takes it elsewhere."""
    remark: str | None = None
    """Why nothing came together and what would, or at which similarity below the default something
    did; None if there is nothing to say."""

    def __repr__(self) -> str:
        made = f"{len(self.created)} created, {len(self.kept)} kept"
        parts = [made, f"{len(self.retired)} retired", f"{len(self.rejected)} rejected"]
        return shown("Reflected", ", ".join(parts + ["dry run"] * self.dry_run))

    def to_dict(self) -> dict[str, object]:
        """The account as plain data."""
        return {
            "created": [each.to_dict() for each in self.created],
            "kept": list(self.kept),
            "retired": list(self.retired),
            "rejected": [each.to_dict() for each in self.rejected],
            "considered": self.considered,
            "left_out": self.left_out,
            "dry_run": self.dry_run,
            "seq": self.seq,
            **({"remark": self.remark} if self.remark else {}),
        }


@dataclass(frozen=True, slots=True)
class Cluster:
    """Members that passed every gate, by id."""

    group: Group
    rule: Rule

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its members, sorted."""
        return tuple(member.id for member in self.group.members)

    @property
    def hash(self) -> str:
        """The hash of its members' ids."""
        return hash_of(self.ids)

    @property
    def id(self) -> str:
        """The id of its reflection."""
        return f"{REFLECTION}:{self.hash}"

    @property
    def keywords(self) -> tuple[str, ...]:
        """The most frequent words of its members; of equally many, those of the oldest first."""
        return tuple(frequent_words(member.text for member in self.by_age))

    @property
    def by_age(self) -> list[Record]:
        """Its members, the oldest first: ids may be random, and must not decide what is said."""
        return sorted(self.group.members, key=attrgetter("position"))

    def reflection(self, summary: str | None = None) -> Reflection:
        """The reflection of this cluster; without a summary, its keywords are used."""
        words = self.keywords
        plain = f"REFLECTION [{', '.join(words[:_SUMMARY_WORDS])}]"
        return Reflection(self.id, self.ids, words, plain if summary is None else summary)


def hash_of(ids: Sequence[str]) -> str:
    """The hash of a cluster: 16 hex digits over its sorted ids.

    >>> hash_of(["m20", "m10", "m09"])
    '27f3fb890d43dbb7'
    """
    # Plain json.dumps, not canonical JSON: ids of stored reflections depend on these bytes.
    return hashlib.sha256(json.dumps(sorted(ids)).encode()).hexdigest()[:_HASH]


def tightest(vectors: NDArray[np.float32], size: int) -> float | None:
    """The greatest similarity at which some memory has enough others near to it for a cluster.

    None if there are fewer memories than a cluster needs.
    """
    if len(vectors) < size:
        return None
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1.0)
    return float(np.partition(cosines, -(size - 1), axis=1)[:, -(size - 1)].max())


def apart_remark(rule: Rule, tight: float | None) -> str:
    """Why no memories came together, and at which similarity some would."""
    if tight is None:
        return f"there are fewer than {rule.min_size} memories to compare"
    if rule.algorithm == "linked" or tight >= rule.similarity:
        return f"no {rule.min_size} memories belong together by these rules"
    return (
        f"no memory has {rule.min_size - 1} others within similarity {rule.similarity:g}; "
        f"the closest do at {int(tight * 100) / 100:.2f}: pass a lower similarity to see them"
    )


def find_clusters(
    records: Sequence[Record],
    vectors: NDArray[np.float32],
    rule: Rule,
    links: Sequence[tuple[int, int]] | None = None,
    work: WorkLimit | None = None,
) -> tuple[list[Cluster], list[Rejected]]:
    """Cluster the memories of one agent and user; returns (clusters, rejected clusters).

    `links` are pairs of their places, newest first, for the algorithm `linked`. Clusters below the
    minimum size are ignored, those above the maximum are rejected. Raises TooCostly.
    """
    work = work or reflect_limit()
    ids = [record.id for record in records]
    if links is not None:
        work.spend(ROUNDS * len(links))
        labels = _labels_along(links, ids)
    else:
        close = near(vectors, rule.similarity, work)
        # Label propagation counts the neighbours of each member in every round.
        work.spend(ROUNDS * int(close.sum()))
        labels = single_link(close) if rule.algorithm == "agglomerative" else propagated(close)
    work.spend(_LETTER * sum(len(record.text) for record in records))
    known = Phrases([record.text for record in records])
    good: list[Cluster] = []
    bad: list[Rejected] = []
    for places in clusters(labels):
        if places.size < rule.min_size:
            continue
        # The gates compare all pairs of a cluster, in float64.
        work.spend(_PAIR * places.size**2 if places.size <= rule.max_size else 0)
        at = np.array(sorted(places.tolist(), key=ids.__getitem__))
        members = tuple(records[int(place)] for place in at)
        work.spend(_LETTER * sum(len(member.text) for member in members))
        aged = sorted(members, key=attrgetter("position"))
        phrases = tuple(known.distinctive(member.text for member in aged))
        cluster = Cluster(Group(members, vectors[at], phrases), rule)
        too_large = f"{at.size} members, at most {rule.max_size} are summed up"
        reason = too_large if at.size > rule.max_size else refusal(cluster.group)
        if reason is None:
            good.append(cluster)
        else:
            bad.append(Rejected(cluster.ids, reason))
    return good, bad


def _labels_along(links: Sequence[tuple[int, int]], ids: Sequence[str]) -> NDArray[np.int64]:
    """The labels that spread along links between places; of equal ones the smallest id is taken."""
    rank = {at: place for place, at in enumerate(sorted(range(len(ids)), key=ids.__getitem__))}
    labels = propagated_along([(rank[one], rank[two]) for one, two in links], len(ids))
    return labels[[rank[at] for at in range(len(ids))]]


def reflect_limit() -> WorkLimit:
    """The budget of one reflection: about a second of arithmetic on arrays."""
    return WorkLimit(MOST_STEPS, "reflect", "give fewer candidates, or a higher similarity")


def is_ours(record: Record) -> bool:
    """Whether `reflect` made a record: callers may use the kind `reflection` too."""
    return record.kind == REFLECTION and (record.source.channel or "").startswith(DREAMING)


def members_of(record: Record) -> tuple[str, ...] | None:
    """The ids of a reflection's members; None if its text was changed and has none."""
    try:
        members = cast("object", json.loads(record.text)["member_ids"])
    except (ValueError, TypeError, KeyError):
        return None
    ids = cast("list[object]", members) if isinstance(members, list) else []
    return tuple(map(str, ids)) or None


def content_of(cluster: Cluster, created: int) -> dict[str, Json]:
    """The text of a reflection as data: its members and what they have in common."""
    members = cluster.group.members
    times = [m.created if m.occurred is None else m.occurred for m in members]
    names = dict.fromkeys(name for member in cluster.by_age for name in entities_of(member))
    return {
        "type": REFLECTION,
        "version": _VERSION,
        "member_ids": list(cluster.ids),
        "member_count": len(members),
        "cluster_hash": cluster.hash,
        "cluster_algorithm": cluster.rule.algorithm,
        "created_at": iso(created),
        "keywords": list(cluster.keywords),
        "top_keyphrases": [[phrase, weight] for phrase, weight in cluster.group.phrases],
        "member_excerpts": [member.text[:_EXCERPT] for member in members[:_EXCERPTS]],
        "temporal_span": {
            "min": iso(min(times)),
            "max": iso(max(times)),
            "days": round((max(times) - min(times)) / timedelta(days=1), _DIGITS),
        },
        "named_entities": list(names),
    }


def draft_of(
    cluster: Cluster, summary: str, now: int, cycle: int | None, ceiling: str = FREE
) -> Draft:
    """The draft of a reflection: the lowest trust and the first expiry of its members.

    Its trust is not above the ceiling of the writer either.
    """
    members = cluster.group.members
    first = members[0]
    sessions = {member.session for member in members}
    expiries = [member.expires for member in members if member.expires is not None]
    return Draft.of(
        {
            "id": cluster.id,
            "text": canonical(content_of(cluster, now)).decode(),
            "summary": summary,
            "kind": REFLECTION,
            "priority": "P2",
            "trust": least_trust([ceiling, *(member.trust for member in members)]),
            "source": {"channel": f"{DREAMING}{cluster.hash}"},
            "agent": first.agent,
            "user": first.user,
            "session": first.session if len(sessions) == 1 else None,
            "expires": min(expiries, default=None),
            "created": now,
            "cycle": cycle,
            "links": [{"target": one, "kind": SOURCE} for one in cluster.ids],
        }
    )


@dataclass(frozen=True, slots=True)
class NewReflection:
    """A reflection to write: its draft, and the stored vectors of its members."""

    draft: Draft
    vectors: NDArray[np.floating]


class Revised(NamedTuple):
    """A reflection that gets a new version: what changes, and its vectors, which stay."""

    record: Record
    changes: Mapping[str, object]
    vectors: tuple[Vector, ...]


def reflection_acts(
    new: Sequence[NewReflection],
    revised: Sequence[Revised],
    context: WriteContext,
) -> Iterator[Act]:
    """The acts that write new reflections and new versions of others."""
    analyzers = context.analyzers
    for draft, vectors in ((each.draft, each.vectors) for each in new):
        centre = middle(vectors)  # a reflection has the mean of its members' vectors
        content = draft.complete(context.clock.now())
        stored = () if centre is None else _stored(centre, context.vectors)
        derived = Derived(context.space, stored, analyzers)
        yield put_of(draft, content, str(draft.id), context.entropy.draw(SALT_BYTES), derived)
    for record, changes, kept in revised:
        yield prepare_version(record, with_changes(record, changes), kept, context, None)


def _stored(vector: NDArray[np.float32], space: VectorSpace) -> tuple[Vector, ...]:
    """The vector in the form that its space stores; in bytes it is rounded to them."""
    if space.name.startswith("given:"):
        return (Vector(space.name, 0, "f8", vector.astype("<f8").tobytes()),)
    kept = widened(nearest_bytes(vector)[np.newaxis]) if space.is_in_bytes else vector
    return (Vector(space.name, 0, "unit", space.body_of(kept.astype("<f4").tobytes())),)
