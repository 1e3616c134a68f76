"""Real processes on one file: they write, read, publish and merge at once, and agree in the end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.inside import engine_of, log_of
from tests.night import NIGHT
from tests.oracle.answer import answer
from tests.oracle.world import Ask, World
from tests.property.worlds import OWN, asked, query_vector

import memoriter
from memoriter.embed.vector_space import space_of
from memoriter.pipeline.load import recipe_of
from memoriter.store.verify import verify_log
from memoriter.testing.whole import whole

_WORKER = """
import json, random, sys
import memoriter
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = random.Random(name)
memory = memoriter.open(path, flush_rows=50)
words = ["port", "ssh", "cache", "memory", "prod", "disk", "queue", "token"]
mine, wrote, gone = [], 0, 0
for n in range(count):
    dice = rng.random()
    text = " ".join(rng.choices(words, k=5))
    if dice < 0.6 or not mine:
        made = memory.remember(text, id=f"{name}-{n}", tags=[name, rng.choice(words)])
        mine.append(made.id)
        assert memory.get(made.id).text == text
        found = memory.keywords(text, 10_000, where={"id": made.id})
        assert [hit.id for hit in found] == [made.id], "a write is found at once"
        wrote += 1
    elif dice < 0.8:
        memory.update(rng.choice(mine), text=text)
    elif dice < 0.9:
        memory.link(rng.choice(mine), rng.choice(mine))
    else:
        one = mine.pop(rng.randrange(len(mine)))
        memory.forget(one)
        assert one not in {hit.id for hit in memory.recall("port ssh", 10_000)}
        gone += 1
    if n % 20 == 0:
        memory.recall(text, 100)
        memory.browse(limit=5)
memory.close()
print(json.dumps([wrote, gone, sorted(mine)]))
"""


def together(path: Path, workers: int, count: int) -> list[tuple[int, int, list[str]]]:
    """Run the workers at once; what each says it did."""
    source = str(Path(memoriter.__file__).parents[1])
    running = [
        subprocess.Popen(  # noqa: S603  # our own interpreter
            [sys.executable, "-c", _WORKER, str(path), f"w{n}", str(count)],
            env={**os.environ, "PYTHONPATH": source},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for n in range(workers)
    ]  # fmt: skip
    outputs = []
    for process in running:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        assert err == "", err
        outputs.append(tuple(json.loads(out)))
    return outputs


def check(path: Path, workers: int, count: int) -> None:
    outputs = together(path, workers, count)
    with memoriter.open(path, maintenance="manual") as memory:
        kept = sorted(name for _, _, names in outputs for name in names)
        page = memory.browse("oldest", limit=10_000)
        assert sorted(record.id for record in page.records) == kept
        dump = whole(log_of(memory), "default")
        verify_log("default", dump)
        assert dump.head.positions == sum(wrote for wrote, _, _ in outputs)
        assert len(dump.tombs) == sum(gone for _, gone, _ in outputs)
        assert [c.time for c in dump.commits] == sorted(c.time for c in dump.commits)
        assert dump.head.published > 0, "segments were published on the way"
        assert list(path.with_name(path.name + ".idx").glob("*.seg"))
        space = space_of(engine_of(memory).vectors.embedder)  # the name of the space
        world = World.at(dump, dump.head.seq, OWN, space)
        now = engine_of(memory).clock.now()  # the answer is for one moment
        ours = {}
        for text in ("port ssh", "memory of the queue"):
            for recipe in ("memoriter", "lexical", "semantic"):
                ours[text, recipe] = asked(memory, text, recipe, now=now)
                vector = query_vector(memory, text)
                ask = Ask(text, recipe_of(recipe).to_data(), now, vector)
                assert ours[text, recipe][0] == answer(world, ask).ranked[:1000]
    shutil.rmtree(path.with_name(path.name + ".idx"))
    with memoriter.open(path, maintenance="manual") as memory:
        for (text, recipe), before in ours.items():
            assert asked(memory, text, recipe, now=now) == before


def test_two_processes_on_one_file(tmp_path: Path) -> None:
    check(tmp_path / "m.db", 2, 200 if NIGHT else 100)


@pytest.mark.night
def test_eight_processes_on_one_file(tmp_path: Path) -> None:
    check(tmp_path / "m.db", 8, 600)
