"""engrava's own answers on corpus A, row by row: every table that its fact sheet has."""

from __future__ import annotations

from typing import Any, Final

import pytest
from tests.claims.corpus import CORPUS, VECTOR, close, open_empty
from tests.sound import sound

from memoriter.memory.facade import Memory

TEXT: Final = "pricing berlin"
GIVEN: Final = {
    "fts_weight": 0.4, "vector_weight": 0.4, "recency_weight": 0.1, "priority_weight": 0.05,
    "graph_weight": 0.05,
}  # fmt: skip
TABLES: Final[dict[str, tuple[str, dict[str, Any], str]]] = {
    "en_06_words": (TEXT, {}, "m02 .9 m17 .411642 m01 .142857 m09 .108199 m10 .07167"),
    "en_07_words_and_vector": (
        TEXT,
        {"vector": VECTOR},
        "m02 .955123 m17 .763962 m01 .648466 m08 .640883 m18 .626903 m13 .625978 m07 .609577 "
        "m19 .584974 m16 .461141 m09 .356491",
    ),
    "en_07_and_a_cycle": (
        TEXT,
        {"vector": VECTOR, "cycle": 40},
        "m02 .935397 m17 .764409 m01 .649594 m08 .646532 m18 .642129 m13 .634091 m07 .616449 "
        "m19 .585526 m16 .489769 m09 .402068",
    ),
    "en_07_vector": (
        "",
        {"vector": VECTOR},
        "m01 .972698 m08 .961325 m18 .940354 m13 .938967 m02 .932685 m07 .914365 m17 .905818 "
        "m19 .877461 m16 .691711 m09 .521621",
    ),
    "en_24_priority_alone": ("", {}, "m11 1 m01 1 m12 1 m05 .6 m09 .6"),
    "en_24_nothing": (
        "",
        {"overrides": {"priority_weight": 0.0}},
        "m11 0 m14 0 m06 0 m05 0 m10 0",
    ),
    "en_25_neighbours": (
        TEXT,
        {"vector": VECTOR, "overrides": {"graph_weight": 0.3}},
        "m02 .864079 m01 .635905 m17 .609355 m08 .480662 m18 .470177 m13 .469483 m07 .457183 "
        "m19 .43873 m09 .395375 m16 .345855",
    ),
    "en_25_without_decay": (
        TEXT,
        {"vector": VECTOR, "overrides": {"graph_weight": 0.3, "graph_edge_decay": 1.0}},
        "m02 1.011816 m01 .785462 m17 .645738 m09 .523381 m08 .480662 m18 .470177 m13 .469483 "
        "m07 .457183 m19 .43873 m16 .345855",
    ),
    "en_09_all_weights": (
        TEXT,
        {"vector": VECTOR, "cycle": 42, "overrides": GIVEN},
        "m02 .914341 m17 .669385 m01 .532169 m08 .495499 m18 .490213 m13 .482599 m07 .469062 "
        "m19 .440327 m16 .374536 m09 .350897",
    ),
    "en_02_one_hit": (
        "passport",
        {"overrides": {"priority_weight": 0.0}},
        "m20 .5",
    ),
}


def rows(line: str) -> list[tuple[str, float]]:
    """Ids and scores out of a line."""
    words = line.split()
    return [(id, float(score)) for id, score in zip(words[::2], words[1::2], strict=True)]


def heard(memory: Memory, name: str) -> tuple[list[tuple[str, float]], list[tuple[str, Any]]]:
    """Our rows and theirs; theirs may have fewer."""
    text, ask, line = TABLES[name]
    wanted = rows(line)
    result = sound(memory.recall(text, len(wanted), recipe="engrava", **ask))
    return [(hit.id, hit.score) for hit in result], close(wanted)


@pytest.mark.parametrize("name", [name for name in TABLES if "vector" in TABLES[name][1]])
def test_en_07_rows_with_a_vector(vectors: Memory, name: str) -> None:
    ours, theirs = heard(vectors, name)
    assert ours == theirs


@pytest.mark.parametrize("name", [name for name in TABLES if "vector" not in TABLES[name][1]])
def test_en_06_rows_without_a_vector(corpus: Memory, name: str) -> None:
    ours, theirs = heard(corpus, name)
    assert ours == theirs


def test_en_39_a_filter_scales_the_words_anew() -> None:
    with open_empty("given:4") as memory:
        for note in CORPUS:
            group = {"metadata": {"grp": "A" if int(note.id[1:]) % 2 else "B"}}
            more = {"vector": note.vector, "priority": note.priority, "cycle": note.cycle, **group}
            memory.remember(note.text, id=note.id, **more)
        ask: dict[str, Any] = {"where": {"metadata.grp": "A"}, "vector": VECTOR}
        result = sound(memory.recall(TEXT, 10, recipe="engrava", **ask))
    line = (
        "m17 .937212 m01 .648466 m13 .625978 m07 .609577 m19 .584974 m09 .365955 m11 .070195 "
        "m03 .068764 m05 .033333 m15 .014551"
    )
    assert [(hit.id, hit.score) for hit in result] == close(rows(line))
