"""The oracle: the formulas of the engine in plain Python, over plain lists, as slow as they read.

It shares what reads texts with the engine (the analyzer, the embedder, `text/`), and nothing of
`index/`, `rank/`, `lanes/` or `pipeline/`. Its world is what a store dumps; its answer is ids and
scores, to be compared bit for bit. `naive_world` says what there is, `naive_lanes` what is found,
`naive_passes` what it scores, `naive_orders` where it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from memoriter.testing.naive_graph import Found
from memoriter.testing.naive_lanes import Search, scene_of
from memoriter.testing.naive_orders import ordered
from memoriter.testing.naive_passes import again, first, rerank
from memoriter.testing.naive_world import Ask, World, embedded, select

__all__ = ["Answer", "Ask", "World", "answer", "browse", "embedded"]


@dataclass(frozen=True)
class Answer:
    """(id, score) of every candidate, best first, and the lanes that ran; none means no answer."""

    ranked: list[tuple[str, float]]
    used: list[str]
    walks: dict[str, dict[str, Found]]
    """What graph lanes say of each id."""


def answer(world: World, ask: Ask) -> Answer:
    """What the engine must answer, the limit apart."""
    chosen = select(world, ask)
    search = Search(world, ask, chosen)
    found = search.found()
    scene = replace(scene_of(world, ask, chosen, found), parts=search.parts(found))
    table = first(scene)
    passes = ask.recipe["pass"]
    if len(passes) > 1 and passes[1]["enabled"]:
        if passes[1]["rerank"] is None:
            again(scene, table)
        elif ask.mode is None or ask.recipe["modes"][ask.mode]["rerank"]:
            rerank(scene, table)
    ordered(scene, table)
    ids = {record.row: record.id for record in chosen}
    ranked = [(ids[row], table.score[row]) for row in table.rows]
    walks = {label: {ids[r]: f for r, f in told.items()} for label, told in search.walks.items()}
    return Answer(ranked, list(found), walks)


def browse(world: World, ask: Ask, *, newest: bool) -> list[str]:
    """The ids of the selection by date."""
    chosen = sorted(select(world, ask), key=lambda record: (record.created, record.row))
    return [record.id for record in (reversed(chosen) if newest else chosen)]
