"""A vector space: an embedder, the text that it reads of a record, and the deadline of its calls.

The name of a space is stored with every vector. It is made of the embedder's fingerprint, the
template that turns a record into text, and the window of a model that reads long texts in parts:
vectors are comparable if, and only if, their spaces have the same name. Writes embed records and
queries embed their text through the same `VectorSpace`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from memoriter.core.batch import IN_BYTES
from memoriter.core.errors import InputError, message_of
from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.lazy_pattern import lazy_pattern
from memoriter.core.record import Content
from memoriter.embed.call import PATIENCE, Patience, call_with_deadline
from memoriter.embed.port import Embedder, Side
from memoriter.rank.units import nearest_bytes, widened

_log: Final = logging.getLogger(__name__)
AgentRegistry = Mapping[str, Mapping[str, Any]]
"""The registry entry of each agent, by name."""
Outcome = bytes | None | Exception
"""The vector of a text as bytes, None if there is nothing to embed, or the embedder's error."""
DEFAULT: Final = "title-text/1"
_UNIT_SLACK: Final = 0.01
# In scripts without spaces (CJK and above) each character counts as a word; a word of more than 32
# characters counts as several, so that no part can grow without bound.
_WORDS: Final = lazy_pattern(r"[\u2e80-\U0010ffff]|[^\s\u2e80-\U0010ffff]{1,32}")


# -- templates -------------------------------------------------------------------------------------


def _title_text(content: Content, registry: AgentRegistry) -> str:
    del registry  # this template does not mention the agent
    return content.titled


def _labelled(content: Content, registry: AgentRegistry) -> str:
    """The text, then one line each for concepts, tags and the registry entry of the agent."""
    agent = registry.get(content.agent or "", {})
    name = agent.get("display_name")
    lines = {
        "Concepts": ", ".join(content.concepts),
        "Tags": ", ".join(content.tags),
        "Agent": name if name != content.agent else None,
        "Aliases": ", ".join(agent.get("aliases", ())),
        "Owner": agent.get("owner"),
        "Description": agent.get("description"),
    }
    return "\n".join([content.text, *(f"{key}: {value}" for key, value in lines.items() if value)])


_TEMPLATES: Final[dict[str, Callable[[Content, AgentRegistry], str]]] = {
    DEFAULT: _title_text,
    "labelled/1": _labelled,
}
_SUFFIX: Final = lazy_pattern(rf"\+({'|'.join(map(re.escape, _TEMPLATES))})(?:\+parts/(\d+))?$")
"""The end of a space's name: template and window."""


class SpaceName(NamedTuple):
    """The parts of a space's name."""

    fingerprint: str
    """Of the embedder."""
    template: str
    window: int | None
    """Words per part; None if a text is embedded as a whole."""


def template_of(embedder: Embedder) -> str:
    """The template of an embedder: its attribute `template` if that is known, else the default."""
    template = getattr(embedder, "template", DEFAULT)
    return template if template in _TEMPLATES else DEFAULT


def space_of(embedder: Embedder | None) -> str:
    """The name of an embedder's space; `none` without an embedder, `given:<n>` for own vectors."""
    if embedder is None:
        return "none"
    if embedder.fingerprint.startswith("given:"):
        return embedder.fingerprint
    window = window_of(embedder)
    parts = "" if window is None else f"+parts/{window}"
    return f"{embedder.fingerprint}+{template_of(embedder)}{parts}"


def parse_space(space: str) -> SpaceName:
    """Split the name of a space into its parts.

    >>> parse_space("minilm:3f+title-text/1+parts/180")
    SpaceName(fingerprint='minilm:3f', template='title-text/1', window=180)
    """
    match = _SUFFIX.search(space)
    if match is None:
        return SpaceName(space, DEFAULT, None)
    return SpaceName(space[: match.start()], match[1], int(match[2]) if match[2] else None)


def reads_alike(space: str, one: Content, other: Content, registry: AgentRegistry) -> bool:
    """Whether two contents give the same text in a space, so that a vector can be kept."""
    template = _TEMPLATES[parse_space(space).template]
    return template(one, registry) == template(other, registry)


def embedded_texts(
    content: Content, embedder: Embedder | None, registry: AgentRegistry
) -> list[str]:
    """The texts that an embedder reads of a record: one, or overlapping parts of a long one."""
    template = DEFAULT if embedder is None else template_of(embedder)
    parts = split_text(_TEMPLATES[template](content, registry), window_of(embedder))
    cut = getattr(embedder, "cut", None)  # some count more than words
    return parts if cut is None else [piece for part in parts for piece in cut(part)]


