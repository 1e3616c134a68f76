"""The jeffs-brain dialect: the words of a question without stop words, joined by OR.

A text is parsed to a flat list of tokens, each with the operator before it. `compiled` prints that
list as jeffs-brain does, for comparison. What runs is the tree, where AND binds tighter than OR,
and everything after a NOT is excluded from the whole.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, Literal, TypeAlias

from memoriter.core.lazy_dataclass import dataclass
from memoriter.text.dialects.grammar import OPERATORS, Operator
from memoriter.text.dialects.parts import all_of, any_of, excluding, first_leaves, join_notes, leaf
from memoriter.text.dialects.port import Dialect, LooserQuery, Options
from memoriter.text.port import Analyzer
from memoriter.text.retry import content_words, sanitised
from memoriter.text.stops import ENGLISH_STOPS
from memoriter.text.tree import Node, ParsedQuery, ReadingStep

_UNSEEN: Final = dict.fromkeys(map(ord, "\u200b\u200c\u200d\ufeff"))
_DELETED: Final = dict.fromkeys(map(ord, "*():^+\"-?!.,;/\\[]{}<>|&'$#@%=~`"))
_DUTCH: Final = """
    aan alleen als ben bent bij binnen boven buiten dan dat de deze die dit doen doet door een elk
    elke en geen haar hadden hebben heeft hem hen het hij hoe hun iedere ik ja je jij jouw jullie
    kan kunnen maar met mij mijn moet moeten na naar nee niet omdat onder ons onze ook op tegen toch
    tussen uit van veel voor waar waarom wanneer want waren wat weinig welk welke wie wij word
    worden wordt zal zich zij zijn zou
"""
DUTCH: Final = frozenset(_DUTCH.split())
"""Dropped together with the English ones, whatever the language of the question."""
_STOPS: Final = ENGLISH_STOPS | DUTCH | {"and", "or", "not"}
_SHORT: Final = 2
_SCAN: Final = re.compile(r'"(?P<phrase>[^"]*+)"?+|(?P<word>[^\s"]++)')
_WORDS: Final = re.compile(r"[^\W_]+")

_Operator: TypeAlias = Operator | Literal[""]
_Aliases: TypeAlias = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class QueryToken:
    """A word, a phrase or a prefix, with the operator before it."""

    kind: Literal["term", "phrase", "prefix"]
    text: str
    operator: _Operator = ""
    others: tuple[QueryToken, ...] = ()
    """Alternatives: the second and later words of an alias."""

    def __str__(self) -> str:
        match self.kind:
            case "phrase":
                return f'"{self.text}"'
            case "prefix":
                return f"{self.text}*"
            case _:
                return self.text


@dataclass(frozen=True, slots=True)
class Ast:
    """A parsed text."""

    raw: str
    """The text, normalised."""
    tokens: tuple[QueryToken, ...]
    has_operators: bool
    """Whether it has a quote or an operator: then no stop word is dropped."""


def parse(text: str, analyzer: Analyzer, options: Options) -> ParsedQuery:
    """The tree of a text, with a note on what was ignored. Never raises."""
    ast = parse_query(text if options.expert else _plain(text), options.aliases)
    each = [(nth, one) for nth, token in enumerate(ast.tokens) for one in (token, *token.others)]
    kept, cut = first_leaves(each)
    tree = _tree(kept, analyzer)
    unclosed = "a quote without its pair, read up to the end" if ast.raw.count('"') % 2 else None
    lone = "a leading NOT has nothing to take from" if _starts_with(ast, "NOT") else None
    empty = "only stop words, short words and operators" if ast.raw and not ast.tokens else None
    note = join_notes(unclosed, lone, empty, cut)
    steps = _steps(parse_query(ast.raw), options.aliases)
    return ParsedQuery(tree, expert=ast.has_operators, note=note, steps=steps)


def _steps(ast: Ast, aliases: _Aliases) -> tuple[ReadingStep, ReadingStep]:
    """The parse of the text as it was given, then the aliases of its words."""
    words = {*ast.raw.lower().split(), *(token.text for token in ast.tokens)}
    used = {key: list(others) for key, others in aliases.items() if key.lower() in words}
    reason = "no word of the query has one" if aliases else "none are given"
    return (
        ReadingStep("parse", {"query": compiled(ast)}),
        ReadingStep("aliases", used, None if used else reason),
    )


def parse_query(text: str, aliases: _Aliases | None = None) -> Ast:
    """The tokens of a text; a word with an alias is replaced by its alternatives.

    >>> [str(token) for token in parse_query("What is the k8s upgrade* path?").tokens]
    ['k8s', 'upgrade*', 'path']
    """
    raw = clean_text(text)
    has_operators = '"' in raw or not OPERATORS.isdisjoint(raw.split())
    known = {key.lower(): others for key, others in (aliases or {}).items()}
    tokens: list[QueryToken] = []
    operator: _Operator = ""
    for match in _SCAN.finditer(raw):
        word = match["word"]
        if word in ("AND", "OR", "NOT"):
            operator = word
            continue
        if word is None:
            phrase = match["phrase"].lower().strip()
            token = QueryToken("phrase", phrase, operator) if phrase else None
        else:
            token = _token(word, operator, known, is_filtered=not has_operators)
        if token is not None:
            tokens.append(token)
        # A dropped word takes its operator with it; an empty phrase does not.
        if token is not None or word is not None:
            operator = ""
    return Ast(raw, tuple(tokens), has_operators)


def clean_text(text: str) -> str:
    """The text in NFC, without zero-width characters, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", text.translate(_UNSEEN)).split())


