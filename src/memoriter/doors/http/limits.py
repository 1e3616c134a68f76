"""Limits of the server on one request, and on how many requests a token may send."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final, cast

from memoriter.core.attributes import GROUPS
from memoriter.core.errors import InputError, TooLarge, TooMany
from memoriter.core.lazy_dataclass import dataclass
from memoriter.doors.json_bodies import DEPTH
from memoriter.doors.sizes import BATCH, RECEIPTS
from memoriter.lanes.port import Lane
from memoriter.pipeline.kinds import kinds

_TEXTS: Final = ("text", "content", "summary", "title")


@dataclass(frozen=True, slots=True)
class Limits:
    """All limits of a server; `check` applies those that concern the fields of a request."""

    body: int = 4 * 1024 * 1024
    """Bytes of a request body."""
    depth: int = DEPTH
    """How deeply JSON may be nested."""
    hits: int = 1000
    """Largest `limit` of a question or a page."""
    rows: int = 20_000
    """Candidates of a receipt."""
    text: int = 1024 * 1024
    """Characters of one memory's text."""
    words: int = 256
    """Words of one question."""
    nested: int = 8
    """How deeply the groups of a `where` may be nested."""
    hops: int = 4
    """How many links a walk may go away from its seed."""
    visits: int = 10_000
    """Records that a walk may visit."""
    batch: int = 100
    """Calls in one JSON-RPC request."""
    arrive_s: float = 10.0
    """Seconds in which the headers of a request have to arrive, and then its body."""
    answer_s: float = 2.0
    """Seconds that a read may take; a write has no deadline."""
    threads: int = 8
    """Requests that run at the same time."""
    per_tenant: int = 6
    """How many of the threads one tenant may use at the same time."""
    give_way_s: float = 0.25
    """Seconds that the next large or long request of a tenant waits for those of others."""
    waiting: int = 64
    """Requests of one tenant that may wait for a thread; of all together, four times as many."""
    rate: float = 200.0
    """Requests per second and token, on average."""
    burst: int = 400
    """Requests that a token may send at once."""
    connections: int = 1000
    """Open connections."""
    per_address: int = 500
    """Open connections from one address."""
    strangers: int = 100
    """Those of them on which no request had a valid token yet."""
    idle_s: float = 2.0
    """Seconds that such a connection may be idle."""
    stop_s: float = 30.0
    """Seconds that running requests get to finish when the server stops."""

    def check(self, data: object, *, view: bool) -> object:
        """The data unchanged, if it is within the limits; raises InputError or TooLarge.

        Types are checked later, so a value of the wrong type passes. `view` says that `limit` is a
        number of hits; that of `maintain` counts vectors and has no bound.
        """
        if not isinstance(data, dict):
            return data
        fields = cast("dict[str, Any]", data)
        limit = fields.get("limit")
        if view and isinstance(limit, int) and limit > self.hits:
            raise InputError(
                f"limit: a server returns at most {self.hits:,} hits",
                hint=f"give {self.hits:,} or less", field="limit",
            )  # fmt: skip
        query = fields.get("query")
        if isinstance(query, str) and len(query.split()) > self.words:
            raise InputError(
                f"query: has more than {self.words} words", hint="shorten the query",
                field="query",
            )  # fmt: skip
        if _nested_deeper(fields.get("where"), self.nested):
            raise InputError(
                f"where: groups are nested more than {self.nested} deep", hint="flatten the filter",
                field="where",
            )  # fmt: skip
        named = {name: fields[name] for name in _work_limits() if name in fields}
        self._check_work(named, "request")
        for part in ("overrides", "recipe"):
            self._check_work(fields.get(part), part)
        for part in RECEIPTS:
            self._check_receipt(fields.get(part), part)
        drafts = fields.get("memories")
        # A list that is too long is refused later, so no more of it is looked at.
        many = cast("list[object]", drafts)[:BATCH] if isinstance(drafts, list) else ()
        for each in (fields, *many):
            self._check_texts(each)
        return fields

    def _check_receipt(self, sent: object, path: str) -> None:
        """A receipt is a question too: what it asks for is limited as that of any other."""
        receipt = cast("dict[str, Any]", sent) if isinstance(sent, dict) else {}
        asked, recipe = receipt.get("query"), receipt.get("recipe")
        if isinstance(asked, dict):
            parts = cast("dict[str, Any]", asked)
            self.check({"query": parts.get("text"), "limit": parts.get("limit")}, view=True)
        if isinstance(recipe, dict):
            self._check_work(cast("dict[str, Any]", recipe).get("data"), f"{path}.recipe")
        slate = receipt.get("slate")
        rows = cast("dict[str, Any]", slate).get("rows") if isinstance(slate, dict) else None
        for name, part, most in (("hits", receipt.get("hits"), self.hits),
                                 ("slate.rows", rows, self.rows)):  # fmt: skip
            if isinstance(part, list) and len(cast("list[object]", part)) > most:
                raise InputError(
                    f"{path}.{name}: a server accepts at most {most:,} entries",
                    hint="use the Python library, which accepts larger receipts",
                    field=f"{path}.{name}",
                )

    def _check_work(self, part: object, path: str) -> None:
        """Raise InputError for an option of a lane that allows too much work, anywhere in a part.

        An override may name an option by its whole path (`lanes.links.max_depth`): the last name
        decides.
        """
        items: Iterable[tuple[str, object]] = ()
        if isinstance(part, dict):
            items = cast("dict[str, object]", part).items()
        elif isinstance(part, list):
            items = ((str(at), each) for at, each in enumerate(cast("list[object]", part)))
        for name, value in items:
            most = self.work.get(name.rpartition(".")[2])
            if most is not None and isinstance(value, int | float) and value > most:
                raise InputError(
                    f"{path}.{name}: the largest value that a server accepts is {most:,}",
                    hint=f"give {most:,} or less",
                    field=f"{path}.{name}",
                )
            self._check_work(value, f"{path}.{name}")

    @property
    def work(self) -> dict[str, int]:
        """The largest value of each option of a lane that bounds its work, by its name."""
        most = {"hops": self.hops, "visits": self.visits}
        return {name: most[limit] for name, limit in _work_limits().items()}

    def _check_texts(self, draft: object) -> None:
        fields = cast("dict[str, Any]", draft) if isinstance(draft, dict) else {"text": draft}
        for name in _TEXTS:
            value = fields.get(name)
            if isinstance(value, str) and len(value) > self.text:
                raise TooLarge(
                    f"{name}: has {len(value):,} characters; the limit is {self.text:,}",
                    hint="split it into several memories" if name == "text" else "shorten it",
                    field=name,
                )


