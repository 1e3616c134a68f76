"""Two recipes side by side: what each does, stage by stage, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, cast

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from memoriter.doors.render.ink import DIM, STRONG
from memoriter.lanes.spec import RecipePart, Spec, always_shown, meaning_of, options_of, worded
from memoriter.pipeline.fusing import FUSIONS
from memoriter.pipeline.kinds import kinds
from memoriter.pipeline.passes import Pass, PassHead, Rerank
from memoriter.pipeline.recipe import Final_, Recipe, Select
from memoriter.text.safe import one_line
from memoriter.why.figures import short

Data = Mapping[str, object]
Declared = type[Spec] | None
"""The class of a part of a recipe; None where no package brings it."""
_NONE: Final = "—"
_ALIKE: Final = "the same"
_WEIGHS: Final = "weighs"
"""What a fusion weighs a boost: it is told with the boost."""
_GENERAL: Final = ("version", "analyzer", "ties", "otherwise", "window", "missing", "not_positive")
_SPOKEN: Final = {
    "names": "names of its own",
    "values": "values it spells otherwise",
    "labels": "labels of mixes of lanes",
    "sources": "labels of sources",
    "scores": "numbers on every hit",
    "modes": "modes",
}
_PARTS: Final[Mapping[str, Sequence[type[RecipePart]]]] = {
    "lanes": kinds("lanes"),
    "boosts": kinds("boosts"),
    "order": kinds("orderings"),
    "fuse": FUSIONS,
}
"""The classes of the parts, by the place they stand at."""


class ComparedSetting(NamedTuple):
    """One thing, and what each recipe says about it."""

    label: str
    first: str
    second: str


class Section(NamedTuple):
    """A stage of a search, and what differs there."""

    title: str
    rows: Sequence[ComparedSetting]


class ComparedPart(NamedTuple):
    """A lane, a boost or an ordering: all its settings, and those that its recipe spells out."""

    settings: Data
    spelled: Data


def side_by_side(
    heads: tuple[str, str], one: Data, two: Data, spelled: tuple[Data, Data] = ({}, {})
) -> RenderableType:
    """What two recipes do, wherever they differ: all that they hold, and what they spell out."""
    parts: list[RenderableType] = []
    for section in sections(one, two, spelled):
        parts.append(Text(f"\n{section.title}" if parts else section.title, STRONG))
        table = Table(box=None, show_header=len(parts) == 1, padding=(0, 2, 0, 0), expand=True)
        table.add_column("", ratio=3)
        table.add_column(one_line(heads[0]), ratio=4, header_style=DIM)
        table.add_column(one_line(heads[1]), ratio=4, header_style=DIM)
        for row in section.rows:
            inside = len(row.label) - len(row.label.lstrip())
            cells = [Text(one_line(cell)) for cell in row]
            table.add_row(Padding(cells[0], (0, 0, 0, inside)), *cells[1:])
        parts.append(table)
    return Group(*parts) if parts else Text("they differ in name alone")


def sections(one: Data, two: Data, spelled: tuple[Data, Data] = ({}, {})) -> list[Section]:
    """The stages at which two recipes differ."""
    first, second = (one, spelled[0]), (two, spelled[1])
    lanes, orders = ((_laid(*first, at), _laid(*second, at), at) for at in ("lanes", "order"))
    general = {key: (one.get(key), two.get(key)) for key in ("about", *_GENERAL)}
    passes, others = _passes(one), _passes(two)
    every = [
        Section("In general", list(_keys(general, Recipe))),
        Section("Select: what may be found", list(_both(one, two, "select", Select))),
        Section("Lanes: who looks for candidates", list(_engine(*lanes))),
        Section("Fusion: how their scores become one", list(_fusion(passes[0], others[0]))),
        Section("Boosts: what changes a score", list(_boosts(first, second))),
        Section("Second pass: the best once more", list(_again(passes[1], others[1]))),
        Section("Order: what moves or goes", list(_engine(*orders))),
        Section("Final: what leaves", list(_both(one, two, "final", Final_))),
        Section("Its users' language", list(_spoken(one, two))),
    ]
    return [section for section in every if section.rows]


def phrase(part: Declared, key: str) -> str:
    """What an option means, with its name where the words are others."""
    words = _words(part, key)
    return words if words == key else f"{words} ({key})"


def _words(part: Declared, key: str) -> str:
    return "weight in the fusion" if key == _WEIGHS else meaning_of(part, key)


def value(part: Declared, key: str, given: object) -> str:
    """The value of an option in words."""
    known = worded(part, key, given)
    if isinstance(given, Mapping):
        items = cast("Mapping[str, object]", given)
        pairs = [f"{name} {value(part, key, each)}" for name, each in items.items()]
        return ", ".join(pairs) or _NONE
    if isinstance(given, list):
        return ", ".join(value(part, key, each) for each in cast("list[object]", given)) or _NONE
    if isinstance(given, bool):
        return "yes" if given else "no"
    if given in known:
        return known[given]
    if isinstance(given, str) and given.startswith("-"):
        return f"{given[1:]}, largest first"
    return _NONE if given is None else short(given)


# -- stages ----------------------------------------------------------------------------------------


def _both(one: Data, two: Data, key: str, part: Declared) -> Iterator[ComparedSetting]:
    first, second = _data(one.get(key)), _data(two.get(key))
    pairs = {name: (first.get(name), second.get(name)) for name in {**first, **second}}
    yield from _keys(pairs, part)


def _keys(
    pairs: Mapping[str, tuple[object, object]], part: Declared, under: str = ""
) -> Iterator[ComparedSetting]:
    for key, (first, second) in pairs.items():
        if first != second:
            yield ComparedSetting(
                under + phrase(part, key), value(part, key, first), value(part, key, second)
            )


def _laid(recipe: Data, spelled: Data, where: str) -> dict[str, ComparedPart]:
    """The parts at a place, by label or by number; to spell out everything says nothing."""
    laid: dict[str, ComparedPart] = {}
    labelled = _labelled(spelled.get(where))
    for label, part in _labelled(recipe.get(where)).items():
        settings, own = _data(part), _data(labelled.get(label))
        laid[label] = ComparedPart(settings, {} if set(settings) <= set(own) else own)
    return laid


def _engine(
    one: Mapping[str, ComparedPart], two: Mapping[str, ComparedPart], where: str
) -> Iterator[ComparedSetting]:
    none = ComparedPart({}, {})
    for label in {**one, **two}:
        yield from _part(where, label, one.get(label, none), two.get(label, none))


def _part(
    where: str, label: str, first: ComparedPart, second: ComparedPart
) -> Iterator[ComparedSetting]:
    """A part that both have key by key; any other as a whole."""
    one, two = first.settings, second.settings
    if one == two:
        return
    if one and two and one.get("kind") == two.get("kind"):
        what = _does(where, one)
        cells = _off(what, one), _off(what, two)
        yield ComparedSetting(label, cells[0], _ALIKE if cells[0] == cells[1] else cells[1])
        keys = {name: _pair(name, first, second) for name in {**one, **two}}
        keys.pop("enabled", None)
        yield from _keys(keys, _declared(where, one), "  ")
    else:
        yield ComparedSetting(label, _whole(where, *first), _whole(where, *second))


def _pair(name: str, first: ComparedPart, second: ComparedPart) -> tuple[object, object]:
    """What two parts say of a key; where they agree, but one alone spells it out, that one's."""
    one, two = first.settings.get(name), second.settings.get(name)
    if one == two and (name in first.spelled) != (name in second.spelled):
        return (one, None) if name in first.spelled else (None, two)
    return one, two


