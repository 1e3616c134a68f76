"""The replies of operations that write, and of the review list; `doors.replies` has the others."""

from __future__ import annotations

from memoriter.core.names import JsonObject
from memoriter.doors.replies import RecordReply, Reply


class SimilarReply(Reply):
    """A stored memory near to a new one, and why."""

    id: str
    relation: str
    why: str
    shared: list[str]
    attribute: str
    here: str
    there: str
    text: str


class SimilarsReply(Reply):
    """The memories that a new one would copy, contradict or replace."""

    similar: list[SimilarReply]


class CommitReply(Reply):
    """A commit: its number, its time, and the ids that were written."""

    tenant: str
    seq: int
    time: str
    ids: list[str]
    debt: int
    near: list[SimilarReply] | None = None
    """What `on_similar` found."""


class ErasureReply(Reply):
    """The ids of the memories that are forgotten, or would be."""

    ids: list[str]
    count: int
    seq: int
    state: str
    reflections: list[str] | None = None
    """Those of `ids` that are reflections of the others: they quote them, so they go too."""
    derived: list[str] | None = None
    """Memories that stay and were made from them, by their links: they may quote them."""


class ReflectedReply(Reply):
    """The reflections that were made, kept and retired, or would be."""

    created: list[JsonObject]
    kept: list[str]
    retired: list[str]
    rejected: list[JsonObject]
    considered: int
    left_out: int
    dry_run: bool
    seq: int
    remark: str | None = None
    """Why nothing came together."""


class ClaimReply(Reply):
    """A memory that would replace or contradicts one that is trusted more."""

    kind: str
    source: RecordReply
    target: RecordReply


class ReviewReply(Reply):
    """The claims that wait for a decision, oldest first."""

    claims: list[ClaimReply]


class RefusedMessageReply(Reply):
    """A message that was not stored, and the kinds of the secrets in it."""

    message: int
    kinds: list[str]


class CapturedReply(Reply):
    """What became of the messages of a conversation."""

    ids: list[str]
    already: int
    empty: int
    refused: list[RefusedMessageReply]
    facts: list[str]
    seq: int
    problem: str | None = None
    owed: int = 0
    """How many turns still lack facts."""
