"""Options that are declared once: a TypedDict whose keys carry an `Option`.

Type checkers and editors read the TypedDict itself. `takes` puts the same options into the
signature and the docstring that `help()` prints, and the doors build their request models and
command-line options from `declared`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, Final, ForwardRef, TypeVar

from memoriter.core.errors import InputError
from memoriter.core.fields import Field
from memoriter.core.other_words import right_word

Verb = TypeVar("Verb", bound=Callable[..., Any])
Owner = TypeVar("Owner")
_KEYWORD: Final = inspect.Parameter.KEYWORD_ONLY
_REST: Final = inspect.Parameter.VAR_KEYWORD


@dataclass(frozen=True, slots=True)
class Option:
    """What is known of one option of a call."""

    about: str
    wire: Any = None
    """The type that JSON may hold; None for what no door offers."""
    default: object = None
    flag: str | None = ""
    """Its spelling on the command line, where that is not its name; None for none."""
    metavar: str | None = None
    """What stands for its value in the help of the command line."""


@dataclass(frozen=True, slots=True)
class Declared:
    """An option with its name and the type that a caller may give, as source code."""

    name: str
    type: str
    option: Option


class _Bare(str):
    """Source code that `help()` prints without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


@cache
def declared(options: type) -> Mapping[str, Declared]:
    """The options of a TypedDict, in the order in which it lists them."""
    out: dict[str, Declared] = {}
    for name, hint in options.__annotations__.items():
        annotated: Any = hint
        inner = annotated.__origin__
        spelled = inner.__forward_arg__ if isinstance(inner, ForwardRef) else _type(inner)
        out[name] = Declared(name, spelled, _option(annotated.__metadata__[0]))
    return out


def _type(hint: Any) -> str:
    return inspect.formatannotation(hint).replace("collections.abc.", "")


def _option(told: Option | Field) -> Option:
    """A field of a record is an option of the calls that write one."""
    if isinstance(told, Option):
        return told
    return Option(told.about, told.kind.wire, flag=told.flag)


def takes(options: type) -> Callable[[Verb], Verb]:
    """Show the options that a verb takes as `**` by name: in `help()` and to `inspect`."""

    def show(verb: Verb) -> Verb:
        signature = inspect.signature(verb)
        named = [_unquoted(p) for p in signature.parameters.values() if p.kind is not _REST]
        known = declared(options).values()
        more = [
            inspect.Parameter(
                each.name, _KEYWORD, default=each.option.default, annotation=_Bare(each.type)
            )
            for each in known
        ]
        verb.__signature__ = signature.replace(
            parameters=[*named, *more], return_annotation=_Bare(signature.return_annotation)
        )  # pyright: ignore[reportFunctionMemberAccess]  # how a function tells another signature
        lines = "\n".join(f"    {each.name}: {each.option.about}" for each in known)
        verb.__doc__ = f"{inspect.getdoc(verb)}\n\nOptions:\n{lines}\n"
        return verb

    return show


def _unquoted(parameter: inspect.Parameter) -> inspect.Parameter:
    told = parameter.annotation
    return parameter.replace(annotation=_Bare(told)) if isinstance(told, str) else parameter


def explained(owner: type[Owner]) -> type[Owner]:
    """Refuse calls that do not fit a verb of this class in our own words, with the right one."""
    for name, verb in list(vars(owner).items()):
        if inspect.isfunction(verb) and not name.startswith("_"):
            setattr(owner, name, _explained(verb))
    return owner


def _explained(verb: Verb) -> Verb:
    signature = inspect.signature(verb)
    plain = [_unquoted(each) for each in signature.parameters.values()]
    returns = signature.return_annotation
    signature = signature.replace(
        parameters=plain, return_annotation=_Bare(returns) if isinstance(returns, str) else returns
    )

    @wraps(verb)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return verb(*args, **kwargs)
        except TypeError:
            refusal = _misfit(verb.__name__, signature, args, kwargs)
            if refusal is None:  # the call fits: the error comes from inside
                raise
            raise refusal from None

    setattr(call, "__signature__", signature)  # noqa: B010  # a checker knows no such attribute
    return call  # pyright: ignore[reportReturnType]  # of the same signature


def _misfit(
    verb: str, signature: inspect.Signature, args: tuple[object, ...], given: Mapping[str, object]
) -> InputError | None:
    """Why arguments do not fit a signature; None where they do."""
    try:
        signature.bind(*args, **given)
    except TypeError as error:
        names = [name for name in signature.parameters if name != "self"]
        for name in given:
            if name not in names:
                hint = right_word(name, names)
                if "receipt" in names:
                    hint = f"ask first, then give the answer: {verb}(memory.recall(…), …)"
                return InputError(f"{name}: {verb} has no such option", hint=hint, field=name)
        return InputError(f"{verb}: {error}", hint=f"it takes {', '.join(names)}", field=verb)
    return None


def check_known(given: Iterable[str], options: type, error: type[InputError], *others: str) -> None:
    """Refuse an option that is not declared, and name the right one."""
    known = (*others, *declared(options))
    for name in sorted(given):
        if name not in known:
            raise error(
                f"{name}: there is no such option", hint=right_word(name, known), field=name
            )
