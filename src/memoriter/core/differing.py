"""Compares two trees of JSON-like data; used to diff receipts, results and recipes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

Difference = tuple[str, object, object]
"""A path, the value there in the first tree, and in the second; None where it is absent."""


def differing(one: object, two: object, path: str = "") -> Iterator[Difference]:
    """Yield every difference; lists of equal length are compared by item, others as a whole.

    >>> list(differing({"a": [1, 2], "b": 1}, {"a": [1, 3], "c": 1}))
    [('a.1', 2, 3), ('b', 1, None), ('c', None, 1)]
    """
    first, second = _children(one), _children(two)
    # Lists of different length are one difference: comparing by index would report shifted items.
    apart = type(one) is not type(two) or (isinstance(one, list) and len(first) != len(second))
    if apart or not isinstance(one, list | Mapping):
        if apart or one != two:
            yield path, one, two
        return
    for key in dict.fromkeys((*first, *second)):
        below = f"{path}.{key}" if path else key
        yield from differing(first.get(key), second.get(key), below)


def _children(tree: object) -> dict[str, object]:
    """The children of a node, by key or by index."""
    if isinstance(tree, Mapping):
        return dict(cast("Mapping[str, object]", tree))
    if isinstance(tree, list):
        return {str(at): item for at, item in enumerate(cast("list[object]", tree))}
    return {}
