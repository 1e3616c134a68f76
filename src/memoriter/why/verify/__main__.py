"""`python -m verify receipt.json …`: exit code 0 without problems, 9 with some, 2 if no receipt."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from . import NotAReceipt, OverBudget, verify

DAMAGED: Final = 9
"""The exit code of a receipt with problems."""


def main(arguments: Sequence[str]) -> int:
    """Verify files, print a report for each and return the exit code of the worst."""
    worst = 0 if arguments else 2
    if not arguments:
        sys.stderr.write("usage: python -m verify receipt.json …\n")
    for path in arguments:
        try:
            verified = verify(Path(path))
        except (NotAReceipt, OverBudget) as error:
            sys.stderr.write(f"{path}: {error}\n")
            worst = max(worst, 2)
            continue
        counts = f"{len(verified.checked)} parts recomputed, {len(verified.attested)} attested"
        sys.stdout.write(f"{path}: {'verified' if verified.ok else 'NOT verified'}: {counts}\n")
        for problem in verified.problems:
            sys.stdout.write(f"  {problem}\n")
        worst = worst if verified.ok else DAMAGED
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
