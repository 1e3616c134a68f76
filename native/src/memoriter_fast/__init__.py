"""The native kernel of Memoriter. `memoriter.kernel` loads it; there is nothing to call here."""

from pathlib import Path

LIBRARY = next(
    (
        each
        for each in Path(__file__).parent.iterdir()
        if each.name in ("kernel.so", "kernel.dylib")
    ),
    None,
)
"""The library; None if the package was not built."""
