"""Records of the speaker whom the question names."""

from __future__ import annotations

from tests.oracle.numbers import Column, grid
from tests.oracle.rules import BoostOracle, Spec, each
from tests.oracle.table import Scene, Table

from memoriter.core.record import Record
from memoriter.text.speakers import named_speakers, side_asked


def _speaker(record: Record, attribute: str) -> str | None:
    return record.source.who if attribute == "source.who" else record.role


def _asked(scene: Scene) -> tuple[str, set[str]] | None:
    records = [scene.records[row] for row in scene.chosen]
    sides = {"user", "assistant"}
    speakers = {r.source.who for r in records if r.source.who is not None}
    named = set(named_speakers(scene.text, speakers - sides))
    if named:
        return None if named == speakers else ("source.who", named)
    side = side_asked(scene.text)
    if side is None:
        return None
    roles = {r.role for r in records if r.role is not None}
    if speakers >= sides:
        return "source.who", {side}
    return ("role", {side}) if roles >= sides else None


def _values(spec: Spec, scene: Scene, table: Table) -> Column:
    asked = _asked(scene)
    if asked is None:
        return {}
    attribute, wanted = asked

    def value(row: int) -> float | None:
        speaker = _speaker(scene.records[row], attribute)
        if speaker is None:
            return None
        return grid(spec["weight"] if speaker in wanted else -spec["weight"])

    return each(table, value)


def _runs(spec: Spec, scene: Scene) -> bool:
    del spec
    return _asked(scene) is not None


ORACLE = BoostOracle(_values, runs=_runs)
