"""How options are declared, those that many commands share, their settings, the memory they open.

A setting comes from its flag, else from the environment, else from a TOML file, else it has its
default.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import tomllib
from collections.abc import Callable, Generator, Iterable, Mapping
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args, get_origin

from memoriter.core.errors import InputError, NotFound
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.options import declared
from memoriter.doors.cli.output import print_note
from memoriter.memory.options import QuestionOptions, SelectOptions, UpdateKwargs

if TYPE_CHECKING:
    from memoriter.memory.facade import Memory
    from memoriter.memory.options import OpenOptions

# --- how a command declares its parameters ----------------------------------------------------


class CliParam:
    """A parameter of a command: its names, and settings as typer takes them."""

    __slots__ = ("names", "settings")

    def __init__(self, *names: str, **settings: Any) -> None:
        self.names = names
        self.settings = settings


class CliOption(CliParam):
    """An option: `--name VALUE`, or a flag."""

    __slots__ = ()


class CliArgument(CliParam):
    """An argument: it has its place and no name."""

    __slots__ = ()


def param_of(annotation: Any) -> CliParam:
    """What a parameter is declared with."""
    return next(each for each in annotation.__metadata__ if isinstance(each, CliParam))


def kind_of(annotation: Any) -> Any:
    """The type of a parameter's value, without None."""
    kind = get_args(annotation)[0]
    arms = [each for each in get_args(kind) if each is not NoneType]
    return arms[0] if len(arms) == 1 and get_origin(kind) is not list else kind


# --- shell completion; typer requires the argument to be called `incomplete` ------------------


Completion = Callable[[str], list[str]]


def complete_words(*words: str) -> Completion:
    """Offers a few words."""
    return lambda incomplete: _starting(words, incomplete)


def complete_recipe(incomplete: str) -> list[str]:
    """Offers the recipes of the library."""
    from memoriter.pipeline.load import library  # noqa: PLC0415  # loads the engine

    return _starting(library(), incomplete)


def complete_format(incomplete: str) -> list[str]:
    """Offers the formats that `import` reads."""
    from memoriter.imports.table import format_names  # noqa: PLC0415  # loads the readers

    return _starting(format_names(), incomplete)


def complete_protocol(incomplete: str) -> list[str]:
    """Offers the ways that `eval` can ask."""
    from memoriter.evaluate.protocols import protocol_names  # noqa: PLC0415  # loads the engine

    return _starting(protocol_names(), incomplete)


def _starting(words: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]


# --- options ----------------------------------------------------------------------------------

_PANEL: Final = "Store and scope"
_UPKEEP_S: Final = 30.0
"""How long a command that writes waits at its end for upkeep, which usually takes no time."""
_CHOSEN: Final = declared(SelectOptions)
WhereOption = Annotated[
    str | None, CliOption("--where", metavar="JSON", help=_CHOSEN["where"].option.about)
]
KnownAtOption = Annotated[
    str | None, CliOption("--known-at", metavar="TIME", help=_CHOSEN["known_at"].option.about)
]
KeyOption = Annotated[
    str | None, CliOption("--key", help=declared(UpdateKwargs)["key"].option.about)
]
RerankerOption = Annotated[
    str | None,
    CliOption(
        "--reranker",
        metavar="NAME",
        help="The reranker, for recipes that use one (MEMORITER_RERANKER).",
    ),
]
LimitOption = Annotated[
    int | None,
    CliOption("--limit", "-n", metavar="N", help=declared(QuestionOptions)["limit"].option.about),
]
JsonOption = Annotated[bool, CliOption("--json", help="Print one JSON document and nothing else.")]
IdArgument = Annotated[str, CliArgument(metavar="ID", help="The id of a memory.")]