def _fusion(one: Data, two: Data) -> Iterator[ComparedSetting]:
    first, second = _data(one.get("fuse")), _data(two.get("fuse"))
    if first.get("kind") != second.get("kind"):
        yield ComparedSetting("score", _does("fuse", first), _does("fuse", second))
    settings, others = _fused(first), _fused(second)
    for words in {**settings, **others}:
        if settings.get(words, _NONE) != others.get(words, _NONE):
            yield ComparedSetting(words, settings.get(words, _NONE), others.get(words, _NONE))
    yield from _keys({"ties": (one.get("ties"), two.get("ties"))}, Recipe)


def _fused(fuse: Data) -> dict[str, str]:
    """What a fusion says: phrases and values."""
    part = _declared("fuse", fuse)
    return {
        phrase(part, key): value(part, key, given) for key, given in fuse.items() if key != "kind"
    }


def _boosts(one: tuple[Data, Data], two: tuple[Data, Data]) -> Iterator[ComparedSetting]:
    yield from _engine(_weighed(*one), _weighed(*two), "boosts")
    first, second = _passes(one[0])[0], _passes(two[0])[0]
    yield from _keys({"boosts": (first.get("boosts"), second.get("boosts"))}, Pass)


def _weighed(recipe: Data, spelled: Data) -> dict[str, ComparedPart]:
    """The boosts, each with what the fusion weighs it."""
    weights = _data(_data(_passes(recipe)[0].get("fuse")).get("weights"))
    return {
        label: ComparedPart(
            {**each, **({_WEIGHS: weights[label]} if label in weights else {})}, own
        )
        for label, (each, own) in _laid(recipe, spelled, "boosts").items()
    }


