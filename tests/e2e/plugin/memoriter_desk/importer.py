"""An importer: slips of paper, one on each line."""

from __future__ import annotations

from collections.abc import Iterator

from memoriter.imports.port import Entry, Extracted, Format
from memoriter.imports.source import BadRow, InputFile

_MARK = "slip: "


def recognise(source: InputFile) -> str | None:
    """Whether it begins with a slip."""
    begins = source.kind == "text" and source.head.startswith(_MARK.encode())
    return "it begins with a slip" if begins else None


def read(source: InputFile) -> Iterator[Extracted]:
    """Each slip is a record."""
    for line in source.lines():
        if isinstance(line, BadRow):
            yield line
        elif not line.text.startswith(_MARK):
            yield BadRow(line.where, "is no slip")
        else:
            text = line.text.removeprefix(_MARK)
            yield Entry(line.where, text, {"text": text, "kind": "slip"})


def advise(source: InputFile) -> str | None:
    """What to do with a photograph of slips."""
    return "it is a photograph: type it" if source.path.suffix == ".slips" else None


SLIPS = Format(
    "slips", "slips of paper", frozenset({"text"}), recognise, read, strict=True, advise=advise
)
