"""How often does the hook put memories into a prompt that asks for none?

Small talk, commands and general questions go to the hook of every `everyday` store: those of the
data set, and those of `hook_prompts.txt`, which were written before they were first asked. Beside
it: how often a question that the store answers gets a block with the answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

from tools.bench_data import MISSING, bench_data

import memoriter
from bench.tools import Options, table
from memoriter.doors.hook import Hook
from memoriter.evaluate.data import EvalCase
from memoriter.evaluate.find import find_datasets
from memoriter.memory.options import DraftFields

PROMPTS = Path(__file__).with_name("hook_prompts.txt")
UNASKED = ("smalltalk", "offtopic")


def run(options: Options) -> None:
    place = bench_data("everyday")
    if place is None:
        print(MISSING)
        return
    fresh = PROMPTS.read_text("utf-8").splitlines()
    fresh = fresh[::6] if options.small else fresh
    rows: list[list[str]] = []
    injected: list[str] = []
    for case in (case for dataset in find_datasets(place) for case in dataset.cases):
        hook = Hook(_stored(case))
        of_the_set = [each.text for each in case.questions if each.category in UNASKED]
        counts: list[str] = []
        for prompts in (fresh, of_the_set):
            met = [prompt for prompt in prompts if hook(prompt)]
            injected += [f"{case.name}: {prompt}" for prompt in met]
            counts.append(f"{len(met)} of {len(prompts)}")
        answerable = [each for each in case.questions if each.gold]
        answerable = answerable[::6] if options.small else answerable
        right = sum(
            bool(set(hook(each.text).citations.values()) & each.gold) for each in answerable
        )
        rows.append([case.name, *counts, f"{right} of {len(answerable)}"])
    heads = ("store", "fresh prompts", "small talk, off-topic", "questions with their answer")
    table(heads, rows)
    print("\nmemories were put into:", *(injected or ["none"]), sep="\n- ")


def _stored(case: EvalCase) -> memoriter.Memory:
    memory = memoriter.open(":memory:")
    memory.remember_many([cast("DraftFields", record.to_draft()) for record in case.records])
    return memory
