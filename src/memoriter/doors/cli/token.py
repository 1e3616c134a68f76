"""The commands of tokens: create, list, revoke."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors import render
from memoriter.doors.cli.declare import command
from memoriter.doors.cli.options import (
    JsonOption,
    StoreOptions,
    complete_words,
    must_exist,
    setting,
    store_path,
)
from memoriter.doors.cli.output import note, show
from memoriter.doors.cli.params import CliArgument, CliOption
from memoriter.doors.cli.serve import TrustOption

if TYPE_CHECKING:
    from memoriter.doors.tokens import Credential, Tokens


@dataclass(frozen=True, slots=True)
class TokenOptions(StoreOptions):
    """Which store and tenant, and how to print; no embedder, since no memory is opened."""

    json: JsonOption = False


@command(
    "create",
    "memoriter token create --right write --name laptop",
    "memoriter token create --tenant acme --right read --expires 30d",
)
def token_create(
    at: TokenOptions,
    right: Annotated[
        str,
        CliOption(
            "--right",
            metavar="RIGHT",
            help="The right: read, write or admin; each includes those before it.",
            autocompletion=complete_words("read", "write", "admin"),
        ),
    ] = "read",
    expires: Annotated[
        str | None,
        CliOption(
            "--expires",
            metavar="TIME",
            help="When the token expires: 30d or 12h from now, or a time (ISO 8601).",
        ),
    ] = None,
    name: Annotated[
        str | None, CliOption("--name", metavar="NAME", help="A note on what the token is for.")
    ] = None,
    trust: TrustOption = "learned",
) -> None:
    """Make a token and print it once: only its hash is stored, next to the store.

    The token is valid for the tenant of --tenant only.
    """
    tenant = str(setting("tenant", at.tenant))
    text, made = _tokens(at).create(tenant, right, expires=expires, label=name, trust=trust)
    if not at.json:
        rights = f"right {made.right}, trust up to {made.trust}"
        note(f"tenant {made.tenant}, {rights}, id {made.id}; shown this once:")
    show({"token": text, **made.to_dict()}, lambda: text, as_json=at.json)


@command("list", "memoriter token list")
def token_list(at: TokenOptions) -> None:
    """List all tokens of the store, without their secrets."""
    tokens = _tokens(at).list()
    heads = ("id", "tenant", "right", "trust", "created", "expires", "name")
    rows = [tuple(_cell(token, head) for head in heads) for token in tokens]
    show(
        {"tokens": [token.to_dict() for token in tokens]},
        lambda: render.ink.TextColumns(heads, rows, wide=6) if rows else "no tokens",
        as_json=at.json,
    )


@command("revoke", "memoriter token revoke 3f9ab2c41d07")
def token_revoke(
    id: Annotated[str, CliArgument(metavar="ID", help="The id of a token.", show_default=False)],
    at: TokenOptions,
) -> None:
    """Revoke a token; a running server refuses it from now on."""
    revoked = _tokens(at).revoke(id)
    show({"revoked": revoked.id}, lambda: f"revoked {revoked.id}", as_json=at.json)


def _tokens(at: TokenOptions) -> Tokens:
    from memoriter.doors.tokens import Tokens  # noqa: PLC0415  # loads the engine

    place = store_path(at)
    must_exist(place)
    return Tokens.for_store(place)


def _cell(token: Credential, head: str) -> str:
    value = token.to_dict()[head]
    return "—" if value is None else str(value)