def _again(one: Data, two: Data) -> Iterator[ComparedSetting]:
    if one != two:
        yield ComparedSetting("", _second(one), _second(two))


def _second(step: Data) -> str:
    """A second pass in one sentence."""
    if not step:
        return _NONE
    head = _data(step.get("head"))
    columns = value(PassHead, "by", head.get("by"))
    parts = [f"the first {head.get('count')}" + ("" if columns == _NONE else f" by {columns}")]
    fuse, judge = _data(step.get("fuse")), _data(step.get("rerank"))
    if fuse:
        parts.append(_whole("fuse", fuse, {}))
    if judge:
        parts += [meaning_of(Pass, "rerank"), *_settings(Rerank, judge, {})]
    boosts = value(Pass, "boosts", step.get("boosts"))
    parts += [] if boosts == _NONE else [f"then {boosts}"]
    return _off("; ".join(parts), step)


def _spoken(one: Data, two: Data) -> Iterator[ComparedSetting]:
    """How many words of their own they have: `recipe show` lists them."""
    for key, what in _SPOKEN.items():
        first, second = _data(one.get(key)), _data(two.get(key))
        if first != second:
            yield ComparedSetting(
                what, *(f"{len(each)}" if each else _NONE for each in (first, second))
            )


# -- words -----------------------------------------------------------------------------------------


def _declared(where: str, part: Data) -> type[RecipePart] | None:
    """The class of a part."""
    kind = part.get("kind")
    return next((each for each in _PARTS.get(where, ()) if each.kind_name() == kind), None)


def _does(where: str, part: Data) -> str:
    declared = _declared(where, part)
    return (declared.about if declared else "") or str(part.get("kind", ""))


def _off(what: str, part: Data) -> str:
    return what if part.get("enabled", True) else f"off; if on: {what}"


def _whole(where: str, part: Data, spelled: Data) -> str:
    """What a part does and how, where it says more than a part of its kind always does."""
    if not part:
        return _NONE
    settings = _settings(_declared(where, part), part, spelled)
    return _off("; ".join([_does(where, part), *settings]), part)


def _settings(declared: Declared, part: Data, spelled: Data) -> list[str]:
    usual = _usual(declared)
    return [
        _setting(declared, key, given)
        for key, given in part.items()
        if key not in ("kind", "enabled") and given not in (None, [], {})
        if key == _WEIGHS
        or always_shown(declared, key)
        or key in spelled
        or given != usual.get(key)
    ]


def _setting(declared: Declared, key: str, given: object) -> str:
    words = _words(declared, key)
    if isinstance(given, bool):
        return words if given else f"not: {words}"
    return f"{words}: {value(declared, key, given)}"


def _usual(declared: Declared) -> Data:
    """The defaults of a part."""
    fields = {} if declared is None else options_of(declared)
    return {
        name: field.get_default(call_default_factory=True)
        for name, field in fields.items()
        if not field.is_required()
    }


def _passes(recipe: Data) -> tuple[Data, Data]:
    steps = _listed(recipe.get("pass"))
    return _data(steps[0]), _data(steps[1] if len(steps) > 1 else None)


def _data(part: object) -> Data:
    return cast("Data", part) if isinstance(part, Mapping) else {}


def _labelled(part: object) -> Data:
    """Parts by label; those of a list by their number."""
    return {f"{n}.": each for n, each in enumerate(_listed(part), 1)} or _data(part)


def _listed(part: object) -> list[object]:
    return cast("list[object]", part) if isinstance(part, list) else []
