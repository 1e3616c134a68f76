"""Pictures beside a number of an explanation: lines between words, a chain of links, a table.

A kind says what is shown (`RecipePart.picture`) in one of these shapes. Whoever draws knows the
shapes and no kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memoriter.core.names import JsonObject

HIDDEN = "(hidden)"
"""In place of an id that the reader may not see."""


def joined_words(caption: str, lines: Iterable[tuple[str, str, float]]) -> JsonObject:
    """Words on the left joined to words on the right; a line is as thick as its share, 0 to 1."""
    rows = [
        {"left": left, "right": right, "share": share, "text": f"{share:.2f}"}
        for left, right, share in lines
    ]
    label = "; ".join(f"{row['left']} and {row['right']}, {row['text']}" for row in rows)
    return {"shape": "lines", "caption": caption, "label": label, "rows": rows} if rows else {}


def link_chain(caption: str, steps: Iterable[tuple[str | None, str]]) -> JsonObject:
    """Records in a row, each with the link that leads to it; the first has none, so it is empty.

    >>> link_chain("", [("a", ""), (None, "cites →")])["label"]
    'a, cites → (hidden)'
    """
    rows = [{"text": id or HIDDEN, "link": link} for id, link in steps]
    label = ", ".join(f"{row['link']} {row['text']}".strip() for row in rows)
    return {"shape": "chain", "caption": caption, "label": label, "rows": rows} if rows else {}


def small_table(
    caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], ids: int | None = None
) -> JsonObject:
    """A table of texts; `ids` is the number of the column that has ids of records."""
    cells = [list(row) for row in rows]
    out = {"shape": "table", "caption": caption, "heads": [*heads], "rows": cells, "ids": ids}
    return out if cells else {}
