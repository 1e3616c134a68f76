"""Makes texts safe to send to a model, and messages of a model safe to print."""

from __future__ import annotations


def encodable(text: str) -> str:
    """The text with each lone surrogate, which UTF-8 cannot encode, replaced by a question mark."""
    return text.encode("utf-8", "replace").decode()


def excerpt(text: str, limit: int = 200) -> str:
    r"""The first `limit` characters of a message on one line, without control characters.

    >>> excerpt("two\x1b[0m\n  lines")
    'two [0m lines'
    """
    # The text may be megabytes of an error page: cut it before looking at every character.
    printable = "".join(char if char.isprintable() else " " for char in text[: 50 * limit])
    return " ".join(printable.split())[:limit]
