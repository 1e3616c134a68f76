"""Limits hits to what fits into a prompt's budget of tokens or characters. Called by `run`."""

from __future__ import annotations

from typing import Final

import numpy as np

from memoriter.core.slate import Slate
from memoriter.lanes.port import Context
from memoriter.pipeline.orderings.port import Moved
from memoriter.text.prompt import head_size, pack_entries

SIZES: Final = ("tokens", "chars")
"""Its detail columns: the sizes of each entry."""


def fit_budget(ctx: Context, slate: Slate) -> Moved:
    """The rows whose entries fit, in order; a row that does not fit is passed over.

    The size of an entry includes its number in the prompt, so it depends on the rows kept before.
    """
    records = ctx.fetch(slate.rows.tolist())
    replaced = ctx.replacing_ids(slate.rows)
    known = [at for at, record in enumerate(records) if record is not None]
    entries = [(record, bool(replaced[at])) for at, record in enumerate(records) if record]
    pieces = pack_entries(entries, ctx.query.budget)
    sizes = np.full((2, slate.rows.size), np.nan)
    for at, piece in zip(known, pieces, strict=True):
        sizes[:, at] = piece.tokens, piece.chars
    keep = [at for at, piece in zip(known, pieces, strict=True) if piece.kept]
    tokens, chars = head_size()
    shows = {
        "used_tokens": tokens + sum(piece.tokens for piece in pieces if piece.kept),
        "used_chars": chars + sum(piece.chars for piece in pieces if piece.kept),
        "passed_over": len(pieces) - len(keep),
    }
    return Moved(np.array(keep, np.intp), dict(zip(SIZES, sizes, strict=True)), shows)
