"""The words of a text that matched, marked on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from memoriter.doors.render.ink import MATCH
from memoriter.text.safe import one_line
from memoriter.text.spans import Span
from memoriter.why.result import Hit

_LEAD: Final = 24
"""How far before the first match a cut text begins at most."""


def marked(hit: Hit, width: int) -> Text:
    """The text on one line, cut to a width around its first match, with every match marked.

    A reflection shows its summary: its text is for programs.
    """
    record = hit.record
    line = one_line(record.essence if record.kind == "reflection" else record.text)
    spans = hit.spans_in(line)
    start = _start(line, spans, width)
    out = Text(line)
    for begin, end in spans:
        out.stylize(MATCH, begin, end)
    out = Text("…").append_text(out[start:]) if start else out
    out.truncate(width, overflow="ellipsis")
    return out


def _start(line: str, spans: Sequence[Span], width: int) -> int:
    if len(line) <= width or not spans or spans[0][1] < width:
        return 0
    at = max(0, spans[0][0] - _LEAD)
    return line.find(" ", at) + 1 if " " in line[at : spans[0][0]] else at
