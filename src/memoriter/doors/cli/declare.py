"""Declares commands, and turns the options that the library declares into flags.

A command is a function; its parameters are its arguments and options, annotated with
`params.CliOption` and `CliArgument`. A parameter that is a dataclass stands for a group of options,
one for each field. A field annotated with `Flags(options.SearchKwargs)` stands for every option
which that TypedDict declares; it holds the values that were typed, under the names that the library
uses.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, Final, Literal, cast, get_args, get_origin
from typing import get_type_hints as hints_of

from memoriter.core.errors import BadFilter, BadQuery, BadRecord, InputError
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.options import Declared, Option, declared
from memoriter.core.strict_json import DuplicateKey, strict_json
from memoriter.core.where import parse_where
from memoriter.doors.cli.options import CliOption, Completion, complete_recipe

# --- commands ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Command:
    """A command: the docstring of its function is its help, the examples end the help."""

    name: str
    run: Callable[..., object]
    examples: tuple[str, ...]
    lists: Mapping[str, Completion]
    """Options whose help ends with all their values, which other packages may add to."""


def command(
    name: str, *examples: str, lists: Mapping[str, Completion] | None = None
) -> Callable[[Callable[..., object]], Command]:
    """Declare a command; `main` says where in the tree it belongs."""
    return lambda function: Command(name, function, examples, lists or {})


def spread(run: Callable[..., object]) -> Callable[..., object]:
    """The function with an option of its own for each field of its option groups."""
    plain = inspect.signature(run, eval_str=True).parameters.values()
    groups = {
        p.name: _Group(cast("type[Any]", p.annotation)) for p in plain if is_dataclass(p.annotation)
    }
    own = [p.replace(kind=p.KEYWORD_ONLY) for p in plain if p.name not in groups]
    flat = [*own, *(p for group in groups.values() for p in group.parameters)]

    @wraps(run)
    def call(**typed: object) -> object:
        rest = {p.name: typed[p.name] for p in own}
        return run(**rest, **{name: group.gather(typed) for name, group in groups.items()})

    call.__signature__ = inspect.Signature(flat)  # pyright: ignore[reportAttributeAccessIssue]  # how a function shows another signature
    return call


class _Group:
    """A dataclass of options: its parameters, and how it is made of the values that were typed."""

    def __init__(self, group: type[Any]) -> None:
        hints = hints_of(group, include_extras=True)
        self._group = group
        self._flags = {each.name: _flags(hints[each.name]) for each in fields(group)}
        self.parameters: list[inspect.Parameter] = []
        for each in fields(group):
            flags = self._flags[each.name]
            self.parameters += (
                [_parameter(each.name, hints[each.name], _default(each))]
                if flags is None
                else flags.parameters()
            )

    def gather(self, typed: Mapping[str, object]) -> object:
        """The dataclass with the values that were typed."""
        return self._group(
            **{
                name: typed[name] if flags is None else flags.values(typed)
                for name, flags in self._flags.items()
            }
        )


def _flags(hint: Any) -> Flags | None:
    return next((each for each in getattr(hint, "__metadata__", ()) if type(each) is Flags), None)


def _default(each: Field[Any]) -> object:
    return inspect.Parameter.empty if each.default is MISSING else each.default


def _parameter(name: str, annotation: Any, default: object = None) -> inspect.Parameter:
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=annotation)


# --- flags ------------------------------------------------------------------------------------

_COMPLETIONS: Final[Mapping[str, Completion]] = {"recipe": complete_recipe}
_SCOPE: Final = ("agent", "user", "session")
"""Options that a command has from `ScopedOptions` already."""
_SOURCE: Final = {
    "who": "Who said it.",
    "channel": "The channel it came through.",
    "path": "The file it came from.",
}
"""The field `source` is an object: each of its parts has an option of its own."""


@dataclass(frozen=True, slots=True)
class Flags:
    """A flag for each option that a TypedDict declares."""

    options: type
    without: Collection[str] = ()
    panel: str | None = None

    def parameters(self) -> list[inspect.Parameter]:
        """One parameter for each flag."""
        return [parameter for each in self._declared() for parameter in self._parameters(each)]

    def values(self, typed: Mapping[str, Any]) -> dict[str, Any]:
        """The values that were typed, by the names that the library uses."""
        values = {each.name: _value(each, typed) for each in self._declared()}
        return {name: value for name, value in values.items() if value is not None}

    def _declared(self) -> list[Declared]:
        return [
            each
            for name, each in declared(self.options).items()
            if each.option.wire is not None
            and each.option.flag is not None
            and name not in (*self.without, *_SCOPE)
        ]

    def _parameters(self, each: Declared) -> list[inspect.Parameter]:
        if each.name == "source":
            return [self._source(part, about) for part, about in _SOURCE.items()]
        flag = each.option.flag or f"--{each.name.replace('_', '-')}"
        kind = _kind(each.option)
        repeated = get_origin(kind) is list
        about = each.option.about
        again = "repeated, or several with commas" if each.name == "tags" else "repeated"
        option = CliOption(
            f"{flag}/--no-{flag[2:]}" if kind is bool else flag,
            help=f"{about[:-1]}; may be {again}." if repeated else about,
            metavar=_metavar(each, flag[2:].upper() if repeated else None),
            rich_help_panel=self.panel,
            show_default=False,
            autocompletion=_COMPLETIONS.get(each.name),
        )
        return [_parameter(each.name, Annotated[kind | None, option])]

    def _source(self, part: str, about: str) -> inspect.Parameter:
        option = CliOption(
            f"--source-{part}", help=about, rich_help_panel=self.panel, show_default=False
        )
        return _parameter(f"source_{part}", Annotated[str | None, option])


def _kind(option: Option) -> Any:
    """The type of the value on the command line."""
    wire = option.wire
    # "hide" or "show" is a pair of flags here: --expired and --no-expired.
    if wire is bool or (get_origin(wire) is Literal and set(get_args(wire)) == {"hide", "show"}):
        return bool
    if wire in (int, float, str):
        return wire
    pairs = "=" in (option.metavar or "")
    lists = any(get_origin(arm) is list for arm in (wire, *get_args(wire)))
    return list[str] if pairs or lists else str


def _metavar(each: Declared, otherwise: str | None) -> str | None:
    if each.option.metavar is not None:
        return each.option.metavar
    if "TimeLike" in each.type:
        return "TIME"
    return "JSON" if get_origin(each.option.wire) is dict else otherwise


def _value(each: Declared, typed: Mapping[str, Any]) -> Any:
    """The value of an option as the library takes it; None where it was not given."""
    if each.name == "source":
        parts = {part: typed[f"source_{part}"] for part in _SOURCE}
        return {part: value for part, value in parts.items() if value is not None} or None
    value = typed[each.name]
    if value is None or value == []:
        return None
    if each.name in _PARSERS:
        return _PARSERS[each.name](value)
    if get_origin(each.option.wire) is Literal:
        return "show" if value else "hide"
    if get_origin(each.option.wire) is dict:
        return _json_object(value, each.name)
    return value


# --- values that are typed as text ------------------------------------------------------------

_QUOTES: Final = 'write JSON in single quotes, for example \'{"tags": "ops"}\''


def where_of(text: str | None) -> dict[str, object] | None:
    """A filter from its JSON; the library checks its shape."""
    if text is not None and not text.lstrip().startswith(("{", "[", '"')):
        try:
            parse_where(text)
        except BadFilter as error:  # for a condition such as tags=ops it shows the right form
            raise BadFilter(error.message, hint=_QUOTES, field="where") from None
    return None if text is None else cast("dict[str, object]", _json(text, "where", BadFilter))


def _json(text: str, field: str, error: type[InputError]) -> object:
    try:
        return strict_json(text)
    except ValueError as bad:
        raise error(f"{field}: this is not JSON ({bad})", hint=_QUOTES, field=field) from None


def _json_object(text: str, field: str) -> dict[str, object]:
    value = _json(text, field, BadRecord)
    if not isinstance(value, dict):
        raise BadRecord(f"{field}: expected a JSON object", hint=_QUOTES, field=field)
    return cast("dict[str, object]", value)


def _overrides(pairs: Sequence[str]) -> dict[str, object]:
    """Overrides from `path=value`; a value that is not JSON is text."""
    out: dict[str, object] = {}
    for pair in pairs:
        path, equals, value = pair.partition("=")
        if not equals or not path:
            raise BadQuery(
                f"override: {pair!r} does not have the form path=value",
                hint="for example --override lanes.words.k1=1.5",
                field="override",
            )
        try:
            out[path] = strict_json(value)
        except DuplicateKey as bad:
            raise BadQuery(
                f"override: the value of {path} is not valid JSON ({bad})", field="override"
            ) from None
        except ValueError:
            out[path] = value
    return out


def _aliases(pairs: Sequence[str]) -> dict[str, list[str]]:
    """Aliases from `word=other`; a word may come more than once."""
    out: dict[str, list[str]] = {}
    for pair in pairs:
        word, equals, other = pair.partition("=")
        if not equals or not word or not other:
            raise BadQuery(
                f"alias: {pair!r} does not have the form word=other",
                hint="for example --alias k8s=kubernetes; add --alias k8s=k8s to search for k8s"
                " too",
                field="alias",
            )
        out.setdefault(word, []).append(other)
    return out


def _lists(texts: Sequence[str]) -> dict[str, object]:
    """Ranked lists from `label=id:score,id:score`, `label=attribute` or `label=` and JSON."""
    out: dict[str, object] = {}
    for text in texts:
        label, equals, ranked = text.partition("=")
        if not equals or not label or not ranked:
            raise BadQuery(
                f"list: {text!r} has neither the form label=id:score nor label=attribute",
                hint="for example --list top=id-1:0.9,id-2:0.4 or --list heavy=importance",
                field="list",
            )
        if label in out:
            raise BadQuery(
                f"list: the label {label!r} is given twice",
                hint="give one of the two lists another label",
                field="list",
            )
        out[label] = _list(label, ranked)
    return out


def _list(label: str, text: str) -> object:
    if text[0] in "[{":
        return _json(text, "list", BadQuery)
    if ":" not in text:
        return text
    out: list[tuple[str, float]] = []
    for pair in text.split(","):
        id, _, score = pair.rpartition(":")
        try:
            out.append((id, float(score)))
        except ValueError:
            raise BadQuery(
                f"list: {pair!r} of the list {label!r} does not have the form id:score",
                hint='for example id-1:0.9; an id with a comma needs JSON: label=[["id", 0.9]]',
                field="list",
            ) from None
    return out


def _tags(texts: Sequence[str]) -> list[str]:
    """Tags, each of its own option or several with commas between them."""
    return [tag for text in texts for tag in map(str.strip, text.split(",")) if tag]


_PARSERS: Final[Mapping[str, Callable[[Any], object]]] = {
    "where": where_of,
    "tags": _tags,
    "overrides": _overrides,
    "aliases": _aliases,
    "lists": _lists,
}
"""Options whose values have a syntax of their own on the command line."""
