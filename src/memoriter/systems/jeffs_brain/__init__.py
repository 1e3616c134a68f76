"""jeffs-brain: its recipe, its folder of notes, its query language, its MCP tools."""

from pathlib import Path
from typing import Final

RECIPE: Final = Path(__file__).with_name("recipe.toml")
