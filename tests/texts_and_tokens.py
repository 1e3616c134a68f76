"""Texts of many kinds, as the packaged model reads them."""

from __future__ import annotations

from memoriter.embed.memory_en import LOADED
from memoriter.embed.transformer import LONGEST, Weights
from memoriter.embed.word_pieces import WordPieces

TEXTS = (
    "The spare key is under the third pot of basil.",
    "how do I get in?",
    "Ann is allergic to peanuts; Tomé isn't.",
    "kubectl -n pay rollout undo deploy/gateway  # brings it back",
    "Zürich 4.30 €, naïve café — 北京",
    "yes",
    "a note that goes on " * 60,
)


def weights() -> Weights:
    return LOADED.weights()


def tokens_of(texts: tuple[str, ...]) -> list[list[int]]:
    pieces = WordPieces()
    return [pieces.tokens(text, LONGEST) for text in texts]
