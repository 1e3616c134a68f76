"""What each signal of the default recipe is worth: the recipe without it, on the public sets.

`memoriter recipe compare` gives intervals and a paired test for any two recipes; this prints the
whole list. `tools/bench_data.py` says where the sets are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tools.bench_data import MISSING, bench_data

from bench.tools import Options, figures, table
from memoriter.evaluate.find import find_datasets
from memoriter.evaluate.run import evaluate
from memoriter.pipeline.load import overridden, recipe_of
from memoriter.pipeline.recipe import Recipe

SETS = ("everyday", "locomo", "longmemeval", "scifact")
"""Notes, conversations and documents."""
_LANES = ("words", "kin", "meaning", "moment")


def _without(data: Mapping[str, Any], *boosts: str) -> dict[str, Any]:
    first, *rest = data["pass"]
    kept = [label for label in first["boosts"] if label not in boosts]
    return {**data, "pass": [{**first, "boosts": kept}, *rest]}


def variants() -> dict[str, Recipe]:
    """The default recipe, and one without each of its signals."""
    default = recipe_of("memoriter")
    data = default.to_data()
    out = {"default": default}
    for lane in _LANES:
        out[f"without {lane}"] = overridden(default, {f"lanes.{lane}.enabled": False})
    for boost in ("around", "who", "past", "dated"):
        out[f"without {boost}"] = recipe_of({**_without(data, boost), "name": "ablated"})
    out["times embedded too"] = overridden(default, {"apart": []})
    out["names embedded too"] = overridden(default, {"boosts.who.embedded": True})
    out["superseded hidden"] = overridden(default, {"select.superseded": "hide"})
    out["without copies"] = recipe_of({**data, "order": [], "name": "ablated"})
    first, *rest = data["pass"]
    apart = {**first, "complete": False}
    out["not completed"] = recipe_of({**data, "pass": [apart, *rest], "name": "ablated"})
    pools = {f"lanes.{lane}.pool": 100 for lane in _LANES}
    out["pools of 100"] = overridden(default, pools)
    return out


def run(options: Options) -> None:
    if (place := bench_data()) is None:
        print(MISSING)
        return
    recipes = variants()
    rows: dict[str, list[str]] = {label: [label] for label in recipes}
    heads = ["recipe"]
    for name in SETS[:1] if options.small else SETS:
        for dataset in find_datasets(place / name):
            heads.append(dataset.name)
            for ran in evaluate(dataset, recipes, lambda _: None):
                answers = [(each.reply.ids, each.question.gold) for each in ran.outcomes]
                rows[ran.label].append(" / ".join(figures(answers)))
    table(heads, [tuple(row) for row in rows.values()])
