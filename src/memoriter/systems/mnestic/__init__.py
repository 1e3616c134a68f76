"""mnestic: recipe, importer of its dumps, query dialect."""

from pathlib import Path
from typing import Final

RECIPE: Final = Path(__file__).with_name("recipe.toml")
