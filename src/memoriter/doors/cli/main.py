"""The command line: every command, by the panel of the help that shows it."""

from __future__ import annotations

import gc
import os
import sys
from typing import Final

from memoriter.doors.cli.tree import Branch, Listed, Panels, tree_of

PANELS: Final[Panels] = {
    "Start": (Listed("init", "admin.init"), Listed("demo", "demo.demo")),
    "Write": (
        Listed("remember", "write.remember"),
        Listed("import", "write.import_"),
        Listed("update", "write.update"),
        Listed("link", "write.link"),
        Listed("expire", "write.expire"),
        Listed("forget", "forget.forget"),
        Listed("reflect", "write.reflect"),
        Listed("review", "records.review"),
        Listed("decide", "records.decide"),
    ),
    "Ask": (
        Listed("recall", "ask.recall"),
        Listed("keywords", "ask.keywords"),
        Listed("bundles", "ask.bundles"),
        Listed("reflections", "ask.reflections"),
        Listed("plan", "ask.plan"),
    ),
    "Prove": (
        Listed("explain", "ask.explain"),
        Listed("why-not", "ask.why_not"),
        Listed("verify", "ask.verify"),
        Listed("replay", "ask.replay"),
        Listed("diff", "ask.diff"),
    ),
    "Look": (
        Listed("page", "records.page"),
        Listed("browse", "records.browse"),
        Listed("get", "records.get"),
        Listed("history", "records.history"),
        Listed("links", "records.links"),
        Branch(
            "agents",
            "The registry of agents: list, change and search them.",
            (
                Listed("list", "records.agents_list"),
                Listed("show", "records.agents_show"),
                Listed("upsert", "records.agents_upsert"),
                Listed("alias", "records.agents_alias"),
                Listed("search", "records.agents_search"),
            ),
        ),
    ),
    "Keep": (
        Listed("status", "records.status"),
        Listed("maintain", "admin.maintain"),
        Listed("calibrate", "admin.calibrate"),
        Listed("export", "admin.export"),
        Listed("backup", "admin.backup"),
        Listed("restore", "admin.restore"),
        Listed("copy", "admin.copy"),
        Listed("verify-store", "admin.verify_store"),
        Listed("doctor", "admin.doctor"),
    ),
    "Serve": (
        Listed("serve", "serve.serve"),
        Branch(
            "mcp",
            "The memory as tools for a model (MCP): run the server, install it into a host.",
            (
                Listed("run", "mcp.mcp_run"),
                Listed("install", "mcp.mcp_install"),
                Listed("uninstall", "mcp.mcp_uninstall"),
            ),
            default="run",
        ),
        Branch(
            "token",
            "Tokens for memoriter serve: each gives one right on one tenant.",
            (
                Listed("create", "serve.token_create"),
                Listed("list", "serve.token_list"),
                Listed("revoke", "serve.token_revoke"),
            ),
        ),
        Branch(
            "hooks",
            "Hooks of coding agents: recall before each reply, capture after it.",
            (
                Listed("recall", "hooks.hooks_recall"),
                Listed("capture", "hooks.hooks_capture"),
                Listed("show", "hooks.hooks_show"),
            ),
        ),
    ),
    "Tune": (
        Branch(
            "recipe",
            "Recipes: how a recall searches and ranks, as data.",
            (
                Listed("list", "tune.recipe_list"),
                Listed("show", "tune.recipe_show"),
                Listed("check", "tune.recipe_check"),
                Listed("diff", "tune.recipe_diff"),
                Listed("compare", "tune.recipe_compare"),
            ),
            "tune.more_recipe_commands",
        ),
        Branch(
            "analyzer",
            "Analyzers: how text is split into words, and which ones the store keeps.",
            (
                Listed("list", "admin.analyzer_list"),
                Listed("add", "admin.analyzer_add"),
                Listed("remove", "admin.analyzer_remove"),
            ),
        ),
        Branch(
            "embed",
            "Embedders: which model turns memories into vectors, and how to change it.",
            (
                Listed("status", "admin.embed_status"),
                Listed("migrate", "admin.embed_migrate"),
                Listed("promote", "admin.embed_promote"),
                Listed("rollback", "admin.embed_rollback"),
            ),
        ),
        Listed("eval", "tune.evaluate"),
        Branch(
            "config",
            "Settings: from flags, the environment, TOML files or defaults.",
            (Listed("show", "admin.config_show"),),
        ),
        Listed("version", "records.version"),
    ),
}
"""Every command of the root, in the order that its help shows."""


app: Final = tree_of(PANELS)


_SHORT: Final = ("recall", "keywords", "hooks", "plan", "get", "version", "--help", "-h")
"""Commands that end at once, and make less garbage than looking for it would cost."""


def run() -> None:
    """Run the command line and end the process."""
    # A start makes many objects that stay: looking for garbage among them every 700, and for
    # plugins of pydantic among the installed packages, would only cost time.
    gc.set_threshold(10_000)
    if sys.argv[1:2] and sys.argv[1] in _SHORT:
        gc.disable()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    app()
