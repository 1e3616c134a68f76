"""Keyword options of the public methods, each declared once in a TypedDict with an `Option`.

Type checkers read the TypedDict itself. `takes` adds the same options to the signature and the
docstring that `help()` prints; HTTP, MCP and the command line build their request models and
options from `declared`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import Any, Final, ForwardRef, TypeVar

from memoriter.core.errors import InputError
from memoriter.core.fields import Field
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.other_words import right_word

Verb = TypeVar("Verb", bound=Callable[..., Any])
OwnerT = TypeVar("OwnerT")
_KEYWORD: Final = inspect.Parameter.KEYWORD_ONLY
_REST: Final = inspect.Parameter.VAR_KEYWORD


@dataclass(frozen=True, slots=True)
class Option:
    """The declaration of one option of a call."""

    about: str
    """One line of help."""
    wire: Any = None
    """The type in JSON requests; None if only Python callers can pass it."""
    default: object = None
    flag: str | None = ""
    """Its command-line option; empty: made from its name; None: it has none."""
    metavar: str | None = None
    """The placeholder of its value in the command-line help."""


@dataclass(frozen=True, slots=True)
class Declared:
    """An option with its name and the type that a caller may pass, as source code."""

    name: str
    type: str
    option: Option


class _Bare(str):
    """A string whose repr has no quotes, so that `help()` prints annotations as source code."""

    __slots__ = ()
    __repr__ = str.__str__


@cache
def declared(options: type) -> Mapping[str, Declared]:
    """The options of a TypedDict, in the order of declaration."""
    out: dict[str, Declared] = {}
    for name, hint in options.__annotations__.items():
        annotated: Any = hint
        inner = annotated.__origin__
        source = inner.__forward_arg__ if isinstance(inner, ForwardRef) else _type(inner)
        out[name] = Declared(name, source, _option(annotated.__metadata__[0]))
    return out


def _type(hint: Any) -> str:
    return inspect.formatannotation(hint).replace("collections.abc.", "")


def _option(declaration: Option | Field) -> Option:
    """The option itself; a record field becomes an option of the calls that write records."""
    if isinstance(declaration, Option):
        return declaration
    return Option(declaration.about, declaration.kind.wire, flag=declaration.flag)


def takes(options: type, about: Mapping[str, str] | None = None) -> Callable[[Verb], Verb]:
    """Decorator: list the options behind a method's `**` by name, in `help()` and for `inspect`.

    `about` has the descriptions of the parameters before them; `explained` adds those of a class.
    """

    def show(verb: Verb) -> Verb:
        signature = inspect.signature(verb)
        named = [_unquoted(p) for p in signature.parameters.values() if p.kind is not _REST]
        known = declared(options).values()
        verb.__signature__ = signature.replace(
            parameters=[*named, *_parameters(options)],
            return_annotation=_Bare(signature.return_annotation),
        )  # pyright: ignore[reportFunctionMemberAccess]  # for inspect
        listed = {**(about or {}), **{each.name: each.option.about for each in known}}
        verb.__doc__ = _with_lines(inspect.getdoc(verb) or "", listed)
        return verb

    return show


@cache
def _parameters(options: type) -> list[inspect.Parameter]:
    """The options of a TypedDict as parameters."""
    return [
        inspect.Parameter(
            each.name, _KEYWORD, default=each.option.default, annotation=_Bare(each.type)
        )
        for each in declared(options).values()
    ]


def _unquoted(parameter: inspect.Parameter) -> inspect.Parameter:
    hint = parameter.annotation
    return parameter.replace(annotation=_Bare(hint)) if isinstance(hint, str) else parameter


_ARGUMENTS: Final = "\n\nArguments:\n"


def _with_lines(doc: str, about: Mapping[str, str]) -> str:
    """A docstring with a line for each argument, before those that it lists already."""
    lines = "".join(f"    {name}: {text}\n" for name, text in about.items())
    if _ARGUMENTS in doc:
        return doc.replace(_ARGUMENTS, _ARGUMENTS + lines)
    return f"{doc}{_ARGUMENTS}{lines}" if lines else doc


def explained(about: Mapping[str, str]) -> Callable[[type[OwnerT]], type[OwnerT]]:
    """Class decorator: wrong arguments raise InputError with the right one; `help` describes all.

    `about` describes parameters by name (`limit`), or for one method alone (`maintain.limit`).
    """

    def show(owner: type[OwnerT]) -> type[OwnerT]:
        for name, verb in list(vars(owner).items()):
            if inspect.isfunction(verb) and not name.startswith("_"):
                setattr(owner, name, guided(_described(verb, about)))
        return owner

    return show


def _described(verb: Verb, about: Mapping[str, str]) -> Verb:
    doc = inspect.getdoc(verb) or ""
    lines: dict[str, str] = {}
    code, shown = verb.__code__, getattr(verb, "__signature__", None)
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    for name in named if shown is None else shown.parameters:
        text = about.get(f"{verb.__name__}.{name}", about.get(name))
        if text is not None and f"\n    {name}: " not in doc:
            lines[name] = text
    verb.__doc__ = _with_lines(doc, lines)
    return verb


def guided(verb: Verb) -> Verb:
    """Decorator: arguments that do not fit raise InputError with the right one."""
    hints = verb.__annotations__
    verb.__annotations__ = {
        name: _Bare(hint) if isinstance(hint, str) else hint for name, hint in hints.items()
    }

    @wraps(verb)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return verb(*args, **kwargs)
        except TypeError:
            # Binding is checked only after a TypeError, so that correct calls cost nothing.
            refusal = _misfit(verb.__name__, inspect.signature(verb), args, kwargs)
            if refusal is None:  # the call fits: the error comes from inside
                raise
            raise refusal from None

    return call  # pyright: ignore[reportReturnType]  # of the same signature


def _misfit(
    verb: str, signature: inspect.Signature, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> InputError | None:
    """The error for arguments that do not fit a signature; None if they fit."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        names = [name for name in signature.parameters if name != "self"]
        for name in kwargs:
            if name not in names:
                hint = right_word(name, names, value=kwargs[name])
                if "receipt" in names:
                    hint = f"recall first, then pass the result: {verb}(memory.recall(…), …)"
                return InputError(f"{name}: {verb} has no such option", hint=hint, field=name)
        hint = f"pass options by name: {_by_name(verb, signature)}; it takes {', '.join(names)}"
        if "missing" in str(error):
            hint = f"call it as {verb}({', '.join(_required(signature))})"
        return InputError(f"{verb}: {error}", hint=hint, field=verb)
    return None


def _by_name(verb: str, signature: inspect.Signature) -> str:
    """A call with the arguments that go by place, and one of those that go by name."""
    parameters = [each for each in signature.parameters.values() if each.name != "self"]
    options = [each.name for each in parameters if each.kind is _KEYWORD]
    options = ["text"] if "text" in options else options[:1]
    placed = [each.name for each in parameters if each.kind is not _KEYWORD]
    return f"{verb}({', '.join([*placed, *(f'{name}=…' for name in options)])})"


def _required(signature: inspect.Signature) -> list[str]:
    """The parameters that every call has to pass."""
    empty = inspect.Parameter.empty
    parameters = signature.parameters.values()
    needed = [p for p in parameters if p.default is empty and p.name != "self"]
    return [f"{p.name}=…" if p.kind is _KEYWORD else p.name for p in needed]


def check_known(
    given: Mapping[str, object], options: type, error: type[InputError], *others: str
) -> None:
    """Raise `error` for an option that is not declared; the hint names the likely one."""
    if not given:
        return
    known = (*others, *declared(options))
    for name in sorted(given):
        if name not in known:
            hint = right_word(name, known, value=given[name])
            raise error(f"{name}: there is no such option", hint=hint, field=name)
