"""Hints in the words of a door.

The library writes hints as Python: `recall(…, limit=3)`, `where={"kind": "note"}`. `in_fields` says
the same in fields of JSON, for HTTP, JSON-RPC and MCP, `in_commands` as one types it. Both know the
forms that hints are written in, not the hints: a call of a method, an option with its value, an
option of `memoriter.open`, and the few values that only Python has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final, cast

from memoriter.core.options import declared
from memoriter.doors.operations import BY_NAME
from memoriter.memory import options, writing_options

_CALL: Final = re.compile(r"\b(?:memory\.)?([a-z_]+)\(([^()]*)\)")
_OPTION: Final = re.compile(r"""(?<![\w"'$.\-])([a-z_]+)=(?=[{\["'…\dTFN])""")
_OPENING: Final = re.compile(
    r"(?:pass it to open: )?(?:memoriter\.)?open\(…, ([a-z_]+)=(?:…|'[^']*')\)"
)
_PLAIN: Final[tuple[tuple[str, str], ...]] = (
    (r"ISO 8601 text, an aware datetime, a date, or a duration", "ISO 8601, or a duration"),
    (r", None, an? function .*? or an object with \w+", ""),
    (r"pass the time as the second argument, or at=…", "it is called at here"),
    (r"for seconds since 1970 use datetime.*", "seconds since 1970 are not read: give ISO 8601"),
)
"""Values that only Python has, and what doors take."""
_SERVER: Final = ("embedder", "reranker", "tenant")
"""The options of `memoriter.open` that the commands which start a server have too."""
_OPENED: Final = (*_SERVER, "read_only")
_SAVED: Final = r"(?:recall\(…\)|result)\.receipt\.save\(path\)"
_ANSWERED: Final = "send a receipt that recall or receipt answered with"
_EXPLAINED: Final = "every hit has it: result[0].explanation"
_COMMANDS: Final = {"remember_many": "import", "context": "recall", "receipt": "recall"}
"""Methods whose command has another name."""


def in_fields(hint: str) -> str:
    """A hint in fields of JSON.

    >>> in_fields('use where={"created": {"gte": "2d"}}, or recall(…, limit=3)')
    'use "where": {"created": {"gte": "2d"}}, or recall with "limit": 3'
    >>> in_fields("pass it to open: memoriter.open(…, reranker=…)")
    'start the server with --reranker'
    """
    hint = re.sub(f"give a receipt that {_SAVED} wrote", _ANSWERED, hint)
    hint = hint.replace("embedding.status()", "status")
    hint = hint.replace(_EXPLAINED, 'recall with "detail": "full" has it')
    hint = _OPENING.sub(_started, _without_python(hint))
    hint = _CALL.sub(_as_request, hint)
    return _with_options(hint, _field)


def in_commands(hint: str) -> str:
    r"""A hint in words of the command line.

    >>> in_commands('leave it out: overrides={"pass.1.enabled": False}')
    'leave it out: --override pass.1.enabled=false'
    >>> in_commands('forget(id), or forget(where={"session": "s-12"})')
    'memoriter forget ID, or memoriter forget --where \'{"session": "s-12"}\''
    """
    hint = re.sub(_SAVED, "memoriter recall QUERY --receipt FILE", hint)
    hint = hint.replace("embedding.status()", "memoriter embed status")
    hint = hint.replace(_EXPLAINED, "memoriter recall QUERY --explain shows it")
    hint = _OPENING.sub(_flagged, _without_python(hint))
    hint = _CALL.sub(_as_command, hint)
    return _with_options(hint, _flag)


def _without_python(hint: str) -> str:
    for python, plain in _PLAIN:
        hint = re.sub(python, plain, hint)
    return hint


# --- options of open --------------------------------------------------------------------------


def _started(opening: re.Match[str]) -> str:
    name = opening[1]
    if name == "tenant":
        return "leave it out: the token, or --tenant of the server, decides"
    if name == "read_only":
        return "use a token with the right read, or start the server with --read-only"
    return f"start the server with --{name}" if name in _SERVER else f"Python alone has it: {name}"


def _flagged(opening: re.Match[str]) -> str:
    name = opening[1]
    return f"add --{name.replace('_', '-')}" if name in _OPENED else f"Python alone has it: {name}"


# --- calls ------------------------------------------------------------------------------------


def _as_request(call: re.Match[str]) -> str:
    verb, names = call[1], call[2]
    if verb not in BY_NAME:
        return call[0]
    given = [f'"{each}"' if each.isidentifier() else each for each in _arguments(names)]
    return f"{verb} with {', '.join(given)}" if given else verb


def _as_command(call: re.Match[str]) -> str:
    verb, names = call[1], call[2]
    if verb not in BY_NAME:
        return call[0]
    given = [each.upper() if each.isidentifier() else each for each in _arguments(names)]
    return " ".join(("memoriter", _COMMANDS.get(verb, BY_NAME[verb].verb), *given))


def _arguments(text: str) -> list[str]:
    """The arguments of a call, split at commas outside of brackets; `…` is left out."""
    out, depth, begin = list[str](), 0, 0
    for at, char in enumerate(f"{text},"):
        depth += (char in "{[(") - (char in "}])")
        if char == "," and depth == 0:
            out.append(text[begin:at].strip())
            begin = at + 1
    return [each for each in out if each not in ("", "…")]


# --- options with a value ---------------------------------------------------------------------


def _with_options(hint: str, write: Callable[[str, str], str]) -> str:
    """The hint with every `name=value` written anew; names that no option has stay as they are."""
    out, end = "", 0
    for name, begin, value, after in _options(hint):
        if begin >= end and name in _flags():
            out, end = f"{out}{hint[end:begin]}{write(name, _json(value))}", after
    return out + hint[end:]


def _options(hint: str) -> Iterator[tuple[str, int, str, int]]:
    """Each option in a hint: its name, where it begins, its value, where that ends."""
    for match in _OPTION.finditer(hint):
        end = _end(hint, match.end())
        yield match[1], match.start(), hint[match.end() : end], end


def _end(hint: str, begin: int) -> int:
    """Where the value that begins here ends: after its bracket or quote, else before a space."""
    if hint[begin] in "\"'":
        return hint.find(hint[begin], begin + 1) + 1 or len(hint)
    depth = 0
    for at in range(begin, len(hint)):
        depth += (hint[at] in "{[(") - (hint[at] in "}])")
        if depth < 0 or (depth == 0 and hint[at] in " ,;)"):
            return at
        if depth == 0 and hint[at] in "}]":
            return at + 1
    return len(hint)


def _json(value: str) -> str:
    """A value of Python as JSON text."""
    for python, plain in (("True", "true"), ("False", "false"), ("None", "null")):
        value = re.sub(rf"\b{python}\b", plain, value)
    return value.replace("'", '"').replace("(", "[").replace(")", "]")


def _field(name: str, value: str) -> str:
    if name in _SERVER:
        return f"--{name} {_bare(value)} of the server"
    return f'"{name}": {value}'


def _flag(name: str, value: str) -> str:
    flag = _flags()[name]
    if name == "seeds":
        return f"{flag} ID"
    data = _parsed(value)
    if isinstance(data, dict) and name in ("overrides", "lists", "source"):
        pairs = cast("dict[str, object]", data).items()
        return " ".join(_pair(name, flag, key, each) for key, each in pairs)
    return f"{flag} '{value}'" if value[:1] in "{[" else f"{flag} {_bare(value)}"


def _pair(name: str, flag: str, key: str, value: object) -> str:
    """One entry of an object, as its flag takes it."""
    if name == "source":
        return f"--source-{key} {value}"
    if name == "lists":
        value = ",".join(f"{id}:{score}" for id, score in cast("list[tuple[str, float]]", value))
    elif not isinstance(value, str):
        value = json.dumps(value)
    return f"{flag} {key}={value}"


def _parsed(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return None


def _bare(value: str) -> str:
    return value.strip('"')


@cache
def _flags() -> Mapping[str, str]:
    """The flag of every option of the library; options that have none are left out."""
    kinds = (
        options.QuestionOptions, options.BrowseKwargs, options.RememberKwargs, options.LinkKwargs,
        writing_options.ReflectKwargs,
    )  # fmt: skip
    flags = {
        name: each.option.flag or f"--{name.replace('_', '-')}"
        for kind in kinds
        for name, each in declared(kind).items()
        if each.option.flag is not None
    }
    return {
        **flags,
        **{name: f"--{name.replace('_', '-')}" for name in (*_OPENED, "format", "cursor")},
    }
