"""The result of a forget."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from memoriter.core.lazy_dataclass import dataclass
from memoriter.core.shown import counted, shown


@dataclass(frozen=True, slots=True)
class Erasure:
    """The result of a forget."""

    ids: tuple[str, ...]
    seq: int
    state: Literal["preview", "hidden", "erased"] = "hidden"
    """`preview`: nothing was done. `hidden`: gone from every answer; upkeep erases their bytes.
    `erased`: no file of the store holds anything of them."""

    reflections: tuple[str, ...] = ()
    """Those of `ids` that `reflect` made from the others: they quote them, so they go too."""
    derived: tuple[str, ...] = ()
    """Records that stay and were made from them, by their links: they may quote them."""

    def __repr__(self) -> str:
        return shown("Erasure", f"{counted(len(self.ids), 'record')} forgotten, {self.state}")

    @property
    def count(self) -> int:
        """How many records it is about."""
        return len(self.ids)

    def erased(self) -> Erasure:
        """The same, in the state `erased`."""
        return replace(self, state="erased")

    def to_dict(self) -> dict[str, object]:
        """The erasure as plain data."""
        about: dict[str, object] = {"ids": list(self.ids), "count": self.count}
        made = {"reflections": list(self.reflections), "derived": list(self.derived)}
        some = {name: ids for name, ids in made.items() if ids}
        return {**about, "seq": self.seq, "state": self.state, **some}
