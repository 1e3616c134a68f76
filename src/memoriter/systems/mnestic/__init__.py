"""mnestic: its recipe, its dump of relations, its query language."""

from pathlib import Path
from typing import Final

RECIPE: Final = Path(__file__).with_name("recipe.toml")
