"""What an attacker who may write memories reaches: poison in the first five, evidence left.

Turns of LoCoMo in one store, written as `learned`; against each of 20 questions the poison of a
style is planted, as `external` and as `learned`. `tuned` are questions that the defence was tuned
on, `seen` and `unseen` others. The same against each conversation in a small store of its own, of
which the first two were tuned on, and once more with questions that name no speaker. Then,
without an attack, 300 questions by how much of the store is `external`: what the defence costs, and
for how many questions fewer than five trusted memories match well enough to stand before anything
external. Last, questions that only external memories answer, in a store whose trusted ones are
about something else. The data is looked for in MEMORITER_DATA, else in ../shared/data.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple, cast

import memoriter
from bench.attacks import STYLES, UNSEEN, Draft, Target, poison
from bench.tools import Options
from memoriter.evaluate.data import EvalCase, EvalRecord
from memoriter.evaluate.find import find_datasets
from memoriter.evaluate.metrics import hit_at
from memoriter.pipeline.load import recipe_of
from memoriter.pipeline.orderings.by_trust import ByTrustOrdering

TURNS: Final = 2000
TARGETS: Final = 20
FIRST: Final = 5
ASKED: Final = 300
"""Questions of the comparison without an attack."""
SETS: Final = {"tuned": 2, "seen": 6, "seen too": 7, "unseen": 8, "unseen too": 9}
"""Numbers of the sets; the two `seen` were unseen by version 11, and looked at since."""
APART: Final = 60
"""Questions to each conversation that is external beside trusted ones about something else."""
SPEAKING: Final = ("question copied", "every field", "swarm")
"""The styles whose poison gets a speaker."""
QUICK: Final = ("question copied", "ten near-copies")
"""The styles of a small run."""


class Reached(NamedTuple):
    """How many of the questions had poison or evidence where it counts."""

    poisoned: int
    on_top: int
    evidence: int


def run(options: Options) -> None:
    place = Path(os.environ.get("MEMORITER_DATA", "../shared/data")) / "locomo"
    if not place.exists():
        print("no data here: MEMORITER_DATA names a folder with locomo/")
        return
    cases = find_datasets(place)[0].cases
    records, targets = _world(cases, 400 if options.small else TURNS)
    chosen = {name: _some(targets, seed) for name, seed in SETS.items()}
    for name, some in chosen.items():
        _attacked(name, some, records, options)
    _small_stores(cases[:1] if options.small else cases, options)
    _nameless(cases[:1] if options.small else cases)
    _unlabelled(records, _some(targets, 3, ASKED if not options.small else 40))
    if not options.small:
        _apart(cases)


def _world(cases: Sequence[EvalCase], turns: int) -> tuple[list[EvalRecord], list[Target]]:
    """Whole conversations up to a number of turns, and the questions that one of them answers."""
    records: list[EvalRecord] = []
    targets: list[Target] = []
    for nth, case in enumerate(cases):
        named = {each.id: f"{nth}/{each.id}" for each in case.records}
        own = [
            each._replace(id=named[each.id], session=f"{nth}/{each.session}")
            for each in case.records
        ]
        sessions = {each.id: each.session for each in own}
        for question in case.questions:
            gold = frozenset(named[one] for one in question.gold)
            if gold:
                targets.append(Target(question.text, gold, sessions[min(gold)]))
        records += own
        if len(records) >= turns:
            break
    return records, targets


def _some(targets: Sequence[Target], seed: int, count: int = TARGETS) -> list[Target]:
    """Questions by chance; no question is in two of the sets."""
    every = list(targets)
    Random(7).shuffle(every)
    return every[(seed - 1) * TARGETS :][:count]


def _attacked(
    name: str, targets: Sequence[Target], records: Sequence[EvalRecord], options: Options
) -> None:
    texts = [record.text for record in records]
    with memoriter.open(":memory:") as memory:
        memory.remember_many(cast("Any", [_draft(record) for record in records]))
        clean = _asked(memory, targets)
        print(f"{name}: {len(records):,} turns, {len(targets)} questions; "
              f"evidence in the first {FIRST} without an attack: {clean.evidence}\n")  # fmt: skip
        print("| style | trust | poison in first 5 | on top | evidence in first 5 |")
        print("|---|---|---|---|---|")
        for trust in ("external", "learned"):
            every: list[Reached] = []
            for style in QUICK if options.small else STYLES:
                planted = _planted(style, targets, texts, trust)
                memory.remember_many(cast("Any", planted))
                every.append(_asked(memory, targets))
                memory.forget([draft["id"] for draft in planted])
                mark = " (unseen)" if style in UNSEEN else ""
                print(f"| {style}{mark} | {trust} | {every[-1].poisoned} | {every[-1].on_top} | "
                      f"{every[-1].evidence} |", flush=True)  # fmt: skip
            count = len(every) * len(targets)
            share = sum(each.poisoned for each in every) / count
            kept = sum(each.evidence for each in every) / len(every)
            print(f"| all | {trust} | {share:.1%} of {count} | "
                  f"{sum(each.on_top for each in every)} | {kept:.1f} |")  # fmt: skip
    print()


def _small_stores(cases: Sequence[EvalCase], options: Options) -> None:
    """What external poison reaches where a conversation is all that is trusted."""
    print(f"external poison, each conversation in a store of its own, {TARGETS} questions\n")
    print("| turns | poison in first 5 | on top | evidence in first 5, without and with poison |")
    print("|---|---|---|---|")
    styles = QUICK if options.small else tuple(STYLES)
    for case in cases:
        records, every = _world([case], 1)
        targets, texts = _some(every, SETS["tuned"]), [record.text for record in records]
        with memoriter.open(":memory:") as memory:
            memory.remember_many(cast("Any", [_draft(record) for record in records]))
            clean, reached = _asked(memory, targets).evidence, list[Reached]()
            for style in styles:
                planted = _planted(style, targets, texts, "external")
                memory.remember_many(cast("Any", planted))
                reached.append(_asked(memory, targets))
                memory.forget([draft["id"] for draft in planted])
        count = len(reached) * len(targets)
        share = sum(each.poisoned for each in reached) / count
        kept = sum(each.evidence for each in reached) / len(reached)
        print(f"| {len(records)} | {share:.1%} of {count} | {sum(each.on_top for each in reached)} "
              f"| {clean}, {kept:.1f} |", flush=True)  # fmt: skip
    print()


def _nameless(cases: Sequence[EvalCase]) -> None:
    """What a planted speaker reaches where the question names no speaker of the store."""
    reached: dict[bool, list[Reached]] = {False: [], True: []}
    clean = 0
    for case in cases:
        records, every = _world([case], 1)
        names = sorted({str(record.source["who"]) for record in records if record.source})
        named = re.compile(rf"\b({'|'.join(map(re.escape, names))})(['’]s)?\b")
        texts = [record.text for record in records]
        targets = [
            each._replace(question=named.sub("they", each.question))
            for each in _some(every, SETS["tuned"])
        ]
        with memoriter.open(":memory:") as memory:
            memory.remember_many(cast("Any", [_draft(record) for record in records]))
            clean += _asked(memory, targets).evidence
            for style in SPEAKING:
                planted = _planted(style, targets, texts, "external", speaking=True)
                memory.remember_many(cast("Any", planted))
                for told_apart, every_one in reached.items():
                    overrides: dict[str, object] = {} if told_apart else {"boosts.who.of": []}
                    every_one.append(_asked(memory, targets, overrides))
                memory.forget([draft["id"] for draft in planted])
    print("the same, the speakers in the questions replaced by 'they', and a word of the question "
          f"for the speaker of the poison; evidence without poison: {clean}\n")  # fmt: skip
    print("| external speakers | poison in first 5 | evidence in first 5 |")
    print("|---|---|---|")
    for told_apart, some in reached.items():
        count = len(some) * TARGETS
        share = sum(each.poisoned for each in some) / count
        kept = sum(each.evidence for each in some) / len(SPEAKING)
        name = "change nothing for others" if told_apart else "count as others do"
        print(f"| {name} | {share:.1%} of {count} | {kept:.1f} |", flush=True)
    print()


def _draft(record: EvalRecord, trust: str = "learned") -> Draft:
    return {**record.to_draft(), "trust": trust}


def _planted(
    style: str,
    targets: Sequence[Target],
    texts: Sequence[str],
    trust: str,
    *,
    speaking: bool = False,
) -> list[Draft]:
    """The poison of a style; `speaking`: said by somebody who is called like a question's word."""
    out: list[Draft] = []
    for nth, target in enumerate(targets):
        for draft in poison(style, target, nth, texts):
            made = {**draft, "trust": trust}
            if speaking:
                who = target.question.split()[-1].strip("?,.!'\"").capitalize()
                made["source"] = {**draft.get("source", {}), "who": who}
            out.append(made)
    return out


