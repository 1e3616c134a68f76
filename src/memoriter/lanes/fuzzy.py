"""The last rung of the BM25 ladder: rows with a word spelled similarly, by trigram similarity.

Surface words are compared, as people wrote them, not stems. A row's score is the similarity
(Jaccard over trigrams) of its most similar word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memoriter.core.explanation import Explanation
from memoriter.core.ranking import Mask, Rows, Scores
from memoriter.index.field_stats import FieldStats
from memoriter.index.match import PhrasePattern
from memoriter.lanes.bm25_query import unstacked
from memoriter.rank.grid import snap_one
from memoriter.text.port import Analyzer
from memoriter.text.retry import jaccard, trigrams

Nearby = tuple[float, str]
"""(similarity, word of the query)."""


class Fuzzy:
    """Searches the surface words of a view."""

    def __init__(self, stats: FieldStats, analyzer: Analyzer, masks: Sequence[Mask]) -> None:
        self._stats = stats
        self._analyzer = analyzer
        self._masks = masks

    def near(self, words: list[str], floor: float) -> tuple[Rows, Scores, tuple[str, ...]]:
        """(rows, similarity of their best word, all similar words, most similar first)."""
        rows: list[Rows] = [np.zeros(0, np.int64)]
        scores: list[Scores] = [np.zeros(0)]
        met: dict[str, float] = {}
        for n, mask in enumerate(self._masks):
            values, near = self._segment(n, mask, words, floor)
            hit = values > 0.0
            rows.append(self._stats.view.segments[n].rows[hit])
            scores.append(values[hit])
            met |= near
        words_met = sorted(met, key=lambda word: (-met[word], word))
        return np.concatenate(rows), np.concatenate(scores), tuple(words_met)

    def _segment(
        self, n: int, mask: Mask, words: list[str], floor: float
    ) -> tuple[Scores, dict[str, float]]:
        segment = self._stats.view.segments[n]
        values, met = np.zeros(mask.size), dict[str, float]()
        for ordinal, similarity in segment.spellings.similar(words, floor).items():
            word = segment.surfaces[ordinal]
            docs = segment.surface_docs(word)
            docs = docs[mask[docs]]
            docs = docs[self._searched(n, word, docs)]
            if docs.size:
                met[word] = snap_one(similarity)
                values[docs] = np.maximum(values[docs], met[word])
        return values, met

    def _searched(self, n: int, word: str, docs: np.ndarray) -> Mask:
        """Which of these rows have the word in a searched field.

        Surface words are not indexed by field, so the posting lists decide.
        """
        tokens = tuple(unstacked(self._analyzer.tokens(word)))
        if not tokens or not docs.size:
            return np.zeros(docs.size, np.bool_)
        postings = self._stats.occurrences(n, PhrasePattern(tokens))
        return np.zeros(docs.size, np.bool_) if postings is None else np.isin(docs, postings.docs)

    def evidence(self, words: Sequence[str], met: Sequence[str], rows: Rows) -> list[Explanation]:
        """For each row its most similar word of `met`, and the query word that it resembles."""
        return [self._one(words, met, row) for row in rows.tolist()]

    def _one(self, words: Sequence[str], met: Sequence[str], row: int) -> Explanation:
        for n, segment in enumerate(self._stats.view.segments):
            (places, _) = segment.places(np.array([row]))
            for word in met if places.size else ():
                docs = segment.surface_docs(word)
                docs = docs[np.isin(docs, places)]
                if docs.size and self._searched(n, word, docs).any():
                    similarity, typed = self._nearness(words, word)
                    facts: dict[str, object] = {
                        "term": word, "fields": self._fields(n, word, int(places[0])),
                        "typed": typed, "word": word, "similarity": similarity,
                    }  # fmt: skip
                    return Explanation(f"{typed} ~ {word}", similarity, facts=facts)
        return Explanation("gone", 0.0)

    def _fields(self, n: int, word: str, place: int) -> list[str]:
        """The names of a row's fields that contain a word."""
        tokens = tuple(unstacked(self._analyzer.tokens(word)))
        postings = self._stats.occurrences(n, PhrasePattern(tokens))
        if postings is None:
            return []
        return [self._stats.names[f] for f in postings.fields[postings.docs == place].tolist()]

    def _nearness(self, words: Sequence[str], word: str) -> Nearby:
        grams = trigrams(word)
        return max((snap_one(jaccard(trigrams(typed), grams)), typed) for typed in words)
