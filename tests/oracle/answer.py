"""The oracle: the formulas of the engine in plain Python, over plain lists, as slow as they read.

It shares what reads texts with the engine (the analyzer, the embedder, `text/`), and nothing of
`index/`, `rank/`, `lanes/` or `pipeline/`. Its world is what a store dumps; its answer is ids and
scores, to be compared bit for bit. `world` says what there is, `search` what lanes find, `passes`
what it scores; each kind of lane, boost and ordering has a file of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.oracle.graph import Reached
from tests.oracle.kinds import orderings
from tests.oracle.passes import again, first, rerank
from tests.oracle.search import Search, scene_of
from tests.oracle.table import Scene, Table
from tests.oracle.world import Ask, World, select


@dataclass(frozen=True)
class Answer:
    """(id, score) of every candidate, best first, and the lanes that ran; none means no answer."""

    ranked: list[tuple[str, float]]
    used: list[str]
    walks: dict[str, dict[str, Reached]]
    """What graph lanes say of each id."""


def answer(world: World, ask: Ask) -> Answer:
    """What the engine must answer, the limit apart."""
    chosen = select(world, ask)
    search = Search(world, ask, chosen)
    candidates = search.candidates()
    scene = replace(
        scene_of(world, ask, chosen, candidates),
        parts=search.parts(candidates), whole=search.whole, coverage=search.coverage(),
        owed=search.owed(),
    )  # fmt: skip
    table = first(scene)
    passes = ask.recipe["pass"]
    if len(passes) > 1 and passes[1]["enabled"]:
        if passes[1]["rerank"] is None:
            again(scene, table)
        elif ask.mode is None or ask.recipe["modes"][ask.mode]["rerank"]:
            rerank(scene, table)
    _order(scene, table)
    ids = {record.row: record.id for record in chosen}
    ranked = [(ids[row], table.score[row]) for row in table.rows]
    walks = {label: {ids[r]: f for r, f in one.items()} for label, one in search.walks.items()}
    return Answer(ranked, list(candidates), walks)


def _order(scene: Scene, table: Table) -> None:
    """The table after every ordering of its recipe, and without what scores too little."""
    for spec in scene.recipe["order"]:
        if spec["enabled"]:
            table.rows = orderings()[spec["kind"]].rows(spec, scene, table)
    floor = scene.recipe["final"]["min_score"]
    if floor is not None:
        table.rows = [row for row in table.rows if table.first[row] >= floor]


def browse(world: World, ask: Ask, *, newest: bool) -> list[str]:
    """The ids of the selection by date."""
    chosen = sorted(select(world, ask), key=lambda record: (record.created, record.row))
    return [record.id for record in (reversed(chosen) if newest else chosen)]
