"""Two recipes side by side: what each does, stage by stage, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, cast

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from memoriter.doors.render.ink import DIM, STRONG
from memoriter.doors.render.phrases import KEYS, KINDS, VALUES
from memoriter.pipeline.fusing import Rrf, Smooth, Weighted
from memoriter.pipeline.kinds import kind_of, kinds
from memoriter.text.analyzers import analyzer
from memoriter.text.dialects import dialect
from memoriter.text.safe import one_line
from memoriter.why.figures import short

Data = Mapping[str, object]
_NONE: Final = "—"
_ALIKE: Final = "the same"
_ALWAYS: Final = ("table", "factor", "share", "weighs")
"""Settings that are told also where they are the usual ones."""
_GENERAL: Final = ("version", "analyzer", "ties", "otherwise", "window", "missing", "not_positive")
_SPOKEN: Final = {
    "names": "names of its own",
    "values": "values it spells otherwise",
    "labels": "labels of mixes of lanes",
    "sources": "labels of sources",
    "scores": "numbers on every hit",
    "modes": "modes",
}
_MADE: Final = {
    "lanes": kinds("lanes"),
    "boosts": kinds("boosts"),
    "order": kinds("orderings"),
    "fuse": (Weighted, Rrf, Smooth),
}
"""The classes of the parts, by the place they stand at."""


class Row(NamedTuple):
    """One thing, and what each recipe says about it."""

    label: str
    first: str
    second: str


class Section(NamedTuple):
    """A stage of a search, and what differs there."""

    title: str
    rows: Sequence[Row]


class Part(NamedTuple):
    """A lane, a boost or an ordering: all its settings, and those that its recipe spells out."""

    told: Data
    said: Data


def side_by_side(
    heads: tuple[str, str], one: Data, two: Data, said: tuple[Data, Data] = ({}, {})
) -> RenderableType:
    """What two recipes do, wherever they differ: all that they hold, and what they spell out."""
    parts: list[RenderableType] = []
    for section in sections(one, two, said):
        parts.append(Text(f"\n{section.title}" if parts else section.title, STRONG))
        table = Table(box=None, show_header=len(parts) == 1, padding=(0, 2, 0, 0), expand=True)
        table.add_column("", ratio=3)
        table.add_column(one_line(heads[0]), ratio=4, header_style=DIM)
        table.add_column(one_line(heads[1]), ratio=4, header_style=DIM)
        for row in section.rows:
            inside = len(row.label) - len(row.label.lstrip())
            told = [Text(one_line(cell)) for cell in row]
            table.add_row(Padding(told[0], (0, 0, 0, inside)), *told[1:])
        parts.append(table)
    return Group(*parts) if parts else Text("they differ in name alone")


def sections(one: Data, two: Data, said: tuple[Data, Data] = ({}, {})) -> list[Section]:
    """The stages at which two recipes differ."""
    mine, other = (one, said[0]), (two, said[1])
    lanes, orders = ((_laid(*mine, at), _laid(*other, at), at) for at in ("lanes", "order"))
    general = {key: (one.get(key), two.get(key)) for key in ("about", *_GENERAL)}
    first, second = _passes(one), _passes(two)
    found = [
        Section("In general", list(_keys(general))),
        Section("Select: what may be found", list(_both(one, two, "select"))),
        Section("Lanes: who looks for candidates", list(_parts(*lanes))),
        Section("Fusion: how their scores become one", list(_fusion(first[0], second[0]))),
        Section("Boosts: what changes a score", list(_boosts(mine, other))),
        Section("Second pass: the best once more", list(_again(first[1], second[1]))),
        Section("Order: what moves or goes", list(_parts(*orders))),
        Section("Final: what leaves", list(_both(one, two, "final"))),
        Section("Its users' language", list(_spoken(one, two))),
    ]
    return [section for section in found if section.rows]


def phrase(key: str, kind: object = "") -> str:
    """A key in words, with the key itself where the words are others."""
    words = _words(key, kind).replace("_", " ")
    return words if words == key else f"{words} ({key})"


def _words(key: str, kind: object) -> str:
    """What a key says, in a part of a kind: there it may mean something else than elsewhere."""
    return KEYS.get(f"{kind}.{key}", KEYS.get(key, key))


_ABOUT: Final[Mapping[str, Callable[[str], str]]] = {
    "analyzer": lambda name: analyzer(name).about,
    "dialect": lambda name: dialect(name).about,
}
"""Keys whose values say themselves what they do: they may come from another package."""


def value(key: str, told: object) -> str:
    """A value in words."""
    known = cast("Mapping[object, str]", VALUES.get(key, {}))
    if key in _ABOUT and isinstance(told, str):
        known = cast("Mapping[object, str]", {told: _ABOUT[key](told) or told})
    if isinstance(told, Mapping):
        items = cast("Mapping[str, object]", told)
        return ", ".join(f"{name} {value(key, each)}" for name, each in items.items()) or _NONE
    if isinstance(told, list):
        return ", ".join(value(key, each) for each in cast("list[object]", told)) or _NONE
    if isinstance(told, bool):
        return "yes" if told else "no"
    if told in known:
        return known[told]
    if isinstance(told, str) and told.startswith("-"):
        return f"{told[1:]}, largest first"
    return _NONE if told is None else short(told)


# -- stages ----------------------------------------------------------------------------------------


def _both(one: Data, two: Data, key: str) -> Iterator[Row]:
    first, second = _data(one.get(key)), _data(two.get(key))
    yield from _keys({name: (first.get(name), second.get(name)) for name in {**first, **second}})


def _keys(
    told: Mapping[str, tuple[object, object]], under: str = "", kind: object = ""
) -> Iterator[Row]:
    for key, (first, second) in told.items():
        if first != second:
            yield Row(under + phrase(key, kind), value(key, first), value(key, second))


def _laid(recipe: Data, said: Data, where: str) -> dict[str, Part]:
    """The parts at a place, by label or by number; to spell out everything says nothing."""
    laid: dict[str, Part] = {}
    spelled = _labelled(said.get(where))
    for label, part in _labelled(recipe.get(where)).items():
        told, mine = _data(part), _data(spelled.get(label))
        laid[label] = Part(told, {} if set(told) <= set(mine) else mine)
    return laid


def _parts(one: Mapping[str, Part], two: Mapping[str, Part], where: str) -> Iterator[Row]:
    none = Part({}, {})
    for label in {**one, **two}:
        yield from _part(where, label, one.get(label, none), two.get(label, none))


def _part(where: str, label: str, first: Part, second: Part) -> Iterator[Row]:
    """A part that both have key by key; any other as a whole."""
    mine, other = first.told, second.told
    if mine == other:
        return
    if mine and other and mine.get("kind") == other.get("kind"):
        what = _does(where, mine)
        cells = _off(what, mine), _off(what, other)
        yield Row(label, cells[0], _ALIKE if cells[0] == cells[1] else cells[1])
        keys = {name: _pair(name, first, second) for name in {**mine, **other}}
        keys.pop("enabled", None)
        yield from _keys(keys, "  ", mine.get("kind"))
    else:
        yield Row(label, _whole(where, *first), _whole(where, *second))


def _pair(name: str, first: Part, second: Part) -> tuple[object, object]:
    """What two parts say of a key; where they agree, but one alone spells it out, that one's."""
    mine, other = first.told.get(name), second.told.get(name)
    if mine == other and (name in first.said) != (name in second.said):
        return (mine, None) if name in first.said else (None, other)
    return mine, other


