"""The command line: every command, by the panel of the help that shows it."""

from __future__ import annotations

import gc
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from memoriter.doors.cli.listing import Branch, Listed, Panels
from memoriter.doors.cli.output import leave, run_and_exit
from memoriter.doors.cli.params import plain_values

if TYPE_CHECKING:
    import typer

PANELS: Final[Panels] = {
    "Start": (Listed("init", "store.init"), Listed("demo", "demo.demo")),
    "Write": (
        Listed("remember", "write.remember"),
        Listed("import", "write.import_"),
        Listed("update", "write.update"),
        Listed("link", "write.link"),
        Listed("expire", "write.expire"),
        Listed("forget", "write.forget"),
        Listed("reflect", "write.reflect"),
        Listed("review", "look.review"),
        Listed("decide", "look.decide"),
    ),
    "Ask": (
        Listed("recall", "ask.recall"),
        Listed("keywords", "ask.keywords"),
        Listed("bundles", "ask.bundles"),
        Listed("reflections", "ask.reflections"),
        Listed("plan", "ask.plan"),
    ),
    "Prove": (
        Listed("explain", "prove.explain"),
        Listed("why-not", "prove.why_not"),
        Listed("verify", "prove.verify"),
        Listed("replay", "prove.replay"),
        Listed("diff", "prove.diff"),
    ),
    "Look": (
        Listed("page", "look.page"),
        Listed("browse", "look.browse"),
        Listed("get", "look.get"),
        Listed("history", "look.history"),
        Listed("links", "look.links"),
        Branch(
            "agents",
            "The registry of agents: list, change and search them.",
            (
                Listed("list", "look.agents_list"),
                Listed("show", "look.agents_show"),
                Listed("upsert", "look.agents_upsert"),
                Listed("alias", "look.agents_alias"),
                Listed("search", "look.agents_search"),
            ),
        ),
    ),
    "Keep": (
        Listed("status", "look.status"),
        Listed("maintain", "store.maintain"),
        Listed("calibrate", "store.calibrate"),
        Listed("export", "store.export"),
        Listed("backup", "store.backup"),
        Listed("restore", "store.restore"),
        Listed("copy", "store.copy"),
        Listed("verify-store", "store.verify_store"),
        Listed("doctor", "store.doctor"),
    ),
    "Serve": (
        Listed("serve", "serve.serve"),
        Branch(
            "mcp",
            "The memory as tools for a model (MCP): run the server, install it into a host.",
            (
                Listed("run", "serve.mcp"),
                Listed("install", "install.mcp_install"),
                Listed("uninstall", "install.mcp_uninstall"),
            ),
            default="run",
        ),
        Branch(
            "token",
            "Tokens for memoriter serve: each gives one right on one tenant.",
            (
                Listed("create", "token.token_create"),
                Listed("list", "token.token_list"),
                Listed("revoke", "token.token_revoke"),
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
                Listed("list", "store.analyzer_list"),
                Listed("add", "store.analyzer_add"),
                Listed("remove", "store.analyzer_remove"),
            ),
        ),
        Branch(
            "embed",
            "Embedders: which model turns memories into vectors, and how to change it.",
            (
                Listed("status", "store.embed_status"),
                Listed("migrate", "store.embed_migrate"),
                Listed("promote", "store.embed_promote"),
                Listed("rollback", "store.embed_rollback"),
            ),
        ),
        Listed("eval", "tune.evaluate"),
        Branch(
            "config",
            "Settings: from flags, the environment, TOML files or defaults.",
            (Listed("show", "store.config_show"),),
        ),
        Listed("version", "look.version"),
    ),
}
"""Every command of the root, in the order that its help shows."""


_SHORT: Final = ("recall", "keywords", "hooks", "plan", "get", "version", "--help", "-h")
"""Commands that end at once. They make less garbage than looking for it would cost, and when they
end, everything is written and closed: to take down module by module would only cost time."""
_COMPLETING: Final = "_MEMORITER_COMPLETE"
"""Set by the shell when it asks how a word goes on."""


def run() -> None:
    """Run the command line and end the process."""
    # A start makes many objects that stay: looking for garbage among them every 700, and for
    # plugins of pydantic among the installed packages, would only cost time.
    gc.set_threshold(10_000)
    short = sys.argv[1:2] and sys.argv[1] in _SHORT
    if short:
        gc.disable()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        run_and_exit(None, _run)
    except SystemExit as end:
        if short:
            leave(end.code)
        raise


def _run(argv: list[str]) -> object:
    """Run a plain command line at once; typer reads, completes or refuses any other."""
    call = None if _COMPLETING in os.environ else plain_call(argv)
    return typer_app()() if call is None else call()


def plain_call(argv: Sequence[str]) -> Callable[[], object] | None:
    """The command that a plain command line names, with its values; None if it is not plain."""
    listed: Mapping[str, Listed | Branch] = {
        each.name: each for commands in PANELS.values() for each in commands
    }
    words, named = list(argv), None
    while words and words[0] in listed:
        named = listed[words.pop(0)]
        listed = {each.name: each for each in named.commands} if isinstance(named, Branch) else {}
    if not isinstance(named, Listed):
        return None
    from memoriter.doors.cli.declare import spread  # noqa: PLC0415  # help needs no options

    call = spread(named.load().run)
    values = plain_values(list(inspect.signature(call).parameters.values()), words)
    return None if values is None else partial(call, **values)


@cache
def typer_app() -> typer.Typer:
    """The command line as typer reads it."""
    from memoriter.doors.cli.tree import tree_of  # noqa: PLC0415  # loads typer

    return tree_of(PANELS)


if TYPE_CHECKING:
    app = typer_app()
else:

    def __getattr__(name: str) -> object:
        if name == "app":  # made when somebody asks for it
            return typer_app()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
