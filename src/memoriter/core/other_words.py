"""Errors for names that other libraries use: each names the right word (`core.other_names`)."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from memoriter.core.attributes import ATTRIBUTES
from memoriter.core.errors import InputError
from memoriter.core.foreign import attribute_meant, snake
from memoriter.core.other_names import (
    AFTER_OPENING,
    ATTRIBUTES_OF,
    CALLS,
    COMMANDS,
    EXAMPLE,
    INSTEAD,
    MODULE,
    OPEN_OPTIONS,
    OPERATIONS,
    OPTIONS,
    VERBS,
)
from memoriter.core.times import micros

_NO_VERBS: Final = frozenset({"get", "set", "is", "has", "many", "all", "batch"})
"""Words of a method's name that do not say what it does."""
_SHOWN: Final = 40
"""How many characters of a caller's value a hint shows at most."""
NEAR: Final = 0.7
"""How similar (difflib ratio) a known word must be to be suggested."""


def no_such_verb(of: object, name: str) -> AttributeError:
    """The error for a method that a memory does not have."""
    right = _verb_meant(type(of), name)
    hint = f": use {right}" if right else ""
    return AttributeError(f"{type(of).__name__} has no {name!r}{hint}")


def _verb_meant(of: type, name: str) -> str | None:
    """Our method for another name: as a whole, nearly spelled so, or by a word of it."""
    if name in VERBS or name.startswith("_"):
        return VERBS.get(name)
    verbs = [each for each in dir(of) if not each.startswith("_")]
    if near := difflib.get_close_matches(name, verbs, 1, 0.75):
        return near[0]
    words = [each for each in name.split("_") if each not in _NO_VERBS]
    return next((each for each in words if each in verbs), None) or next(
        (VERBS[each] for each in words if each in VERBS), None
    )


def no_such_name(name: str) -> AttributeError:
    """The error for a name that the package does not have."""
    hint = f": use {MODULE[name].format(name=name)}" if name in MODULE else ""
    return AttributeError(f"module 'memoriter' has no attribute {name!r}{hint}")


def no_such_attribute(of: object, name: str) -> AttributeError:
    """The error for an attribute that one of our objects does not have."""
    kind = type(of).__name__
    right = ATTRIBUTES_OF.get(kind, {}).get(name, "").format(name=name)
    right = right or _attribute_meant_of(of, name)
    hint = f": use {right}" if right else ""
    return AttributeError(f"{kind} has no {name!r}{hint}")


def _attribute_meant_of(of: object, name: str) -> str:
    """The attribute of an object that a name means; empty if unknown."""
    # `count` and `index` of a sequence are never meant: who misspells them finds another word.
    every = sorted({*dir(type(of)), *getattr(of, "__dict__", ())})
    names = [each for each in every if not each.startswith("_")]
    names = [each for each in names if each not in {"count", "index"}]
    meant = attribute_meant(name)
    if meant in names:
        return meant or ""
    if meant is not None and type(of).__name__ == "Hit":
        return f"hit.record.{meant}"
    return next(iter(difflib.get_close_matches(name, names, 1)), "")


def _reads(key: object) -> str:
    if not isinstance(key, str):
        return "get(id) reads one memory, browse() lists them, recall(query) searches"
    return f"get({key!r}) reads the memory with this id, recall({key!r}) searches"


class _HintingClass(type):
    """The class of a class whose unknown attributes raise AttributeError with the right word."""

    if not TYPE_CHECKING:  # type checkers know what is there

        def __getattr__(cls, name: str) -> None:
            right = MODULE.get(name, "").format(name=name) or _verb_meant(cls, name)
            right = 'memoriter.open("agent.db")' if name == "open" else right
            hint = f": use {right}" if right else ""
            raise AttributeError(f"class {cls.__name__} has no {name!r}{hint}")


