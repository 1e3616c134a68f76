"""Promises about answers, each as a check that holds, and a planted bug that breaks it."""

from __future__ import annotations

import itertools
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memoriter
import memoriter.embed.vector_space
import memoriter.index.tenant
import memoriter.rank.top
import memoriter.store.group_commit
import memoriter.store.io_errors
import memoriter.store.sqlite.errors
import memoriter.store.sqlite.store
import memoriter.store.sqlite.transactions
import memoriter.why.explain
import memoriter.write.doctor
from memoriter.core.explanation import Explanation, reconciles
from memoriter.core.times import to_datetime
from memoriter.index.segment import Segment
from memoriter.memory.facade import Memory

Check = Callable[[Path], None]


def filled(path: Path, **options: Any) -> Memory:
    memory = memoriter.open(path, flush_rows=5, **options)
    memory.remember_many({"text": f"port note {n % 3}", "id": f"r{n}"} for n in range(12))
    return memory


def ranked(memory: Memory) -> list[tuple[str, float]]:
    """Every hit, copies too: four records each have the same text."""
    result = memory.recall("port note", limit=50, overrides={"order": []})
    return [(hit.id, hit.score) for hit in result]


def an_index_equals_its_rebuild(path: Path) -> None:
    with filled(path) as memory:
        ranked(memory)
        memory.update("r1", text="something else")
        memory.forget("r2")
        hits = ranked(memory)
    assert len(hits) == 10
    with memoriter.open(path) as fresh:
        assert hits == ranked(fresh)


def equal_questions_have_equal_answers(path: Path) -> None:
    with filled(path) as memory:
        assert ranked(memory) == ranked(memory) == ranked(memory)


def every_number_adds_up(path: Path) -> None:
    with filled(path) as memory:
        for hit in memory.recall("port note"):
            assert hit.explanation.value == hit.score
            assert reconciles(hit.explanation)


class Sick:
    name = fingerprint = "sick"
    dimension = 4

    def embed(self, texts: Any, side: str) -> list[Any]:
        del side
        return [np.array([np.nan, 0, 0, 1], np.float32) for _ in texts]


def no_number_is_stored_that_is_none(path: Path) -> None:
    with filled(path, embedder=Sick()) as memory:
        assert memory.status().debt == 12
        assert memory.recall("port note").skipped


def the_doctor_leaves_the_sound_alone(path: Path) -> None:
    with filled(path) as memory:
        assert not memory.doctor().mended


def a_full_disk_is_told_as_such(path: Path) -> None:
    with filled(path) as memory:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 400_000, hard))
        try:
            with pytest.raises(memoriter.StorageFull):
                memory.remember("long " * 400_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert len(ranked(memory)) == 12


def nothing_is_acknowledged_that_failed(path: Path) -> None:
    with filled(path) as memory:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 400_000, hard))
        try:
            commit = memory.remember("long " * 400_000)
        except memoriter.MemoriterError:
            return
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert memory.get(commit.id)


def use_after_fork_is_refused(path: Path) -> None:
    memory = filled(path, embedder=None, maintenance="manual")
    memory.keywords("port")
    pid = os.fork()
    if pid == 0:
        try:
            memory.get("r1")
        except memoriter.Unsupported:
            os._exit(7)
        except BaseException:
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    memory.close()
    assert code == 7


def _ends_nothing(plant: pytest.MonkeyPatch) -> None:
    plant.setattr(Segment, "end_rows", lambda self, rows, ends: None)


def _unstable(plant: pytest.MonkeyPatch) -> None:
    plain, turn = memoriter.rank.top.top, itertools.count()

    def top(scores: Any, rows: Any, limit: int, *keys: Any) -> Any:
        # Never the same pattern twice in a row, however many sorts a question takes.
        return plain(scores, rows * (-1) ** next(turn).bit_count(), limit, *keys)

    plant.setattr("memoriter.lanes.port.top", top)
    plant.setattr("memoriter.pipeline.first_pass.top", top)


def _dishonest(plant: pytest.MonkeyPatch) -> None:
    plain = memoriter.why.explain.Reasons.score

    def score(reasons: Any, at: int) -> Explanation:
        true = plain(reasons, at)
        return Explanation(true.label, true.value, true.op, true.parts[1:], true.facts)

    plant.setattr(memoriter.why.explain.Reasons, "score", score)


def _credulous(plant: pytest.MonkeyPatch) -> None:
    plant.setattr(memoriter.embed.vector_space, "check_embedding", lambda vector, dimension: vector)


def _meddling(plant: pytest.MonkeyPatch) -> None:
    plant.setattr(memoriter.write.doctor, "_is_bad", lambda tenant, row: True)


def _vague(plant: pytest.MonkeyPatch) -> None:
    plant.setattr(memoriter.store.sqlite.errors, "DISK_FULL", frozenset())


def _boastful(plant: pytest.MonkeyPatch) -> None:
    def lead(self: Any) -> None:
        jobs, self._waiting = self._waiting, []
        try:
            self._write(jobs)
        except memoriter.MemoriterError:
            for job in jobs:
                commit = memoriter.Commit(
                    job.batch.tenant, 1, to_datetime(1), (job.batch.acts[0].id,)
                )
                job.done, job.answered = commit, True

    plant.setattr(memoriter.store.group_commit.GroupCommit, "_lead", lead)


def _forkable(plant: pytest.MonkeyPatch) -> None:
    plant.setattr(memoriter.store.sqlite.transactions.os, "getpid", lambda: 1)


PROMISES: dict[Check, Callable[[pytest.MonkeyPatch], None]] = {
    an_index_equals_its_rebuild: _ends_nothing,
    equal_questions_have_equal_answers: _unstable,
    every_number_adds_up: _dishonest,
    no_number_is_stored_that_is_none: _credulous,
    the_doctor_leaves_the_sound_alone: _meddling,
    a_full_disk_is_told_as_such: _vague,
    nothing_is_acknowledged_that_failed: _boastful,
    use_after_fork_is_refused: _forkable,
}


@pytest.mark.parametrize("check", PROMISES, ids=lambda check: check.__name__)
def test_a_promise_holds_and_its_planted_bug_breaks_it(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(tmp_path / "sound.db")
    with monkeypatch.context() as plant:
        PROMISES[check](plant)
        with pytest.raises((AssertionError, memoriter.MemoriterError, pytest.fail.Exception)):
            check(tmp_path / "sick.db")
