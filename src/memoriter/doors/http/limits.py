"""How much a server takes on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, cast

from memoriter.core.attributes import GROUPS
from memoriter.core.errors import InputError, TooLarge

_WALKS: Final = {
    "max_depth": "hops", "max_hops": "hops", "max_visited": "visits", "max_nodes": "visits",
}  # fmt: skip
_TEXTS: Final = ("text", "content", "summary", "title")


@dataclass(frozen=True, slots=True)
class Limits:
    """Every limit that holds before work begins."""

    body: int = 4 * 1024 * 1024
    """Bytes of a request."""
    depth: int = 64
    """How deeply JSON may be nested."""
    hits: int = 1000
    """Hits or memories of a page that one request may ask for."""
    text: int = 1024 * 1024
    """Characters of one memory's text."""
    words: int = 256
    """Words of one question."""
    nested: int = 8
    """How deeply the tests of a `where` may be nested."""
    hops: int = 4
    """Links that a walk may follow from its seed."""
    visits: int = 10_000
    """Records that a walk may visit."""
    batch: int = 100
    """Calls in one JSON-RPC request."""
    arrive_s: float = 10.0
    """Seconds within which the head of a request has to be there, and then its body."""
    answer_s: float = 2.0
    """Seconds that a question may take; writes are always finished."""
    threads: int = 8
    """Requests that are worked on at the same time."""
    waiting: int = 64
    """Requests that may wait for a thread."""
    rate: float = 200.0
    """Requests per second and token, in the long run."""
    burst: int = 400
    """Requests of a token that may come at once."""
    connections: int = 1000
    """Open connections."""
    stop_s: float = 30.0
    """Seconds that open requests get to end when the server stops."""

    def check(self, data: object, *, view: bool) -> object:
        """The request, if it does not ask for too much; its shape is checked elsewhere."""
        if not isinstance(data, dict):
            return data
        told = cast("dict[str, Any]", data)
        limit = told.get("limit")
        if view and isinstance(limit, int) and limit > self.hits:
            raise InputError(
                f"limit: at most {self.hits:,} through a server", hint="ask page by page",
                field="limit",
            )  # fmt: skip
        query = told.get("query")
        if isinstance(query, str) and len(query.split()) > self.words:
            raise InputError(
                f"query: more than {self.words} words", hint="ask with what matters most",
                field="query",
            )  # fmt: skip
        if _deeper(told.get("where"), self.nested):
            raise InputError(
                f"where: tests are nested more than {self.nested} deep", hint="say it flatter",
                field="where",
            )  # fmt: skip
        self._near({name: told[name] for name in _WALKS if name in told}, "request")
        for part in ("overrides", "recipe"):
            self._near(told.get(part), part)
        drafts = told.get("memories")
        for each in (told, *(cast("list[object]", drafts) if isinstance(drafts, list) else ())):
            self._short(each)
        return told

    def _near(self, told: object, path: str) -> None:
        """Refuse walks that go too far; a number is known by the end of its name."""
        inside: Iterable[tuple[str, object]] = ()
        if isinstance(told, dict):
            inside = cast("dict[str, object]", told).items()
        elif isinstance(told, list):
            inside = ((str(at), each) for at, each in enumerate(cast("list[object]", told)))
        for name, value in inside:
            most = {"hops": self.hops, "visits": self.visits}.get(
                _WALKS.get(name.rpartition(".")[2], "")
            )
            if most is not None and isinstance(value, int | float) and value > most:
                raise InputError(
                    f"{path}.{name}: at most {most:,} through a server",
                    hint="walk less far",
                    field=f"{path}.{name}",
                )
            self._near(value, f"{path}.{name}")

    def _short(self, draft: object) -> None:
        told = cast("dict[str, Any]", draft) if isinstance(draft, dict) else {}
        for name in _TEXTS:
            value = told.get(name)
            if isinstance(value, str) and len(value) > self.text:
                raise TooLarge(
                    f"{name}: more than {self.text:,} characters",
                    hint="split it into several memories",
                    field=name,
                )


def _deeper(where: object, most: int) -> bool:
    """Whether groups of tests (`all`, `any`, `not`) stand inside each other more than so often."""
    if not isinstance(where, dict):
        return False
    for key in (*GROUPS, "not"):
        inner = cast("dict[str, object]", where).get(key)
        if inner is not None and most == 0:
            return True
        many = cast("list[object]", inner) if isinstance(inner, list) else [inner]
        if any(_deeper(each, most - 1) for each in many):
            return True
    return False