class NotAContainer(metaclass=_HintingClass):
    """Mixin: iterating, indexing and `in` raise InputError that names the method to call."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers know that it is none

        def __iter__(self) -> None:
            raise InputError(
                f"a {type(self).__name__} is not a list",
                hint="to list memories, newest first: for record in memory.browse(): …",
            )

        def __getitem__(self, key: object) -> None:
            raise InputError(
                f"a {type(self).__name__} is not a mapping",
                hint=_reads(key),
            )

        def __contains__(self, key: object) -> bool:
            raise InputError(
                f"`in` does not work with a {type(self).__name__}",
                hint=f"{_reads(key)}; get raises NotFound if there is none",
            )


def not_a_mapping(of: object, key: object) -> TypeError:
    """The error for one of our objects that is read like a mapping."""
    if isinstance(key, str) and hasattr(of, key):
        return TypeError(f"{type(of).__name__} is not a mapping: use .{key}")
    return TypeError(str(no_such_attribute(of, str(key))))


class NotAsync:
    """Mixin: `async for` raises TypeError that says to write `for`."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers know that it is no async iterator

        def __aiter__(self) -> None:
            raise TypeError(
                f"`async for` does not work with a {type(self).__name__}, because it is complete"
                " already: write `for`"
            )


class Hinting:
    """Mixin: an unknown attribute raises AttributeError that names the right one."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers know what is there

        def __getattr__(self, name: str) -> object:
            if hasattr(type(self), name):
                # A property of ours raised AttributeError: run it again, for its own error.
                return object.__getattribute__(self, name)
            raise no_such_attribute(self, name)

        def __getitem__(self, key: object) -> None:
            raise not_a_mapping(self, key)


def command_meant(name: str) -> str | None:
    """Our method for a method name of another library, without arguments; None if unknown.

    >>> command_meant("delete"), command_meant("add_texts"), command_meant("fly")
    ('forget', 'remember_many', None)
    """
    right = VERBS.get(snake(name))
    return None if right is None else right.partition("(")[0]


def operation_meant(name: str, known: Collection[str]) -> str:
    """The hint for an operation or tool that a server does not have; empty if none is near.

    >>> operation_meant("memory.search", ("recall", "forget")), operation_meant("fly", ("recall",))
    ('it is called recall here', '')
    >>> operation_meant("verify_store", ("recall", "status"))
    'the command line has it: memoriter verify-store'
    >>> operation_meant("verify", ("recall", "status"))
    'the command line has it: memoriter verify RECEIPT'
    """
    plain = name[:80].rpartition(".")[2]
    own = snake(plain)
    if own in CALLS and CALLS[own].partition("(")[0] in known:
        return f"use {CALLS[own]}"
    for verb in _verbs_of(plain):
        if right := _operation_of(verb, known):
            return f"it is called {right} here"
        if verb in COMMANDS:
            return f"the command line has it: memoriter {COMMANDS[verb]}"
    near = difflib.get_close_matches(plain, list(known), 1, NEAR)
    return f"did you mean {near[0]}?" if near else ""


def operation_of(name: str, known: Collection[str]) -> str:
    """The known operation that another name means; empty if there is none, or only with arguments.

    >>> operation_of("search", ("recall", "forget")), operation_of("fly", ("recall", "forget"))
    ('recall', '')
    """
    if snake(name) in CALLS:
        return ""
    return next((own for verb in _verbs_of(name) if (own := _operation_of(verb, known))), "")


def _verbs_of(name: str) -> list[str]:
    """The methods that a name may mean, likeliest first."""
    # A name of ours comes first: as a name of another library it may mean something else.
    own = snake(name)
    return [each for each in (own, OPERATIONS.get(own), command_meant(name)) if each]


def _operation_of(verb: str, known: Collection[str]) -> str:
    right = verb if verb in known else OPERATIONS.get(verb, "")
    return right if right in known else ""


def right_word(name: str, known: Collection[str], otherwise: str = "", value: object = None) -> str:
    """The hint for an unknown option: the right word, or the list of known ones.

    `value` is what the caller passed for it: an example shows it, if it is short.

    >>> right_word("top_k", ("query", "limit")), right_word("userId", ("user", "tags"))
    ('it is called limit here', 'it is called user here')
    >>> right_word("since", ("query", "where"))
    'use where={"created": {"gte": "7d"}}'
    >>> right_word("since", ("query", "where"), value="2d")
    'use where={"created": {"gte": "2d"}}'
    >>> right_word("tag", ("query", "where")), right_word("reranker", ("query", "where"))
    ('use where={"tags": …}', 'pass it to open: memoriter.open(…, reranker=…); recall asks it')
    """
    if own := name_meant(name, known):
        return f"it is called {own} here"
    field = attribute_meant(name)
    meant = OPTIONS.get(snake(name), field)
    if "where" in known and ATTRIBUTES.get(field or "") == "time" and meant in (field, "at"):
        return _timed(f'use where={{"{field}": {time_condition(value)}}}', known)
    if elsewhere := _elsewhere(name, meant, field, known):
        return _timed(with_value(elsewhere, value), known)
    if near := difflib.get_close_matches(name, list(known), 1, NEAR):
        return f"did you mean {near[0]}?"
    if "metadata" in known and not otherwise:
        own = json.dumps(name, ensure_ascii=False)
        return with_value(f"put your own fields into metadata={{{own}: …}}", value)
    return otherwise or f"known: {', '.join(known)}"


def name_meant(name: str, known: Collection[str]) -> str:
    """The known name that has the meaning of a name of another library; empty if there is none.

    >>> name_meant("top_k", ("query", "limit")), name_meant("fly", ("query", "limit"))
    ('limit', '')
    """
    field = attribute_meant(name)
    meant = OPTIONS.get(snake(name), field)
    if meant not in known and field in known:  # an option elsewhere, a field here
        meant = field
    if meant == "text" and "text" not in known and "query" in known:
        meant = "query"  # the text of a search
    if meant not in known and name in ("as_of", "at") and "as_of" not in known:
        meant = "known_at"
    return meant if meant is not None and meant in known else ""


def _timed(hint: str, known: Collection[str]) -> str:
    """A hint, but none with a guessed filter of times where records are forgotten."""
    if "dry_run" in known and any(each in hint for each in ('"gte"', '"lt"', '"created"')):
        return "pass ids, or a where; dry_run shows what a where selects"
    return hint


def _elsewhere(name: str, meant: str | None, field: str | None, known: Collection[str]) -> str:
    """What to write if no option has that name; empty if unknown."""
    if meant is not None and meant.partition("=")[0] in known:
        return f"use {meant}"
    opening = meant if meant in OPEN_OPTIONS else name
    if opening in OPEN_OPTIONS:
        asked = "; recall asks it" if opening == "reranker" else ""  # not every search does
        return f"pass it to open: memoriter.open(…, {opening}=…){asked}"
    field = name if name == "metadata" else field
    if field is not None and "where" in known:
        return f'use where={{"{field}": …}}'
    if "durability" in known and name in AFTER_OPENING:  # an option of `open`
        return AFTER_OPENING[name]
    return next(
        (INSTEAD[own][name] for own in INSTEAD if own in known and name in INSTEAD[own]), ""
    )


def time_condition(value: object) -> str:
    """The condition of a filter, as JSON, that a time means: a day has an end, other times begin.

    >>> time_condition("2024-03-01")
    '{"gte": "2024-03-01", "lt": "2024-03-02"}'
    >>> time_condition("2h"), time_condition("soon")
    ('{"gte": "2h"}', '{"gte": "7d"}')
    """
    begin = _time_text(value)
    try:
        day = date.fromisoformat(begin) if len(begin) == len("2024-03-01") else None
        end = {} if day is None else {"lt": (day + timedelta(days=1)).isoformat()}
    except (ValueError, OverflowError):  # no day, or the last one that there is
        end = {}
    return json.dumps({"gte": begin, **end})


def _time_text(value: object) -> str:
    """A time as text that a filter reads; an example if the value is none."""
    try:
        text = _isoformat(value) if not isinstance(value, str) else value.strip()
        micros(text, "time", InputError, now=lambda: 0)
    except (TypeError, InputError):
        return "7d"
    return text


def with_value(hint: str, value: object) -> str:
    """The hint with the caller's own value in place of an example, if it is short."""
    try:
        own = json.dumps(value, ensure_ascii=False, default=_isoformat)
    except (TypeError, ValueError):
        return hint
    if value is None or len(own) > _SHOWN:
        return hint
    if isinstance(value, str | date | timedelta):
        hint = EXAMPLE.sub(lambda _: own, hint)
    return hint.replace(": …}", f": {own}}}")


def _isoformat(value: object) -> str:
    if isinstance(value, timedelta):
        return f"{value // timedelta(seconds=1)}s"
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(type(value).__name__)
