"""Public question sets in one shape: records, and questions whose right answers are known.

LoCoMo and LongMemEval in their official files, and any collection in the BEIR layout. Nothing is
downloaded and nothing is packaged: most of these sets may not be passed on.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from memoriter.core.errors import InputError, NotFound
from memoriter.core.times import micros

VARIABLE: Final = "MEMORITER_DATA"
_KNOWN: Final = (
    "a LoCoMo or LongMemEval json file, a folder in the BEIR layout, or a folder of these"
)
_CATEGORIES: Final = range(1, 5)
"""LoCoMo's fifth category asks for what was never said: nothing can be found for it."""


class Item(NamedTuple):
    """A record to remember."""

    id: str
    text: str
    title: str | None = None
    session: str | None = None
    created: int | None = None
    importance: float | None = None
    links: tuple[dict[str, str], ...] = ()


class EvalQuestion(NamedTuple):
    """What is asked, and the ids of the records that hold the answer."""

    text: str
    gold: frozenset[str]
    category: str
    now: int | None = None


@dataclass(frozen=True, slots=True)
class EvalCase:
    """One store, and what is asked of it."""

    records: tuple[Item, ...]
    questions: tuple[EvalQuestion, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Cases of one kind, and how they are asked."""

    name: str
    protocol: str
    cases: tuple[EvalCase, ...]

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return sum(len(case.questions) for case in self.cases)

    def first(self, limit: int | None) -> Dataset:
        """At most that many questions, spread evenly; a case with none left is dropped."""
        total = self.questions
        if limit is None or limit >= total:
            return self
        wanted, at, cases = {nth * total // limit for nth in range(limit)}, 0, list[EvalCase]()
        for case in self.cases:
            kept = tuple(q for nth, q in enumerate(case.questions, at) if nth in wanted)
            at += len(case.questions)
            if kept:
                cases.append(EvalCase(case.records, kept))
        return Dataset(self.name, self.protocol, tuple(cases))


def find(place: Path | None) -> list[Dataset]:
    """Every data set at a place: the one given, else the one that MEMORITER_DATA names."""
    named = os.environ.get(VARIABLE)
    given = Path(named) if place is None and named else place
    if given is None:
        raise NotFound(
            "no data was named", hint=f"give --data or set {VARIABLE}: {_KNOWN}", field="data"
        )
    if not given.exists():
        raise NotFound(f"there is no {given}", hint=f"give {_KNOWN}", field="data")
    found = list(_within(given, depth=2))
    if not found:
        raise NotFound(f"{given} holds no data that I know", hint=f"give {_KNOWN}", field="data")
    return found


def _within(place: Path, depth: int) -> Iterator[Dataset]:
    if place.is_file():
        yield from _loaded(place, _official)
    elif (place / "corpus.jsonl").is_file():
        yield from _loaded(place, beir)
    elif depth:
        for child in sorted(place.iterdir()):
            if child.is_dir() or child.suffix == ".json":
                yield from _within(child, depth - 1)


def _loaded(place: Path, load: Callable[[Path], list[Dataset]]) -> list[Dataset]:
    try:
        return load(place)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OSError) as error:
        detail = f"{type(error).__name__}: {error}"
        raise InputError(
            f"{place}: not a format I know ({detail})", hint=f"give {_KNOWN}", field="data"
        ) from None


def _official(path: Path) -> list[Dataset]:
    """The data sets of a LoCoMo or LongMemEval file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return locomo(data, path.name) if "conversation" in data[0] else longmemeval(data, path.name)


def locomo(data: Sequence[dict[str, Any]], name: str) -> list[Dataset]:
    """LoCoMo: each conversation its own store, a record is a turn, gold is the evidence."""
    cases = tuple(_conversation(talk["conversation"], talk["qa"]) for talk in data)
    protocol = (
        "each conversation in its own store; a record is one turn with its speaker and image "
        "caption; gold is the evidence; categories 1 to 4"
    )
    return [Dataset(f"LoCoMo ({name})", protocol, cases)]


def _conversation(talk: dict[str, Any], asked: Sequence[dict[str, Any]]) -> EvalCase:
    records: list[Item] = []
    for key in filter(re.compile(r"session_\d+").fullmatch, talk):
        created = _time(talk.get(f"{key}_date_time"), "%I:%M %p on %d %B, %Y")
        for turn in talk[key]:
            caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            said = f"{turn['speaker']}: {turn['text']}{caption}"
            session = key.removeprefix("session_")
            records.append(Item(turn["dia_id"], said, None, session, created))
    known = {record.id for record in records}
    questions: list[EvalQuestion] = []
    for each in asked:
        evidence = re.findall(r"D\d+:\d+", " ".join(each.get("evidence") or ()))
        gold = known.intersection(evidence)
        if gold and each["category"] in _CATEGORIES:
            questions.append(EvalQuestion(each["question"], frozenset(gold), str(each["category"])))
    return EvalCase(tuple(records), tuple(questions))


def longmemeval(data: Sequence[dict[str, Any]], name: str) -> list[Dataset]:
    """LongMemEval: a record is a turn, gold the turns marked has_answer; alone and pooled."""
    cases = [_haystack(each) for each in data if not each["question_id"].endswith("_abs")]
    alone = tuple(case for case in cases if case.questions)
    records = {record.id: record for case in cases for record in case.records}
    questions = tuple(question for case in alone for question in case.questions)
    told = (
        "a record is one turn with its role; gold is the turns that hold the answer; questions "
        "without an answer are left out, with their sessions"
    )
    return [
        Dataset(f"LongMemEval ({name})", f"each question in its own store; {told}", alone),
        Dataset(
            f"LongMemEval, pooled ({name})",
            f"all questions in one store; {told}",
            (EvalCase(tuple(records.values()), questions),),
        ),
    ]


def _haystack(each: dict[str, Any]) -> EvalCase:
    """The sessions of one question; a turn is named by its session and its number in it."""
    when = "%Y/%m/%d (%a) %H:%M"
    records: list[Item] = []
    gold: set[str] = set()
    sessions = zip(
        each["haystack_session_ids"],
        each["haystack_dates"],
        each["haystack_sessions"],
        strict=True,
    )
    for session, date, turns in sessions:
        created = _time(date, when)
        for nth, turn in enumerate(turns):
            said = f"{turn['role']}: {turn['content']}"
            records.append(Item(f"{session}:{nth}", said, None, session, created))
            gold.update({f"{session}:{nth}"} if turn.get("has_answer") else ())
    now = _time(each.get("question_date"), when)
    question = EvalQuestion(each["question"], frozenset(gold), each["question_type"], now)
    return EvalCase(tuple(records), (question,) if gold else ())


def beir(folder: Path) -> list[Dataset]:
    """A collection in the BEIR layout, with its test judgements or else the first there are."""
    records = tuple(
        Item(str(each["_id"]), each["text"] or each["title"], each.get("title") or None)
        for each in _lines(folder / "corpus.jsonl")
    )
    known = {record.id for record in records}
    texts = {str(each["_id"]): str(each["text"]) for each in _lines(folder / "queries.jsonl")}
    judged = folder / "qrels" / "test.tsv"
    if not judged.is_file():
        judged = min((folder / "qrels").glob("*.tsv"))
    gold: dict[str, set[str]] = {}
    for line in judged.read_text(encoding="utf-8").splitlines()[1:]:
        query, record, score = line.split("\t")
        if int(score) > 0 and record in known:
            gold.setdefault(query, set()).add(record)
    questions = tuple(
        EvalQuestion(texts[query], frozenset(ids), judged.stem) for query, ids in gold.items()
    )
    protocol = f"one store; a record has title and text; gold is what {judged.name} judges relevant"
    return [Dataset(f"{folder.resolve().name} (BEIR)", protocol, (EvalCase(records, questions),))]


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def _time(text: str | None, form: str) -> int | None:
    """A time of the set as UTC, which none of them names; None when it does not parse."""
    try:
        return micros(datetime.strptime(text or "", form).replace(tzinfo=UTC), "created")
    except ValueError:
        return None
