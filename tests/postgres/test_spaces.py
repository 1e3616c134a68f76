"""Two processes on one store: an analyzer that one adds or removes, the next write of the other."""

from __future__ import annotations

import pytest
from tests.inside import engine_of

import memoriter
from memoriter.core.batch import Batch, RegisterAgent
from memoriter.core.errors import SpacesChanged
from memoriter.memory.facade import Memory
from memoriter.store.postgres.store import Postgres


def _words(memory: Memory, name: str) -> int:
    return next(kept.rows for kept in memory.analyzers.list() if kept.name == name)


def test_a_write_has_the_words_of_an_analyzer_that_another_process_added(url: str) -> None:
    options = {"embedder": None, "maintenance": "manual"}
    with memoriter.open(url, **options) as one, memoriter.open(url, **options) as two:
        one.remember("the first")
        known = engine_of(one).log.known_spaces()
        two.analyzers.add("simple")
        assert engine_of(one).log.known_spaces() == known, "no round trip tells it"
        one.remember("the second")
        assert _words(two, "simple") == 2
        two.analyzers.remove("simple")
        one.remember("the third")
        assert _words(two, "simple") == 0
        assert engine_of(one).log.spaces() == engine_of(two).log.spaces() == list(known)


def test_a_batch_for_other_spaces_is_refused(url: str) -> None:
    log = Postgres(url)
    act = (RegisterAgent("a", b'{"agent":"a"}', bytes(16), None),)
    with pytest.raises(SpacesChanged):
        log.commit(Batch("t", act, 1, ("gone",)))
    assert log.head("t").seq == 0
    assert log.commit(Batch("t", act, 1, log.known_spaces())).seq == 1
    assert log.commit(Batch("t", act, 1)).seq == 2
    log.close()
