"""From options to an open memory; the engine is imported only when it is needed."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from memoriter.core.errors import NotFound
from memoriter.doors.cli.options import Opening, Scoped, Store
from memoriter.doors.cli.settings import settings

if TYPE_CHECKING:
    from memoriter.memory.facade import Memory
    from memoriter.memory.options import OpenOptions

_SCOPE: Final = ("agent", "user", "session")
Access = Literal["read", "change", "make"]
"""What a command does with a store: only `make` creates one that is not there."""


@contextlib.contextmanager
def opened(at: Opening, access: Access, reranker: str | None = None) -> Generator[Memory]:
    """The memory that the options name, closed afterwards."""
    scope = (at.agent, at.user, at.session) if isinstance(at, Scoped) else (None, None, None)
    flags: dict[str, str | None] = dict(zip(_SCOPE, scope, strict=True))
    flags |= {"store": at.store, "tenant": at.tenant, "embedder": at.embedder}
    told = settings(flags)
    place = str(told["store"].value)
    if access != "make":
        must_exist(place)
    from memoriter.memory.opening import open_memory  # noqa: PLC0415  # loads the engine

    tenant = str(told["tenant"].value)
    options: OpenOptions = {"read_only": access == "read", "reranker": reranker}
    options |= embedding(told["embedder"].value)
    with open_memory(place, tenant, **options) as memory:
        if isinstance(at, Scoped):
            yield memory.scoped(*(told[key].value for key in _SCOPE))
        else:
            yield memory


def stands(at: Store) -> bool:
    """Whether the store that the options name is there."""
    place = str(settings({"store": at.store})["store"].value)
    return place != ":memory:" and Path(place).expanduser().exists()


def embedding(names: str | None) -> OpenOptions:
    """The embedders that a setting names, if it does, as an option of opening.

    >>> embedding("static, hash"), embedding("none"), embedding(None)
    ({'embedder': ['static', 'hash']}, {'embedder': None}, {})
    """
    if names is None:
        return {}
    return {"embedder": None if names == "none" else [one.strip() for one in names.split(",")]}


def must_exist(place: str) -> None:
    """Refuse a store that is not there: looking must not make one."""
    path = Path(place).expanduser()
    if place == ":memory:" or "://" in place or path.exists():
        return
    raise NotFound(f"there is no store at {path}", hint="memoriter init makes one", field="store")
