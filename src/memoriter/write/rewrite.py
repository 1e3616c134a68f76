"""Write records by their ids whether they are there or not, safely beside other writers.

What is written may depend on the current version. All records of a call are validated before one is
written, and each is written only if nobody wrote it meanwhile; else it is read and tried again.
`memory.rewriting` calls it for the adapters of other frameworks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from memoriter.core.batch import Act, Commit
from memoriter.core.draft import Draft
from memoriter.core.errors import Conflict, NotFound
from memoriter.core.record import Content, Record
from memoriter.write.prepare import prepare
from memoriter.write.writer import BATCH, Writer

_TRIES: Final = 200
"""Of one batch. A try fails only because another writer of the same record succeeded."""

FieldsOf = Callable[[str, Record | None], Mapping[str, object]]
"""From an id and its current version, None if there is none, to the fields to write.

They are those of a new record, or those to change. It is called again for each try."""


def rewrite(writer: Writer, ids: Sequence[str], change: FieldsOf) -> list[Commit]:
    """Write these records, a thousand per transaction; returns the commits."""
    listed = list(dict.fromkeys(ids))
    batches = [listed[at : at + BATCH] for at in range(0, len(listed), BATCH)]
    checked = [_checked(writer, batch, change) for batch in batches]
    return [
        _committed(writer, batch, change, first)
        for batch, first in zip(batches, checked, strict=True)
    ]


_Checked = list[Draft | tuple[Record, Content]]
"""Drafts of new records, and records with the content of their next version."""


def _committed(writer: Writer, batch: list[str], change: FieldsOf, checked: _Checked) -> Commit:
    for _ in range(_TRIES - 1):
        try:
            return writer.commit(_acts(writer, checked))
        except Conflict:
            checked = _checked(writer, batch, change)
    return writer.commit(_acts(writer, checked))


def _checked(writer: Writer, ids: list[str], change: FieldsOf) -> _Checked:
    return [_checked_one(writer, id, change) for id in ids]


def _checked_one(writer: Writer, id: str, change: FieldsOf) -> Draft | tuple[Record, Content]:
    try:
        record = writer.current(id)
    except NotFound:
        return writer.stamped({**change(id, None), "id": id})
    return record, writer.changed(record, change(id, record))


def _acts(writer: Writer, checked: _Checked) -> list[Act]:
    new = [each for each in checked if isinstance(each, Draft)]
    versions = [writer.version(*each) for each in checked if not isinstance(each, Draft)]
    return [*prepare(new, writer.context), *versions]
