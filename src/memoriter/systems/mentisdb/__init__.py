"""MentisDB: recipe, importer of its chains, MCP tools, evaluation protocol for LoCoMo."""

from pathlib import Path
from typing import Final

RECIPE: Final = Path(__file__).with_name("recipe.toml")