@cache
def _work_limits() -> dict[str, str]:
    """Options of lanes that bound their work, and the limit for each; requests may name them."""
    lanes = (each for each in kinds("lanes") if issubclass(each, Lane))
    return {name: limit for lane in lanes for name, limit in lane.work_limits.items()}


def _nested_deeper(where: object, most: int) -> bool:
    """Whether the groups of a filter (`all`, `any`, `not`) are nested more than `most` deep."""
    if not isinstance(where, dict):
        return False
    for key in (*GROUPS, "not"):
        inner = cast("dict[str, object]", where).get(key)
        if inner is not None and most == 0:
            return True
        many = cast("list[object]", inner) if isinstance(inner, list) else [inner]
        if any(_nested_deeper(each, most - 1) for each in many):
            return True
    return False


REFUSALS: Final = 8
"""So many requests above its rate a token gets refused in a second; the answers to others wait."""
LONGEST_PAUSE_S: Final = 2.0
"""How long the answer to one that is refused waits at most."""


class RateLimiter:
    """A token bucket for each credential. Not locked: only the thread of the event loop uses it."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst = limits.rate, limits.burst
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}
        """By id of a credential: how many requests were left, and when that was."""
        self._refused: dict[str, float] = {}
        """By id of a credential: when its last refused request is answered."""

    def take(self, id: str, count: int = 1) -> None:
        """Count requests of a credential; raises TooMany, with the time to wait, if too many."""
        now = self._clock()
        left, then = self._left.get(id, (float(self._burst), now))
        left = min(self._burst, left + (now - then) * self._rate)
        if left < count:
            self._left[id] = left, now
            wait = math.ceil((count - left) / self._rate)
            raise TooMany(
                "this token sends requests too fast",
                hint=f"try again in {wait} s",
                after=max(1, wait),
            )
        self._left[id] = left - count, now

    def pause(self, id: str) -> float:
        """How many seconds to wait before a request that `take` refused is answered.

        A client that goes on sending as soon as it is refused would else keep the server busy with
        refusing: its bodies arrive all the same.
        """
        now = self._clock()
        turn = max(now, self._refused.get(id, 0.0) + 1 / REFUSALS)
        self._refused[id] = min(turn, now + LONGEST_PAUSE_S)
        return self._refused[id] - now
