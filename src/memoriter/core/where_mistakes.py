"""Error messages for mistakes in a `where`, with the right form for that attribute and value.

`core.where` raises `Mistake`, and explains it when the parse has failed. A suggested form is shown
only if `fits` says that it can be parsed; otherwise a fixed example is shown.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Final, cast

from memoriter.core.attributes import ATTRIBUTES, BOUNDS, OPERATORS, PLAIN, AttributeType
from memoriter.core.errors import BadFilter
from memoriter.core.foreign import (
    NOT_KEPT,
    attribute_meant,
    group_meant,
    key_meant,
    metadata_meant,
    operator_meant,
    snake,
)
from memoriter.core.where_meant import (
    conditions_meant,
    operator_spec,
    plain_operator,
    sample,
    several,
    suited,
    tests_meant,
)
from memoriter.core.where_times import Dated

Fits = Callable[[object], bool]
_SHOWN: Final = 120
_PAGE: Final = "docs/where.md has every form"
_EXAMPLE: Final = '{"all": [{"tags": "ops"}, {"not": {"kind": "plan"}}]}'
_HOLDS: Final[Mapping[AttributeType, str]] = {
    "string": "holds one text",
    "strings": "holds several values",
    "number": "holds one number",
    "numbers": "holds several values",
    "time": "holds one time",
    "flag": "is true or false",
    "json": "holds a JSON value",
}


_OWN: Final = frozenset(word for words in OPERATORS.values() for word in words)


_CONDITION: Final = re.compile(r"\s*(?P<name>[\w.]+)\s*(?P<op>[=!<>:]+)\s*(?P<value>.+?)\s*")
"""A condition in words, as of SQL: `importance > 0.5`."""


class Mistake(Exception):
    """A mistake in a filter, with a function that makes the error.

    Making the message is lazy: `_fits` raises and discards many mistakes while it tries forms.
    """

    def __init__(self, explain: Callable[[Fits], BadFilter]) -> None:
        super().__init__()
        self.explain = explain


# -- forms -----------------------------------------------------------------------------------------


def _written(data: object) -> str:
    """A condition as JSON; empty if it is too long to show or cannot be encoded."""
    try:
        line = json.dumps(_as_given(data), ensure_ascii=False, allow_nan=False, default=_jsonable)
        line.encode()
    except (TypeError, ValueError, RecursionError):
        return ""
    return line if len(line) <= _SHOWN else ""


def _as_given(data: object) -> object:
    """The condition with every duration as the caller wrote it."""
    if isinstance(data, Dated):
        return data.given
    if isinstance(data, dict):
        return {k: _as_given(v) for k, v in cast("dict[object, object]", data).items()}
    if isinstance(data, list):
        return [_as_given(each) for each in cast("list[object]", data)]
    return data


def _jsonable(value: object) -> object:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    if (items := several(value)) is not None:
        return items
    raise TypeError


def _form(fits: Fits, *candidates: object) -> str:
    """The first candidate that can be parsed and shown; the last is an example that always can."""
    forms = (_written(each) for each in candidates if fits(each))
    return next((each for each in forms if each), _written(candidates[-1]))


# -- operators -------------------------------------------------------------------------------------


def operator_error(
    attribute: str, kind: AttributeType, test: tuple[object, object], at: str, fits: Fits
) -> BadFilter:
    """The error for an operator that this attribute does not take."""
    op, value = test
    meant = operator_meant(op) if isinstance(op, str) else None
    if meant is None:
        hint = _nearest(str(op), OPERATORS[kind])
        return _refused(f"{at}: there is no operator {op!r}", f"{hint}{_menu(attribute, kind)}", at)
    # `contains` on a text means a substring elsewhere, which no operator here tests.
    inside = kind == "string" and meant == "any" and op != "any"
    if meant.startswith("prefix") and isinstance(value, str) and op != meant:  # LIKE of SQL
        inside, value = value.startswith("%"), value.rstrip("%")
    meant = "match" if inside else plain_operator(attribute, kind, meant)
    form = _form(fits, *tests_meant(attribute, kind, meant, value))
    if meant == "match" and "prefix" in OPERATORS[kind]:
        problem = (
            f"no operator looks inside a text, as {op!r} would: use {form}, or recall the words"
        )
    elif op in BOUNDS and kind in {"strings", "numbers", "flag"}:
        problem = f"{attribute} {_HOLDS[kind]} and has no order: use {form}"
    elif op in _OWN:
        problem = f"{attribute} {_HOLDS[kind]}: use {form}"
    elif op == "not":
        problem = f"'not' stands around a condition: {form}"
    else:
        problem = _renamed(attribute, kind, (str(op), value, meant), form)
    return _refused(f"{at}: {problem}", _menu(attribute, kind), at)


def _renamed(attribute: str, kind: AttributeType, test: tuple[str, object, str], form: str) -> str:
    """The message for an operator of another query language."""
    op, value, meant = test
    ours = {"between": "with bounds", "missing": "'exists'"}.get(meant)
    if meant.startswith("not "):
        ours = "with 'not'"
    elif ours is None and (right := suited(kind, meant, value)):
        ours = f"{right!r}"
    if ours is None or (meant == "between" and "gte" not in OPERATORS[kind]):
        return f"{attribute} {_HOLDS[kind]}, so there is no {op!r}: use {form}"
    return f"{op!r} is written {ours}: {form}"


def _menu(attribute: str, kind: AttributeType) -> str:
    return f"{attribute} ({PLAIN[kind]}) takes {', '.join(OPERATORS[kind])}; {_PAGE}"


def _nearest(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word[:_SHOWN], known, 1)
    return f"did you mean {near[0]}? " if near else ""


def _refused(message: str, hint: str, at: str) -> BadFilter:
    return BadFilter(message, hint=hint, field=at)


# -- values ----------------------------------------------------------------------------------------


def no_test_error(attribute: str, kind: AttributeType, at: str) -> BadFilter:
    """The error for an attribute with an empty object."""
    form = _written({attribute: sample(attribute, kind)})
    return _refused(f"{at}: no test given, for example {form}", _menu(attribute, kind), at)


def null_error(attribute: str, kind: AttributeType, at: str, fits: Fits) -> BadFilter:
    """The error for null as the value of an attribute that is never null."""
    form = _form(fits, {attribute: {"exists": False}})
    message = f"{at}: null is not a value; test for an absent attribute with {form}"
    return _refused(message, _menu(attribute, kind), at)


def shape_error(
    attribute: str, kind: AttributeType, test: tuple[str, object], at: str, fits: Fits
) -> BadFilter:
    """The error for one value instead of a list, or a list instead of one value."""
    op, value = test
    word, fold, _ = op.partition("_fold")
    right = suited(kind, f"in{fold}", value) if word == "eq" else op
    forms = ({attribute: operator_spec(right, each)} for each in (value, sample(attribute, kind)))
    problem = "takes one value" if word == "eq" else "expected a list of values"
    return _refused(f"{at}.{op}: {problem}: {_form(fits, *forms)}", _menu(attribute, kind), at)


def value_error(error: BadFilter, test: tuple[str, AttributeType, object], fits: Fits) -> BadFilter:
    """The error for a value that an attribute does not take, with the form that was meant."""
    attribute, kind, spec = test
    forms = (_written(each) for each in conditions_meant(attribute, spec) if fits(each))
    form = next((each for each in forms if each), None)
    if form is None:
        return error
    hint = f"{error.hint}; {_PAGE}" if error.hint else _menu(attribute, kind)
    return _refused(f"{error.message}: use {form}", hint, error.field or attribute)


# -- names -----------------------------------------------------------------------------------------


def name_error(name: str, spec: object, at: str, fits: Fits) -> BadFilter:
    """The error for a key that is not an attribute: suggests a group, an attribute or metadata."""
    # Groups first: `not` or `filter` could also pass for the name of an attribute.
    if (group := group_meant(name)) is not None:
        return _group_misnamed(name, group, spec, at, fits)
    known = f"known: {', '.join(ATTRIBUTES)}, metadata.<key>; {_PAGE}"
    message = f"{at}: there is no attribute {name!r}"
    if (plain := snake(name)) in NOT_KEPT:
        return _refused(message, f"{NOT_KEPT[plain]}; {known}", at)
    if (path := metadata_meant(name)) is not None:
        nested = {"metadata": spec} if not path else {f"metadata.{path}": spec}
        form = _form(fits, nested, {"metadata.tool": "http"})
        return _refused(f"{message}: use {form}", known, at)
    more = _form(fits, {f"metadata.{name}": spec}, {"metadata.tool": "http"})
    hint = f"a key of your metadata is written {more}; {known}"
    if (split := key_meant(name)) is not None:
        right, op = split
        form = _form(fits, *tests_meant(right, ATTRIBUTES[right], op, spec))
        return _refused(f"{message}: use {form}", hint, at)
    near = difflib.get_close_matches(plain[:_SHOWN], ATTRIBUTES, 1)
    right = attribute_meant(name) or (near[0] if near else None)
    if right is None:
        return _refused(f"{message}; in the metadata it is {more}", known, at)
    example = {right: sample(right, ATTRIBUTES[right])}
    form = _form(fits, *conditions_meant(right, spec), example)
    return _refused(f"{message}; did you mean {right!r}? Use {form}", hint, at)


def _conditions(name: str, spec: object) -> list[object]:
    """What one condition may mean, with our name for the attribute."""
    right = attribute_meant(name)
    return [] if right is None else conditions_meant(right, spec)


def _group_misnamed(name: str, group: str, spec: object, at: str, fits: Fits) -> BadFilter:
    items = several(spec)
    candidates: list[object] = [{group: spec if items is None else items}]
    example: object = {group: [{"tags": "ops"}, {"kind": "note"}]}
    if group == "not":
        candidates = [{"not": spec if items is None else {"any": items}}]
        example = {"not": {"kind": "plan"}}
    form = _form(fits, *candidates, example)
    hint = f"conditions are grouped by all, any and not; {_PAGE}"
    return _refused(f"{at}: {name!r} is written {group!r}: {form}", hint, at)


def object_error(data: object, at: str, fits: Fits) -> BadFilter:
    """The error for a condition that is not an object."""
    hint = f"for example {_EXAMPLE}; {_PAGE}"
    items = several(data)
    if items is not None:
        group = "any" if at.endswith(".not") else "all"
        candidates = [{group: items}] if items else []
        form = _form(fits, *candidates, {group: [{"tags": "ops"}, {"kind": "note"}]})
        form = f'{{"not": {form}}}' if group == "any" else form
        problem = f"expected an object, got a list: several conditions are written {form}"
        return _refused(f"{at}: {problem}", hint, at)
    if isinstance(data, str) and (match := _CONDITION.fullmatch(data)):
        test = {match["op"].replace(":", "="): match["value"].strip("'\"")}
        form = _form(fits, *_conditions(match["name"], test), {"tags": "ops"})
        return _refused(f"{at}: expected an object, got text: use {form}", hint, at)
    got = "text" if isinstance(data, str) else type(data).__name__
    return _refused(f"{at}: expected an object, got {got}", hint, at)


def group_error(group: str, value: object, at: str, fits: Fits) -> BadFilter:
    """The error for a group whose value is not a list."""
    form = _form(fits, {group: [value]}, {group: [{"tags": "ops"}, {"kind": "note"}]})
    message = f"{at}.{group}: expected a list of conditions: {form}"
    return _refused(message, f"for example {_EXAMPLE}; {_PAGE}", at)


def metadata_error(path: str, words: tuple[list[str], list[str]], at: str) -> BadFilter:
    """The error for operators instead of metadata keys, or for both in one object."""
    operators, keys = words
    key = f"{path}.{operators[0]}" if operators else f"{path}.<key>"
    if keys:
        both = f"{operators[0]!r} is an operator and {keys[0]!r} is a key"
        message = f"{at}: {both}; an object below metadata has only one of the two"
        hint = f'a key called {operators[0]!r} is written {{"{key}": …}}; {_PAGE}'
        return _refused(message, hint, at)
    hint = f'a key called {operators[0]!r} is written {{"{key}": …}}; {_PAGE}' if operators else ""
    message = f'{at}: name a key of the metadata, for example {{"metadata.tool": "http"}}'
    return _refused(message, hint or _PAGE, at)
