"""The oracle's passes: signals become a score, boosts change it, a head is scored again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from tests.oracle.fuse import contributions, scaled
from tests.oracle.kinds import boosts, lanes
from tests.oracle.numbers import Column, Knots, grid
from tests.oracle.table import Scene, Table

Spec = Mapping[str, Any]


def first(scene: Scene) -> Table:
    """Every candidate with its score, in order."""
    spec = scene.recipe["pass"][0]
    fuse = _weighted(scene, spec["fuse"])
    bringing = [
        label for label, lane in scene.recipe["lanes"].items() if lanes()[lane["kind"]].brings
    ]
    proposed = {row for column in scene.candidates.values() for row in column}
    columns = _completed(scene, proposed) if spec["complete"] else dict(scene.candidates)
    every = {row for column in columns.values() for row in column}
    table = Table(sorted(every), dict(scene.parts))
    scores: dict[str, Column] = {}
    for label, column in columns.items():
        table.columns[f"{label}.score"] = column
        ranked = [row for row in column if row in proposed]
        table.columns[f"{label}.rank"] = {row: n + 1 for n, row in enumerate(ranked)}
        if label not in bringing:
            scores[label] = _as_counted(fuse, label, column, scene.coverage.get(label))
    scores = _stood_in(scene, fuse, scores)
    table.columns |= _scaled_columns(fuse, scores)
    candidates = {row for column in scores.values() for row in column}
    weighed = [n for n in _running(scene) if fuse["kind"] == "weighted" and n in fuse["weights"]]
    for label in weighed:
        made = _values(scene, table, label)
        table.columns[f"{label}.score"] = {r: v for r, v in made.items() if r in candidates}
        scores[label] = table.columns[f"{label}.score"]
    silent = [
        label for label in scores if label in scene.candidates and not scene.candidates[label]
    ]
    ranks = {label: table.columns[f"{label}.rank"] for label in scores if label not in weighed}
    table.score = _sums(contributions(fuse, scores, ranks, silent))
    table.columns["fuse"] = dict(table.score)
    _apply(scene, table, spec["boosts"], dict(table.score))
    table.rows = [row for row in table.rows if row in table.score and row in proposed]
    table.score = {row: table.score[row] for row in table.rows}
    table.sort(scene, spec["ties"] or scene.recipe["ties"])
    table.first = dict(table.score)
    return table


def _weighted(scene: Scene, fuse: Spec) -> Spec:
    """The fusion with the weights for the embedder."""
    if not scene.has_model or not fuse.get("model_weights"):
        return fuse
    return {**fuse, "weights": {**fuse["weights"], **fuse["model_weights"]}}


def _completed(scene: Scene, proposed: set[int]) -> dict[str, Column]:
    """What each lane says of every candidate and of the rows that boosts read beside them.

    A lane that can say nothing of one row by itself keeps to its pool.
    """
    rows, first_pass = set(proposed), scene.recipe["pass"][0]
    weighed = [
        label for label in scene.recipe["boosts"] if label in first_pass["fuse"].get("weights", {})
    ]
    for label in reversed([*weighed, *first_pass["boosts"]]):
        if label in _running(scene):
            spec = scene.recipe["boosts"][label]
            rows |= {n for row in rows for n in boosts()[spec["kind"]].beside(spec, scene, row)}
    kind = {label: lane["kind"] for label, lane in scene.recipe["lanes"].items()}
    return {
        label: {row: s for row, s in scene.whole[label].items() if row in rows}
        if lanes()[kind[label]].independent
        else column
        for label, column in scene.candidates.items()
    }


def _as_counted(fuse: Spec, label: str, column: Column, knots: Knots | None = None) -> Column:
    if fuse["kind"] != "weighted":
        return column
    how = fuse["scale"]
    return scaled(column, how if isinstance(how, str) else how.get(label, "none"), knots)


def _scaled_columns(fuse: Spec, scores: Mapping[str, Column]) -> dict[str, Column]:
    scales = fuse["kind"] == "weighted"
    return {f"{label}.scaled": column for label, column in scores.items() if scales}


def _stood_in(scene: Scene, fuse: Spec, scores: Mapping[str, Column]) -> dict[str, Column]:
    """The scaled scores; where a lane lacks something of a row, the mean of those that cover it."""
    if fuse["kind"] != "weighted":
        return dict(scores)
    how = {
        n: fuse["scale"] if isinstance(fuse["scale"], str) else fuse["scale"].get(n) for n in scores
    }
    covering = [label for label in scores if how[label] == "coverage"]
    owed = {label: scene.owed[label] for label in covering if scene.owed.get(label)}
    kinds = {label: lanes()[scene.recipe["lanes"][label]["kind"]] for label in covering}
    standing = {
        label: fuse["weights"].get(label, 1.0)
        for label in covering
        if kinds[label].independent and label not in (*owed, *scene.recipe["apart"])
        if scores[label]
    }
    whole, out = math.fsum(standing.values()), dict(scores)
    for label in owed if whole else ():
        out[label] = dict(scores[label])
        for row in {*owed[label]} - {*scores[label]}:
            parts = [grid(w * scores[n][row]) for n, w in standing.items() if row in scores[n]]
            if parts:
                out[label][row] = min(grid(math.fsum(parts) / whole), 1.0)
    return out


def _running(scene: Scene) -> list[str]:
    """The boosts that take part."""
    weights = scene.recipe["pass"][0]["fuse"].get("weights", {})
    return [
        label
        for label, spec in scene.recipe["boosts"].items()
        if spec["enabled"]
        and weights.get(label) != 0.0
        and boosts()[spec["kind"]].runs(spec, scene)
    ]


def _sums(parts: Mapping[str, Column]) -> Column:
    rows = {row for column in parts.values() for row in column}
    return {row: math.fsum(c[row] for c in parts.values() if row in c) for row in rows}


def _apply(scene: Scene, table: Table, labels: Sequence[str], base: Column) -> Column:
    """The scores after these boosts; neighbours of one kind in one step."""
    running = _running(scene)
    labels = [label for label in labels if label in running or label in scene.candidates]
    for group in _groups(scene, labels):
        how = _op(scene, group[0])
        columns = [_column(scene, table, label) for label in group]
        everyone = {row for column in columns for row in column} if how == "max" else set[int]()
        made: Column = {}
        for row in {*base, *everyone}:
            parts = [column[row] for column in (base, *columns) if row in column]
            made[row] = _combined(how, parts)
        base = made
        table.score |= made
    return base


def _combined(how: str, parts: Sequence[float]) -> float:
    match how:
        case "sum":
            return math.fsum(parts)
        case "product":
            return grid(math.prod(parts))
        case _:
            return max(parts)


def _groups(scene: Scene, labels: Sequence[str]) -> list[list[str]]:
    at, marks = 0, list[tuple[int, str]]()
    for label in labels:
        boost = scene.recipe["boosts"].get(label)
        at += boost is not None and boosts()[boost["kind"]].reads_score
        marks.append((at, label))
    grouped = groupby(marks, key=lambda mark: (mark[0], _op(scene, mark[1])))
    return [[label for _, label in group] for _, group in grouped]


def _op(scene: Scene, label: str) -> str:
    boost = scene.recipe["boosts"].get(label)
    return "sum" if boost is None else boosts()[boost["kind"]].op(boost)


def _values(scene: Scene, table: Table, label: str) -> Column:
    """What a boost is worth to each row."""
    spec = scene.recipe["boosts"][label]
    return boosts()[spec["kind"]].values(spec, scene, table)


def _column(scene: Scene, table: Table, label: str) -> Column:
    """What a boost is worth, computed once; a lane is worth its raw score."""
    if label in scene.recipe["lanes"]:
        return table.columns[f"{label}.score"]
    if f"boost.{label}" not in table.columns:
        made = _values(scene, table, label)
        table.columns[f"boost.{label}"] = made
    return table.columns[f"boost.{label}"]


# -- a second pass ---------------------------------------------------------------------------------


def _lists(scene: Scene, table: Table, head: Spec | None) -> dict[str, list[int]]:
    """The first rows by each column of a head: absent as 0, equals by ties; or as they stand."""
    if head is None:
        return {"order": table.rows}
    if not head["by"]:
        return {"order": table.rows[: head["count"]]}
    out: dict[str, list[int]] = {}
    for name in head["by"]:
        column = {row: table.columns.get(name, {}).get(row, 0.0) for row in table.rows}
        best = table.by(table.rows, column, scene, scene.recipe["ties"])
        out[name.removesuffix(".score")] = best[: head["count"]]
    return out


def again(scene: Scene, table: Table) -> None:
    """A head is fused a second time; the rest stay below as they stood."""
    spec = scene.recipe["pass"][1]
    lists = _lists(scene, table, spec["head"])
    ranks = {name: {row: n + 1.0 for n, row in enumerate(rows)} for name, rows in lists.items()}
    scores: dict[str, Column] = {}
    for name, rows in lists.items():
        column = table.score if name == "order" else table.columns.get(_full(table, name), {})
        own = {row: column.get(row, 0.0) for row in rows}
        scores[name] = _as_counted(spec["fuse"], name, own)
    made = _sums(contributions(spec["fuse"], scores, ranks, ()))
    table.score |= made
    _apply(scene, table, spec["boosts"], made)
    inside = {row for rows in lists.values() for row in rows}
    head = table.by(
        [row for row in table.rows if row in inside],
        table.score, scene, spec["ties"] or scene.recipe["ties"],
    )  # fmt: skip
    _tiers(table, head)


def _full(table: Table, name: str) -> str:
    return name if name in table.columns else f"{name}.score"


def _tiers(table: Table, head: Sequence[int]) -> None:
    inside = set(head)
    table.columns["tier"] = {row: 1.0 if row in inside else 2.0 for row in table.rows}
    table.rows = [*head, *(row for row in table.rows if row not in inside)]


def rerank(scene: Scene, table: Table) -> None:
    """A head as a reranker orders it; equals stay as they stood."""
    spec = scene.recipe["pass"][1]
    inside = {row for rows in _lists(scene, table, spec["head"]).values() for row in rows}
    head = [row for row in table.rows if row in inside]
    if scene.judge is None or not head or _agreed(scene, spec["rerank"]["unless"]):
        return
    answer = scene.judge(scene.text, [_titled(scene, row) for row in head])
    made = {row: grid(score) for row, score in zip(head, answer, strict=True)}
    table.columns["rerank.score"] = made
    if spec["rerank"]["score"] == "replace":
        table.score |= made
        made = _apply(scene, table, spec["boosts"], made)
    place = {row: n for n, row in enumerate(head)}
    _tiers(table, sorted(head, key=lambda row: (-made[row], place[row])))


def _titled(scene: Scene, row: int) -> str:
    record = scene.records[row]
    return f"{record.title}\n{record.text}" if record.title else record.text


def _agreed(scene: Scene, unless: Spec | None) -> bool:
    """Whether two lanes agree on enough of their best rows."""
    if unless is None:
        return False
    one, two = (list(scene.candidates.get(label, {})) for label in unless["lanes"])
    depth = unless["depth"]
    if min(len(one), len(two)) < depth:
        return False
    if unless["by"] == "overlap":
        return len(set(one[:depth]) & set(two[:depth])) >= unless["agree"]
    same = sum(a == b for a, b in zip(one[:depth], two[:depth], strict=True))
    return same >= unless["agree"]
