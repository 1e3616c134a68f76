"""Clusters of vectors: near pairs, single-link and label-propagation clustering, the mean.

Used by reflection (`write/reflect.py`).
"""

from __future__ import annotations

import math
import random  # noqa: TID251  # one generator with a fixed seed
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memoriter.core.work_limit import WorkLimit
from memoriter.rank.grid import STEP, exact_cosines, scan_margin, snap, unit

ROUNDS: Final = 20
"""Maximum rounds of label propagation."""
BLOCK: Final = 1024
"""Rows whose similarities are computed at once."""
SEED: Final = 42
"""Of the order in which `propagated_along` visits nodes."""


def near(
    vectors: NDArray[np.float32], least: float, work: WorkLimit | None = None
) -> NDArray[np.bool_]:
    """Which pairs of unit vectors have at least this cosine; the diagonal is False.

    A float32 product, block by block; where rounding could matter, exact cosines decide. A step
    is one pair, or one element of an exact cosine.

    >>> near(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], np.float32), 0.9).astype(int).tolist()
    [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    """
    margin = scan_margin(vectors.shape[1]) + STEP
    out = np.zeros((len(vectors), len(vectors)), np.bool_)
    for start in range(0, len(vectors), BLOCK):
        scanned = vectors[start : start + BLOCK] @ vectors.T
        block = scanned >= least + margin
        doubtful = ~block & (scanned >= least - margin)
        if work is not None:
            work.spend(scanned.size + vectors.shape[1] * int(doubtful.sum()))
        for at in np.flatnonzero(doubtful.any(axis=1)).tolist():
            others = np.flatnonzero(doubtful[at])
            block[at, others] = snap(exact_cosines(vectors[others], vectors[start + at])) >= least
        out[start : start + BLOCK] = block
    np.fill_diagonal(out, val=False)
    return out


def single_link(close: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Single-link clustering: connected components of the near pairs.

    A cluster's label is its first member.

    >>> single_link(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], np.bool_))
    array([0, 1, 0])
    """
    labels = np.full(len(close), -1, np.int64)
    for first in range(len(close)):
        fresh = np.array([first]) if labels[first] < 0 else np.zeros(0, np.intp)
        while fresh.size:
            labels[fresh] = first
            fresh = np.flatnonzero(close[fresh].any(axis=0) & (labels < 0))
    return labels


def propagated(close: NDArray[np.bool_], rounds: int = ROUNDS) -> NDArray[np.int64]:
    """Label propagation (Raghavan, Albert and Kumara 2007), deterministic.

    In order of age, each takes the label that most of its neighbours have (of equals the smallest),
    until nothing changes or the maximum number of rounds is reached.

    >>> propagated(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], np.bool_))
    array([2, 1, 2])
    """
    labels = np.arange(len(close))
    social = np.flatnonzero(close.any(axis=1)).tolist()
    for _ in range(rounds):
        before = labels.copy()
        for at in social:
            labels[at] = int(np.bincount(labels[close[at]]).argmax())
        if np.array_equal(before, labels):
            break
    return labels


def propagated_along(
    links: Sequence[tuple[int, int]], count: int, rounds: int = ROUNDS
) -> NDArray[np.int64]:
    """Label propagation among `count` nodes along links, which join both ways; deterministic.

    As `propagated`, but for the order: the nodes, as the links first name them, are shuffled before
    every round by a generator with a fixed seed. In order of age a label would follow a chain of
    links to its end within one round.

    >>> propagated_along([(0, 2), (2, 3)], 5)
    array([0, 1, 0, 0, 4])
    """
    around: dict[int, set[int]] = {}
    for one, two in links:
        around.setdefault(one, set()).add(two)
        around.setdefault(two, set()).add(one)
    labels, order = list(range(count)), list(around)
    shuffler = random.Random(SEED)  # noqa: S311  # the same order every time
    for _ in range(rounds):
        before = labels.copy()
        shuffler.shuffle(order)
        for node in order:
            counts = Counter(labels[other] for other in around[node])
            labels[node] = min(counts, key=lambda label: (-counts[label], label))
        if before == labels:
            break
    return np.array(labels, np.int64)


def clusters(labels: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """The places of each label in ascending order; the cluster of the first place comes first.

    >>> [each.tolist() for each in clusters(np.array([2, 1, 2]))]
    [[0, 2], [1]]
    """
    order = np.argsort(labels, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    return sorted((part for part in parts if part.size), key=lambda part: int(part[0]))


def cohesion(vectors: NDArray[np.float32]) -> float:
    """The mean cosine over all pairs; needs at least two unit vectors.

    >>> cohesion(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], np.float32))
    0.3333333333333333
    """
    wide = vectors.astype(np.float64)
    pairs = snap(wide @ wide.T)[np.triu_indices(len(wide), 1)]
    return float(pairs.sum()) / pairs.size


def middle(vectors: NDArray[np.floating]) -> NDArray[np.float32] | None:
    """The mean of some vectors at unit length on the grid; None if they cancel out.

    >>> (middle(np.array([[3.0, 0.0], [0.0, 4.0]])) * 2**23).tolist()
    [5033165.0, 6710886.0]
    """
    return unit(np.array([math.fsum(column) for column in vectors.astype(np.float64).T.tolist()]))