def _fusion(one: Data, two: Data) -> Iterator[Row]:
    first, second = _data(one.get("fuse")), _data(two.get("fuse"))
    if first.get("kind") != second.get("kind"):
        yield Row("score", _does("fuse", first), _does("fuse", second))
    mine, other = _told(first), _told(second)
    for words in {**mine, **other}:
        if mine.get(words, _NONE) != other.get(words, _NONE):
            yield Row(words, mine.get(words, _NONE), other.get(words, _NONE))
    yield from _keys({"ties": (one.get("ties"), two.get("ties"))})


def _told(fuse: Data) -> dict[str, str]:
    """What a fusion says: phrases and values."""
    return {
        phrase(key, fuse.get("kind")): value(key, told)
        for key, told in fuse.items()
        if key != "kind"
    }


def _boosts(one: tuple[Data, Data], two: tuple[Data, Data]) -> Iterator[Row]:
    yield from _parts(_weighed(*one), _weighed(*two), "boosts")
    first, second = _passes(one[0])[0], _passes(two[0])[0]
    yield from _keys({"boosts": (first.get("boosts"), second.get("boosts"))})


def _weighed(recipe: Data, said: Data) -> dict[str, Part]:
    """The boosts, each with what the fusion weighs it."""
    weights = _data(_data(_passes(recipe)[0].get("fuse")).get("weights"))
    return {
        label: Part({**told, **({"weighs": weights[label]} if label in weights else {})}, mine)
        for label, (told, mine) in _laid(recipe, said, "boosts").items()
    }


