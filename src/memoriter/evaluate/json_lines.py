"""Reads memories and questions as JSON lines: one's own test of a memory.

Either a folder with `memories.jsonl` and `questions.jsonl`, or one file whose lines are memories
(they have a `text`) and questions (they have a `question`). Every mistake is reported with its
file and line. docs/evaluation.md describes the fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn, cast

from memoriter.core.draft import Draft
from memoriter.core.errors import InputError
from memoriter.core.strict_json import strict_json
from memoriter.core.times import micros
from memoriter.evaluate.data import Dataset, EvalCase, EvalQuestion, EvalRecord

_MEMORIES: Final = "memories.jsonl"
_QUESTIONS: Final = "questions.jsonl"
_ONE_OBJECT: Final = "every line of the file must be one JSON object"
_ASKED: Final = ("id", "question", "gold", "answer", "asked_at", "type", "answerable")
"""The fields of a question."""
_CHAT_ROLES: Final = ("user", "assistant", "system", "tool")
"""A role of these says who spoke; any other is the record's own, as in an exported memory."""
_PROTOCOL: Final = (
    "a question sees the memories that were created by its time, and is asked at that time; the "
    "speaker's name begins the text"
)


class _Line(NamedTuple):
    """A line of a file."""

    place: str
    """The file and the number of the line."""
    data: dict[str, Any]

    def refuse(self, message: str, hint: str = "") -> NoReturn:
        """Raise InputError for this line."""
        raise InputError(f"{self.place}: {message}", hint=hint, field="data")


def holds_lines(folder: Path) -> bool:
    """Whether a folder has memories and questions as JSON lines."""
    return (folder / _MEMORIES).is_file() and (folder / _QUESTIONS).is_file()


def replayed_folders(place: Path, folders: Sequence[Path]) -> list[Dataset]:
    """One data set of folders with `memories.jsonl` and `questions.jsonl`, each a store."""
    cases = tuple(
        _case(list(_lines(folder / _MEMORIES)), list(_lines(folder / _QUESTIONS)), folder.name)
        for folder in folders
    )
    return [Dataset(place.resolve().name, f"each folder in its own store; {_PROTOCOL}", cases)]


def questions_file(path: Path) -> list[Dataset]:
    """The data set of one file; memories that it lacks are read from `memories.jsonl` beside it."""
    memories: list[_Line] = []
    questions: list[_Line] = []
    for line in _lines(path):
        if ("text" in line.data) == ("question" in line.data):
            line.refuse("neither a memory nor a question", "give it a text or a question")
        (memories if "text" in line.data else questions).append(line)
    beside = path.with_name(_MEMORIES)
    if not memories and beside.is_file():
        memories = list(_lines(beside))
    if not memories or not questions:
        missing = "question" if memories else "memory"
        hint = f'a memory is a line {{"text": "…"}} here or in {beside.name} beside it'
        if memories:
            hint = 'a question is a line {"question": "…", "answer": "…"}'
        raise InputError(f"{path}: has no line with a {missing}", hint=hint, field="data")
    return [Dataset(path.name, f"one store; {_PROTOCOL}", (_case(memories, questions),))]


def _lines(path: Path) -> Iterator[_Line]:
    with path.open(encoding="utf-8-sig") as lines:
        for nth, text in enumerate(lines, 1):
            if text.strip():
                yield _Line(f"{path}:{nth}", _object(f"{path}:{nth}", text))


def _object(place: str, text: str) -> dict[str, Any]:
    try:
        data = strict_json(text)
    except ValueError as error:
        raise InputError(
            f"{place}: is not JSON ({error})", hint=_ONE_OBJECT, field="data"
        ) from None
    if not isinstance(data, dict):
        raise InputError(f"{place}: is not a JSON object", hint=_ONE_OBJECT, field="data")
    return cast("dict[str, Any]", data)


