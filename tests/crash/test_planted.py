"""Do the tests bite? For every promise a planted bug that its test must see."""

from __future__ import annotations

import builtins
import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.crash import clocks, flips, images, lab, plan, plant
from tests.crash.conftest import Note
from tests.crash.crowd import held_through_a_merge, taken_in_turn, together
from tests.crash.crowd import settle as settled
from tests.crash.fault_bench import bench
from tests.crash.flips import answers_and_mends
from tests.crash.kill_loop import killed
from tests.crash.power import retried, survey, traced
from tests.night import NIGHT

from memoriter.store import rows, sequence

IMAGES = 120 if NIGHT else 50


@pytest.mark.parametrize("bug", ["unsynced", "lazily_synced"])
def test_a_commit_that_is_not_synced_fails_the_power_cut(
    bug: str, tracer: Path, tmp_path: Path, quick: Path, note: Note
) -> None:
    run = traced(tracer, tmp_path, lab.SEED, 60, MEMORITER_PLANT=bug)
    counts, _ = survey(run, IMAGES, lab.SEED, quick)
    note(f"planted {bug}: images that fail", f"{IMAGES - counts['sound']} of {IMAGES}")
    assert counts["lost"] or counts["corrupt"]


@pytest.mark.parametrize("plant", ["", "unpublished"])
def test_a_segment_published_unsynced_is_damaged_after_a_power_cut(
    plant: str, tracer: Path, tmp_path: Path, quick: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A manifest lists only what is on disk: else images have segments that cannot be read.

    One may be gone, which was swept after a later manifest; none is damaged.
    """
    run = traced(tracer, tmp_path, lab.SEED, 100, MEMORITER_PLANT=plant)
    for cut in images.cuts(run.events, run.root, IMAGES, random.Random(lab.SEED)):
        images.lay(cut.files, quick / "image")
        images.check(quick / "image" / "m.db", int(cut.acks[-1]) if cut.acks else -1, run.expected)
    logged = [each.getMessage() for each in caplog.records]
    damaged = [each for each in logged if "cannot be read" in each and "is missing" not in each]
    assert bool(damaged) == bool(plant), damaged[:3]


@pytest.mark.parametrize(
    ("bug", "how"), [("unguarded", "named"), ("keyless", "named"), ("keyless", "syscall")]
)
def test_a_commit_that_is_not_whole_or_not_once_fails_the_kill_loop(
    bug: str, how: str, quick: Path, tmp_path: Path
) -> None:
    folder = quick if how == "named" else tmp_path
    with pytest.raises(AssertionError, match=r"Wrong|Error|Conflict"):
        killed(folder, "planted", 30, 60, how, MEMORITER_PLANT=bug)


def test_a_retry_that_rests_on_the_page_cache_fails_the_power_cut(
    tracer: Path, tmp_path: Path, quick: Path
) -> None:
    assert retried(tmp_path, quick, tracer, 35, alone=False, MEMORITER_PLANT="resting")


@pytest.mark.parametrize("bug", ["stale", "deferred"])
def test_a_writer_that_trusts_a_stale_head_fails_the_many(bug: str, tmp_path: Path) -> None:
    with pytest.raises((images.Wrong, AssertionError)):
        _four_writers(tmp_path / "m.db", bug)


def test_a_lease_that_is_kept_starves_the_many(tmp_path: Path) -> None:
    reports = together(tmp_path / "m.db", ["write"] * 3, 200, MEMORITER_PLANT="greedy")
    with pytest.raises(AssertionError):
        taken_in_turn(reports)


def _four_writers(path: Path, bug: str) -> None:
    reports = together(path, ["write"] * 4, 300, MEMORITER_PLANT=bug)
    assert not [error for one in reports for error in one["errors"]]
    settled(path, reports)


def test_a_merge_in_place_kills_a_reader(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="signal"):
        held_through_a_merge(tmp_path / "m.db", MEMORITER_PLANT="in_place")


@pytest.mark.parametrize(
    ("bug", "jobs", "says"),
    [
        ("swallowed", [["S", "EIO", n, 1] for n in range(1, 9)], "lost|torn|corrupt|stuck"),
        ("misnamed", [["W", "ENOSPC", 100, 1]], "Unavailable"),
        ("hasty", [["W", "SHORT", n, 1] for n in range(13, 400, 12)], "lost|torn|corrupt|stuck"),
        ("hasty", [["W", "EINTR", n, 1] for n in range(13, 400, 12)], "lost|torn|corrupt|stuck"),
    ],
)
def test_a_fault_that_is_hidden_or_misnamed_is_noticed(
    bug: str, jobs: list[Any], says: str, tracer: Path, quick: Path
) -> None:
    reports = bench(tracer, quick, jobs, MEMORITER_PLANT=bug)
    errors = json.dumps([[one["wrong"], [line[:2] for line in one["errors"]]] for one in reports])
    assert any(word in errors for word in says.split("|")), reports


def test_a_digest_over_the_text_alone_lets_flips_through(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def text_only(tenant: str, row: rows.RecordRow) -> bytes:
        try:
            text = json.loads(row.body)["text"]
        except (ValueError, KeyError):
            text = "unreadable"
        return rows.digest("memoriter/record/1", tenant.encode(), str(text).encode())

    assert not _flipped_time(quick).unseen
    monkeypatch.setattr(rows, "record_digest", text_only)
    monkeypatch.setattr(sequence, "record_digest", text_only)
    assert _flipped_time(quick).unseen


def _flipped_time(quick: Path) -> flips.Tally:
    """What becomes of a flip in the time that a record was created."""
    shutil.rmtree(quick / "kept", ignore_errors=True)
    kept, tally = flips.Kept(quick / "kept", f"{lab.SEED}/flips", 60), flips.Tally()
    match = re.search(rb'"created":\d{12}', kept.bytes)
    assert match
    content = bytearray(kept.bytes)
    content[match.end() - 1] ^= 1
    flips.suffer(kept, quick / "copy", "a time", bytes(content), tally)
    return tally


def test_a_segment_without_checksums_serves_its_damage(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for room in ("file", "checked"):
        monkeypatch.setattr(f"memoriter.index.{room}.checksum", lambda *parts: bytes(8))
    kept = flips.Kept(quick / "kept", f"{lab.SEED}/flips", 60)
    with pytest.raises(Exception, match=r"."):  # wrong answers, or none at all
        _flipped_segments(kept, quick / "copy")


def _flipped_segments(kept: flips.Kept, folder: Path) -> None:
    rng = random.Random(lab.SEED)
    for _ in range(60):
        path = kept.lay(folder, kept.bytes, derived=True)
        segment = rng.choice(sorted(path.with_name("m.db.idx").glob("*.seg")))
        segment.write_bytes(flips.flip(segment.read_bytes(), rng)[1])
        answers_and_mends(kept, path)


def test_a_commit_time_straight_from_the_clock_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, note: Note
) -> None:
    def latest(*given: Any, **more: Any) -> Any:
        return given[1] if len(given) == 2 and not more else builtins.max(*given, **more)

    monkeypatch.setattr(sequence, "max", latest, raising=False)
    with pytest.raises(Exception, match=r"."):  # wherever it shows first
        clocks.lived("runs backwards", tmp_path, note)


def test_every_bug_that_can_be_planted_is_planted_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    unused = [name for name in plant.BUGS if f'"{name}"' not in text]
    assert set(unused) <= {
        "unleased",
        "trusting",
        "half_erased",
        "unscrubbed",  # part of others, or of test_forget
    }
    assert plan.steps("x", 5) == plan.steps("x", 5)
