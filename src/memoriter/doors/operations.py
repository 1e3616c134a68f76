"""The table of operations: everything a door can do, declared once.

REST routes, OpenAPI, JSON-RPC methods, MCP tools and the coverage of the command line follow from
it, so they cannot disagree. A new operation is one request, one function and one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from memoriter.doors import handlers, replies, requests
from memoriter.doors.requests import Request, parsed
from memoriter.doors.tenant_session import TenantSession, of_tenant

Right = Literal["read", "write", "admin"]
RIGHTS: Final[tuple[Right, ...]] = ("read", "write", "admin")
"""What a credential allows; each contains those before it."""
Act = Callable[[TenantSession, Any], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that a door can do."""

    name: str
    right: Right
    route: str
    """Method and path; parts in braces are fields of the request."""
    request: type[Request]
    reply: type[replies.Reply]
    act: Act
    summary: str
    command: str | None = None
    """The command of the command line that does the same; None where it has the same name."""
    brief: type[replies.Reply] | None = None
    """The shape of the reply where the request asks for the brief one."""
    destructive: bool = False
    repeatable: bool = True
    """Whether asking twice changes no more than asking once."""

    @property
    def verb(self) -> str:
        """The command of the command line that does the same."""
        return self.command or self.name.replace("_", "-")

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self.route.split(" ")[0]

    @property
    def path(self) -> str:
        """The path under the server."""
        return self.route.split(" ")[1]

    def run(
        self, tenant_session: TenantSession, data: object, *, spelled: bool = False
    ) -> dict[str, Any]:
        """Check what is asked, do it, answer."""
        asked = parsed(self.request, of_tenant(tenant_session.tenant, data), spelled=spelled)
        return self.act(tenant_session, asked)


_q, _r = requests, replies

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation("recall", "read", "POST /v1/recall", _q.Recall, _r.ResultReply, handlers.recall,
              "Find the right memories, ranked, with the reasons of each.", brief=_r.BriefReply),
    Operation("context", "read", "POST /v1/context", _q.Ask, _r.BlockReply, handlers.context,
              "Recall as a fenced block of text for a prompt, within a budget.", command="recall"),
    Operation("keywords", "read", "POST /v1/keywords", _q.Recall, _r.ResultReply, handlers.keywords,
              "Find memories by their words alone.", brief=_r.BriefReply),
    Operation("bundles", "read", "POST /v1/bundles", _q.Bundles, _r.BundlesReply, handlers.bundles,
              "Find memories, each with those that hang on it by links."),
    Operation("reflections", "read", "POST /v1/reflections", _q.Recall, _r.ResultReply,
              handlers.reflections, "Find reflections alone.", brief=_r.BriefReply),
    Operation("plan", "read", "POST /v1/plan", _q.Ask, _r.PlanReply, handlers.plan,
              "Say what a recall would do, without doing it."),
    Operation("explain", "read", "POST /v1/explain", _q.Explain, _r.ExplainedReply,
              handlers.explain,
              "Say why a memory is in an answer, or what kept it out."),
    Operation("why_not", "read", "POST /v1/why-not", _q.Explain, _r.WhyNotReply, handlers.why_not,
              "Say what kept a memory out of an answer, and what would let it in."),
    Operation("receipt", "read", "POST /v1/receipt", _q.OfReceipt, _r.Reply, handlers.receipt,
              "The whole receipt of a late answer.", command="recall"),
    Operation("verify", "read", "POST /v1/verify", _q.OfReceipt, _r.VerifiedReply, handlers.verify,
              "Derive every number of a receipt again."),
    Operation("replay", "read", "POST /v1/replay", _q.OfReceipt, _r.ReplayedReply, handlers.replay,
              "Run the search of a receipt again, on the view of that time."),
    Operation("diff", "read", "POST /v1/diff", _q.Differ, _r.DiffReply, handlers.diff,
              "Show how two answers differ, and why."),
    Operation("browse", "read", "POST /v1/browse", _q.Browse, _r.PageReply, handlers.browse,
              "List memories by date, page by page; no search."),
    Operation("get", "read", "GET /v1/memories/{id}", _q.Get, _r.RecordReply, handlers.get,
              "One memory, now or as it was known at a time."),
    Operation("history", "read", "GET /v1/memories/{id}/history", _q.Get, _r.VersionsReply,
              handlers.history, "All versions of a memory."),
    Operation("links", "read", "GET /v1/memories/{id}/links", _q.Named, _r.LinksReply,
              handlers.links,
              "The links at a memory."),
    Operation("agents", "read", "GET /v1/agents", _q.Nothing, _r.AgentsReply, handlers.agents,
              "All registered agents."),
    Operation("recipes", "read", "GET /v1/recipes", _q.Nothing, _r.RecipesReply, handlers.recipes,
              "All recipes.", command="recipe"),
    Operation("recipe", "read", "GET /v1/recipes/{recipe}", _q.OfRecipe, _r.RecipeReply,
              handlers.recipe,
              "One recipe, with every default written out."),
    Operation("status", "read", "GET /v1/status", _q.Count, _r.StatusReply, handlers.status,
              "How much there is, and what is still owed."),
    Operation("remember", "write", "POST /v1/memories", _q.Draft, _r.CommitReply, handlers.remember,
              "Keep one memory.", repeatable=False),
    Operation("remember_many", "write", "POST /v1/memories/batch", _q.Drafts, _r.CommitReply,
              handlers.remember_many, "Keep many memories at once.",
              command="import", repeatable=False),
    Operation("update", "write", "PATCH /v1/memories/{id}", _q.Update, _r.CommitReply,
              handlers.update,
              "Change fields of a memory; the old version stays in its history."),
    Operation("expire", "write", "POST /v1/memories/{id}/expire", _q.Expire, _r.CommitReply,
              handlers.expire, "Let a memory leave all answers from a moment on."),
    Operation("link", "write", "POST /v1/links", _q.Link, _r.CommitReply, handlers.link,
              "Connect two memories."),
    Operation("forget", "write", "POST /v1/forget", _q.Forget, _r.ErasureReply, handlers.forget,
              "Erase memories for good.", destructive=True),
    Operation("reflect", "write", "POST /v1/reflect", _q.Reflect, _r.ReflectedReply,
              handlers.reflect,
              "Sum up clusters of related memories as reflections."),
    Operation("agent", "write", "PUT /v1/agents/{agent}", _q.OfAgent, _r.CommitReply,
              handlers.agent,
              "Register an agent, or change what is known of it.", command="agents"),
    Operation("maintain", "admin", "POST /v1/maintain", _q.Maintain, _r.MaintainedReply,
              handlers.maintain,
              "Pay what is owed: embed, publish, merge."),
)  # fmt: skip
"""Everything a door can do, in the order that lists show."""

BY_NAME: Final = {operation.name: operation for operation in OPERATIONS}
