"""What lies on a desk: a lane, a boost, an ordering and a recipe from outside Memoriter."""

from pathlib import Path

DESK = Path(__file__).with_name("desk.toml")
