"""The table of operations: everything that can be requested, declared once.

REST routes, OpenAPI, JSON-RPC methods and MCP tools are made from it, and a test compares the
command line with it. A new operation is a request model, a handler and a line here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors import handlers, replies, requests, write_replies
from memoriter.doors.port import Right
from memoriter.doors.requests import Request, parse_request
from memoriter.doors.tenant_session import TenantSession, without_tenant

Handler = Callable[[TenantSession, Any], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: how it is reached, what it takes, what it returns, who may run it."""

    name: str
    right: Right
    route: str
    """HTTP method and path; parts in braces are fields of the request."""
    request: type[Request]
    reply: type[replies.Reply]
    handler: Handler
    summary: str
    command: str | None = None
    """The command that does the same; None if it has the name of the operation."""
    brief: type[replies.Reply] | None = None
    """The reply to a request with `"detail": "brief"`, where there is one."""
    destructive: bool = False
    repeatable: bool = True
    """Whether it is idempotent: running it twice changes no more than running it once."""

    @property
    def verb(self) -> str:
        """The command that does the same, as it is typed."""
        return self.command or self.name.replace("_", "-")

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self.route.split(" ")[0]

    @property
    def path(self) -> str:
        """The HTTP path."""
        return self.route.split(" ")[1]

    def run(
        self, tenant_session: TenantSession, data: object, *, spelled: bool = False
    ) -> dict[str, Any]:
        """Parse the data, call the handler, return its reply.

        `spelled` says that all values are text, as in the query string of a URL. Raises InputError
        for data of the wrong shape, Forbidden if it names another tenant.
        """
        request = parse_request(
            self.request, without_tenant(tenant_session.tenant, data), spelled=spelled
        )
        return self.handler(tenant_session, request)


OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation("recall", "read", "POST /v1/recall",
              requests.RecallRequest, replies.ResultReply, handlers.recall,
              "Find the memories that answer a question, best first, and why each was found.",
              brief=replies.BriefReply),
    Operation("context", "read", "POST /v1/context",
              requests.ContextRequest, replies.BlockReply, handlers.context,
              "Recall as a fenced block of text for a prompt, within a budget.", command="recall"),
    Operation("keywords", "read", "POST /v1/keywords",
              requests.RecallRequest, replies.ResultReply, handlers.keywords,
              "Find memories by their words alone.", brief=replies.BriefReply),
    Operation("bundles", "read", "POST /v1/bundles",
              requests.BundlesRequest, replies.BundlesReply, handlers.bundles,
              "Find memories, each with the memories that are linked to it."),
    Operation("reflections", "read", "POST /v1/reflections",
              requests.RecallRequest, replies.ResultReply, handlers.reflections,
              "Find reflections only.", brief=replies.BriefReply),
    Operation("plan", "read", "POST /v1/plan",
              requests.AskRequest, replies.PlanReply, handlers.plan,
              "Show what a recall would do, without running it."),
    Operation("explain", "read", "POST /v1/explain",
              requests.ExplainRequest, replies.ExplainedReply, handlers.explain,
              "Say why a memory is in an answer, or what kept it out."),
    Operation("why_not", "read", "POST /v1/why-not",
              requests.WhyNotRequest, replies.WhyNotReply, handlers.why_not,
              "Say what kept a memory out of an answer, and what would let it in."),
    Operation("what_if", "read", "POST /v1/what-if",
              requests.WhatIfRequest, replies.WhatIfReply, handlers.what_if,
              "Show what the search of a receipt would find with other numbers in its recipe.",
              command="recall", brief=replies.BriefWhatIfReply),
    Operation("receipt", "read", "POST /v1/receipt",
              requests.OfReceiptRequest, replies.Reply, handlers.receipt,
              "The whole receipt of a recent answer.", command="recall"),
    Operation("verify", "read", "POST /v1/verify",
              requests.OfReceiptRequest, replies.VerifiedReply, handlers.verify,
              "Recompute every number of a receipt."),
    Operation("replay", "read", "POST /v1/replay",
              requests.OfReceiptRequest, replies.ReplayedReply, handlers.replay,
              "Run the search of a receipt again, on the data as it was then."),
    Operation("diff", "read", "POST /v1/diff",
              requests.DifferRequest, replies.DiffReply, handlers.diff,
              "Show how two answers differ, and why."),
    Operation("browse", "read", "POST /v1/browse",
              requests.BrowseRequest, replies.PageReply, handlers.browse,
              "List memories by date, page by page, without a search."),
    Operation("get", "read", "GET /v1/memories/{id}",
              requests.GetRequest, replies.RecordReply, handlers.get,
              "One memory, now or as it was known at a time."),
    Operation("history", "read", "GET /v1/memories/{id}/history",
              requests.HistoryRequest, replies.VersionsReply, handlers.history,
              "The newest versions of a memory."),
    Operation("links", "read", "GET /v1/memories/{id}/links",
              requests.RecordRequest, replies.LinksReply, handlers.links,
              "The links of a memory, in both directions."),
    Operation("agents", "read", "GET /v1/agents",
              requests.EmptyRequest, replies.AgentsReply, handlers.agents,
              "All registered agents."),
    Operation("recipes", "read", "GET /v1/recipes",
              requests.EmptyRequest, replies.RecipesReply, handlers.recipes,
              "All recipes.", command="recipe"),
    Operation("recipe", "read", "GET /v1/recipes/{recipe}",
              requests.RecipeRequest, replies.RecipeReply, handlers.recipe,
              "One recipe, with every default filled in."),
    Operation("status", "read", "GET /v1/status",
              requests.StatusRequest, replies.StatusReply, handlers.status,
              "Count the memories, and the vectors that are still missing."),
    Operation("remember", "write", "POST /v1/memories",
              requests.DraftRequest, write_replies.CommitReply, handlers.remember,
              "Store one memory.", repeatable=False),
    Operation("similar", "read", "POST /v1/similar",
              requests.SimilarRequest, write_replies.SimilarsReply, handlers.similar,
              "List memories that a new one would copy, contradict or replace.",
              command="remember"),
    Operation("remember_many", "write", "POST /v1/memories/batch",
              requests.DraftsRequest, write_replies.CommitReply, handlers.remember_many,
              "Store many memories at once.", command="import", repeatable=False),
    Operation("remember_messages", "write", "POST /v1/messages",
              requests.MessagesRequest, write_replies.CapturedReply, handlers.remember_messages,
              "Store the turns of a conversation; turns that are stored already stay as they are.",
              command="hooks"),
    Operation("update", "write", "PATCH /v1/memories/{id}",
              requests.UpdateRequest, write_replies.CommitReply, handlers.update,
              "Change fields of a memory; the old version stays in its history."),
    Operation("expire", "write", "POST /v1/memories/{id}/expire",
              requests.ExpireRequest, write_replies.CommitReply, handlers.expire,
              "Make a memory expire: searches no longer return it."),
    Operation("link", "write", "POST /v1/links",
              requests.LinkRequest, write_replies.CommitReply, handlers.link,
              "Link two memories."),
    Operation("forget", "write", "POST /v1/forget",
              requests.ForgetRequest, write_replies.ErasureReply, handlers.forget,
              "Erase memories for good.", destructive=True),
    Operation("reflect", "write", "POST /v1/reflect",
              requests.ReflectRequest, write_replies.ReflectedReply, handlers.reflect,
              "Sum up clusters of related memories as reflections."),
    Operation("review", "read", "GET /v1/review",
              requests.ReviewRequest, write_replies.ReviewReply, handlers.review,
              "List memories that supersede or contradict a more trusted one."),
    Operation("decide", "write", "POST /v1/review",
              requests.DecideRequest, write_replies.CommitReply, handlers.decide,
              "Accept or reject a claim of the review list.", repeatable=False),
    Operation("agent", "write", "PUT /v1/agents/{agent}",
              requests.OfAgentRequest, write_replies.CommitReply, handlers.agent,
              "Register an agent, or change its registry entry.", command="agents"),
    Operation("maintain", "admin", "POST /v1/maintain",
              requests.MaintainRequest, replies.MaintainedReply, handlers.maintain,
              "Do pending work: embed memories, write and merge the index."),
    Operation("calibrate", "admin", "POST /v1/calibrate",
              requests.CalibrateRequest, replies.CalibratedReply, handlers.calibrate,
              "Measure the cosines of unrelated texts in a vector space, and store them."),
)  # fmt: skip
"""All operations, in the order that lists show."""

BY_NAME: Final = {operation.name: operation for operation in OPERATIONS}
