"""`memoriter eval`: says which data, which protocol and which metrics, then the numbers."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from memoriter.core.errors import InputError
from memoriter.evaluate.data import Dataset, find
from memoriter.evaluate.metrics import MEANING, METRICS
from memoriter.evaluate.protocols import Protocol, compared, protocol_of
from memoriter.evaluate.run import Score, evaluate
from memoriter.pipeline.load import recipe_of
from memoriter.pipeline.recipe import Recipe
from memoriter.write.progress import show_progress


def run_eval(
    data: Path | None,
    recipes: list[str],
    limit: int | None,
    *,
    json_out: bool,
    how: tuple[str, Sequence[str]] = ("strict", ()),
) -> int:
    """Score recipes on the data at a place and print the result; the exit code.

    `how` is the protocol's name, and which lanes or boosts are left out in further rows.
    """
    if limit is not None and limit < 1:
        raise InputError(f"limit: {limit} is not a number of questions", field="limit")
    protocol = protocol_of(how[0])
    named = {label: recipe_of(label) for label in recipes or protocol.recipes}
    rows = compared(named, protocol.settings, how[1])
    told: list[dict[str, object]] = []
    sets = [dataset.first(limit) for dataset in _asked(data, protocol)]
    if not json_out:
        _say(_opening(rows))
    for dataset in sets:
        scores = [score.only(protocol.metrics) for score in _watched(dataset, rows)]
        told.append(_data(dataset, scores))
        if not json_out:
            _say(_table(dataset, scores))
    if json_out:
        _say([json.dumps(_whole(rows, told), ensure_ascii=False, indent=2)])
    return 0


def _asked(data: Path | None, protocol: Protocol) -> list[Dataset]:
    """The data sets at a place, as a protocol asks them."""
    found = find(data)
    asked = [made for dataset in found if (made := protocol.asked(dataset)) is not None]
    if not asked:
        raise InputError(
            f"{found[0].name} cannot be asked by this protocol",
            hint="it needs several conversations, such as LoCoMo",
            field="protocol",
        )
    return asked


def _say(lines: Iterator[str] | Sequence[str]) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _watched(dataset: Dataset, recipes: dict[str, Recipe]) -> list[Score]:
    """The scores, with progress on stderr when somebody watches."""
    total = dataset.questions * len(recipes)
    with show_progress(sys.stderr.isatty(), dataset.name, total) as told:
        return evaluate(dataset, recipes, told)


def _opening(recipes: dict[str, Recipe]) -> Iterator[str]:
    yield f"{MEANING} In percent."
    yield "Compared on the same stores, with the packaged embedder and no language model:"
    for label, recipe in recipes.items():
        about = f"{recipe.name} v{recipe.version} {recipe.fingerprint[:12]}"
        yield f"  {label}: {about}. {recipe.about}"


def _table(dataset: Dataset, scores: Sequence[Score]) -> Iterator[str]:
    records = sum(len(case.records) for case in dataset.cases)
    wide = max(len("recipe"), *(len(score.recipe) for score in scores))
    yield f"\n{dataset.name}: {dataset.protocol}."
    yield f"{len(dataset.cases):,} stores, {records:,} records, {dataset.questions:,} questions."
    names = "".join(f"{name:>9}" for name in METRICS)
    yield f"  {'recipe':{wide}}{names}{'questions':>11}{'seconds':>9}"
    for score in scores:
        cells = "".join(
            f"{100 * score.means[name]:9.1f}" if name in score.means else f"{'-':>9}"
            for name in METRICS
        )
        yield f"  {score.recipe:{wide}}{cells}{score.questions:>11,}{score.seconds:>9.1f}"


def _data(dataset: Dataset, scores: Sequence[Score]) -> dict[str, object]:
    return {
        "name": dataset.name,
        "protocol": dataset.protocol,
        "stores": len(dataset.cases),
        "records": sum(len(case.records) for case in dataset.cases),
        "questions": dataset.questions,
        "scores": [score.to_dict() for score in scores],
    }


def _whole(recipes: dict[str, Recipe], told: Sequence[dict[str, object]]) -> dict[str, object]:
    return {
        "metrics": f"{MEANING} As fractions of 1.",
        "recipes": {
            label: {"name": r.name, "version": r.version, "fingerprint": r.fingerprint}
            for label, r in recipes.items()
        },
        "data": list(told),
    }
