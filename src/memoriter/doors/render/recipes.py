"""Compares two recipes stage by stage, in words; `memoriter recipe diff` prints it."""

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
from memoriter.pipeline.recipe import Recipe
from memoriter.pipeline.recipe_tables import Final_, Select
from memoriter.text.figures import short
from memoriter.text.safe import one_line

RecipeData = Mapping[str, object]
PartClass = type[Spec] | None
"""The class of a part of a recipe; None if the package that defines it is not installed."""
_NONE: Final = "—"
_SAME: Final = "the same"
_WEIGHT: Final = "weighs"
"""A key that no recipe has: the weight of a boost, which the fusion holds, is shown with it."""
_GENERAL: Final = ("version", "analyzer", "ties", "otherwise", "window", "missing", "not_positive")
_VOCABULARY: Final = {
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
"""The classes of all parts, by the section of a recipe they belong to."""


class ComparedSetting(NamedTuple):
    """One row: a setting, and its value in each recipe."""

    label: str
    first: str
    second: str


class Section(NamedTuple):
    """A stage of a search, and the settings that differ there."""

    title: str
    rows: Sequence[ComparedSetting]


class ComparedPart(NamedTuple):
    """A lane, a boost or an ordering: all its settings, and those that the recipe file sets."""

    settings: RecipeData
    explicit: RecipeData


def side_by_side(
    heads: tuple[str, str],
    one: RecipeData,
    two: RecipeData,
    explicit: tuple[RecipeData, RecipeData] = ({}, {}),
) -> RenderableType:
    """The differences of two recipes as a table.

    `one` and `two` are the recipes with every default filled in, `explicit` what their files set.
    """
    parts: list[RenderableType] = []
    for section in recipe_sections(one, two, explicit):
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


def recipe_sections(
    one: RecipeData, two: RecipeData, explicit: tuple[RecipeData, RecipeData] = ({}, {})
) -> list[Section]:
    """The stages at which two recipes differ, each with its rows."""
    first, second = (one, explicit[0]), (two, explicit[1])
    lanes, orders = (
        (_parts_at(*first, at), _parts_at(*second, at), at) for at in ("lanes", "order")
    )
    general = {key: (one.get(key), two.get(key)) for key in ("about", *_GENERAL)}
    passes, others = _passes(one), _passes(two)
    every = [
        Section("In general", list(_compare_keys(general, Recipe))),
        Section("Select: what may be found", list(_compare_tables(one, two, "select", Select))),
        Section("Lanes: who looks for candidates", list(_compare_parts(*lanes))),
        Section("Fusion: how their scores become one", list(_fusion(passes[0], others[0]))),
        Section("Boosts: what changes a score", list(_boosts(first, second))),
        Section("Second pass: the best once more", list(_second_passes(passes[1], others[1]))),
        Section("Order: what moves or goes", list(_compare_parts(*orders))),
        Section("Final: what leaves", list(_compare_tables(one, two, "final", Final_))),
        Section("Its users' language", list(_vocabulary(one, two))),
    ]
    return [section for section in every if section.rows]


def option_phrase(part: PartClass, key: str) -> str:
    """What an option means, followed by its name if that is different."""
    words = _meaning(part, key)
    return words if words == key else f"{words} ({key})"


def _meaning(part: PartClass, key: str) -> str:
    """What an option means, in brief: its description up to the first semicolon."""
    return "weight in the fusion" if key == _WEIGHT else meaning_of(part, key).partition("; ")[0]


def value_text(part: PartClass, key: str, setting: object) -> str:
    """The value of an option as text."""
    known = worded(part, key, setting)
    if isinstance(setting, Mapping):
        items = cast("Mapping[str, object]", setting)
        pairs = [f"{name} {value_text(part, key, each)}" for name, each in items.items()]
        return ", ".join(pairs) or _NONE
    if isinstance(setting, list):
        return (
            ", ".join(value_text(part, key, each) for each in cast("list[object]", setting))
            or _NONE
        )
    if isinstance(setting, bool):
        return "yes" if setting else "no"
    if setting in known:
        return known[setting]
    if isinstance(setting, str) and setting.startswith("-"):
        return f"{setting[1:]}, largest first"
    return _NONE if setting is None else short(setting)


# -- stages ----------------------------------------------------------------------------------------


def _compare_tables(
    one: RecipeData, two: RecipeData, key: str, part: PartClass
) -> Iterator[ComparedSetting]:
    first, second = _data(one.get(key)), _data(two.get(key))
    pairs = {name: (first.get(name), second.get(name)) for name in {**first, **second}}
    yield from _compare_keys(pairs, part)


def _compare_keys(
    pairs: Mapping[str, tuple[object, object]], part: PartClass, under: str = ""
) -> Iterator[ComparedSetting]:
    for key, (first, second) in pairs.items():
        if first != second:
            yield ComparedSetting(
                under + option_phrase(part, key),
                value_text(part, key, first),
                value_text(part, key, second),
            )


def _parts_at(recipe: RecipeData, explicit: RecipeData, where: str) -> dict[str, ComparedPart]:
    """The parts of a section, by label or by number.

    A file that sets every key (as an exported recipe does) stresses none of them: then `explicit`
    is empty.
    """
    laid: dict[str, ComparedPart] = {}
    labelled = _labelled(explicit.get(where))
    for label, part in _labelled(recipe.get(where)).items():
        settings, own = _data(part), _data(labelled.get(label))
        laid[label] = ComparedPart(settings, {} if set(settings) <= set(own) else own)
    return laid


def _compare_parts(
    one: Mapping[str, ComparedPart], two: Mapping[str, ComparedPart], where: str
) -> Iterator[ComparedSetting]:
    none = ComparedPart({}, {})
    for label in {**one, **two}:
        yield from _compare_part(where, label, one.get(label, none), two.get(label, none))


def _compare_part(
    where: str, label: str, first: ComparedPart, second: ComparedPart
) -> Iterator[ComparedSetting]:
    """Two parts of one kind are compared key by key, any others as a whole."""
    one, two = first.settings, second.settings
    if one == two:
        return
    if one and two and one.get("kind") == two.get("kind"):
        what = _about(where, one)
        cells = _marked_off(what, one), _marked_off(what, two)
        yield ComparedSetting(label, cells[0], _SAME if cells[0] == cells[1] else cells[1])
        keys = {name: _pair(name, first, second) for name in {**one, **two}}
        keys.pop("enabled", None)
        yield from _compare_keys(keys, _declared(where, one), "  ")
    else:
        yield ComparedSetting(label, _part_text(where, *first), _part_text(where, *second))


def _pair(name: str, first: ComparedPart, second: ComparedPart) -> tuple[object, object]:
    """The values of a key in two parts.

    If they agree but only one file sets it, only that one is shown: the other has it by default.
    """
    one, two = first.settings.get(name), second.settings.get(name)
    if one == two and (name in first.explicit) != (name in second.explicit):
        return (one, None) if name in first.explicit else (None, two)
    return one, two


def _fusion(one: RecipeData, two: RecipeData) -> Iterator[ComparedSetting]:
    first, second = _data(one.get("fuse")), _data(two.get("fuse"))
    if first.get("kind") != second.get("kind"):
        yield ComparedSetting("score", _about("fuse", first), _about("fuse", second))
    settings, others = _fusion_settings(first), _fusion_settings(second)
    for words in {**settings, **others}:
        if settings.get(words, _NONE) != others.get(words, _NONE):
            yield ComparedSetting(words, settings.get(words, _NONE), others.get(words, _NONE))
    yield from _compare_keys({"ties": (one.get("ties"), two.get("ties"))}, Recipe)


def _fusion_settings(fuse: RecipeData) -> dict[str, str]:
    """The settings of a fusion: phrases and values."""
    part = _declared("fuse", fuse)
    return {
        option_phrase(part, key): value_text(part, key, setting)
        for key, setting in fuse.items()
        if key != "kind"
    }


def _boosts(
    one: tuple[RecipeData, RecipeData], two: tuple[RecipeData, RecipeData]
) -> Iterator[ComparedSetting]:
    yield from _compare_parts(_boosts_with_weight(*one), _boosts_with_weight(*two), "boosts")
    first, second = _passes(one[0])[0], _passes(two[0])[0]
    yield from _compare_keys({"boosts": (first.get("boosts"), second.get("boosts"))}, Pass)


def _boosts_with_weight(recipe: RecipeData, explicit: RecipeData) -> dict[str, ComparedPart]:
    """The boosts, each with its weight in the fusion."""
    weights = _data(_data(_passes(recipe)[0].get("fuse")).get("weights"))
    return {
        label: ComparedPart(
            {**each, **({_WEIGHT: weights[label]} if label in weights else {})}, own
        )
        for label, (each, own) in _parts_at(recipe, explicit, "boosts").items()
    }


def _second_passes(one: RecipeData, two: RecipeData) -> Iterator[ComparedSetting]:
    if one != two:
        yield ComparedSetting("", _second_pass_text(one), _second_pass_text(two))


def _second_pass_text(step: RecipeData) -> str:
    """A second pass in one sentence."""
    if not step:
        return _NONE
    head = _data(step.get("head"))
    columns = value_text(PassHead, "by", head.get("by"))
    parts = [f"the first {head.get('count')}" + ("" if columns == _NONE else f" by {columns}")]
    fuse, judge = _data(step.get("fuse")), _data(step.get("rerank"))
    if fuse:
        parts.append(_part_text("fuse", fuse, {}))
    if judge:
        parts += [meaning_of(Pass, "rerank"), *_setting_texts(Rerank, judge, {})]
    boosts = value_text(Pass, "boosts", step.get("boosts"))
    parts += [] if boosts == _NONE else [f"then {boosts}"]
    return _marked_off("; ".join(parts), step)


def _vocabulary(one: RecipeData, two: RecipeData) -> Iterator[ComparedSetting]:
    """How many names of its own each recipe defines; `recipe show` lists them."""
    for key, what in _VOCABULARY.items():
        first, second = _data(one.get(key)), _data(two.get(key))
        if first != second:
            yield ComparedSetting(
                what, *(f"{len(each)}" if each else _NONE for each in (first, second))
            )


# -- words -----------------------------------------------------------------------------------------


def _declared(where: str, part: RecipeData) -> type[RecipePart] | None:
    """The class of a part; None if it is not installed."""
    kind = part.get("kind")
    return next((each for each in _PARTS.get(where, ()) if each.kind_name() == kind), None)


def _about(where: str, part: RecipeData) -> str:
    declared = _declared(where, part)
    return (declared.about if declared else "") or str(part.get("kind", ""))


def _marked_off(what: str, part: RecipeData) -> str:
    return what if part.get("enabled", True) else f"off; if on: {what}"


def _part_text(where: str, part: RecipeData, explicit: RecipeData) -> str:
    """What a part does, and its settings that are set or are not the default."""
    if not part:
        return _NONE
    settings = _setting_texts(_declared(where, part), part, explicit)
    return _marked_off("; ".join([_about(where, part), *settings]), part)


def _setting_texts(declared: PartClass, part: RecipeData, explicit: RecipeData) -> list[str]:
    usual = _defaults(declared)
    return [
        _setting_text(declared, key, setting)
        for key, setting in part.items()
        if key not in ("kind", "enabled") and setting not in (None, [], {})
        if key == _WEIGHT
        or always_shown(declared, key)
        or key in explicit
        or setting != usual.get(key)
    ]


def _setting_text(declared: PartClass, key: str, setting: object) -> str:
    return f"{_meaning(declared, key)}: {value_text(declared, key, setting)}"


def _defaults(declared: PartClass) -> RecipeData:
    """The defaults of a part."""
    fields = {} if declared is None else options_of(declared)
    return {name: field.default() for name, field in fields.items() if not field.required}


def _passes(recipe: RecipeData) -> tuple[RecipeData, RecipeData]:
    steps = _listed(recipe.get("pass"))
    return _data(steps[0]), _data(steps[1] if len(steps) > 1 else None)


def _data(part: object) -> RecipeData:
    return cast("RecipeData", part) if isinstance(part, Mapping) else {}


def _labelled(part: object) -> RecipeData:
    """Parts by label; those of a list by their number."""
    return {f"{n}.": each for n, each in enumerate(_listed(part), 1)} or _data(part)


def _listed(part: object) -> list[object]:
    return cast("list[object]", part) if isinstance(part, list) else []
