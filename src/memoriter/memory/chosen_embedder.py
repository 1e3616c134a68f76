"""Which embedder a tenant has: an entry of the log, in the registry of agents.

A new tenant gets the packaged model. It says before its first record which one it is made with, if
that can be opened by its name alone; one that has records and no such entry has the packaged table.
"""

from __future__ import annotations

import json
import os
from typing import Any, Final, cast

from memoriter.core.batch import Batch, Commit, RegisterAgent
from memoriter.core.canonical import canonical
from memoriter.core.clock import Clock, Entropy
from memoriter.embed.vector_space import VectorSpace, space_of
from memoriter.index.view import SETTING
from memoriter.memory.embedders import NAMED, embedder_of
from memoriter.store.port import Log
from memoriter.write.prepare import SALT_BYTES

VARIABLE: Final = "MEMORITER_NEW_STORE"
"""Names the embedder of new stores, where it shall not be the packaged model."""
TABLE: Final = "table"
EmbeddingSettings = dict[str, Any]
"""The serving embedder and space, earlier ones, and the embedder names of known spaces."""


def embedding_settings(log: Log, tenant: str) -> EmbeddingSettings:
    """The settings of a tenant; those that follow from its records where it has no entry."""
    known = _stored(log, tenant)
    if known is not None:
        return known
    name = TABLE if log.head(tenant).positions else new_embedder()
    return {"embedder": name, "space": space_of(embedder_of(name)), "before": []}


def new_embedder() -> str:
    """The name of the embedder that a tenant without records gets."""
    return os.environ.get(VARIABLE, "").strip() or "auto"


def save_settings(
    log: Log, tenant: str, settings: EmbeddingSettings, clock: Clock, entropy: Entropy
) -> Commit:
    """Commit the settings of a tenant."""
    body = canonical({"agent": SETTING, "aliases": [], **settings})
    act = RegisterAgent(SETTING, body, entropy.draw(SALT_BYTES), None)
    return log.commit(Batch(tenant, (act,), clock.now()))


def _stored(log: Log, tenant: str) -> EmbeddingSettings | None:
    for row in log.agents(tenant, 2**62):
        if row.agent == SETTING:
            return cast("EmbeddingSettings", json.loads(row.body))
    return None


class Founding:
    """Called before every commit: the first of a new tenant says which model it is made with."""

    def __init__(self, log: Log, tenant: str, vectors: VectorSpace) -> None:
        self._log, self._tenant, self._space = log, tenant, vectors.name
        self._name = vectors.embedder_name
        self._done = self._name not in NAMED

    def __call__(self, clock: Clock, entropy: Entropy) -> None:
        """Commit the settings, unless the tenant has some, or records."""
        if self._done:
            return
        if not self._log.head(self._tenant).positions and _stored(self._log, self._tenant) is None:
            made: EmbeddingSettings = {"embedder": self._name, "space": self._space, "before": []}
            save_settings(self._log, self._tenant, made, clock, entropy)
        self._done = True
