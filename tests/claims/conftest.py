"""Corpus A as each system had it; nothing writes to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.claims.corpus import open_corpus

from memoriter.memory.facade import Memory


@pytest.fixture(scope="session")
def corpus() -> Iterator[Memory]:
    """The texts, without vectors."""
    with open_corpus() as memory:
        yield memory


@pytest.fixture(scope="session")
def vectors() -> Iterator[Memory]:
    """The texts with their vectors."""
    with open_corpus(vectors=True) as memory:
        yield memory


@pytest.fixture(scope="session")
def files() -> Iterator[Memory]:
    """The texts as files."""
    with open_corpus(paths=True) as memory:
        yield memory


@pytest.fixture(scope="session")
def files_with_vectors() -> Iterator[Memory]:
    """The texts as files, with their vectors."""
    with open_corpus(vectors=True, paths=True) as memory:
        yield memory
