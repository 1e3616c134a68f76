"""Write `core/given.py`, the fields of a record as a caller may give them, from `core/record.py`.

`python -m tools.given` writes it, and `make format` runs that. Type checkers cannot follow a table,
so they get these lines; a test says when they are stale.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from memoriter.core.record import FIELDS

TARGET: Final = Path(__file__).parent.parent / "src" / "memoriter" / "core" / "given.py"
_HEAD: Final = '''"""The fields of a record as a caller may give them, for type checkers.

Written by `make format` from `core/record.py`, where the fields are declared: change them there.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, TypedDict

from memoriter.core.fields import Source
from memoriter.core.record import FIELDS
from memoriter.core.times import TimeLike


class Given(TypedDict, total=False):
    """The fields of a record but its text; None is as good as nothing."""

'''


def source() -> str:
    """What the file should hold."""
    lines = [
        f'    {name}: Annotated["{field.kind.given} | None", FIELDS["{name}"]]\n'
        for name, field in FIELDS.items()
        if name != "text"
    ]
    return _HEAD + "".join(lines)


if __name__ == "__main__":
    TARGET.write_text(source(), encoding="utf-8")
    sys.stdout.write(f"{TARGET.name}: {len(FIELDS) - 1} fields\n")