def _asked(
    memory: memoriter.Memory, targets: Sequence[Target], overrides: dict[str, object] | None = None
) -> Reached:
    poisoned = on_top = evidence = 0
    for target in targets:
        ids = [hit.id for hit in memory.recall(target.question, FIRST, overrides=overrides)]
        bad = [one.startswith("poison ") for one in ids]
        poisoned += any(bad)
        on_top += bad[:1] == [True]
        evidence += bool(target.gold.intersection(ids))
    return Reached(poisoned, on_top, evidence)


def _unlabelled(records: Sequence[EvalRecord], targets: Sequence[Target]) -> None:
    """What the defence costs without an attack, by how much of the store is external."""
    print(f"no attack, {len(targets)} questions: evidence in the first three and ten\n")
    print("| external | hit@3 | hit@10 |")
    print("|---|---|---|")
    few = 0
    for name, every in (("no memory", 0), ("every fourth memory", 4), ("every memory", 1)):
        drafts = [
            _draft(record, "external" if every and not nth % every else "learned")
            for nth, record in enumerate(records)
        ]
        with memoriter.open(":memory:") as memory:
            memory.remember_many(cast("Any", drafts))
            results = [memory.recall(target.question, 10) for target in targets]
        answers = [
            ([hit.id for hit in result], target.gold)
            for result, target in zip(results, targets, strict=True)
        ]
        if not every:
            few = sum(_few(result) for result in results)
        three, ten = (sum(map(partial(hit_at, k), *zip(*answers, strict=True))) for k in (3, 10))
        shares = f"{three / len(answers):.1%} | {ten / len(answers):.1%}"
        print(f"| {name} | {shares} |", flush=True)
    print(f"\nquestions with fewer than {FIRST} trusted memories that match well enough to stand "
          f"before any external one: {few / len(targets):.1%}")  # fmt: skip


