"""The engrava dialect: words joined by OR, or an expression of SQLite's FTS5.

As in engrava, a text is brought to a normal form first. For bare words that form is always a valid
expression; for an expression of the user it may not be, and then the words are searched instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from memoriter.text.dialects.expression import parse_expression
from memoriter.text.dialects.grammar import OPERATORS, Grammar, Malformed
from memoriter.text.dialects.parts import all_of, any_of, first_leaves, has_quotes, join_notes, leaf
from memoriter.text.dialects.port import Dialect, Options
from memoriter.text.port import Analyzer
from memoriter.text.tree import Node, ParsedQuery

_COLUMNS: Final = ("content:", "essence:")
_NAME: Final = "(?i:content|essence)"
_SPACE: Final = r"[ \t\r\n]"

GRAMMAR: Final = Grammar(
    neighbours="AND",
    binding=("OR", "AND", "NOT"),
    space=f"{_SPACE}++",
    phrase=r'"(?:[^"]|"")*+"',
    near=rf"NEAR{_SPACE}*+\(",
    columns=(("content", "text"), ("essence", "essence")),
    column=(
        rf"(?P<names>{_NAME}|\{{{_SPACE}*+{_NAME}(?:{_SPACE}++{_NAME})*{_SPACE}*+\}})"
        rf"{_SPACE}*+:"
    ),
    boost="",
    marks=r"[()*+,]",
    alternatives=frozenset(),
    word=r"[0-9A-Za-z_\x1a\x80-\U0010ffff]++",
    bracket_neighbours=False,  # FTS5 has no implicit AND next to a bracket
)

_PIECES: Final = re.compile(r'(?:"[^"]*+"|[^\s"])++')
_SEPARATORS: Final = re.compile(r"[^\w*-]+")
_STARS: Final = re.compile(r"\*{2,}")
_FRONT: Final = re.compile(r'[\w"]')
_BACK: Final = re.compile(r"[\w*]")


class _Fragment(NamedTuple):
    """A word of the text, perhaps with `*` inside; `prefix` if it ended in one."""

    text: str
    prefix: bool

    @property
    def quoted(self) -> bool:
        """Whether it needs quotes: FTS5 would parse a hyphen or an operator."""
        return "-" in self.text or not OPERATORS.isdisjoint(self.text.split("*"))

    @property
    def leaves(self) -> list[tuple[str, bool]]:
        """(text, whether it is a prefix) of its parts: a `*` inside ends a prefix."""
        if self.quoted:
            return [(self.text, self.prefix)]
        *starts, last = self.text.split("*")
        return [*((start, True) for start in starts), (last, self.prefix)]

    def __str__(self) -> str:
        return (f'"{self.text}"' if self.quoted else self.text) + "*" * self.prefix


def parse(text: str, analyzer: Analyzer, options: Options) -> ParsedQuery:
    """The text as an expression if it is one, else as words. Never raises."""
    if not (options.expert and is_expression(text)):
        return _bare(text, analyzer)
    try:
        tree, note = parse_expression(_expert_form(text), GRAMMAR, analyzer)
    except Malformed as malformed:
        return _bare(text, analyzer, f"in its normal form {malformed.note}")
    return ParsedQuery(tree, expert=True, note=note)


def normal_form(text: str) -> tuple[str, bool]:
    """(normal form, whether it is an expression) of a text, as engrava builds it.

    >>> normal_form("sister's a-b-c")
    ('sister OR s OR "a-b-c"', False)
    """
    if is_expression(text):
        return _expert_form(text), True
    return " OR ".join(map(str, _fragments(text))), False


def is_expression(text: str) -> bool:
    """Whether the text has balanced quotes, and a quoted text, an operator or a column."""
    # An unbalanced quote makes bare words, even of a text with operators.
    if text.count('"') % 2:
        return False
    return has_quotes(text) or any(word in OPERATORS or _is_column(word) for word in text.split())


def _is_column(word: str) -> bool:
    start = word.lstrip("(").lower()
    return start.startswith(_COLUMNS) and start not in _COLUMNS


def _expert_form(text: str) -> str:
    """Quoted text, operators and columns unchanged; of the rest only words and brackets."""
    forms: list[str] = []
    for piece in _PIECES.findall(text):
        if '"' in piece or piece in OPERATORS or _is_column(piece):
            forms.append(piece)
            continue
        opened = len(piece) - len(piece.lstrip("("))
        rest = piece[opened:]
        closed = len(rest) - len(rest.rstrip(")"))
        forms.append("(" * opened + " ".join(map(str, _fragments(rest))) + ")" * closed)
    return " ".join(form for form in forms if form)


def _fragments(text: str) -> Iterator[_Fragment]:
    for word in text.split():
        front, back = _FRONT.search(word), _BACK.search(word[::-1])
        if front is None or back is None:
            continue
        kept = word[front.start() : len(word) - back.start()]
        for part in _SEPARATORS.sub(" ", kept).split():
            starred = _STARS.sub("*", part.lstrip("*"))
            if starred:
                yield _Fragment(starred.removesuffix("*"), starred.endswith("*"))


def _bare(text: str, analyzer: Analyzer, note: str | None = None) -> ParsedQuery:
    kept, cut = first_leaves(
        [(nth, each) for nth, one in enumerate(_fragments(text)) for each in one.leaves]
    )
    # The parts of one word must all match; the words are alternatives.
    rows: dict[int, list[Node]] = {}
    for nth, (start, prefix) in kept:
        if (one := leaf(analyzer, start, prefix=prefix)) is not None:
            rows.setdefault(nth, []).append(one)
    tree = any_of(map(all_of, rows.values()))
    return ParsedQuery(tree, note=join_notes(note, cut), malformed=note is not None)


DIALECT: Final = Dialect("any of the words, or an expression with columns", parse)
