"""A standby takes over, or answers beside its primary: nothing acknowledged is lost or unseen."""

from __future__ import annotations

import random
import time
from functools import partial

import pytest
from tests.inside import log_of
from tests.night import NIGHT
from tests.postgres.forked import Child, opened
from tests.postgres.pairs import pair, url_of, wait_until_synchronous
from tests.postgres.writers import writer, written_ids

import memoriter


@pytest.mark.parametrize("seed", range(20 if NIGHT else 2))
def test_a_promoted_standby_has_everything_that_was_acknowledged(seed: int) -> None:
    dice = random.Random(seed)
    with pair() as (primary, standby):
        wait_until_synchronous(primary)
        url = url_of(primary, standby)
        children = [Child(partial(writer, url, name, 0, 10_000)) for name in ("ann", "bob")]
        for child in children:
            child.wait_for(dice.randint(3, 20))
        time.sleep(dice.random() / 50)
        primary.kill()
        standby.promote()
        for child in children:  # they go on at the other host of their address
            child.wait_for(len(child.lines) + 3)
            child.kill()
        with opened(url) as memory:
            ids = written_ids(log_of(memory))
            assert len(ids) == len(set(ids))
            for child in children:
                assert set(child.lines) <= set(ids)


def test_a_standby_refuses_writes_and_a_fork_is_seen_by_the_chain() -> None:
    with pair() as (primary, standby):
        with pytest.raises(memoriter.Unavailable, match=r"takes writes: .* is a standby"):
            opened(url_of(standby))
        with opened(url_of(primary, standby)) as memory:
            memory.remember("on both", id="a")
            with standby.connect("shared") as db:
                while not db.execute("SELECT 1 FROM memoriter.heads WHERE seq=1").fetchall():
                    time.sleep(0.01)
            standby.stop()
            memory.remember("only here", id="b")
            reader = memoriter.open(
                url_of(primary, standby), embedder=None, read_only=True, maintenance="manual"
            )
            assert reader.count() == 2
            primary.kill()
            standby.start()
            with pytest.raises(memoriter.Unavailable, match="does not have log entry 2"):
                reader.count()  # a standby that is behind is no other history
            standby.promote()
            with pytest.raises(
                memoriter.Corrupt, match="log entry 2 of tenant 'default' is missing"
            ):
                reader.count()
            reader.close()
            for work in (
                lambda: memory.remember_many(["one", "two"]),
                lambda: memory.recall("here"),
            ):
                with pytest.raises(memoriter.Corrupt, match="is missing, or is not the one"):
                    work()
            with opened(url_of(standby)) as other:
                assert other.remember("another second entry", id="c").seq == 2
                for work in (lambda: memory.remember("fork"), lambda: memory.recall("here")):
                    with pytest.raises(memoriter.Corrupt, match="is missing, or is not the one"):
                        work()
                assert [record.id for record in other.browse()] == ["c", "a"]
