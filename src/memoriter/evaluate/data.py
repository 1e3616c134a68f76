"""Data sets for evaluation: records, and questions with known relevant records.

The loaders here read what public data sets consist of: the official files of LoCoMo and
LongMemEval, and any collection in the BEIR layout. `evaluate.json_lines` reads memories and
questions of one's own, `evaluate.find` looks for data sets. Nothing is downloaded or packaged,
because the licences of most data sets forbid redistribution.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.times import micros

_CATEGORIES: Final = range(1, 5)
"""LoCoMo's fifth category is left out: its questions have no answer in the conversation."""


class EvalRecord(NamedTuple):
    """A record to remember."""

    id: str
    text: str
    title: str | None = None
    session: str | None = None
    created: int | None = None
    importance: float | None = None
    links: tuple[dict[str, str], ...] = ()
    source: dict[str, str] | None = None
    """Who said it, as `source.who`; the name or role also begins the text."""
    more: Mapping[str, object] = MappingProxyType({})
    """Other fields of the record, as `remember` takes them: tags, expires, supersedes …"""

    def to_draft(self) -> dict[str, object]:
        """All fields, as `remember_many` takes them."""
        own = self._asdict()
        return {**own.pop("more"), **own}


class EvalQuestion(NamedTuple):
    """A question, and the ids of the records that hold the answer (the gold)."""

    text: str
    gold: frozenset[str]
    """Empty where no record holds the answer: the question cannot be answered."""
    category: str
    now: int | None = None
    """The time of the question in microseconds since 1970."""


@dataclass(frozen=True, slots=True)
class EvalCase:
    """The records of one store, and its questions."""

    records: tuple[EvalRecord, ...]
    questions: tuple[EvalQuestion, ...]
    replay: bool = False
    """Whether a question sees only the records that were created by its time."""
    name: str = ""
    """What the store is called in tables; empty: its number."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """The cases of a data set."""

    name: str
    protocol: str
    """How the data set was turned into cases, for the printed table."""
    cases: tuple[EvalCase, ...]

    @property
    def questions(self) -> int:
        """The number of questions in all cases."""
        return sum(len(case.questions) for case in self.cases)

    def first(self, limit: int | None) -> Dataset:
        """The data set with at most `limit` questions, spread evenly; empty cases are dropped."""
        total = self.questions
        if limit is None or limit >= total:
            return self
        wanted = {nth * total // limit for nth in range(limit)}
        cases: list[EvalCase] = []
        before = 0
        for case in self.cases:
            kept = tuple(q for nth, q in enumerate(case.questions, before) if nth in wanted)
            before += len(case.questions)
            if kept:
                cases.append(replace(case, questions=kept))
        return Dataset(self.name, self.protocol, tuple(cases))


def locomo(data: Sequence[dict[str, Any]], name: str) -> list[Dataset]:
    """LoCoMo: one store per conversation, one record per turn; gold is the evidence."""
    cases = tuple(
        replace(
            _conversation(each["conversation"], each["qa"]), name=str(each.get("sample_id", ""))
        )
        for each in data
    )
    protocol = (
        "each conversation in its own store; a record is one turn with its speaker and image "
        "caption; gold is the evidence; categories 1 to 4"
    )
    return [Dataset(f"LoCoMo ({name})", protocol, cases)]


def _conversation(conversation: dict[str, Any], qa: Sequence[dict[str, Any]]) -> EvalCase:
    records: list[EvalRecord] = []
    for key in filter(re.compile(r"session_\d+").fullmatch, conversation):
        created = _time(conversation.get(f"{key}_date_time"), "%I:%M %p on %d %B, %Y")
        for turn in conversation[key]:
            caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            text = f"{turn['speaker']}: {turn['text']}{caption}"
            session = key.removeprefix("session_")
            speaker = {"who": str(turn["speaker"])}
            made = EvalRecord(turn["dia_id"], text, None, session, created, source=speaker)
            records.append(made)
    known = {record.id for record in records}
    questions: list[EvalQuestion] = []
    for each in qa:
        # The official file has several ids in one string here and there ("D8:6; D9:17").
        evidence = re.findall(r"D\d+:\d+", " ".join(each.get("evidence") or ()))
        gold = known.intersection(evidence)
        if gold and each["category"] in _CATEGORIES:
            questions.append(EvalQuestion(each["question"], frozenset(gold), str(each["category"])))
    return EvalCase(tuple(records), tuple(questions))


def longmemeval(data: Sequence[dict[str, Any]], name: str) -> list[Dataset]:
    """LongMemEval: one record per turn; gold is the turns marked `has_answer`.

    Two data sets: each question in a store of its own, and all questions in one store.
    """
    # Questions whose id ends in _abs have no answer in the sessions.
    cases = [_haystack(each) for each in data if not each["question_id"].endswith("_abs")]
    alone = tuple(case for case in cases if case.questions)
    records = {record.id: record for case in cases for record in case.records}
    questions = tuple(question for case in alone for question in case.questions)
    description = (
        "a record is one turn with its role; gold is the turns that hold the answer; questions "
        "without an answer are left out, with their sessions"
    )
    return [
        Dataset(f"LongMemEval ({name})", f"each question in its own store; {description}", alone),
        Dataset(
            f"LongMemEval, pooled ({name})",
            f"all questions in one store; {description}",
            (EvalCase(tuple(records.values()), questions),),
        ),
    ]


def _haystack(each: dict[str, Any]) -> EvalCase:
    """The sessions of one question; the id of a turn is its session and its number there."""
    when = "%Y/%m/%d (%a) %H:%M"
    records: list[EvalRecord] = []
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
            text = f"{turn['role']}: {turn['content']}"
            speaker = {"who": str(turn["role"])}
            made = EvalRecord(f"{session}:{nth}", text, None, session, created, source=speaker)
            records.append(made)
            gold.update({f"{session}:{nth}"} if turn.get("has_answer") else ())
    now = _time(each.get("question_date"), when)
    question = EvalQuestion(each["question"], frozenset(gold), each["question_type"], now)
    return EvalCase(tuple(records), (question,) if gold else ())


def beir(folder: Path) -> list[Dataset]:
    """A collection in the BEIR layout; gold are its test judgements, else its first ones."""
    records = tuple(
        EvalRecord(str(each["_id"]), each["text"] or each["title"], each.get("title") or None)
        for each in _lines(folder / "corpus.jsonl")
    )
    known = {record.id for record in records}
    texts = {str(each["_id"]): str(each["text"]) for each in _lines(folder / "queries.jsonl")}
    qrels = folder / "qrels" / "test.tsv"
    if not qrels.is_file():
        qrels = min((folder / "qrels").glob("*.tsv"))
    gold: dict[str, set[str]] = {}
    for line in qrels.read_text(encoding="utf-8").splitlines()[1:]:
        query, record, score = line.split("\t")
        if int(score) > 0 and record in known:
            gold.setdefault(query, set()).add(record)
    questions = tuple(
        EvalQuestion(texts[query], frozenset(ids), qrels.stem) for query, ids in gold.items()
    )
    protocol = f"one store; a record has title and text; gold is what {qrels.name} judges relevant"
    return [Dataset(f"{folder.resolve().name} (BEIR)", protocol, (EvalCase(records, questions),))]


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def _time(text: str | None, form: str) -> int | None:
    """A time in microseconds since 1970, None if it does not parse.

    The data sets name no time zone; UTC is assumed.
    """
    try:
        return micros(datetime.strptime(text or "", form).replace(tzinfo=UTC), "created")
    except ValueError:
        return None
