"""How good are engrava and mnestic themselves, with our vectors, beside the recipes after them?

The programs are installed from the package index into an environment of their own, or into the one
that MEMORITER_SIDEBYSIDE_VENV names. They get the texts and the vectors of the packaged embedder,
and their hybrid search is asked with its own defaults. The data set is `everyday` of the folder
of the benchmark data, or the one that `--data` names.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tests.sidebyside.installed import install, theirs
from tests.sidebyside.programs import PROGRAMS
from tools.bench_data import MISSING, bench_data

from bench.tools import SHOWN, Options, figures, folder, table
from memoriter.core.errors import MemoriterError
from memoriter.embed.port import Side
from memoriter.embed.static import Static
from memoriter.evaluate.data import Dataset, EvalCase, EvalQuestion, EvalRecord
from memoriter.evaluate.find import find_datasets
from memoriter.evaluate.run import evaluate, steps_of
from memoriter.pipeline.load import recipe_of

RECIPES = ("engrava", "mnestic", "memoriter")
AT_ONCE = 20
"""Stores that a program gets in one call, so that their vectors fit into memory as JSON."""
Vectors = Mapping[str, NDArray[np.float32] | None]
"""By text; None where the packaged embedder knows no word of it."""


class Moment(NamedTuple):
    """A store as it is when some of its questions are asked."""

    records: Sequence[EvalRecord]
    questions: Sequence[EvalQuestion]


def run(options: Options) -> None:
    datasets = _datasets(options)
    if not datasets:
        return
    with folder() as place:
        if (python := _installed(place)) is None:
            return
        for dataset in datasets:
            chosen = dataset.first(40 if options.small else None)
            print(f"{chosen.name}: {chosen.protocol}\n", flush=True)
            table(["", *SHOWN], [*_of_programs(python, chosen), *_of_recipes(chosen)])
            print()


def _datasets(options: Options) -> list[Dataset]:
    place = options.data or bench_data("everyday")
    if place is None:
        print(f"{MISSING}; --data names another set")
        return []
    try:
        return find_datasets(place)
    except MemoriterError as error:
        print("no data here:", " ".join(str(error).split()))
        return []


def _installed(place: Path) -> Path | None:
    try:
        return install(place)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"the programs cannot be installed, so there is no comparison: {error}")
        return None


# --- our recipes and their programs --------------------------------------------------------------


def _of_recipes(dataset: Dataset) -> Iterator[list[str]]:
    recipes = {name: recipe_of(name) for name in RECIPES}
    bare = Dataset(dataset.name, dataset.protocol, tuple(bare_cases(dataset)))
    for label, each in (("", dataset), (", texts only", bare)):
        chosen = recipes if each is dataset else {"memoriter": recipes["memoriter"]}
        for ran in evaluate(each, chosen, lambda _: None):
            answers = ((made.reply.ids, made.question.gold) for made in ran.outcomes)
            yield [f"our recipe {ran.label}{label}", *figures(answers)]


def _of_programs(python: Path, dataset: Dataset) -> Iterator[list[str]]:
    moments = [moment for case in dataset.cases for moment in moments_of(case)]
    records = _embedded({titled(each) for moment in moments for each in moment.records}, "record")
    questions = _embedded({each.text for moment in moments for each in moment.questions}, "query")
    yield _row(python, "engrava", "", moments, lambda m: engrava_case(m, records, questions))
    for label, joint in ((", any word", " OR "), (", all words", " ")):
        yield _row(
            python, "mnestic", label, moments,
            lambda m, joint=joint: mnestic_case(m, records, questions, joint),
        )  # fmt: skip


def _row(
    python: Path,
    name: str,
    label: str,
    moments: Sequence[Moment],
    case_of: Callable[[Moment], dict[str, Any]],
) -> list[str]:
    program = str(PROGRAMS[name].package).replace("==", " ") + label
    replies: list[Any] = []
    try:
        for at in range(0, len(moments), AT_ONCE):
            answered = theirs(python, name, [case_of(each) for each in moments[at : at + AT_ONCE]])
            replies += [reply for store in answered for reply in store]
    except (RuntimeError, ValueError, subprocess.SubprocessError) as error:
        print(f"{program} gave no answers: {error}\n")
        return [program, *figures(())]
    gold = [question.gold for moment in moments for question in moment.questions]
    return [program, *figures(zip(map(ids_of, replies), gold, strict=True))]


def _embedded(texts: set[str], side: Side) -> Vectors:
    listed = sorted(texts)
    return dict(zip(listed, Static().embed(listed, side), strict=True))


# --- what the programs get and answer -----------------------------------------------------------


def moments_of(case: EvalCase) -> Iterator[Moment]:
    """The store at each time of a question, with all that was written by then."""
    written: list[EvalRecord] = []
    for step in steps_of(case):
        written += step.records
        yield Moment(tuple(written), [question for _, question in step.questions])


def bare_cases(dataset: Dataset) -> Iterator[EvalCase]:
    """The stores as the programs get them: ids and texts, without times and other fields."""
    for case in dataset.cases:
        for moment in moments_of(case):
            records = tuple(EvalRecord(each.id, titled(each)) for each in moment.records)
            yield EvalCase(records, tuple(moment.questions))


def titled(record: EvalRecord) -> str:
    """The title, if any, and the text, as our embedder reads them too: they have one text."""
    return f"{record.title}\n{record.text}" if record.title else record.text


def engrava_case(moment: Moment, records: Vectors, questions: Vectors) -> dict[str, Any]:
    """Thoughts as its command line makes them of a text; the questions as they are."""
    plain = {"kind": "NOTE", "priority": "P3", "cycle": 0, "expires": None, "metadata": {}}
    asked = {
        "verb": "hybrid", "top_k": 10, "cycle": None, "reflections": True, "archived": False,
        "where": [], "knobs": {},
    }  # fmt: skip
    return {
        "notes": [
            {**note, **plain, "summary": note["text"][:200]} for note in _notes(moment, records)
        ],
        "reflections": [],
        "edges": [],
        "questions": [
            {**asked, "text": each.text, "vector": _plain(questions[each.text])}
            for each in moment.questions
        ],
    }


def mnestic_case(
    moment: Moment, records: Vectors, questions: Vectors, joint: str
) -> dict[str, Any]:
    """The words of a question with a joint: a mark such as `?` is an error in its expressions."""
    plain: dict[str, Any] = {"legs": [], "lists": [], "mmr": None}
    return {
        "notes": list(_notes(moment, records)),
        "edges": [],
        "questions": [
            {**plain, "text": worded(each.text, joint), "vector": _plain(questions[each.text])}
            for each in moment.questions
        ],
    }


def _notes(moment: Moment, vectors: Vectors) -> Iterator[dict[str, Any]]:
    for record in moment.records:
        text = titled(record)
        yield {"id": record.id, "text": text, "vector": _plain(vectors[text])}


def _plain(vector: NDArray[np.float32] | None) -> list[float] | None:
    return None if vector is None else vector.tolist()


def worded(text: str, joint: str) -> str:
    """The words of a text, small, so that none of them is an operator."""
    return joint.join(re.findall(r"\w+", text.lower()))


def ids_of(reply: Any) -> list[str]:
    """The ids of a reply, best first: rows, or a mapping that has them."""
    rows = reply["rows"] if isinstance(reply, dict) else reply
    return [row[0] for row in rows]
