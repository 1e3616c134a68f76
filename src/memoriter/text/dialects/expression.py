"""The recursive-descent parser of all dialects with operators; a `Grammar` holds what differs.

In every dialect adjacent operands form one operand, so adjacency binds tighter than any operator;
`AND NOT` excludes; brackets nest up to a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from memoriter.text.dialects.grammar import Grammar, Malformed, Token, tokenize
from memoriter.text.dialects.parts import LEAVES, all_of, any_of, excluding, leaf
from memoriter.text.port import Analyzer
from memoriter.text.tree import Leaf, NearLeaves, Node, Term

DEPTH: Final = 50
"""Brackets nested deeper are malformed: this bounds every recursion over the tree."""
_TEXTS: Final = frozenset({"word", "phrase"})
_OPERANDS: Final = _TEXTS | {"(", "column", "near"}
_NEARBY: Final = 10
NEIGHBOURS: Final = 32
"""More words in one NEAR are malformed: this bounds the cost of matching a row."""
_MOST: Final = 1_000_000
"""Larger distances are reduced to this one."""
_MOST_BOOST: Final = 100.0
"""Larger boosts are reduced to this one, so that sums of scores stay exact."""


class _Part(NamedTuple):
    """A parsed operand: `keep` without `drop`. Both are empty if it has no words."""

    keep: Node | None
    drop: tuple[Node, ...] = ()
    at: int = 0


def parse_expression(
    text: str, grammar: Grammar, analyzer: Analyzer
) -> tuple[Node | None, str | None]:
    """(tree, note) of an expression; the note tells people about an unusual parse, or is None.

    The tree is None if no operand has words. Raises `Malformed`.
    """
    parser = _Parser(list(tokenize(text, grammar)), grammar, analyzer)
    return parser.whole(), parser.note


class _Parser:
    """Reads the tokens once, left to right, with one method per rule of the grammar."""

    def __init__(self, tokens: list[Token], grammar: Grammar, analyzer: Analyzer) -> None:
        self.note: str | None = None
        self._tokens = tokens
        self._grammar = grammar
        self._analyzer = analyzer
        self._nth = 0
        self._depth = 0
        self._leaves = 0
        self._fields: tuple[str, ...] = ()

    def whole(self) -> Node | None:
        """The tree of all tokens; raises `Malformed` if some are left over."""
        part = self._level(0)
        if self._kind() != "end":
            raise self._unexpected()
        return self._to_tree(part)

    def _level(self, nth: int) -> _Part:
        """Operands joined by the nth operator of the binding order, or by a tighter one."""
        if nth == len(self._grammar.binding):
            return self._neighbours()
        operator = self._grammar.binding[nth]
        parts = [self._level(nth + 1)]
        while self._take(operator):
            parts.append(self._level(nth + 1))
        if len(parts) == 1:
            return parts[0]
        # A branch of OR must stand by itself; below AND an exclusion applies to the whole.
        if operator == "OR":
            return _Part(any_of(map(self._to_tree, parts)))
        if operator == "AND":
            return _joined(all_of, parts)
        keep, drop, at = parts[0]
        dropped = [tree for part in parts[1:] if (tree := self._to_tree(part))]
        return _Part(keep, (*drop, *dropped), at)

    def _neighbours(self) -> _Part:
        """Adjacent operands, joined as the grammar says, perhaps after a lone NOT."""
        at = self._here().at
        negative = self._lone_not()
        parts: list[_Part] = []
        more = True
        while more:
            bracketed = self._bracketed()
            parts.append(self._operand())
            alone = (bracketed or self._bracketed()) and not self._grammar.bracket_neighbours
            more = self._begins() and not alone
        join = any_of if self._grammar.neighbours == "OR" else all_of
        part = parts[0] if len(parts) == 1 else _joined(join, parts)
        if not negative:
            return part
        tree = self._to_tree(part)
        return _Part(None, (tree,) if tree else (), at)

    def _lone_not(self) -> bool:
        """Consume a NOT at the place of an operand. After AND every grammar allows it."""
        lenient = self._grammar.lone_not
        after_and = self._nth > 0 and self._tokens[self._nth - 1].kind == "AND"
        if not (lenient or after_and) or not self._take("NOT"):
            return False
        while lenient and self._take("NOT"):  # NOT NOT is one NOT, not a double negation
            pass
        return True

    def _to_tree(self, part: _Part) -> Node | None:
        """The part as a tree. If it only excludes, the excluded words are searched, with a note."""
        if part.keep is None and part.drop:
            if self.note is None:
                self.note = (
                    f"NOT at character {part.at + 1} has nothing to take from; "
                    "what follows it is looked for"
                )
            return any_of(part.drop)
        return excluding(part.keep, part.drop)

    def _operand(self) -> _Part:
        token = self._here()
        match token.kind:
            case "(":
                return self._bracket()
            case "column":
                return self._column()
            case "near":
                return _Part(self._near())
            case "word" | "phrase":
                return _Part(self._text())
            case _:
                raise self._unexpected()

    def _bracket(self) -> _Part:
        opening = self._next()
        if self._depth == DEPTH:
            raise Malformed(opening.at, f"more than {DEPTH} brackets inside each other")
        self._depth += 1
        part = self._level(0)
        self._depth -= 1
        self._expect(")", opening)
        return part

    def _column(self) -> _Part:
        token = self._next()
        known = dict(self._grammar.columns)
        named = tuple(dict.fromkeys(known[name] for name in token.text.lower().strip("{}").split()))
        fields = tuple(name for name in named if not self._fields or name in self._fields)
        if not fields or self._kind() == "column":
            raise Malformed(token.at, "one column inside another")
        # A filter applies to the operand after it, however deep; then the outer one is back.
        outer, self._fields = self._fields, fields
        part = self._operand()
        self._fields = outer
        return part

    def _near(self) -> Node | None:
        opening = self._next()
        distance = opening.text
        if self._kind() not in _TEXTS:
            raise self._unexpected()
        leaves: list[Leaf] = []
        while self._kind() in _TEXTS:
            one = self._leaf(in_near=True)
            if one is not None:
                leaves.append(one)
            if len(leaves) > NEIGHBOURS:
                raise Malformed(opening.at, f"more than {NEIGHBOURS} words in NEAR")
        if self._take(","):
            if not self._here().text.isdecimal():
                raise self._unexpected()
            distance = self._next().text
        self._expect(")", opening)
        self._count(len(leaves))
        if len(leaves) <= 1:
            return next(iter(leaves), None)
        return NearLeaves(tuple(leaves), _distance(distance), self._grammar.chained_near)

    def _text(self) -> Node | None:
        token = self._here()
        following = self._tokens[self._nth + 1].kind
        plain = token.kind == "word" and following not in {"*", "+", "boost"}
        if self._grammar.terms and plain and not self._fields:
            self._nth += 1
            terms = self._analyzer.terms(token.text)
            self._count(len(terms))
            return any_of(map(Term, terms))
        one = self._leaf()
        self._count(one is not None)
        return one

    def _leaf(self, *, in_near: bool = False) -> Leaf | None:
        """A word or a phrase, or several joined by `+`, with an optional `*` and boost."""
        token = self._next()
        texts = [token.text]
        while self._take("+"):
            if self._kind() not in _TEXTS:
                raise self._unexpected()
            texts.append(self._next().text)
        text = " ".join(texts)
        prefix = self._take("*")
        if (prefix or in_near) and not self._grammar.free_phrases and len(text.split()) > 1:
            where = "in NEAR" if in_near else 'before "*"'
            raise Malformed(token.at, f"a phrase {where}")
        boost = min(float(self._next().text), _MOST_BOOST) if self._kind() == "boost" else 1.0
        return leaf(self._analyzer, text, prefix=prefix, fields=self._fields, boost=boost)

    # --- access to tokens

    def _here(self) -> Token:
        return self._tokens[self._nth]

    def _kind(self) -> str:
        return self._tokens[self._nth].kind

    def _next(self) -> Token:
        token = self._tokens[self._nth]
        self._nth += 1
        return token

    def _take(self, kind: str) -> bool:
        is_next = self._kind() == kind
        self._nth += is_next
        return is_next

    def _begins(self) -> bool:
        return self._kind() in _OPERANDS

    def _bracketed(self) -> bool:
        kind = self._kind()
        return kind == "(" or (kind == "column" and self._tokens[self._nth + 1].kind == "(")

    def _expect(self, kind: str, opening: Token) -> None:
        if self._kind() == "end":
            raise Malformed(opening.at, f'"(" without "{kind}"')
        if not self._take(kind):
            raise self._unexpected()

    def _unexpected(self) -> Malformed:
        token = self._here()
        if token.kind == ")" and not self._depth:
            return Malformed(token.at, '")" without "("')
        if token.kind == "end":
            return Malformed(max(0, token.at - 1), "the expression ends too early")
        return Malformed(token.at, f'an unexpected "{token.text or token.kind}"')

    def _count(self, leaves: int) -> None:
        self._leaves += leaves
        if self._leaves > LEAVES:
            raise Malformed(self._here().at, f"more than {LEAVES:,} words")


_Join: TypeAlias = Callable[[Iterator[Node | None]], Node | None]


def _joined(join: _Join, parts: list[_Part]) -> _Part:
    """The joined parts; what the parts without `keep` exclude is excluded from the whole."""
    keeping = (excluding(part.keep, part.drop) for part in parts)
    lone = [part for part in parts if part.keep is None]
    drop = tuple(one for part in lone for one in part.drop)
    return _Part(join(keeping), drop, lone[0].at if lone else parts[0].at)


def _distance(text: str) -> int:
    digits = text.lstrip("0")  # nine digits are beyond the limit: never parse a huge integer
    return min(int(digits[:9] or "0"), _MOST) if text else _NEARBY