def compiled(ast: Ast) -> str:
    """The expression that jeffs-brain would build: for comparison, it is not executed.

    >>> compiled(parse_query("foo AND bar NOT baz"))
    'foo AND bar AND NOT baz'
    """
    written: list[str] = []
    operators = any(token.operator for token in ast.tokens[1:])
    for token in ast.tokens:
        if written:
            written.append("AND NOT" if token.operator == "NOT" else token.operator or "OR")
        group = " OR ".join(map(str, (token, *token.others)))
        written.append(f"({group})" if token.others and operators else group)
    return " ".join(written)


def _token(
    word: str, operator: _Operator, aliases: _Aliases, *, is_filtered: bool
) -> QueryToken | None:
    is_prefix = word.endswith("*")
    text = word.translate(_DELETED).lower()
    if not is_prefix:
        # Aliases come before stop words and short words: "k8s" or "hr" may be an alias.
        alternatives = aliases.get(word.lower()) or aliases.get(text) or ()
        if (expanded := _expanded(alternatives, operator)) is not None:
            return expanded
    if not text or (is_filtered and (len(text) <= _SHORT or text in _STOPS)):
        return None
    return QueryToken("prefix" if is_prefix else "term", text, operator)


def _expanded(alternatives: Sequence[str], operator: _Operator) -> QueryToken | None:
    """The distinct alternatives as one token: a word is a term, several words are a phrase."""
    texts = dict.fromkeys(" ".join(_WORDS.findall(each.lower())) for each in alternatives)
    tokens = [QueryToken("phrase" if " " in text else "term", text) for text in texts if text]
    if not tokens:
        return None
    return QueryToken(tokens[0].kind, tokens[0].text, operator, tuple(tokens[1:]))


def _tree(kept: Sequence[tuple[int, QueryToken]], analyzer: Analyzer) -> Node | None:
    """The tree of numbered tokens.

    Tokens of one number are alternatives; the first one has their operator.
    """
    rows: list[Node | None] = []
    dropped: list[Node] = []
    for nth, group in groupby(kept, key=lambda one: one[0]):
        each = [token for _, token in group]
        node = any_of(leaf(analyzer, one.text, prefix=one.kind == "prefix") for one in each)
        if node is None:
            continue
        if nth and each[0].operator == "NOT":  # a leading NOT is ignored
            dropped.append(node)
        elif rows and each[0].operator == "AND":
            rows.append(all_of([rows.pop(), node]))
        else:
            rows.append(node)
    return excluding(any_of(rows), dropped)


def _starts_with(ast: Ast, operator: Operator) -> bool:
    return bool(ast.tokens) and ast.tokens[0].operator == operator


def _plain(text: str) -> str:
    """The text without quotes and operators."""
    return " ".join(
        word for word in clean_text(text).replace('"', " ").split() if word not in OPERATORS
    )


# --- queries to try if nothing matches --------------------------------------------------------


def looser_queries(text: str, df: Callable[[str], int]) -> Iterator[LooserQuery]:
    """The longest word, then the text without punctuation, then the longest word of that."""
    word = longest_word(text, df)
    if word is not None and word != text.strip().lower():
        yield LooserQuery(1, "strongest_term", word)
    # jeffs-brain refreshes its index after the first retry. Here every read is current.
    yield LooserQuery(2, "force-refresh", None)
    clean = sanitised(text)
    if clean:
        yield LooserQuery(3, "refreshed_sanitised", clean)
    word = longest_word(clean, df)
    if word is not None:
        yield LooserQuery(4, "refreshed_strongest", word)


def longest_word(text: str, df: Callable[[str], int]) -> str | None:
    """The longest content word; ties go to the rarest one that occurs at all, then to the first.

    `df` returns the document frequency of a word. None if the text has no content word.

    >>> longest_word("what is the oude reimer status?", {"status": 3, "reimer": 2}.__getitem__)
    'reimer'
    """
    words = content_words(text)
    longest = max(map(len, words), default=0)
    tied = [word for word in words if len(word) == longest]
    if len(tied) <= 1:
        return next(iter(tied), None)
    return min(tied, key=lambda word: df(word) or math.inf)


DIALECT: Final = Dialect(
    "any of the words but stop words, or an expression",
    parse,
    looser=looser_queries,
    aliases=True,
)