def _again(one: Data, two: Data) -> Iterator[Row]:
    if one != two:
        yield Row("", _second(one), _second(two))


def _second(told: Data) -> str:
    """A second pass in one sentence."""
    if not told:
        return _NONE
    head = _data(told.get("head"))
    columns = value("by", head.get("by"))
    said = [f"the first {head.get('count')}" + ("" if columns == _NONE else f" by {columns}")]
    fuse, judge = _data(told.get("fuse")), _data(told.get("rerank"))
    if fuse:
        said.append(_whole("fuse", fuse, {}))
    if judge:
        said += ["a reranker reads the query and each text", *_settings("", judge, {})]
    boosts = value("boosts", told.get("boosts"))
    said += [] if boosts == _NONE else [f"then {boosts}"]
    return _off("; ".join(said), told)


def _spoken(one: Data, two: Data) -> Iterator[Row]:
    """How many words of their own they have: `recipe show` lists them."""
    for key, what in _SPOKEN.items():
        first, second = _data(one.get(key)), _data(two.get(key))
        if first != second:
            yield Row(what, *(f"{len(each)}" if each else _NONE for each in (first, second)))


# -- words -----------------------------------------------------------------------------------------


def _does(where: str, part: Data) -> str:
    kind = str(part.get("kind", ""))
    return KINDS.get(where, {}).get(kind, kind)


def _off(what: str, part: Data) -> str:
    return what if part.get("enabled", True) else f"off; if on: {what}"


def _whole(where: str, part: Data, said: Data) -> str:
    """What a part does and how, where it says more than a part of its kind always does."""
    if not part:
        return _NONE
    return _off("; ".join([_does(where, part), *_settings(where, part, said)]), part)


def _settings(where: str, part: Data, said: Data) -> list[str]:
    usual = _usual(where, part)
    return [
        _setting(_words(key, part.get("kind")), key, told)
        for key, told in part.items()
        if key not in ("kind", "enabled") and told not in (None, [], {})
        if key in _ALWAYS or key in said or told != usual.get(key)
    ]


def _setting(words: str, key: str, told: object) -> str:
    if isinstance(told, bool):
        return words if told else f"not: {words}"
    return f"{words} {value(key, told)}"


def _usual(where: str, part: Data) -> Data:
    """The defaults of a kind of part."""
    made = next((m for m in _MADE.get(where, ()) if kind_of(m) == part.get("kind")), None)
    fields = {} if made is None else made.model_fields
    return {
        name: field.get_default(call_default_factory=True)
        for name, field in fields.items()
        if not field.is_required()
    }


def _passes(recipe: Data) -> tuple[Data, Data]:
    told = _listed(recipe.get("pass"))
    return _data(told[0]), _data(told[1] if len(told) > 1 else None)


def _data(part: object) -> Data:
    return cast("Data", part) if isinstance(part, Mapping) else {}


def _labelled(part: object) -> Data:
    """Parts by label; those of a list by their number."""
    return {f"{n}.": each for n, each in enumerate(_listed(part), 1)} or _data(part)


def _listed(part: object) -> list[object]:
    return cast("list[object]", part) if isinstance(part, list) else []
