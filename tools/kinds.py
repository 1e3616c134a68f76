"""Writes `docs/kinds.md`, every kind of lane, boost and ordering with its options, from the code.

`python -m tools.kinds` writes it, and `make format` runs that; a test says when it is stale.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memoriter.lanes.spec import RecipePart, SpecField, options_of, worded
from memoriter.pipeline.fusing import FUSIONS
from memoriter.pipeline.kinds import kinds

TARGET: Final = Path(__file__).parent.parent / "docs" / "kinds.md"
_HEAD: Final = """# Kinds: every lane, fusion, boost and ordering, with its options

Written by `make format` from the classes themselves: change them there.
[recipes.md](recipes.md) says how a recipe puts them together. Every lane, boost and ordering also
has `enabled` (`true`).
"""
_GROUPS: Final = {
    "Lanes": (kinds("lanes"), "`[lanes.LABEL]`: which rows, by one signal."),
    "Fusions": (FUSIONS, "`fuse` of a pass: how the scores of lanes become one."),
    "Boosts": (kinds("boosts"), "`[boosts.LABEL]`: what changes a score."),
    "Orderings": (kinds("orderings"), "`[[order]]`: what moves or drops rows."),
}


def source() -> str:
    """The content of the file."""
    return _HEAD + "".join(
        f"\n## {title}\n{about}\n" + "".join(map(_kind, filter(_is_ours, parts)))
        for title, (parts, about) in _GROUPS.items()
    )


def _is_ours(part: type[RecipePart]) -> bool:
    """Whether a kind is built in: other installed packages are not part of these docs."""
    return part.__module__.startswith("memoriter.")


def _kind(part: type[RecipePart]) -> str:
    rows = list(_rows(part))
    head = f"\n### `{part.kind_name()}`\n{part.about[0].upper()}{part.about[1:]}.\n"
    table = "\n| option | default | meaning |\n|---|---|---|\n" + "".join(rows)
    return head + (table if rows else "")


def _rows(part: type[RecipePart]) -> Iterator[str]:
    for key, field in options_of(part).items():
        if key != "enabled":
            values = [f"`{value}`: {words}" for value, words in worded(part, key).items()]
            meaning = "; ".join([field.option.about, *values]).replace("|", "\\|")
            yield f"| `{key}` | {_default(field)} | {meaning} |\n"


def _default(field: SpecField) -> str:
    if field.required:
        return "required"
    value = field.default()
    return "none" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"


if __name__ == "__main__":
    TARGET.write_text(source(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.name}: {sum(len(parts) for parts, _ in _GROUPS.values())} kinds\n")
