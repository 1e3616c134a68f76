"""token: who may come in through a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memoriter.doors.cli import completing
from memoriter.doors.cli.opening import must_exist
from memoriter.doors.cli.options import Beside
from memoriter.doors.cli.out import note, show
from memoriter.doors.cli.settings import settings
from memoriter.doors.cli.tree import branch, command

if TYPE_CHECKING:
    from memoriter.doors.tokens import Credential, Tokens

token = branch("token", "Tokens for memoriter serve: each opens one tenant, with one right.")
Right = Annotated[
    str,
    typer.Option(
        "--right",
        help="read, write or admin; each contains those before it.",
        autocompletion=completing.words("read", "write", "admin"),
    ),
]
Expires = Annotated[
    str | None,
    typer.Option("--expires", metavar="TIME", help="30d, 12h … from now, or a time (ISO 8601)."),
]
Name = Annotated[str | None, typer.Option("--name", help="What it is for, for people to read.")]
TokenId = Annotated[
    str, typer.Argument(metavar="ID", help="The id of a token.", show_default=False)
]


@command(
    "create",
    "memoriter token create --right write --name laptop",
    "memoriter token create --tenant acme --right read --expires 30d",
    under=token,
)
def create(at: Beside, right: Right = "read", expires: Expires = None, name: Name = None) -> None:
    """Make a token and print it, this once: only its hash is kept, beside the store.

    It opens the tenant of --tenant and no other.
    """
    tenant = str(settings({"tenant": at.tenant})["tenant"].value)
    text, made = _tokens(at).create(tenant, right, expires=expires, label=name)
    if not at.json:
        note(f"tenant {made.tenant}, right {made.right}, id {made.id}; shown this once:")
    show({"token": text, **made.to_dict()}, lambda: text, as_json=at.json)


@command("list", "memoriter token list", under=token)
def list_(at: Beside) -> None:
    """List all tokens of the store, without their secrets."""
    found = _tokens(at).list()
    from memoriter.doors.render.columns import Columns  # noqa: PLC0415  # loads the engine

    heads = ("id", "tenant", "right", "created", "expires", "name")
    rows = [tuple(_cell(each, head) for head in heads) for each in found]
    data = {"tokens": [each.to_dict() for each in found]}
    show(
        data,
        lambda: Columns(heads, rows, wide=len(heads) - 1) if rows else "no tokens",
        as_json=at.json,
    )


@command("revoke", "memoriter token revoke 3f9ab2c41d07", under=token)
def revoke(id: TokenId, at: Beside) -> None:
    """Take a token back; a running server refuses it from now on."""
    gone = _tokens(at).revoke(id)
    show({"revoked": gone.id}, lambda: f"revoked {gone.id}", as_json=at.json)


def _tokens(at: Beside) -> Tokens:
    from memoriter.doors.tokens import Tokens  # noqa: PLC0415  # loads the engine

    place = str(settings({"store": at.store})["store"].value)
    must_exist(place)
    return Tokens.beside(place)


def _cell(each: Credential, head: str) -> str:
    value = each.to_dict()[head]
    return "—" if value is None else str(value)
