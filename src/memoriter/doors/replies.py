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


class Record(Reply):
    """A stored memory; its other fields stand beside these where they were given."""

    id: str
    text: str
    kind: str
    created: str
    """ISO 8601 in UTC, as all times here."""
    row: int
    position: int
    committed: str


class LaneScore(Reply):
    """What one lane said of a hit."""

    rank: int
    score: float


class BriefHit(Reply):
    """A memory that was found."""

    id: str
    rank: int
    score: float
    text: str
    kind: str
    created: str
    lanes: dict[str, LaneScore]
    matched: dict[str, list[str]]
    """The terms that matched, each with the fields that have it."""


class Hit(Reply):
    """A memory that was found, with the arithmetic of its score."""

    rank: int
    score: float
    record: Record
    superseded_by: list[str]
    matched: dict[str, list[str]]
    """As in a brief answer."""
    spans: list[list[int]]
    lanes: dict[str, Object]
    explanation: Object


class Result(Reply):
    """Memories, best first."""

    status: Literal["complete", "degraded"]
    used: list[str]
    skipped: dict[str, str]
    total: int
    hits: list[Hit]
    plan: Object
    receipt: str
    """A handle of this answer, for explain."""


class Brief(Reply):
    """Memories, best first, without their arithmetic."""

    status: Literal["complete", "degraded"]
    total: int
    hits: list[BriefHit]
    receipt: str
    skipped: dict[str, str] | None = None


class Block(Reply):
    """Memories as text for a prompt."""

    text: str
    citations: dict[str, str]
    left_out: list[str]
    tokens: int
    chars: int
    status: Literal["complete", "degraded"]
    receipt: str


class Support(Reply):
    """What hangs on a hit."""

    record: Record
    depth: int
    path: list[Object]


class Bundle(Reply):
    """A hit and what hangs on it."""

    seed: Hit
    support: list[Support]


class Bundles(Reply):
    """A page of bundles."""

    total: int
    offset: int
    bundles: list[Bundle]


class Plan(Reply):
    """What a recall would do."""

    recipe: str
    fingerprint: str
    steps: list[Object]


class WhyNot(Reply):
    """What kept a memory out, and what would let it in."""

    id: str
    stage: str
    reason: str
    change: Object | None
    admits: bool
    rank_then: int | None


class Explained(Reply):
    """Why a memory is there, or why it is not."""

    hit: Hit | None = None
    why_not: WhyNot | None = None


class Replayed(Reply):
    """An answer once more, on the view of that time."""

    same: bool
    gone: list[str]
    forgotten: int
    differences: list[str]
    result: Result


class Verified(Reply):
    """Whether an answer follows from its receipt."""

    ok: bool
    problems: list[str]
    checked: list[str]
    attested: list[str]


class Diff(Reply):
    """How two answers differ."""

    same: bool
    causes: list[str]
    inputs: list[Object]
    entered: list[str]
    left: list[str]
    moves: list[Object]


class Page(Reply):
    """Memories by date."""

    records: list[Record]
    total: int
    cursor: str | None


class Versions(Reply):
    """All versions of a memory, oldest first."""

    id: str
    versions: list[Record]


class Edge(Reply):
    """What holds between two memories."""

    source: str
    target: str
    kind: str
    weight: float


class Links(Reply):
    """The links at a memory."""

    id: str
    links: list[Edge]


class Commit(Reply):
    """What was written."""

    tenant: str
    seq: int
    time: str
    ids: list[str]
    debt: int


class Erasure(Reply):
    """What was forgotten."""

    ids: list[str]
    seq: int
    state: str


class Reflected(Reply):
    """What reflecting wrote, or would write."""

    created: list[Object]
    kept: list[str]
    retired: list[str]
    rejected: list[Object]
    considered: int
    left_out: int
    dry_run: bool


class Status(Reply):
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


class Agent(Reply):
    """A registered agent."""

    agent: str
    aliases: list[str]


class Agents(Reply):
    """All registered agents."""

    agents: list[Agent]


class RecipeLine(Reply):
    """A recipe by name."""

    name: str
    version: int
    fingerprint: str


class Recipes(Reply):
    """All recipes."""

    recipes: list[RecipeLine]


class Recipe(Reply):
    """A recipe as data."""

    fingerprint: str
    recipe: Object


class Maintained(Reply):
    """What upkeep did."""

    embedded: int
    owed: int
    behind: int
    published: bool


class Checkup(Reply):
    """What a check of the store found."""

    sound: bool
    tenants: int
    entries: int
    problems: list[str]
    derived: list[str]
    mended: bool
