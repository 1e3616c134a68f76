"""Any text at all, in every dialect: an answer or an error of ours, and never much work.

Five thousand queries on every run, a million at night, against two hundred records. They go
to the word lane itself, which reads, looks up, scores and climbs its ladder; every hundredth goes
through the whole of `recall`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import pytest
from tests.inside import engine_of
from tests.night import NIGHT
from tests.property.worlds import open_toy

from memoriter import MemoriterError
from memoriter.core.names import text as checked
from memoriter.index import field_stats, match
from memoriter.lanes.effects import Effects
from memoriter.lanes.port import Ready, Wording
from memoriter.memory.build_query import build_query
from memoriter.memory.facade import Memory
from memoriter.pipeline.bind import bind
from memoriter.pipeline.load import recipe_of
from memoriter.pipeline.recipe import Recipe
from memoriter.text.analyzers import analyzer as analyzer_of
from memoriter.text.dialects import dialect_names
from memoriter.text.dialects.parts import LEAVES

COUNT: Final = 1_000_000 if NIGHT else 5_000
PARTS: Final = 4 if NIGHT else 1
"""Each dialect's share is cut into so many tests, for workers to share."""
RECORDS: Final = 200
WHOLE: Final = 100
"""One in so many queries goes through all of `recall`."""
SLOW: Final = 10.0
"""Seconds of its thread that no query may take; the slowest here take half of one."""
ANALYZERS: Final = {
    "bare": ("memoriter", "porter2", "fts5-porter-cjk"),
    "jeffs-brain": ("fts5-porter", "memoriter"),
    "engrava": ("fts5-dashed", "fts5-porter-cjk"),
    "mnestic": ("simple", "memoriter"),
}

SIGNS = [
    '"', "'", '""', "“", "”", "(", ")", "((", "))", "[", "]", "{", "}", "<", ">", "*",
    "**", "^", "~", "+", "-", "--", "!", "?", ":", "::", ";", ",", ".", "/", "\\", "|",
    "||", "&", "&&", "=", "%", "#", "@", "$", "`", "_", "\t", "\n", "\r\n", "\u00a0",
    "\u2028", "\u3000",
]  # fmt: skip
OPERATORS = [
    "AND", "OR", "NOT", "and", "or", "not", "AND NOT", "NOT NOT", "NEAR", "NEAR(",
    "NEAR/3(", "NEAR/99999999999(", "NEAR/-1(", "NEAR/0(", "^1e999", "^2.5", "^", "^-3",
    "^99999999999999999999", "^0", "^.5", "title:", "content:", "essence:", "text:",
    "tags:(", "path://", "TITLE:", "{content", "{content essence} :", "content:essence:",
    "title:title:",
]  # fmt: skip
STRANGE = [
    "\0", "\x01", "\x1a", "\x7f", "\u0085", "\ufffd", "\ufeff", "\u200b", "\u200c",
    "\u200d", "\u200e", "\u200f", "\u202e", "\u2066", "\u2069", "\u0301", "\u0301" * 40,
    "\u0489", "\ud800", "\udfff", "\ue000", "\uffff", "\U000ffffd", "\U0010ffff", "🎉",
    "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "e\u0301", "ﬁ", "İ", "ı", "ß", "ẞ", "Σς", "ǅ", "ᄀ",
    "각", "日本語", "ไทยๆ", "ខ្មែរ", "हिन्दी", "שָׁלוֹם", "مُحَمَّد", "𝔘𝔫𝔦", "①", "½", "٣",
    "ⅷ",
]  # fmt: skip
FOREIGN = [
    "'; DROP TABLE docs; --", "1=1", "' OR '1'='1", "%s", "%n", "${jndi:ldap://x}",
    "{{7*7}}", "../../", "(a+)+$", "[^", "(?=a*)*", ".*.*.*x", "\\u0000", "<script>",
    "&#x27;", "MATCH", "SELECT *", "rowid", "http://example.com/?q=\"a\"&b=c", "C:\\x",
    "a@b.c", "12:30", "1.29", "1e999", "NaN", "-inf", "null",
]  # fmt: skip
WORDS = [
    "port", "ports", "run*", "cafe", "café", "the", "to", "a", "x", "kubernets", "berlin",
    "user_id", "well-known", "__init__", "c++", "it's", "l'école", "*", "po*rt", "*port",
    "re*", "w1", "w17", "w199",
]  # fmt: skip
LONG = [
    "a" * 3000, "(" * 400, ")" * 400, '"' * 401, "*" * 500, "AND " * 300, "NOT " * 300,
    "a OR " * 200, "port " * 300, "a-" * 300, "NEAR(" * 60, "日" * 700, "\u0301" * 900,
    "👩‍" * 200, "^9" * 200, "w1* " * 40, "title:" * 100, "((a OR b) AND " * 60,
    '"a b" ' * 150, "x" * 40,
]  # fmt: skip


def queries(seed: str, count: int) -> Iterator[str]:
    """Texts put together from nasty pieces, the same for the same seed."""
    chance = random.Random(seed)
    pieces: Sequence[Sequence[str]] = (WORDS, WORDS, OPERATORS, OPERATORS, SIGNS, FOREIGN, STRANGE)
    for _ in range(count):
        size = 1 + int(chance.expovariate(0.4))
        each = [chance.choice(chance.choice(pieces)) for _ in range(min(size, 30))]
        if chance.random() < 0.005:
            each[chance.randrange(len(each))] = chance.choice(LONG)
        yield chance.choice(("", " ", " ")).join(each)