# -- embedding -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """An embedder, or None, and how long a call of it may take."""

    embedder: Embedder | None
    patience: Patience = PATIENCE
    is_derived: bool = False
    """Whether the index computes its vectors of records, so that a write only notes them."""

    @property
    def name(self) -> str:
        """The name of the space, as it is stored with vectors."""
        return space_of(self.embedder)

    @property
    def embedder_name(self) -> str:
        """The name of the embedder, as a plan shows it."""
        return "none" if self.embedder is None else self.embedder.name

    @property
    def embeds(self) -> bool:
        """Whether texts can be embedded; vectors of a `given:<n>` space come from the caller."""
        return self.embedder is not None and not self.embedder.fingerprint.startswith("given:")

    @property
    def reads_registry(self) -> bool:
        """Whether the template mentions the agent, so that the registry has to be read."""
        return self.embedder is not None and template_of(self.embedder) != DEFAULT

    def embed(self, texts: Sequence[str], side: Side) -> list[Outcome]:
        """The vector of each text as bytes.

        It never raises: if the embedder fails or is late, each outcome is the error, which becomes
        a debt on a write and a skipped lane in a search.
        """
        embedder = self.embedder
        if embedder is None or not self.embeds or not texts:
            return [None] * len(texts)

        def call() -> list[Outcome]:
            vectors = zip(texts, embedder.embed(texts, side), strict=True)
            return [
                None if v is None else check_embedding(v, embedder.dimension).tobytes()
                for _, v in vectors
            ]

        try:
            return call_with_deadline(call, embedder, self.patience.seconds(side, len(texts)))
        except Exception as error:
            _log.warning("embedder %s failed: %s", embedder.name, message_of(error))
            return [error] * len(texts)

    @property
    def is_in_bytes(self) -> bool:
        """Whether vectors are bytes that were brought to unit length (`rank.units.widened`)."""
        return getattr(self.embedder, "in_bytes", False)

    def body_of(self, vector: bytes) -> bytes:
        """A vector as the log keeps it: in bytes, if they give it bit for bit, else float32."""
        values = np.frombuffer(vector, "<f4")
        # The length of a body tells them apart (`IN_BYTES`).
        if not self.is_in_bytes or values.size % 4 or not values.any():
            return vector
        codes = nearest_bytes(values)
        same = widened(codes[np.newaxis]).tobytes() == vector
        return IN_BYTES + codes.tobytes() if same else vector


def check_embedding(vector: np.ndarray, dimension: int) -> np.ndarray:
    """The vector as little-endian float32; ValueError if its size, values or length are wrong."""
    if vector.shape != (dimension,):
        raise ValueError(f"the vector has the shape {vector.shape}; expected {dimension} numbers")
    wide = vector.astype(np.float64)
    if not abs(float(wide @ wide) - 1.0) <= _UNIT_SLACK:  # NaN is not below anything
        if not np.isfinite(vector).all():
            raise ValueError("the vector contains NaN or infinity")
        raise ValueError("the vector is not of unit length")
    return vector.astype("<f4")


# -- parts of long texts ---------------------------------------------------------------------------


def split_text(text: str, window: int | None, overlap: int | None = None) -> list[str]:
    """The parts of a text: `window` words each, `overlap` of them shared with the part before.

    The overlap is a quarter of the window by default. A text that fits, or any text if the window
    is None, is returned whole. Raises InputError unless 0 ≤ overlap < window.

    >>> split_text("one two three  four five six seven", window=4)
    ['one two three  four', 'four five six seven']
    """
    if window is None:
        return [text]
    shared = window // 4 if overlap is None else overlap
    if not 0 <= shared < window:
        raise InputError(
            f"overlap: expected 0 to {window - 1} words, got {shared}", field="overlap"
        )
    words = [match.span() for match in _WORDS.finditer(text)]
    if len(words) <= window:
        return [text]
    parts: list[str] = []
    for first in range(0, len(words) - shared, window - shared):
        last = min(first + window, len(words)) - 1
        parts.append(text[words[first][0] : words[last][1]])
    return parts


def window_of(embedder: object) -> int | None:
    """The words per part that an embedder wants; None if it declares no window."""
    window = getattr(embedder, "window", None)
    return window if isinstance(window, int) else None
