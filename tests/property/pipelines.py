"""Recipes of any shape, valid by construction, and the small worlds that they are asked about."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hypothesis import strategies as st
from tests.property.strategies import DAY, recipes
from tests.property.worlds import world_of

from memoriter.core.errors import MemoriterError
from memoriter.lanes.port import Seeded
from memoriter.lanes.spec import fields_of
from memoriter.memory.facade import Memory
from memoriter.pipeline.kinds import kinds
from memoriter.testing.fakes import START, HandClock

Data = dict[str, Any]
one_of = st.sampled_from
IDS = ("a", "b", "c", "d", "e", "f", "g", "h")
TEXTS = (
    "port", "port ssh", "Port SSH", "cache memory port", "ssh", "memory of a run", "the cache",
    "I bought a port yesterday", "tips: cache, in total", "running running port",
    "The cache!", "Tips: a new cache, in total",
    "which port?", "port since 2024",
)  # fmt: skip
QUESTIONS = (
    "port", "ssh port", "cache memory", "how many ports did I buy?", "recommend a cache",
    "port yesterday", "what ran last week?", "what was the port before?", "when was it?", "prt",
    "…", "", "Ada's port", "your cache for Bob",
)  # fmt: skip
questions = one_of(QUESTIONS)


# -- worlds ----------------------------------------------------------------------------------------

_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "title": one_of(["port", "cache", "run"]),
    "kind": one_of(["reflection", "reflection", "preference", "document"]),
    "session": one_of(["s", "s", "t"]),
    "importance": one_of([0.0, 0.3, 1.0]),
    "confidence": one_of([0.1, 0.9]),
    "priority": one_of(["P1", "P2", "P4"]),
    "trust": one_of(["system", "external"]),
    "created": one_of([START - 9 * DAY, START - DAY, START, START + DAY]),
    "occurred": one_of([START - 8 * DAY, START - DAY]),
    "cycle": one_of([0, 3, 40]),
    "source": st.builds(
        lambda path, who: {"path": path, "who": who},
        one_of(["b.md", "a.md"]),
        one_of(["Ada Lovelace", "Bob", "user", "assistant"]),
    ),
    "role": one_of(["user", "assistant"]),
    "entities": st.lists(one_of(["Ada", "ada", "Adah", "Bob"]), max_size=2),
    "metadata": st.builds(lambda topic: {"topic": topic}, one_of(["x", "y", 1])),
    "agent": one_of(["bot", "Ann"]),
}


@st.composite
def _drafts(draw: st.DrawFn) -> Data:
    chosen = draw(st.lists(one_of(sorted(_FIELDS)), unique=True, max_size=6))
    return {"text": draw(one_of(TEXTS)), **{name: draw(_FIELDS[name]) for name in chosen}}


_links = st.tuples(
    one_of(IDS), one_of(IDS), one_of(["related_to", "consolidated_from", "supersedes"]),
    one_of([1.0, 0.5, 0.3, -1.0]),
)  # fmt: skip
_changes = st.tuples(one_of(["update", "update", "forget"]), one_of(IDS), _drafts())
worlds = st.tuples(
    st.lists(_drafts(), min_size=1, max_size=len(IDS)),
    st.lists(_links, max_size=6),
    st.lists(_changes, max_size=2),
)
World = tuple[list[Data], list[tuple[str, str, str, float]], list[tuple[str, str, Data]]]


def lived(memory: Memory, clock: HandClock, world: World) -> Memory:
    """The memory after everything in a world happened to it."""
    drafts, links, changes = world
    for name, draft in zip(IDS, drafts, strict=False):
        memory.remember(**draft, id=name)
        clock.move(1)
    for source, target, kind, weight in links:
        _try(lambda a=source, b=target, k=kind, w=weight: memory.link(a, b, k, weight=w))
    for verb, name, draft in changes:
        if verb == "update":
            _try(lambda one=name, fields=draft: memory.update(one, **fields))
        else:
            _try(lambda one=name: memory.forget(one))
    return memory


def _try(act: Any) -> None:
    try:
        act()
    except MemoriterError:
        return


@st.composite
def asks(draw: st.DrawFn) -> Data:
    """What a call may say beside its question."""
    options: Data = {}
    if draw(st.booleans()):
        options["cycle"] = draw(one_of([0, 5, 50]))
    if draw(st.integers(0, 4)) == 0:
        options["where"] = draw(
            one_of([{"kind": "note"}, {"session": "s"}, {"not": {"agent": "bot"}}])
        )
    if draw(st.integers(0, 4)) == 0:
        options["as_of"] = START + draw(one_of([-2, 0, 2])) * DAY
    return options


_pairs = st.lists(st.tuples(one_of(IDS), one_of([3.0, 0.1, -2.0, 1])), max_size=4)
listings = st.fixed_dictionaries({}, optional={"mine": _pairs, "heavy": st.just("importance")})
"""Lists that come with a call."""


def known(memory: Memory, lists: Data) -> Data:
    """The lists without what this memory does not hold."""
    there = {record.id for record in world_of(memory).records}
    return {
        label: ids if isinstance(ids, str) else [pair for pair in ids if pair[0] in there]
        for label, ids in lists.items()
    }


# -- recipes ---------------------------------------------------------------------------------------

pools = one_of([1, 2, 3, 1000, 1000])
_SCALES = one_of(["max", "min_max", "none", "coverage", "coverage"])
_WEIGHTS = one_of([0.0, 0.1, 0.3, 1.0, 2.0])

DRAWN: dict[str, set[str]] = {"lanes": set(), "boosts": set(), "orderings": set()}
"""The kinds that the recipes here may have."""


def _kind(group: str, kind: str) -> st.SearchStrategy[str]:
    DRAWN[group].add(kind)
    return st.just(kind)


_LANES: dict[str, st.SearchStrategy[Data]] = {
    "words": st.fixed_dictionaries(
        {"kind": _kind("lanes", "bm25"), "pool": pools, "ladder": st.booleans(),
         "k1": one_of([1.2, 0.0]), "b": one_of([0.75, 0.0]),
         "fields": one_of([{"text": 1.0}, {"text": 1.0, "title": 2.0}])},
    ),
    "meaning": st.fixed_dictionaries(
        {"kind": _kind("lanes", "vector"), "pool": pools, "min_cosine": one_of([-1.0, 0.0, 0.5])},
        optional={"fresh": one_of([0.5, 2.0]), "stale": one_of([0.3, 1.0])},
    ),
    "kin": st.fixed_dictionaries(
        {"kind": _kind("lanes", "kin"), "pool": pools, "neighbours": one_of([1, 32]),
         "min_cosine": one_of([0.3, 0.7]), "ignore": one_of([0.0, 0.2])},
    ),
    "links": st.fixed_dictionaries(
        {"kind": _kind("lanes", "walk"), "include_seeds": st.booleans(),
         "max_depth": st.integers(1, 2), "through": one_of(["selection", "scope"]), "pool": pools},
    ),
    "shared": st.fixed_dictionaries(
        {"kind": _kind("lanes", "entity"), "within": one_of(["agent", "tenant"]), "pool": pools},
    ),
    "origins": st.fixed_dictionaries(
        {"kind": _kind("lanes", "sources"), "pool": pools,
         "kinds": one_of([None, None, ["note", "document"]])},
    ),
    "hops": st.fixed_dictionaries(
        {"kind": _kind("lanes", "hops"), "max_hops": st.integers(1, 2), "pool": pools,
         "direction": one_of(["out", "in", "both"])},
    ),
    "way": st.fixed_dictionaries(
        {"kind": _kind("lanes", "cheapest"), "max_hops": st.integers(1, 2), "pool": pools,
         "max_nodes": one_of([2, 100]), "cost": one_of(["weight", "hop"])},
        optional={"max_cost": one_of([0.3, 1.0])},
    ),
    "mine": st.fixed_dictionaries({"kind": _kind("lanes", "list"), "pool": pools}),
    "time": st.fixed_dictionaries(
        {"kind": _kind("lanes", "moment"), "pool": pools, "min_score": one_of([0.1, 0.5])},
    ),
    "newest": st.fixed_dictionaries(
        {"kind": _kind("lanes", "by"), "pool": pools,
         "by": one_of(["-created", "importance", "-position", "confidence"])},
    ),
    "all": st.fixed_dictionaries(
        {"kind": _kind("lanes", "by"), "by": one_of(["id", "-path", "-created", "session"]),
         "flat": st.just(value=True), "pool": pools,
         "then": one_of([[], ["-position"], ["kind", "-created"]])},
    ),
}  # fmt: skip
SEEDED = ("links", "shared", "origins", "hops", "way")


def unlisted(group: str, listed: Collection[str]) -> list[str]:
    """Kinds of ours that need no option and that nobody listed here, so that none is left out."""
    out: list[str] = []
    for each in kinds(group):
        own = each.__module__.startswith("memoriter.") and not issubclass(each, Seeded)
        needs = {name for name, field in fields_of(each).items() if field.required}
        if own and each.kind_name() not in listed and needs <= {"kind", "pool"}:
            out.append(each.kind_name())
    return out


_LANES |= {
    kind: st.fixed_dictionaries({"kind": _kind("lanes", kind), "pool": pools})
    for kind in unlisted("lanes", frozenset(DRAWN["lanes"]))
}
MODE = "some"
"""The mode that every recipe here has."""

_ALPHA = {"alpha": one_of([0.1, 1.0])}
_WEIGHT = {"weight": one_of([0.05, 0.3, 1.0])}


def _boost(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Data]:
    return st.fixed_dictionaries({"kind": _kind("boosts", kind)}, optional=fields)


_BOOSTS: dict[str, st.SearchStrategy[Data]] = {
    "age": _boost(
        "recency", unit=one_of(["position", "cycle", "seconds", "days"]),
        half_life=one_of([1.0, 50.0, 86_400.0]), of=one_of(["created", "committed", "occurred"]),
        beside=one_of(["words", "meaning"]), **_WEIGHT, **_ALPHA,
    ),
    "weighty": _boost(
        "importance", lane=one_of(["words", "meaning"]), unmatched=one_of([0.0, 0.5])
    ),
    "sure": _boost("confidence", **_WEIGHT),
    "urgent": _boost("priority", **_WEIGHT, **_ALPHA),
    "trusted": _boost("trust", **_WEIGHT, **_ALPHA),
    "mirrored": _boost("reflection", factor=one_of([0.0, 0.7, 1.3])),
    "close": _boost(
        "cohesion", radius=one_of([1, 2, 12]), most=one_of([0.4, 1.2]), strong=one_of([0.0, 0.5]),
        weak=one_of([0.6, 5.0]), same_session=st.booleans(), lane=one_of(["words", "meaning"]),
    ),
    "talk": _boost("session", **_WEIGHT),
    "turns": _boost(
        "around", shares=one_of([(0.3,), (0.3, 0.2, 0.1)]),
        words=one_of([2, 80]), less_trusted=st.booleans(),
    ),
    "speaker": _boost("who", **_WEIGHT),
    "linked": st.fixed_dictionaries(
        {"kind": _kind("boosts", "neighbours"), "of": st.lists(
            one_of(["words.scaled", "meaning.score", "newest.score"]), min_size=1, unique=True)},
        optional={"decay": one_of([0.3, 1.0]), "most": one_of([1, 2])},
    ),
    "made": _boost(
        "sources", window=one_of([1, 25]), reflections=one_of([1, 5]), ceiling=one_of([1, 50]),
        sources=one_of([1, 20]), factor=one_of([0.7, 1.0]), kinds=one_of([["note"], ["document"]]),
    ),
    "wanted": _boost("intent", head=one_of([1, 1000])),
    "when": _boost("moment", **_WEIGHT, **_ALPHA),
    "times": _boost("dated", words=one_of([2, 80]), **_WEIGHT),
    "once": _boost("past", weight=one_of([0.0, 0.1]), share=one_of([0.0, 0.5])),
}  # fmt: skip
_BOOSTS |= {kind: _boost(kind) for kind in unlisted("boosts", frozenset(DRAWN["boosts"]))}

_ORDERINGS = st.one_of(
    st.fixed_dictionaries(
        {"kind": _kind("orderings", "mmr"), "trade": one_of([0.0, 0.3, 1.0]),
         "relevance": one_of(["score", "unit"]), "head": one_of([1, 3, 200]),
         "take": one_of([0, 1, 2]), "drop": st.booleans()},
    ),
    st.fixed_dictionaries(
        {"kind": _kind("orderings", "collapse"), "keep": one_of(["best", "newest"]),
         "most": one_of([1, 2]), "head": one_of([2, 1000])},
        optional={"by": st.just("near"), "cosine": one_of([0.5, 0.9, 1.0])},
    ),
    st.fixed_dictionaries(
        {"kind": _kind("orderings", "collapse"), "by": st.just("key"),
         "keep": one_of(["best", "newest"]),
         "keys": one_of([["session"], ["metadata.topic"], ["kind", "priority"], ["entities"],
                         ["source.path"]])},
    ),
    st.fixed_dictionaries(
        {"kind": _kind("orderings", "copies"), "head": one_of([2, 50]),
         "alike": one_of([0.5, 0.9, 1.0]), "less_trusted": st.booleans()},
        optional={"same": one_of([[], ["session"], ["created", "agent"]])},
    ),
    st.fixed_dictionaries({"kind": _kind("orderings", "cap"), "share": one_of([0.0, 0.3, 1.0])}),
    st.fixed_dictionaries(
        {"kind": _kind("orderings", "by_trust"), "before": one_of([1, 5])},
        optional={"most": one_of([0.1, 0.5]), "of": st.just(["external", "learned"])},
    ),
)  # fmt: skip
_ORDERINGS |= st.one_of(
    [
        st.fixed_dictionaries({"kind": _kind("orderings", kind)})
        for kind in unlisted("orderings", frozenset(DRAWN["orderings"]))
    ]
)
ATTRIBUTES = ("row", "-row", "id", "-path", "path", "-position", "-importance", "confidence",
              "-created", "kind", "-session", "occurred")  # fmt: skip


@st.composite
def pipelines(draw: st.DrawFn) -> Data:
    """A recipe of any shape."""
    lanes = draw(_lanes())
    boosts = {label: draw(_BOOSTS[label]) for label in draw(_some(sorted(_BOOSTS), 4))}
    scored = [label for label, lane in lanes.items() if lane["kind"] != "sources"]
    fuse, weighed = draw(_fusions(scored, list(boosts), first=True))
    free = [label for label in boosts if label not in weighed]
    first: Data = {"fuse": fuse, "boosts": draw(_some([*free, *free, *scored], 3))}
    ties = st.lists(one_of([*ATTRIBUTES, *_columns(lanes)]), unique=True, max_size=2)
    first |= draw(st.fixed_dictionaries({}, optional={"ties": ties}))
    if draw(st.booleans()):
        first["complete"] = True
    passes = [first, *draw(_second(lanes, free, scored))]
    if len(passes) > 1 and "fuse" in passes[1]:
        passes[1] |= draw(st.fixed_dictionaries({}, optional={"ties": ties}))
    data: Data = {
        "name": "any", "version": 1, "analyzer": "memoriter", "lanes": lanes, "boosts": boosts,
        "pass": passes, "order": draw(st.lists(_ORDERINGS, max_size=2)),
        "window": draw(one_of([1, 3, 10])),
        "ties": ["row"] if draw(st.booleans()) else draw(ties),
    }  # fmt: skip
    if draw(st.integers(0, 3)) == 0:
        data["final"] = {"min_score": draw(one_of([0.0, 0.2, 1.0]))}
    if len(lanes) > 1 and draw(st.integers(0, 2)) == 0:
        data["otherwise"] = draw(one_of([n for n in lanes if n not in SEEDED] or list(lanes)))
    data["modes"] = {MODE: draw(_modes(list(lanes)))}
    data["select"] = {"superseded": draw(one_of(["hide", "show", "past"]))}
    return data


@st.composite
def _modes(draw: st.DrawFn, lanes: list[str]) -> Data:
    chosen = draw(st.lists(one_of(lanes), unique=True, min_size=1))
    last = draw(one_of([None, *(n for n in lanes if n not in SEEDED)]))
    return {"lanes": chosen, "otherwise": last, "rerank": draw(st.booleans())}


def _some(names: list[str], most: int) -> st.SearchStrategy[list[str]]:
    if not names:
        return st.just([])
    return st.lists(one_of(names), unique=True, max_size=most)


@st.composite
def _lanes(draw: st.DrawFn) -> dict[str, Data]:
    plain = [label for label in _LANES if label not in SEEDED]
    chosen = draw(st.lists(one_of(["words", "meaning", *plain]), min_size=1, max_size=3))
    lanes = {label: draw(_LANES[label]) for label in dict.fromkeys(chosen)}
    for label in draw(_some(list(SEEDED), 2)):
        seeds = draw(st.lists(one_of(list(lanes)), unique=True, min_size=1))
        lanes[label] = {**draw(_LANES[label]), "seeds": seeds, "seed_count": draw(one_of([1, 20]))}
    return lanes


def _columns(lanes: dict[str, Data]) -> list[str]:
    parts = ["-links.graph", "links.relation"] if "links" in lanes else []
    return parts + [
        f"{sign}{label}.{what}" for label in lanes for sign, what in (("-", "score"), ("", "rank"))
    ]


@st.composite
def _fusions(
    draw: st.DrawFn, scored: list[str], boosts: list[str], *, first: bool = False
) -> tuple[Data, list[str]]:
    """A fusion, and the boosts that it weighs."""
    absent = draw(one_of(["redistribute", "keep", "fixed"]))
    match draw(one_of(["weighted", "weighted", "rrf", "smooth"])):
        case "weighted":
            weighed = draw(_some(boosts, 2))
            scale = draw(
                _SCALES | st.fixed_dictionaries({}, optional=dict.fromkeys(scored, _SCALES))
            )
            weights = {label: draw(_WEIGHTS) for label in (*scored, *weighed)}
            spec = {"kind": "weighted", "scale": scale, "weights": weights, "absent": absent}
            if first and draw(st.booleans()):
                spec["model_weights"] = {label: draw(_WEIGHTS) for label in draw(_some(scored, 2))}
            return spec, weighed
        case "rrf":
            weights = {label: draw(_WEIGHTS) for label in draw(_some(scored, 3))}
            base = draw(one_of([0, 1]))
            return {
                "kind": "rrf", "k": draw(one_of([0.0, 1.0, 60.0] if base else [1.0, 60.0])),
                "base": base, "scale": draw(one_of(["none", "unit"])), "weights": weights,
                "absent": absent,
            }, []  # fmt: skip
        case _:
            return {
                "kind": "smooth", "base": draw(one_of(scored)), "lifted": draw(one_of(scored)),
                "lift": draw(one_of([0.0, 35.0])), "fade": draw(one_of([0.5, 3.0])),
            }, []  # fmt: skip


@st.composite
def _second(
    draw: st.DrawFn, lanes: dict[str, Data], boosts: list[str], scored: list[str]
) -> list[Data]:
    """No second pass, or one."""
    which = draw(one_of(["none", "none", "fuse", "rerank"]))
    if which == "none":
        return []
    count = draw(one_of([1, 2, 50]))
    by = draw(_some([f"{label}.score" for label in lanes], 2))
    spec: Data = {"head": {"count": count, "by": by} if draw(st.booleans()) else count}
    if which == "fuse":
        if draw(st.integers(0, 4)) == 0:
            del spec["head"]
        fuse, _ = draw(_fusions(scored, []))
        return [{**spec, "fuse": fuse, "boosts": draw(_some([*boosts, *scored], 3))}]
    rerank: Data = {"timeout_ms": 60_000, "score": draw(one_of(["replace", "keep"]))}
    if len(scored) > 1 and draw(st.booleans()):
        pair = draw(st.lists(one_of(scored), min_size=2, max_size=2, unique=True))
        rerank["unless"] = {"lanes": pair, **draw(_AGREEMENT)}
    more = draw(_some([*boosts, *scored], 3)) if rerank["score"] == "replace" else []
    return [{**spec, "rerank": rerank, "boosts": more}]


_AGREEMENT = st.fixed_dictionaries(
    {"depth": one_of([1, 2, 3]), "agree": one_of([1, 2]), "by": one_of(["positional", "overlap"])}
)

any_recipes: st.SearchStrategy[Any] = recipes | pipelines()
"""One of the library, or any other."""