def _case(memories: Sequence[_Line], questions: Sequence[_Line], name: str = "") -> EvalCase:
    records: dict[str, EvalRecord] = {}
    # In the order of time, so that a memory comes after the one that it supersedes.
    read = [(_record(line, nth), line) for nth, line in enumerate(memories, 1)]
    for record, line in sorted(read, key=lambda pair: pair[0].created or 0):
        if record.id in records:
            line.refuse(f"the id {record.id!r} comes twice")
        for target in _texts(line, record.more.get("supersedes", ())):
            if target not in records:
                line.refuse(f"supersedes: there is no earlier memory {target!r}")
        records[record.id] = record
    asked = tuple(_question(line, records) for line in questions)
    return EvalCase(tuple(records.values()), asked, replay=True, name=name)


def _record(line: _Line, nth: int) -> EvalRecord:
    """A memory; without an id it is called by its number."""
    more = dict(line.data)
    who = more.pop("speaker", None)
    if more.get("role") in _CHAT_ROLES:
        role = more.pop("role")
        who = who or role
    text = more.pop("text", None)
    own = {key: more.pop(key) for key in ("title", "session", "importance", "links") if key in more}
    try:
        if who is not None and isinstance(text, str):
            text = text if text.startswith(f"{who}: ") else f"{who}: {text}"
            own["source"] = {**more.pop("source", {}), "who": who}
        created = more.pop("created", None)
        own["created"] = None if created is None else micros(created, "created")
        record = EvalRecord(str(more.pop("id", nth)), cast("str", text), **own, more=more)
        Draft.of(record.to_draft())
    except InputError as error:
        line.refuse(error.message, error.hint)
    return record


def _question(line: _Line, records: Mapping[str, EvalRecord]) -> EvalQuestion:
    data = line.data
    if unknown := [key for key in data if key not in _ASKED]:
        line.refuse(f"unknown field {unknown[0]!r}", f"a question has {', '.join(_ASKED)}")
    text = data.get("question")
    if not isinstance(text, str) or not text.strip():
        line.refuse("question: expected text")
    try:
        now = None if data.get("asked_at") is None else micros(data["asked_at"], "asked_at")
    except InputError as error:
        line.refuse(error.message, error.hint)
    gold = _gold(line, records, now)
    return EvalQuestion(
        text, gold, str(data.get("type") or ("question" if gold else "unanswerable")), now
    )


def _gold(line: _Line, records: Mapping[str, EvalRecord], now: int | None) -> frozenset[str]:
    """The ids in `gold`, or else of the memories that contain the text of `answer`."""
    data = line.data
    answerable = data.get("answerable")
    seen = [r for r in records.values() if now is None or (r.created or 0) <= now]
    if data.get("gold") is not None:
        gold = frozenset(_texts(line, data["gold"]))
        if absent := sorted(gold - {record.id for record in seen}):
            known = absent[0] in records
            line.refuse(f"gold: {absent[0]!r} {'is of a later time' if known else 'is no memory'}")
    elif data.get("answer") is not None:
        answers = [_plain(answer) for answer in _texts(line, data["answer"])]
        gold = frozenset(record.id for record in seen if _contains(record, answers))
        if not gold:
            line.refuse("answer: no memory contains it", 'one that has no answer has "gold": []')
    elif answerable is False:
        gold = frozenset[str]()
    else:
        hint = 'gold: ids; answer: a text that the memory contains; "gold": [] if it has no answer'
        line.refuse("gold or answer: is required", hint)
    if answerable is not None and answerable != bool(gold):
        line.refuse(f"answerable: is {answerable}, but there is {'' if gold else 'no '}gold")
    return gold


def _texts(line: _Line, value: object) -> list[str]:
    """A text, or a list of texts; numbers are read as text, since ids may be numbers."""
    items = cast("Iterable[object]", value if isinstance(value, list | tuple) else [value])
    out = [str(item) for item in items if isinstance(item, str | int) and str(item).strip()]
    if len(out) != len(list(items)):
        line.refuse(f"expected a text or a list of texts, got {value!r}")
    return out


def _contains(record: EvalRecord, answers: Iterable[str]) -> bool:
    text = _plain(f"{record.title or ''} {record.text}")
    return any(answer in text for answer in answers)


def _plain(text: str) -> str:
    """Without the differences of case and spaces."""
    return " ".join(text.casefold().split())
