"""The reply of each operation as a pydantic model, from which OpenAPI and MCP schemas are made.

They only describe: handlers return the plain data of the library, which is not validated by them.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from memoriter.core.names import JsonObject
from memoriter.pipeline.relevance import Strength


class Reply(BaseModel):
    """A reply; it may have more fields than are declared."""

    model_config = ConfigDict(extra="allow")


class RecordReply(Reply):
    """A stored memory; optional fields are present if they have a value."""

    id: str
    text: str
    kind: str
    created: str
    """ISO 8601 in UTC, like every time in a reply."""
    row: int
    position: int
    committed: str


class LaneScoreReply(Reply):
    """Rank and score of a hit in one lane."""

    rank: int
    score: float


class BriefHitReply(Reply):
    """A hit, without the arithmetic of its score."""

    id: str
    rank: int
    score: float
    relevance: float | None = None
    """0 to 1; absent if the recipe has no relevance. It can be compared between questions."""
    strength: Strength | None = None
    """What the relevance means."""
    text: str
    kind: str
    created: str
    lanes: dict[str, LaneScoreReply]
    matched: dict[str, list[str]]
    """The terms that matched, each with the fields that contain it."""
    copies: list[str] | None = None
    """The ids of the copies that it stands for, if there are any."""
    owed: dict[str, str] | None = None
    """By lane what it lacks of the memory because it is computed later, and what stands for it."""


class HitReply(Reply):
    """A hit, with the arithmetic of its score."""

    rank: int
    score: float
    relevance: float | None = None
    """As in a brief hit."""
    strength: Strength | None = None
    record: RecordReply
    superseded_by: list[str]
    matched: dict[str, list[str]]
    """As in a brief hit."""
    copies: list[str] | None = None
    """As in a brief hit."""
    owed: dict[str, str] | None = None
    """As in a brief hit."""
    spans: list[list[int]]
    lanes: dict[str, JsonObject]
    explanation: JsonObject
    relevance_explanation: JsonObject | None = None
    """What the relevance is made from; absent if the recipe has none."""


class ResultReply(Reply):
    """The hits of a search, best first."""

    status: Literal["complete", "degraded"]
    used: list[str]
    skipped: dict[str, str]
    total: int
    relevance: float | None = None
    """The best relevance of a hit; absent if the recipe has none."""
    strength: Strength | None = None
    """What it means; `none`: nothing relevant."""
    remarks: list[str] | None = None
    """What should be known about the strength, in sentences."""
    hits: list[HitReply]
    plan: JsonObject
    receipt: str
    """The handle of the receipt, for explain, replay and verify."""
    drawing: JsonObject | None = None
    """What a picture of the answer shows, with `"detail": "drawn"`."""


class BriefReply(Reply):
    """The hits of a search, best first, without their arithmetic."""

    status: Literal["complete", "degraded"]
    total: int
    relevance: float | None = None
    """The best relevance of a hit; absent if the recipe has none."""
    strength: Strength | None = None
    """What it means; `none`: nothing relevant."""
    remarks: list[str] | None = None
    """What should be known about the strength, in sentences."""
    hits: list[BriefHitReply]
    receipt: str
    skipped: dict[str, str] | None = None


class BlockReply(Reply):
    """The hits of a search as a block of text for a prompt."""

    text: str
    citations: dict[str, str]
    left_out: list[str]
    not_relevant: list[str] | None = None
    """The ids of the hits of strength `none`, which the text leaves out."""
    tokens: int
    chars: int
    status: Literal["complete", "degraded"]
    relevance: float | None = None
    """The best relevance of a hit; absent if the recipe has none."""
    strength: Strength | None = None
    """What it means; `none`: nothing relevant."""
    remarks: list[str] | None = None
    """What should be known about the strength, in sentences."""
    thresholds: dict[Literal["weak", "strong"], float] | None = None
    """The relevance from which a hit is weak and strong; absent if the recipe has none."""
    receipt: str


class SupportReply(Reply):
    """A memory that is linked to a hit, and the path of links to it."""

    record: RecordReply
    depth: int
    path: list[JsonObject]


class BundleReply(Reply):
    """A hit and the memories that are linked to it."""

    seed: HitReply
    support: list[SupportReply]


class BundlesReply(Reply):
    """A page of bundles."""

    total: int
    offset: int
    skipped: dict[str, str]
    bundles: list[BundleReply]


class PlanReply(Reply):
    """The steps that a recall would run."""

    recipe: str
    fingerprint: str
    steps: list[JsonObject]


class WhyNotReply(Reply):
    """What kept a memory out, and what would let it in."""

    id: str
    stage: str
    reason: str
    change: JsonObject | None
    admits: bool
    rank_then: int | None


class ExplainedReply(Reply):
    """The hit with its arithmetic, or what kept the memory out."""

    hit: HitReply | None = None
    why_not: WhyNotReply | None = None
    versus: JsonObject | None = None
    """What separates the hit from the other one that was named, part by part."""


class ReplayedReply(Reply):
    """A search that was run again on its old view, and whether the answer is the same."""

    same: bool
    gone: list[str]
    forgotten: int
    differences: list[str]
    result: ResultReply


class VerifiedReply(Reply):
    """Whether every number of a receipt follows from the others."""

    ok: bool
    problems: list[str]
    checked: list[str]
    attested: list[str]
    not_covered: list[str]


class WhatIfReply(ResultReply):
    """The answer with other numbers in the recipe."""

    spelled: dict[str, str]
    """The same search as a Python call, as a command, and the recipe as TOML."""


class BriefWhatIfReply(BriefReply):
    """The same, without the arithmetic of the hits."""

    spelled: dict[str, str]


class DiffReply(Reply):
    """How two answers differ."""

    same: bool
    causes: list[str]
    inputs: list[JsonObject]
    entered: list[str]
    left: list[str]
    moves: list[JsonObject]


class PageReply(Reply):
    """A page of memories by date."""

    records: list[RecordReply]
    total: int
    cursor: str | None


class VersionsReply(Reply):
    """Versions of a memory, oldest first."""

    id: str
    versions: list[RecordReply]


class EdgeReply(Reply):
    """A link between two memories."""

    source: str
    target: str
    kind: str
    weight: float


class LinksReply(Reply):
    """The links of a memory, in both directions."""

    id: str
    links: list[EdgeReply]


class StatusReply(Reply):
    """Counts of a tenant."""

    tenant: str
    records: int
    expired: int
    seq: int
    time: str | None = None
    """The time of the last commit."""
    debt: int
    facts_owed: int
    """Turns of conversations that still lack facts."""
    segments: int
    tail: int
    unerased: int
    """Forgotten memories that are not erased from all files yet."""
    unerased_since: str | None = None
    by: str | None = None
    counts: dict[str, int] | None = None
    distinct: int | None = None
    calibrations: list[CalibratedReply]
    repeats: list[list[dict[str, str]]] | None = None
    """Groups of memories whose texts are nearly the same: id and text of each; at most 100."""
    repeat_groups: int | None = None
    """How many such groups there are in all."""
    compared: int | None = None
    kernel: str
    """What computes here: `native` or `numpy`."""


class CalibratedReply(Reply):
    """Whether a vector space is calibrated, and by which numbers."""

    space: str
    embedder: str | None = None
    state: Literal["committed", "packaged", "none"]
    cosines: dict[str, float] | None = None
    """By level: the cosine that this share of unrelated texts does not exceed."""
    compared: Literal["records", "probes"] | None = None
    texts: int | None = None
    time: str | None = None
    """When it was committed."""
    agent: str | None = None


class AgentReply(Reply):
    """A registered agent."""

    agent: str
    aliases: list[str]


class AgentsReply(Reply):
    """All registered agents."""

    agents: list[AgentReply]


class RecipeLineReply(Reply):
    """Name, version and fingerprint of a recipe."""

    name: str
    version: int
    fingerprint: str


class RecipesReply(Reply):
    """All recipes."""

    recipes: list[RecipeLineReply]


class RecipeReply(Reply):
    """A recipe, with every default filled in."""

    fingerprint: str
    recipe: JsonObject
    numbers: list[JsonObject]
    """Every number that changes a ranking: its path, value, meaning and bounds."""


class MaintainedReply(Reply):
    """The pending work that was done, and what is left of it."""

    embedded: int
    owed: int
    behind: int
    published: bool
    unerased: int
