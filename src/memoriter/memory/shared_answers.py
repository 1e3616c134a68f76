"""Finds an answer by its handle on any machine: the store keeps what it was made of.

Kept is the question with its recipe, its view and what models said: the search is then run again,
which gives the same bits. The hits themselves are not kept, only their digest.
"""

from __future__ import annotations

import json
import logging
import zlib
from typing import Any, Final

from memoriter.core.canonical import canonical, digest
from memoriter.core.errors import Expired, Forbidden, MemoriterError, Unsupported
from memoriter.memory.engine import AnswerHome, Engine
from memoriter.memory.receipts import Rerun
from memoriter.why.case import Case
from memoriter.why.receipt import Receipt
from memoriter.why.result import Result

_log: Final = logging.getLogger(__name__)
LARGEST: Final = 256 * 1024
"""What an answer was made of is kept up to this size."""


class SharedAnswers:
    """The answers of one tenant that all machines of its store can find."""

    def __init__(self, home: AnswerHome, engine: Engine, tenant: str) -> None:
        self._home = home
        self._engine = engine
        self._tenant = tenant
        self._refused = False

    @property
    def renew_s(self) -> float:
        """When an answer that is given again is to be kept again, so that it does not expire."""
        return self._home.kept_s / 2

    def keep(self, handle: str, result: Result) -> None:
        """Keep an answer; failing to is logged, and the answer is still found in this process."""
        if self._refused:
            return
        body = zlib.compress(canonical({"case": result.case, "hits": _hits(result)}), 1)
        if len(body) > LARGEST:
            return
        try:
            self._home.keep(self._tenant, handle, body)
        except MemoriterError as error:
            self._refused = isinstance(error, Forbidden | Unsupported)
            _log.warning("the handle of an answer is good in this process only: %s", error.message)

    def find(self, handle: str) -> Result | None:
        """The answer with this handle, made again; None if nothing is kept under it.

        Raises Expired if it cannot be made again, since records of it were forgotten.
        """
        body = self._home.find(self._tenant, handle)
        if body is None:
            return None
        kept: dict[str, Any] = json.loads(zlib.decompress(body))
        case = Case.of(Receipt(kept["case"]))
        result = Rerun(self._engine, case)(case.query, case.recipe).result
        if _hits(result) != kept["hits"]:
            raise Expired(
                "memories of this answer have been forgotten since, so it cannot be shown again",
                hint="recall again",
                field="receipt",
            )
        return result


def _hits(result: Result) -> str:
    """A digest of the hits and their scores."""
    hits = [[hit.id, hit.score] for hit in result]
    return digest("memoriter/hits/1", canonical([result.total, *hits])).hex()
