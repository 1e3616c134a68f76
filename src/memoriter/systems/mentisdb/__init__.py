"""MentisDB: its recipe, its chain files, its MCP tools, its way to measure LoCoMo."""

from pathlib import Path
from typing import Final

RECIPE: Final = Path(__file__).with_name("recipe.toml")
