"""What a door answers: the shape of every reply, for schemas and for those who read them.

Replies are the library's own plain data. These models describe them and are not in their way.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Object = dict[str, Any]


class Reply(BaseModel):
    """An answer; more may stand beside what is named here."""

    model_config = ConfigDict(extra="allow")


class RecordReply(Reply):
    """A stored memory; its other fields stand beside these where they were given."""

    id: str
    text: str
    kind: str
    created: str
    """ISO 8601 in UTC, as all times here."""
    row: int
    position: int
    committed: str


class LaneScoreReply(Reply):
    """What one lane said of a hit."""

    rank: int
    score: float


class BriefHitReply(Reply):
    """A memory that was found."""

    id: str
    rank: int
    score: float
    text: str
    kind: str
    created: str
    lanes: dict[str, LaneScoreReply]
    matched: dict[str, list[str]]
    """The terms that matched, each with the fields that have it."""


class HitReply(Reply):
    """A memory that was found, with the arithmetic of its score."""

    rank: int
    score: float
    record: RecordReply
    superseded_by: list[str]
    matched: dict[str, list[str]]
    """As in a brief answer."""
    spans: list[list[int]]
    lanes: dict[str, Object]
    explanation: Object


class ResultReply(Reply):
    """Memories, best first."""

    status: Literal["complete", "degraded"]
    used: list[str]
    skipped: dict[str, str]
    total: int
    hits: list[HitReply]
    plan: Object
    receipt: str
    """A handle of this answer, for explain."""


class BriefReply(Reply):
    """Memories, best first, without their arithmetic."""

    status: Literal["complete", "degraded"]
    total: int
    hits: list[BriefHitReply]
    receipt: str
    skipped: dict[str, str] | None = None


class BlockReply(Reply):
    """Memories as text for a prompt."""

    text: str
    citations: dict[str, str]
    left_out: list[str]
    tokens: int
    chars: int
    status: Literal["complete", "degraded"]
    receipt: str


class SupportReply(Reply):
    """What hangs on a hit."""

    record: RecordReply
    depth: int
    path: list[Object]


class BundleReply(Reply):
    """A hit and what hangs on it."""

    seed: HitReply
    support: list[SupportReply]


class BundlesReply(Reply):
    """A page of bundles."""

    total: int
    offset: int
    bundles: list[BundleReply]


class PlanReply(Reply):
    """What a recall would do."""

    recipe: str
    fingerprint: str
    steps: list[Object]


class WhyNotReply(Reply):
    """What kept a memory out, and what would let it in."""

    id: str
    stage: str
    reason: str
    change: Object | None
    admits: bool
    rank_then: int | None


class ExplainedReply(Reply):
    """Why a memory is there, or why it is not."""

    hit: HitReply | None = None
    why_not: WhyNotReply | None = None


class ReplayedReply(Reply):
    """An answer once more, on the view of that time."""

    same: bool
    gone: list[str]
    forgotten: int
    differences: list[str]
    result: ResultReply


class VerifiedReply(Reply):
    """Whether an answer follows from its receipt."""

    ok: bool
    problems: list[str]
    checked: list[str]
    attested: list[str]


class DiffReply(Reply):
    """How two answers differ."""

    same: bool
    causes: list[str]
    inputs: list[Object]
    entered: list[str]
    left: list[str]
    moves: list[Object]


class PageReply(Reply):
    """Memories by date."""

    records: list[RecordReply]
    total: int
    cursor: str | None


class VersionsReply(Reply):
    """All versions of a memory, oldest first."""

    id: str
    versions: list[RecordReply]


class EdgeReply(Reply):
    """What holds between two memories."""

    source: str
    target: str
    kind: str
    weight: float


class LinksReply(Reply):
    """The links at a memory."""

    id: str
    links: list[EdgeReply]


class CommitReply(Reply):
    """What was written."""

    tenant: str
    seq: int
    time: str
    ids: list[str]
    debt: int


class ErasureReply(Reply):
    """What was forgotten."""

    ids: list[str]
    seq: int
    state: str


class ReflectedReply(Reply):
    """What reflecting wrote, or would write."""

    created: list[Object]
    kept: list[str]
    retired: list[str]
    rejected: list[Object]
    considered: int
    left_out: int
    dry_run: bool


class StatusReply(Reply):
    """How much there is."""

    tenant: str
    records: int
    expired: int
    seq: int
    time: str | None = None
    """Of the last commit."""
    debt: int
    segments: int
    tail: int
    by: str | None = None
    counts: dict[str, int] | None = None
    distinct: int | None = None


class AgentReply(Reply):
    """A registered agent."""

    agent: str
    aliases: list[str]


class AgentsReply(Reply):
    """All registered agents."""

    agents: list[AgentReply]


class RecipeLineReply(Reply):
    """A recipe by name."""

    name: str
    version: int
    fingerprint: str


class RecipesReply(Reply):
    """All recipes."""

    recipes: list[RecipeLineReply]


class RecipeReply(Reply):
    """A recipe as data."""

    fingerprint: str
    recipe: Object


class MaintainedReply(Reply):
    """What upkeep did."""

    embedded: int
    owed: int
    behind: int
    published: bool


class CheckupReply(Reply):
    """What a check of the store found."""

    sound: bool
    tenants: int
    entries: int
    problems: list[str]
    derived: list[str]
    mended: bool