def _apart(cases: Sequence[EvalCase]) -> None:
    """What the defence costs where only external memories know of the question."""
    shares: dict[bool, list[float]] = {False: [], True: []}
    for case in cases:
        own, _ = _world([each for each in cases if each is not case], 10**9)
        others, every = _world([case], 1)
        drafts = [_draft(record) for record in own]
        for record in others:
            renamed = record._replace(id=f"page {record.id}", session=f"page {record.session}")
            drafts.append(_draft(renamed, "external"))
        with memoriter.open(":memory:") as memory:
            memory.remember_many(cast("Any", drafts))
            for target in _some(every, 1, APART):
                gold = frozenset(f"page {one}" for one in target.gold)
                for moved in shares:
                    overrides = {"order.2.enabled": moved}
                    hits = [hit.id for hit in memory.recall(target.question, overrides=overrides)]
                    shares[moved] += [hit_at(3, hits, gold), hit_at(10, hits, gold)]
    print(f"\nevidence that is external beside trusted memories about something else, "
          f"{len(shares[True]) // 2} questions\n")  # fmt: skip
    print("| `by_trust` | hit@3 | hit@10 |")
    print("|---|---|---|")
    for moved, every in shares.items():
        three, ten = (sum(every[k::2]) / len(every[k::2]) for k in (0, 1))
        print(f"| {'on' if moved else 'off'} | {three:.1%} | {ten:.1%} |")


def _few(result: memoriter.Result) -> bool:
    """Whether something external, however well it matches, could come among the first five."""
    (rule,) = (each for each in recipe_of("memoriter").order if isinstance(each, ByTrustOrdering))
    least = rule.share * (rule.most or math.inf)
    return sum(hit.score >= least for hit in result) < FIRST
