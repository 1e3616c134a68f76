"""Texts on their way to a model and back: what an encoder takes, what a line of a log takes."""

from __future__ import annotations


def encodable(text: str) -> str:
    """The text; a lone surrogate, which no encoder takes, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def one_line(text: str, limit: int = 200) -> str:
    r"""The first words of somebody's message, safe to print.

    >>> one_line("two\x1b[0m\n  lines")
    'two [0m lines'
    """
    printable = "".join(char if char.isprintable() else " " for char in text[: 50 * limit])
    return " ".join(printable.split())[:limit]
