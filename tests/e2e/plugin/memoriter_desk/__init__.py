"""What lies on a desk: one of each thing that a package from outside may bring to Memoriter."""

from pathlib import Path

DESK = Path(__file__).with_name("desk.toml")