RECIPE_HELP: Final = "The name of a recipe, or the path of a .toml file."
RecipeArgument = Annotated[str, CliArgument(metavar="RECIPE", help=RECIPE_HELP)]


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Which store and which tenant."""

    store: Annotated[
        str | None,
        CliOption(
            "--store",
            metavar="PATH",
            rich_help_panel=_PANEL,
            help="The file of the store (MEMORITER_STORE; default: memoriter.db).",
        ),
    ] = None
    tenant: Annotated[
        str | None,
        CliOption(
            "--tenant",
            metavar="NAME",
            rich_help_panel=_PANEL,
            help="The tenant; tenants never see each other's memories (MEMORITER_TENANT; "
            'default: "default").',
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class MemoryOptions(StoreOptions):
    """Which store and tenant to open, with which embedder."""

    embedder: Annotated[
        str | None,
        CliOption(
            "--embedder",
            metavar="NAMES",
            rich_help_panel=_PANEL,
            help="Embedding models, comma-separated; searches use all. A write embeds with the"
            " first, `maintain` with the others. `none`: search by words only"
            " (MEMORITER_EMBEDDER; default: the model that `embed promote` set).",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class PrintedOptions(MemoryOptions):
    """Which memory to open, and how to print the answer."""

    json: JsonOption = False
    after: Annotated[
        int | None,
        CliOption(
            "--after",
            metavar="SEQ",
            rich_help_panel=_PANEL,
            help="Wait until the store has this log entry: the `seq` that an earlier write "
            "printed. A standby may get entries late.",
        ),
    ] = None


def _scope(name: str) -> CliOption:
    return CliOption(
        f"--{name}",
        metavar="NAME",
        rich_help_panel=_PANEL,
        help=f"Only memories of this {name}; new memories get this {name} ({variable(name)}).",
    )


def variable(setting: str) -> str:
    """The environment variable of a setting."""
    return f"MEMORITER_{setting.upper()}"


@dataclass(frozen=True, slots=True)
class ScopedOptions(PrintedOptions):
    """Which memory to open, narrowed to one agent, user or session, and how to print."""

    agent: Annotated[str | None, _scope("agent")] = None
    user: Annotated[str | None, _scope("user")] = None
    session: Annotated[str | None, _scope("session")] = None


# --- settings ---------------------------------------------------------------------------------

DEFAULTS: Final[Mapping[str, str | None]] = {
    "store": "memoriter.db",
    "tenant": "default",
    "recipe": "memoriter",
    "embedder": None,
    "reranker": None,
    "agent": None,
    "user": None,
    "session": None,
}
"""Every setting, with its default."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and where it came from."""

    value: str | None
    origin: str


def config_files() -> tuple[Path, Path]:
    """The files that may hold settings; the first one wins."""
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path("memoriter.toml"), Path(home).expanduser() / "memoriter" / "config.toml"


def settings(flags: Mapping[str, str | None]) -> dict[str, Setting]:
    """Every setting, resolved."""
    files = [(str(path), _read(path)) for path in config_files()]
    return {name: _resolved(name, flags.get(name), files) for name in DEFAULTS}


def setting(name: str, flag: str | None) -> str | None:
    """The value of one setting."""
    return settings({name: flag})[name].value


def store_path(options: StoreOptions) -> str:
    """The store that the options or the settings name."""
    return str(setting("store", options.store))


def _resolved(name: str, flag: str | None, files: list[tuple[str, dict[str, str]]]) -> Setting:
    by_file = [Setting(values[name], origin) for origin, values in files if name in values]
    if flag is not None:
        chosen = Setting(flag, f"--{name}")
    elif os.environ.get(variable(name)):
        chosen = Setting(os.environ[variable(name)], variable(name))
    else:
        chosen = [*by_file, Setting(DEFAULTS[name], "default")][0]
    value = chosen.value
    if value is not None and (not value or "\0" in value):
        problem = "must not be empty" if not value else "contains a NUL character"
        raise InputError(
            f"{name}: {problem} (from {chosen.origin})", hint="give another value", field=name
        )
    return chosen


