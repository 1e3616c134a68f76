"""engrava: its recipe, its database and snapshot, its query language, its MCP tools."""

from pathlib import Path
from typing import Final

RECIPE: Final = Path(__file__).with_name("recipe.toml")
