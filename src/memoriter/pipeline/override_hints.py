"""Hints for overrides that do not fit a recipe: each shows the overrides that were probably meant.

`load.overridden` uses them. A path is compared with every path of the recipe as a set of words, so
that `lanes.meaning.weight`, `weights.meaning` and `meaning` all lead to `fusion.weights.meaning`.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, cast

from memoriter.pipeline.kinds import kinds
from memoriter.pipeline.recipe_errors import children

_SAME: Final = {
    **dict.fromkeys(("passes",), "pass"),
    **dict.fromkeys(("orderings", "ordering", "orders"), "order"),
    **dict.fromkeys(("fusion", "fusions"), "fuse"),
    **dict.fromkeys(("weights",), "weight"),
    **dict.fromkeys(("lane", "retrievers"), "lanes"),
    **dict.fromkeys(("boost",), "boosts"),
    **dict.fromkeys(("enable", "on", "active"), "enabled"),
    **dict.fromkeys(("reranker", "reranking"), "rerank"),
    **dict.fromkeys(("threshold", "score_threshold", "cutoff"), "min_score"),
    **dict.fromkeys(("top_k", "k", "n"), "limit"),
}
"""Words of a path that mean the same; the keys of a recipe are words of their own too."""
_NOT_SEARCHED: Final = (
    "format", "name", "version", "about", "modes", "names", "values", "labels", "sources", "scores",
)  # fmt: skip
"""Parts of a recipe whose values are names, or that nobody overrides by a shorter path."""
_WEIGHTS: Final = ("weights", "model_weights")
_LABELLED: Final = ("lanes", "boosts")
"""Parts whose keys are labels of the recipe."""
_NEAR: Final = 0.7
"""How similar (difflib ratio) a key must be to be suggested."""


class _Place(NamedTuple):
    path: str
    words: frozenset[str]
    value: object


def hint_for_path(data: Mapping[str, object], path: str, value: object) -> str:
    """The hint for a path that a recipe does not have; empty if nothing is near."""
    given = dict(_flat(path, value)) or {path: value}
    meant = [_meant(data, each, inner) for each, inner in given.items()]
    if all(meant):
        return f"use overrides={as_python({k: v for each in meant for k, v in each.items()})}"
    if near := _near(data, path, value):
        return f"did you mean {near}?"
    return _kind_to_add(data, path)


def hint_for_value(data: Mapping[str, object], path: str, value: object) -> str:
    """The hint for a value that a recipe refused at one of its own paths; empty if unknown.

    `data` is the recipe before the override.
    """
    *above, last = path.split(".")
    now = _at(data, path)
    if last == "kind":
        return f"use overrides={as_python(_of_kind(data, '.'.join(above), value))}"
    flat = dict(_flat(path, value))
    if not isinstance(now, dict):
        return ""
    if path not in flat and all(_at(data, each) is not None for each in flat):
        return f"to change single values, use overrides={as_python(_shortened(flat))}"
    return hint_for_path(data, path, value)


def weight_hint(labels: list[str]) -> str:
    """The hint for added lanes that the fusion has no weight for."""
    return f"pass a weight too: overrides={as_python({f'fusion.weights.{x}': 0.3 for x in labels})}"


def as_python(value: object) -> str:
    """A value as Python source, with double quotes.

    >>> as_python({"lanes.meaning.enabled": False, "order": [{"kind": "mmr"}]})
    '{"lanes.meaning.enabled": False, "order": [{"kind": "mmr"}]}'
    """
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value).items()
        return f"{{{', '.join(f'{as_python(key)}: {as_python(each)}' for key, each in pairs)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(as_python, cast('list[object]', value)))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


# -- which path is meant ---------------------------------------------------------------------------


def _meant(data: Mapping[str, object], path: str, value: object) -> dict[str, object]:
    """The overrides that a path and its value mean; empty if unknown."""
    asked = _words(path)
    if not asked:
        return {}
    if asked <= {"pass", "fuse", "0"} and isinstance(value, str):
        return _of_kind(data, "pass.0.fuse", value)
    places = [each for each in _all_places(data) if asked <= each.words and _fits(each, value)]
    if not places:
        return {}
    last = _word(re.split(r"[^\w]+", path.lower())[-1])

    def distance(place: _Place) -> tuple[bool, int]:
        keys = place.path.split(".")
        named = _word(keys[-1]) == last or (keys[-2:-1] == ["weights"] and last == "weight")
        return not named, len(keys)

    best = min(places, key=distance)
    given = False if value is None else value
    out = {best.path: given}
    *above, label = best.path.split(".")
    if above[-1:] == ["weights"]:
        other = ".".join([*above[:-1], "model_weights", label])
        out |= {other: given} if _at(data, other) is not None else {}
    return _shortened(out)


def _all_places(data: Mapping[str, object]) -> Iterator[_Place]:
    """Every path of a recipe, with the words that it may be named by."""
    kinds = {label: _kind(part) for label, part in children(data.get("lanes")).items()}
    for key, below in data.items():
        if key not in _NOT_SEARCHED:
            yield from _places(_Place(key, frozenset({key, _word(key)}), below), kinds)


def _places(above: _Place, kinds: Mapping[str, str]) -> Iterator[_Place]:
    """A place and those below it; `kinds` has the kind of each lane."""
    yield above
    weights = above.path.endswith(_WEIGHTS)
    for key, below in children(above.value).items():
        own = {key, _word(key), _kind(below), *(("lanes", kinds.get(key, "")) if weights else ())}
        own |= {step for step in ("fuse", "rerank") if children(below).get(step) is not None}
        yield from _places(_Place(f"{above.path}.{key}", above.words | own, below), kinds)


def _kind(part: object) -> str:
    return str(children(part).get("kind", ""))


def _fits(place: _Place, value: object) -> bool:
    """Whether a value can stand at a place: None, like False, means that a part is off."""
    now = place.value
    if value is None or isinstance(value, bool):
        return isinstance(now, bool)
    if isinstance(value, int | float):
        return now is None or (isinstance(now, int | float) and not isinstance(now, bool))
    return isinstance(now, type(value))


def _near(data: Mapping[str, object], path: str, value: object) -> str:
    """The path whose last key is spelled nearly like that of a path; empty if there is none."""
    *above, last = _PARTS.findall(path.lower()) or [""]
    wanted = {_word(each) for each in above}
    keys: dict[str, str] = {}
    for place in _all_places(data):
        if wanted <= place.words and _fits(place, value):
            keys.setdefault(place.path.rpartition(".")[2], place.path)
    close = difflib.get_close_matches(last, list(keys), 1, _NEAR)
    return _short(keys[close[0]]) if close else ""


_PARTS: Final = re.compile(r"[a-z0-9_]+")


def _words(path: str) -> frozenset[str]:
    return frozenset(map(_word, _PARTS.findall(path.lower())))


def _word(part: str) -> str:
    return _SAME.get(part, part)


# -- what to write ---------------------------------------------------------------------------------


def _kind_to_add(data: Mapping[str, object], path: str) -> str:
    """The hint for a kind that the recipe does not use yet; empty if no word of a path is one."""
    for word in _PARTS.findall(path.lower()):
        if kind := _kind_near("lanes", word):
            weights = {f"fusion.weights.{kind}": 0.3} if _at(data, "pass.0.fuse.weights") else {}
            return _add("lane", kind, {f"lanes.{kind}": {"kind": kind}, **weights})
        if kind := _kind_near("boosts", word):
            return _add("boost", kind, {f"boosts.{kind}": {"kind": kind}})
        if kind := _kind_near("orderings", word):
            return _add("ordering", kind, {"order": [{"kind": kind}]})
    head, _, rest = path.partition(".")
    if head not in _LABELLED or not rest:
        return ""
    labels = children(data.get(head))
    label = rest.partition(".")[0]
    if options := ", ".join(children(labels.get(label))):
        return f"the options of {head}.{label} are {options}"
    return f"its {head} are {', '.join(labels)}" if labels else ""


def _kind_near(group: str, word: str) -> str:
    known = [each.kind_name() for each in kinds(group)]
    return next(iter(difflib.get_close_matches(word, known, 1, _NEAR)), "")


def _add(what: str, kind: str, overrides: dict[str, object]) -> str:
    return f"the recipe has no {what} of kind {kind}; add one: overrides={as_python(overrides)}"


def _of_kind(data: Mapping[str, object], path: str, kind: object) -> dict[str, object]:
    """The overrides that put a part of another kind in the place of one."""
    # Only a weighted fusion has scores from which a relevance follows.
    none = {"relevance": None} if path == "pass.0.fuse" and data.get("relevance") else {}
    return {_short(path): {"kind": kind}, **none}


def _flat(path: str, value: object) -> Iterator[tuple[str, object]]:
    """The values inside a table by their paths; a value that is none by its own."""
    if not isinstance(value, Mapping):
        yield path, value
        return
    for key, below in cast("Mapping[str, object]", value).items():
        yield from _flat(f"{path}.{key}", below)


def _at(data: object, path: str) -> object:
    for key in path.split("."):
        data = children(data).get(key)
    return data


def _shortened(overrides: Mapping[str, object]) -> dict[str, object]:
    return {_short(path): value for path, value in overrides.items()}


def _short(path: str) -> str:
    return re.sub(r"^pass\.0\.fuse(?=\.|$)", "fusion", path)
