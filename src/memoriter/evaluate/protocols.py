"""How a data set is asked: strictly, or as another system asks it, by name.

The strict protocol is the data set's own. `mentisdb` is how that project measures LoCoMo: every
conversation in one store, the evidence widened by its neighbours, any of it among the first ten.
Numbers of the two cannot be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from memoriter.core.errors import InputError
from memoriter.evaluate.data import Case, Dataset, Item, Question
from memoriter.evaluate.metrics import METRICS
from memoriter.pipeline.load import overridden
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.spoken import settled

_WIDE: Final = 2
"""How many turns before and after the evidence count as evidence."""
_LOUD, _QUIET = 0.8, 0.2
"""The importance of turns, one after the other."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """One way to ask."""

    asked: Callable[[Dataset], Dataset | None]
    """The data set as it is asked; None for one that cannot be asked so."""
    recipes: tuple[str, ...]
    """What is compared when nothing is named."""
    metrics: tuple[str, ...] = tuple(METRICS)
    """What can be said of the answers."""
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    """How recipes that have these knobs are set."""


def pooled(dataset: Dataset) -> Dataset | None:
    """Every conversation in one store, in turn; a turn's neighbours are gold too."""
    talks = len(dataset.cases) > 1 and all(
        record.session for case in dataset.cases for record in case.records
    )
    if not talks:
        return None
    records: list[Item] = []
    questions: list[Question] = []
    for n, case in enumerate(dataset.cases):
        records += _turns(case.records, n)
        questions += _widened(case, n)
    protocol = (
        "every conversation in one store; each turn is linked to the one before it in its session "
        f"and has importance {_LOUD} or {_QUIET} in turn; gold is the evidence and {_WIDE} turns "
        "before and after it, by id; hit@10 is what MentisDB calls R@10"
    )
    pool = Case(tuple(records), tuple(questions))
    return Dataset(f"{dataset.name}, as MentisDB asks", protocol, (pool,))


def _turns(records: Sequence[Item], n: int) -> Iterator[Item]:
    """The turns of one conversation under names of their own, linked to those before them."""
    before = {two.id: one.id for one, two in pairwise(records) if one.session == two.session}
    for at, record in enumerate(records):
        last = before.get(record.id)
        link = {"target": f"{n}/{last}", "kind": "continues_from"}
        yield record._replace(
            id=f"{n}/{record.id}",
            session=f"{n}/{record.session}",
            importance=_QUIET if at % 2 else _LOUD,
            links=() if last is None else (link,),
        )


def _widened(case: Case, n: int) -> Iterator[Question]:
    place = {record.id: at for at, record in enumerate(case.records)}
    for question in case.questions:
        gold: set[str] = set()
        for at in (place[one] for one in question.gold if one in place):
            near = case.records[max(at - _WIDE, 0) : at + _WIDE + 1]
            session = case.records[at].session
            gold |= {f"{n}/{record.id}" for record in near if record.session == session}
        yield question._replace(gold=frozenset(gold))


PROTOCOLS: Final[Mapping[str, Protocol]] = {
    "strict": Protocol(lambda dataset: dataset, ("memoriter", "lexical", "semantic")),
    "mentisdb": Protocol(
        pooled,
        ("mentisdb", "memoriter"),
        ("hit@10",),
        {"graph": True, "max_depth": 3, "max_visited": 200, "include_seeds": False},
    ),
}


def protocol_of(name: str) -> Protocol:
    """A protocol by its name."""
    if name not in PROTOCOLS:
        raise InputError(
            f"there is no protocol {name!r}",
            hint=f"known: {', '.join(PROTOCOLS)}",
            field="protocol",
        )
    return PROTOCOLS[name]


def compared(
    recipes: Mapping[str, Recipe], settings: Mapping[str, object], without: Sequence[str]
) -> dict[str, Recipe]:
    """The recipes as they are set, and each once more without each of some lanes or boosts."""
    out: dict[str, Recipe] = {}
    used: set[str] = set()
    for label, recipe in recipes.items():
        known = {name: value for name, value in settings.items() if name in recipe.names}
        out[label] = mine = overridden(recipe, settled(recipe, known)[0])
        for part in without:
            place = "lanes" if part in mine.lanes else "boosts" if part in mine.boosts else None
            if place is not None:
                out[f"{label} -{part}"] = overridden(mine, {f"{place}.{part}.enabled": False})
                used.add(part)
    if unknown := [part for part in without if part not in used]:
        parts = sorted({part for recipe in recipes.values() for part in _parts(recipe)})
        raise InputError(
            f"without: no recipe has {unknown[0]!r}",
            hint=f"known: {', '.join(parts)}",
            field="without",
        )
    return out


def _parts(recipe: Recipe) -> tuple[str, ...]:
    return (*recipe.lanes, *recipe.boosts)
