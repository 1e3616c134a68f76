"""Records of low trust stand behind others that match nearly as well."""

from __future__ import annotations

from tests.oracle.rules import OrderingOracle, Spec
from tests.oracle.table import Scene, Table


def _rows(spec: Spec, scene: Scene, table: Table) -> list[int]:
    low = [row for row in table.rows if scene.records[row].trust in spec["of"]]
    out = [row for row in table.rows if row not in low]
    trusted = list(out)
    for row in low:
        own = table.first[row]
        least = spec["share"] * (own if spec["most"] is None else min(own, spec["most"]))
        rivals = [other for other in trusted if table.first[other] >= least][: spec["before"]]
        above = [other for other in trusted if table.rows.index(other) < table.rows.index(row)]
        behind = [*rivals, *above]
        last = max((out.index(other) for other in behind), default=-1)
        # Behind the records of low trust that wait at the same place already.
        while last + 1 < len(out) and out[last + 1] in low:
            last += 1
        out.insert(last + 1, row)
    return out


ORACLE = OrderingOracle(_rows)
