"""Runs where mnestic is installed: fills relations, and writes what it exports of them."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

mnestic: Any = importlib.import_module("mnestic")
SCRIPTS = (
    ":create memory {id: String => text: String, emb: <F32; 3>, tags: [String], meta: Json?}",
    ":create edge {from: String, to: String => w: Float}",
    ":create history {id: String, at: Validity => text: String}",
)


def main(path: str) -> None:
    """Twenty records, their edges, and the history of one."""
    db = mnestic.CozoDbPy("mem", "", "{}")
    for script in SCRIPTS:
        db.run_script(script, {}, False)  # noqa: FBT003  # not read-only
    rows = [[f"m{n}", f"note {n}", [n + 1, 1, 0], ["x"], {"n": n}] for n in range(20)]
    put = "?[id, text, emb, tags, meta] <- $rows :put memory {id => text, emb, tags, meta}"
    db.run_script(put, {"rows": rows}, False)  # noqa: FBT003  # as above
    edges = [[f"m{n}", f"m{n + 1}", 0.5] for n in range(19)]
    put = "?[from, to, w] <- $rows :put edge {from, to => w}"
    db.run_script(put, {"rows": edges}, False)  # noqa: FBT003  # as above
    versions = [["m0", [1700000000000000, True], "old"], ["m0", [1770000000000000, True], "note 0"]]
    put = "?[id, at, text] <- $rows :put history {id, at => text}"
    db.run_script(put, {"rows": versions}, False)  # noqa: FBT003  # as above
    dump = db.export_relations(["memory", "edge", "history"])
    Path(path).write_text(json.dumps(dump), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