def _read(path: Path) -> dict[str, str]:
    """The settings in a TOML file; none where there is no such file."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror}", hint="check the permissions of the file"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} is not valid TOML: {error}", hint='for example: store = "agent.db"'
        ) from None
    return {name: _text(path, name, value) for name, value in data.items()}


def _text(path: Path, name: str, value: object) -> str:
    if name not in DEFAULTS:
        near = difflib.get_close_matches(name, DEFAULTS, 1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(DEFAULTS)}"
        raise InputError(f"{path}: there is no setting {name!r}", hint=hint, field=name)
    if not isinstance(value, str):
        raise InputError(
            f"{path}: {name}: expected text in quotes",
            hint=f'for example: {name} = "…"',
            field=name,
        )
    return value


# --- opening ----------------------------------------------------------------------------------

Access = Literal["read", "change", "make"]
"""What a command does with a store: only `make` creates one that does not exist."""


@contextlib.contextmanager
def opened_memory(
    at: MemoryOptions, access: Access, reranker: str | None = None
) -> Generator[Memory]:
    """The memory that the options name, closed afterwards.

    Raises NotFound if there is no store, unless `access` is `make`.
    """
    values = settings({name: getattr(at, name, None) for name in DEFAULTS})
    place = str(values["store"].value)
    if access != "make":
        must_exist(place)
    options: OpenOptions = {"read_only": access == "read", "reranker": reranker}
    options |= embedder_option(values["embedder"].value)
    from memoriter.memory.opening import opened  # noqa: PLC0415  # help loads no engine

    # A command ends soon: it begins no work that goes on behind it.
    memory = opened(place, str(values["tenant"].value), options, stays=False)
    printed = at if isinstance(at, PrintedOptions) else PrintedOptions()
    try:
        if printed.after is not None:
            memory.wait_for(printed.after)
        if isinstance(at, ScopedOptions):
            yield memory.scoped(*(values[name].value for name in ("agent", "user", "session")))
        else:
            yield memory
        if access != "read" and not printed.json and _reads_standby(place):
            print_note(f"seq {memory.seq()}: commands with --after {memory.seq()} see this")
    finally:
        # No later command need do this work again, and what was forgotten is erased.
        memory.close(wait=_UPKEEP_S)


def _reads_standby(place: str) -> bool:
    """Whether a later command may read from a server that does not have this one's writes yet."""
    if "://" not in place:
        return False
    from memoriter.memory.places import reads_standby  # noqa: PLC0415  # loads the engine

    return reads_standby(place)


def embedder_option(names: str | None) -> OpenOptions:
    """The setting `embedder` as an option of `open`.

    >>> embedder_option("table, hash"), embedder_option("none"), embedder_option(None)
    ({'embedder': ['table', 'hash']}, {'embedder': None}, {})
    """
    if names is None:
        return {}
    return {"embedder": None if names == "none" else [name.strip() for name in names.split(",")]}


def store_exists(at: StoreOptions) -> bool:
    """Whether the store that the options name exists."""
    place = store_path(at)
    if "://" in place:
        from memoriter.memory.places import holds_store  # noqa: PLC0415  # loads the engine

        return holds_store(place)
    return place != ":memory:" and Path(place).expanduser().exists()


def shown_store(place: str) -> str:
    """A store as people may see it: the path of a file, or an address without its password."""
    if "://" not in place:
        return str(Path(place).expanduser())
    from memoriter.memory.places import shown_place  # noqa: PLC0415  # loads the engine

    return shown_place(place)


def must_exist(place: str) -> None:
    """Refuse a store that does not exist: a command that reads must not create one."""
    path = Path(place).expanduser()
    if place == ":memory:" or "://" in place or path.exists():
        return
    hint = "make a store with `memoriter init`, or name an existing one with --store FILE"
    raise NotFound(f"there is no store at {path}", hint=hint, field="store")