def recipe(dialect: str, analyzer: str) -> Recipe:
    """A recipe of words with everything on."""
    words: dict[str, Any] = {
        "kind": "bm25", "pool": 20, "dialect": dialect, "k1": 1.2, "b": 0.75, "ladder": True,
        "fields": {"text": 1.0, "essence": 1.0}
        if analyzer == "fts5-dashed"
        else {"text": 1.0, "title": 2.0, "tags": 1.0, "path": 1.0},
    }  # fmt: skip
    return recipe_of(
        {
            "name": "hostile",
            "version": 1,
            "analyzer": analyzer,
            "lanes": {"words": words},
            "pass": [{"fuse": {"kind": "weighted", "scale": "max", "weights": {"words": 1.0}}}],
            "final": {"limit": 3},
        }
    )


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    """Two hundred records, some of them as strange as the queries."""
    chance = random.Random("records")
    writable = [each for each in WORDS + STRANGE + FOREIGN if not "\ud800" <= each <= "\udfff"]
    with open_toy(embedder=None, flush_rows=120) as opened:
        for nth in range(RECORDS):
            text = " ".join(chance.choices(writable, k=12))
            opened.remember(f"w{nth} {text}", title=f"t{nth % 7}", tags=[f"tag{nth % 5}"])
        yield opened


def searching(memory: Memory, how: Recipe) -> Callable[[str], object]:
    """The word lane of a recipe, bound to the memory once; it does not explain."""
    parts, lane, reader = engine_of(memory), how.lanes["words"], analyzer_of(how.analyzer)
    query, _ = build_query("", None, {"recipe": how}, memory.scope, parts.clock.now)
    tenant = memory.scope.tenant
    view, unread = parts.view_through(reader, tenant, None)
    ctx = bind(query, how, view, Effects(parts.fetch(tenant)), Wording(reader, unread))

    def search(text: str) -> object:
        call = replace(ctx, query=replace(query, text=checked(text, "query")))
        return lane.rank(call) if isinstance(lane.ready(call), Ready) else None

    return search


def answered(ask: Callable[[str], object], text: str) -> float:
    """What an answer took of its thread, or a refusal with a name; anything else is a bug."""
    begun = time.thread_time()
    try:
        ask(text)
    except MemoriterError:
        pass
    except Exception as error:
        raise AssertionError(f"{text!r}") from error
    return time.thread_time() - begun


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("dialect", dialect_names())
def test_a_hostile_query_is_answered_or_refused_by_name(
    memory: Memory, dialect: str, part: int
) -> None:
    recipes = [recipe(dialect, analyzer) for analyzer in ANALYZERS[dialect]]
    lanes = [searching(memory, each) for each in recipes]
    slowest = (0.0, "")
    for nth, text in enumerate(
        queries(f"{dialect}/{part}", COUNT // len(dialect_names()) // PARTS)
    ):
        slowest = max(slowest, (answered(lanes[nth % len(lanes)], text), text))
        if nth % WHOLE == 0:
            how = recipes[nth // WHOLE % len(recipes)]
            answered(lambda text, how=how: memory.recall(text, recipe=how), text)
    assert slowest[0] < SLOW, slowest


@pytest.mark.parametrize("dialect", dialect_names())
def test_the_longest_queries_visit_a_bounded_number_of_postings(
    memory: Memory, dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    visited = 0
    find = field_stats.occurrences

    def counted(*asked: Any) -> Any:
        nonlocal visited
        hits = find(*asked)
        visited += 0 if hits is None else hits.docs.size
        return hits

    monkeypatch.setattr(field_stats, "occurrences", counted)
    search = searching(memory, recipe(dialect, ANALYZERS[dialect][0]))
    for piece in ("the ", "w* ", "a OR ", "(w1 AND a) OR ", '"a the" ', "NEAR(a the) ", "zz-qx "):
        visited = 0
        assert answered(search, (piece * 65_536)[:65_536]) < SLOW
        # A leaf is counted, bounded and read on each of four rungs, in each of four fields.
        assert visited <= 4 * 3 * 4 * LEAVES * RECORDS


def test_many_equal_words_near_each_other_are_found_in_one_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps, long = 0, 5_000
    move = match.heapreplace

    def counted(*given: Any) -> Any:
        nonlocal steps
        steps += 1
        return move(*given)

    monkeypatch.setattr(match, "heapreplace", counted)
    with open_toy(embedder=None) as memory:
        memory.remember("the " * long, id="long")
        chained = recipe("mnestic", "simple")
        text = f"NEAR/9({'the ' * 32})"
        assert answered(lambda text: memory.recall(text, recipe=chained), text) < SLOW
        assert steps == 0  # each word is one pass over arrays
        how = recipe("engrava", "simple")
        words = " ".join(['"the"'] * 32)
        text = f"NEAR({words}, 9)"
        assert answered(lambda text: memory.recall(text, recipe=how), text) < SLOW
    # Each place of each word is passed once, and that on each of four rungs.
    assert 32 * (long - 1) <= steps <= 4 * 32 * long
