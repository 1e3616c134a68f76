"""The evaluation protocol of MentisDB for LoCoMo, registered as an entry point.

All conversations are in one store, the turns around the evidence count as evidence too, and one of
them among the first ten is a hit. Its figures cannot be compared with those of the strict protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from memoriter.evaluate.data import Dataset, EvalCase, EvalQuestion, EvalRecord
from memoriter.evaluate.protocols import EvalProtocol

_WIDE: Final = 2
"""How many turns before and after the evidence count as evidence."""
_LOUD, _QUIET = 0.8, 0.2
"""The importance of turns, alternating."""


def pool_conversations(dataset: Dataset) -> Dataset | None:
    """The data set with all conversations in one case and widened gold.

    None if it does not consist of several conversations with sessions, or if it is a replay, whose
    questions see only a part of their store.
    """
    has_sessions = len(dataset.cases) > 1 and all(
        record.session for case in dataset.cases for record in case.records
    )
    if not has_sessions or any(case.replay for case in dataset.cases):
        return None
    records: list[EvalRecord] = []
    questions: list[EvalQuestion] = []
    for n, case in enumerate(dataset.cases):
        records += _turns(case.records, n)
        questions += _widened(case, n)
    protocol = (
        "every conversation in one store; each turn is linked to the one before it in its session "
        f"and has importance {_LOUD} or {_QUIET} in turn; gold is the evidence and {_WIDE} turns "
        "before and after it, by id; hit@10 is what MentisDB calls R@10"
    )
    pool = EvalCase(tuple(records), tuple(questions))
    return Dataset(f"{dataset.name}, as MentisDB asks", protocol, (pool,))


def _turns(records: Sequence[EvalRecord], n: int) -> Iterator[EvalRecord]:
    """The turns of conversation `n` with unique ids, each linked to the one before it."""
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


def _widened(case: EvalCase, n: int) -> Iterator[EvalQuestion]:
    place = {record.id: at for at, record in enumerate(case.records)}
    for question in case.questions:
        gold: set[str] = set()
        for at in (place[one] for one in question.gold if one in place):
            # Neighbours count only within the session of the evidence.
            near = case.records[max(at - _WIDE, 0) : at + _WIDE + 1]
            session = case.records[at].session
            gold |= {f"{n}/{record.id}" for record in near if record.session == session}
        yield question._replace(gold=frozenset(gold))


PROTOCOL: Final = EvalProtocol(
    pool_conversations,
    ("mentisdb", "memoriter"),
    ("hit@10",),
    {"graph": True, "max_depth": 3, "max_visited": 200, "include_seeds": False},
)
