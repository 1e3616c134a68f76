"""Damage is seen, never served; and what is derived may be damaged as one likes."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.crash import flips, lab, plan
from tests.crash.conftest import Note
from tests.crash.flips import answers_and_mends
from tests.inside import log_of
from tests.night import NIGHT

from memoriter.testing.whole import whole

CHUNKS, FLIPS = (10, 500) if NIGHT else (1, 20)
STEPS = 60
HEADS = "damages / changed an answer / told on read / by verify / unseen"


@pytest.fixture(scope="module")
def kept() -> Iterator[flips.Kept]:
    """One store for all tests: each damages copies of it."""
    with lab.quick_folder() as folder:
        yield flips.Kept(folder / "kept", f"{lab.SEED}/flips", STEPS)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_flipped_bit_is_served(chunk: int, kept: flips.Kept, quick: Path, note: Note) -> None:
    rng, tally = random.Random(f"flips {lab.SEED} {chunk}"), flips.Tally()
    for _ in range(FLIPS):
        flips.suffer(kept, quick / "copy", *flips.flip(kept.bytes, rng), tally)
    note(f"bit flips: {HEADS}", tally.spelled())
    assert tally.tried - tally.harmless > FLIPS / 10
    assert not tally.unseen, "\n".join(tally.unseen)
    assert not tally.untyped, "\n".join(tally.untyped[:10])


def test_no_zeroed_page_is_served(kept: flips.Kept, quick: Path, note: Note) -> None:
    tally = flips.Tally()
    pages = len(kept.bytes) // flips.PAGE
    for page in range(0, pages, 1 if NIGHT else 4):
        begin, end = page * flips.PAGE, (page + 1) * flips.PAGE
        content = kept.bytes[:begin] + bytes(flips.PAGE) + kept.bytes[end:]
        flips.suffer(kept, quick / "copy", f"page {page + 1} zeroed", content, tally)
    note(f"zeroed pages: {HEADS}", tally.spelled())
    assert not tally.unseen, "\n".join(tally.unseen)
    assert not tally.untyped, "\n".join(tally.untyped[:10])


def test_no_shortened_file_is_served(kept: flips.Kept, quick: Path, note: Note) -> None:
    tally, rng = flips.Tally(), random.Random(f"cut {lab.SEED}")
    size = len(kept.bytes)
    lengths = [size - flips.PAGE, size - 1, size - 512, 100, 1]
    lengths += [rng.randrange(size) for _ in range(60 if NIGHT else 12)]
    for length in lengths:
        flips.suffer(kept, quick / "copy", f"cut at {length}", kept.bytes[:length], tally)
    note(f"shortened files: {HEADS}", tally.spelled())
    assert not tally.unseen, "\n".join(tally.unseen)
    assert not tally.untyped, "\n".join(tally.untyped[:10])


# -- derived files -----------------------------------------------------------------------------


def _delete(path: Path, rng: random.Random) -> None:
    del rng
    path.unlink()


def _truncate(path: Path, rng: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: rng.randrange(len(content))])


def _flip(path: Path, rng: random.Random) -> None:
    path.write_bytes(flips.flip(path.read_bytes(), rng)[1])


def _zero(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    begin = rng.randrange(len(content))
    content[begin : begin + 512] = bytes(len(content[begin : begin + 512]))
    path.write_bytes(content)


def _empty(path: Path, rng: random.Random) -> None:
    del rng
    path.write_bytes(b"")


DAMAGES: dict[str, Callable[[Path, random.Random], None]] = {
    "deleted": _delete,
    "truncated": _truncate,
    "flipped": _flip,
    "zeroed": _zero,
    "emptied": _empty,
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_segment_changes_no_answer(
    name: str, kept: flips.Kept, quick: Path, note: Note
) -> None:
    rng, tried = random.Random(f"{name} {lab.SEED}"), 0
    for _ in range(40 if NIGHT else 1):
        for segment in sorted((kept.folder / "m.db.idx").glob("*.seg")):
            path = kept.lay(quick / "copy", kept.bytes, derived=True)
            DAMAGES[name](path.with_name("m.db.idx") / segment.name, rng)
            answers_and_mends(kept, path)
            tried += 1
    note(f"segments {name}: tried / wrong", f"{tried} / 0")
    assert tried


def test_an_aged_segment_changes_no_answer(kept: flips.Kept, quick: Path, note: Note) -> None:
    older: dict[str, bytes] = {}
    pace = plan.Pace()
    (quick / "again").mkdir()
    with plan.opened(quick / "again" / "m.db", pace) as memory:
        for step in kept.life:
            plan.take(memory, step, pace)
            files = (quick / "again" / "m.db.idx").glob("*.seg")
            older |= {file.name: file.read_bytes() for file in files}
    assert len(older) > 1
    tried = 0
    for segment in sorted((kept.folder / "m.db.idx").glob("*.seg")):
        for content in list(older.values())[:: 1 if NIGHT else 4]:
            path = kept.lay(quick / "copy", kept.bytes, derived=True)
            (path.with_name("m.db.idx") / segment.name).write_bytes(content)
            answers_and_mends(kept, path)
            tried += 1
    note("segments aged: tried / wrong", f"{tried} / 0")
    assert tried > 1


def test_a_whole_folder_of_another_time_changes_no_answer(kept: flips.Kept, quick: Path) -> None:
    other = flips.Kept(quick / "other", f"{lab.SEED}/other", STEPS)
    path = kept.lay(quick / "copy", kept.bytes, derived=False)
    shutil.copytree(other.folder / "m.db.idx", path.with_name("m.db.idx"))
    answers_and_mends(kept, path)


# -- repair ------------------------------------------------------------------------------------


def test_the_doctor_changes_nothing_on_a_healthy_store(kept: flips.Kept, quick: Path) -> None:
    path = kept.lay(quick / "copy", kept.bytes, derived=True)
    before = contents(path)
    with flips.opened(path) as memory:
        assert memory.verify_store().sound
        report = memory.doctor()
    assert report.sound
    assert not report.mended
    assert contents(path) == before


def test_the_doctor_mends_a_damaged_index_and_nothing_else(kept: flips.Kept, quick: Path) -> None:
    rng = random.Random(f"doctor {lab.SEED}")
    for segment in sorted((kept.folder / "m.db.idx").glob("*.seg")):
        path = kept.lay(quick / "copy", kept.bytes, derived=True)
        _flip(path.with_name("m.db.idx") / segment.name, rng)
        with flips.opened(path) as memory:
            before = plan.spelled(whole(log_of(memory), plan.TENANT))
            report = memory.verify_store()
            assert report.derived
            assert not report.problems
            assert memory.doctor().mended
            assert memory.verify_store().sound
            assert plan.spelled(whole(log_of(memory), plan.TENANT)) == before
        with flips.opened(path) as memory:
            assert kept.ask(memory) == kept.answers[True]


def contents(path: Path) -> dict[str, bytes]:
    """Every file of a store but those that SQLite keeps while it is open."""
    files = [p for p in path.parent.rglob("*") if p.is_file() and not p.name.endswith(".lock")]
    return {str(p.relative_to(path.parent)): p.read_bytes() for p in files}
