"""What Comis claims of time: CO-30."""

from __future__ import annotations

from tests.claims.corpus import ids
from tests.inside import clock_of

from memoriter.core.times import to_datetime
from memoriter.memory.facade import Memory
from memoriter.testing.fakes import SECOND, START


def test_co_30_what_has_expired_vanishes_from_search_browse_and_counts(memory: Memory) -> None:
    memory.remember("deadline on Monday", id="stays")
    memory.remember("deadline on Friday", id="ends", expires=START + 10 * SECOND)
    memory.remember("lunch", id="past", expires=START)

    def counts() -> tuple[set[str], set[str], int, int, int]:
        result = memory.recall("deadline lunch", recipe="comis")
        page = memory.browse()
        status = memory.status()
        browsed = {record.id for record in page.records}
        return set(ids(result)), browsed, page.total, status.records, status.expired

    assert counts() == ({"stays", "ends"}, {"stays", "ends"}, 2, 2, 1)
    clock_of(memory).move(10)
    assert counts() == ({"stays"}, {"stays"}, 1, 1, 2)
    result = memory.recall("friday", recipe="comis")
    assert (ids(result), result.total, result.status) == (["stays"], 1, "complete")


def test_co_30_expiry_is_at_the_moment_itself_and_may_be_taken_back(memory: Memory) -> None:
    memory.remember("deadline", id="a", expires=START + 5)
    assert ids(memory.recall("deadline", recipe="comis", now=START + 4)) == ["a"]
    assert ids(memory.recall("deadline", recipe="comis", now=START + 5)) == []
    shown = memory.recall(
        "deadline", recipe="comis", now=START + 5, overrides={"select.expired": "show"}
    )
    assert ids(shown) == ["a"]
    assert memory.get("a").expires == to_datetime(START + 5)
    memory.expire("a")
    assert memory.browse().total == 0
    assert memory.browse(expired="show").total == 1
    memory.update("a", expires=None)
    assert ids(memory.recall("deadline", recipe="comis")) == ["a"]
