"""MentisDB's ranked search in plain Python: cases come in, its answers go out, as JSON lines.

MentisDB is no Python package, so these are its published formulas (version 0.9), one thought at a
time. It shares the stemmer and the table of irregular forms with us, and nothing that counts,
walks or scores. Answers have a row for each number of each hit.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter, deque
from functools import cached_property
from typing import Any

import Stemmer

from memoriter.systems.runs import LEMMAS

stem = Stemmer.Stemmer("english").stemWord
WEIGHTS = {"content": 1.0, "tags": 1.6, "concepts": 1.4, "agent_id": 1.5, "agent_registry": 1.1}
CUTOFFS = dict.fromkeys(("content", "tags", "concepts"), 0.3) | {
    "agent_registry": 0.6,
    "agent_id": 0.7,
}
BOOSTS = {
    "continues_from": 0.60, "branches_from": 0.55, "corrects": 0.50, "invalidates": 0.50,
    "supersedes": 0.45, "derived_from": 0.40, "summarizes": 0.20, "caused_by": 0.20,
    "supports": 0.15, "contradicts": 0.15, "related_to": 0.08, "references": 0.06,
}  # fmt: skip
PARTS = (
    "lexical", "vector", "graph", "relation", "seed_support", "importance", "confidence",
    "recency", "session_cohesion", "rrf", "total",
)  # fmt: skip


def surfaces(text: str) -> list[str]:
    """Runs of letters and digits, in lower case."""
    spaced = "".join(each if each.isalnum() else " " for each in text)
    return spaced.lower().split()


def asked_stems(text: str) -> list[str]:
    """The stems of a question, each once; an irregular form brings that of its base."""
    out: list[str] = []
    for word in surfaces(text):
        out += [stem(word), *([stem(LEMMAS[word])] if word in LEMMAS else [])]
    return list(dict.fromkeys(out))


class Chain:
    """A chain of thoughts with its index; an agent that appends is registered by its id."""

    def __init__(self, notes: list[Any], agents: dict[str, Any]) -> None:
        self.notes = notes
        self.place = {note["id"]: at for at, note in enumerate(notes)}
        self.fields = [self._fields(note, agents.get(note["agent"], {})) for note in notes]
        self.counts = [{f: Counter(words) for f, words in own.items()} for own in self.fields]
        sizes = {f: [len(own[f]) for own in self.fields] for f in WEIGHTS}
        self.means = {f: max(sum(own) / len(notes), 1.0) for f, own in sizes.items()}

    def _fields(self, note: Any, entry: Any) -> dict[str, list[str]]:
        name = entry.get("display_name") or note["agent"]
        about = [name, entry.get("owner"), entry.get("description"), *entry.get("aliases", ())]
        texts = {
            "content": note["text"],
            "tags": " ".join(note["tags"]),
            "concepts": " ".join(note["concepts"]),
            "agent_id": note["agent"],
            "agent_registry": " ".join(filter(None, about)),
        }
        return {name: [stem(word) for word in surfaces(text)] for name, text in texts.items()}

    def lexical(self, text: str) -> list[float]:
        """BM25 of every thought."""
        total, out = len(self.notes), [0.0] * len(self.notes)
        for term in asked_stems(text):
            df = sum(any(own[f][term] for f in WEIGHTS) for own in self.counts)
            idf = math.log((total - df + 0.5) / (df + 0.5) + 1.0)
            for at, own in enumerate(self.counts):
                for field, weight in WEIGHTS.items():
                    tf, size = own[field][term], len(self.fields[at][field])
                    if tf and not (total >= 20 and df / total > CUTOFFS[field]):
                        norm = 0.25 + 0.75 * size / self.means[field]
                        out[at] += weight * idf * tf * 2.2 / (tf + 1.2 * norm)
        return out

    @cached_property
    def edges(self) -> dict[tuple[int, int], list[str]]:
        """One edge for each pair, with the kinds of all that it stands for."""
        out: dict[tuple[int, int], list[str]] = {}
        for at, note in enumerate(self.notes):
            refs = [("references", to) for to in note["refs"]]
            links = [(kind, self.place[target]) for target, kind in note["links"]]
            for kind, to in (*links, *refs):
                out.setdefault((at, to), []).append(kind)
        return out

    def walk(self, seed: int, asked: Any) -> dict[int, tuple[int, float]]:
        """What a walk from a seed emits: depth, and the best kind on the way over the depth."""
        edges, mode = self.edges, asked["mode"]
        seen: dict[int, tuple[int, float]] = {seed: (0, 0.0)}
        line = deque([seed])
        while line:
            node = line.popleft()
            depth, best = seen[node]
            if depth == asked["max_depth"]:
                continue
            out = sorted((to, kinds) for (of, to), kinds in edges.items() if of == node)
            back = sorted((of, kinds) for (of, to), kinds in edges.items() if to == node)
            steps = [*(out if mode != "in" else []), *(back if mode != "out" else [])]
            for to, kinds in steps:
                if to in seen:
                    continue
                if len(seen) == asked["max_visited"]:
                    return seen
                seen[to] = depth + 1, max(best, *(BOOSTS[kind] for kind in kinds))
                line.append(to)
        return seen

    def graph(self, lexical: list[float], inside: list[int], asked: Any) -> dict[int, Any]:
        """(graph, relation, seed_support) of every candidate that a walk reached."""
        hits = [at for at in inside if lexical[at] > 0.0]
        seeds = sorted(hits, key=lambda at: (-lexical[at], at))[:20]
        ways: dict[int, list[tuple[int, float]]] = {}
        for seed in seeds:
            for node, (depth, best) in self.walk(seed, asked).items():
                own = node == seed
                if node in inside and (own or node not in seeds):
                    ways.setdefault(node, []).append((depth, best / max(depth, 1)))
        out: dict[int, Any] = {}
        for node, reached in ways.items():
            depth, relation = min(reached, key=lambda way: (way[0], -way[1]))
            support = min(len(reached) - 1, 5) * 0.2
            out[node] = (1.0 / depth if depth else 0.0, relation, support)
        return out


def grid(number: float) -> float:
    """The nearest multiple of 2^-32."""
    return round(number * 2**32) / 2**32


def cosine(one: list[float], two: list[float]) -> float:
    """The cosine of two vectors."""
    product = sum(a * b for a, b in zip(one, two, strict=True))
    return product / (math.hypot(*one) * math.hypot(*two))


def vectors(chain: Chain, inside: list[int], vector: list[float] | None) -> dict[int, float]:
    """Half the cosine of the best 256 candidates, if it is .04 or more."""
    if vector is None:
        return {}
    near = {at: cosine(vector, chain.notes[at]["vector"]) for at in inside}
    best = sorted(inside, key=lambda at: (-near[at], at))[:256]
    return {at: near[at] * 0.5 for at in best if near[at] >= 0.04}


def scored(chain: Chain, asked: Any) -> dict[int, dict[str, float]]:
    """The numbers of every hit."""
    notes, blank = chain.notes, not asked["text"].strip()
    kinds = asked["thought_types"]
    inside = [at for at, note in enumerate(notes) if kinds is None or note["kind"] in kinds]
    lexical = [0.0] * len(notes) if blank else chain.lexical(asked["text"])
    vector = {} if blank else vectors(chain, inside, asked["vector"])
    graph = chain.graph(lexical, inside, asked) if asked["graph"] and not blank else {}
    hits: dict[int, dict[str, float]] = {}
    for at in inside:
        if not (blank or lexical[at] > 0.0 or at in graph or at in vector):
            continue
        note, words = notes[at], lexical[at]
        lift = vector.get(at, 0.0) * (1.0 + 35.0 * math.exp(-words / 3.0))
        off = note["importance"] - 0.5
        parts = {
            "lexical": words,
            "vector": vector.get(at, 0.0),
            **dict(zip(PARTS[2:5], graph.get(at, (0.0, 0.0, 0.0)), strict=True)),
            "importance": words * off * 0.3 if words > 0.0 else off * 0.1,
            "confidence": (note["confidence"] or 0.0) * 0.1,
            "recency": 0.05 * at / (len(notes) - 1) if len(notes) > 1 else 0.05,
            "session_cohesion": 0.0,
            "rrf": 0.0,
        }
        parts["total"] = sum(parts.values()) - parts["vector"] + lift
        hits[at] = parts
    return hits


def cohere(hits: dict[int, dict[str, float]]) -> None:
    """Neighbours of strong hits gain."""
    strong = [at for at, parts in hits.items() if parts["lexical"] >= 3.0]
    for at, parts in hits.items():
        distance = min((abs(at - other) for other in strong), default=0)
        if parts["lexical"] < 5.0 and 1 <= distance <= 12:
            parts["session_cohesion"] = 1.2 * (1.0 - distance / 12.0)
            parts["total"] += parts["session_cohesion"]


def rerank(hits: dict[int, dict[str, float]]) -> None:
    """Ranks of three lists take the place of words and vectors; all hits are in the lists."""
    keys = (("lexical",), ("vector",), ("graph", "relation", "seed_support"))
    for names in keys:
        # 1 + .6 and 1 + .4 + .2 are equal but for rounding, there of 32 bits; here it is our grid.
        sums = {at: sum(grid(parts[name]) for name in names) for at, parts in hits.items()}
        order = sorted(hits, key=lambda at: (-sums[at], at))
        for rank, at in enumerate(order, start=1):
            hits[at]["rrf"] += 1.0 / (60 + rank)
    for parts in hits.values():
        parts["total"] = sum(parts[name] for name in PARTS[2:10])


def answer(chain: Chain, asked: Any) -> list[Any]:
    """Per hit its id with the total, then each of its numbers."""
    hits = scored(chain, asked)
    cohere(hits)
    if asked["reranking"]:
        rerank(hits)

    def key(at: int) -> tuple[float, ...]:
        note, parts = chain.notes[at], hits[at]
        named = ("total", "lexical", "vector", "graph", "relation", "seed_support")
        raw = (note["importance"], note["confidence"] or 0.0, at)
        return tuple(-value for value in (*(round(parts[name], 9) for name in named), *raw))

    rows: list[Any] = []
    for at in sorted(hits, key=key)[: asked["limit"]]:
        rows.append([chain.notes[at]["id"], hits[at]["total"]])
        rows += [[f"{chain.notes[at]['id']} {name}", hits[at][name]] for name in PARTS]
    return rows


def main() -> None:
    """Every line of the input is a case."""
    for line in sys.stdin:
        case = json.loads(line)
        chain = Chain(case["notes"], case["agents"])
        out = [answer(chain, asked) for asked in case["questions"]]
        sys.stdout.write(json.dumps(out) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
