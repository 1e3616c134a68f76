"""engrava: recipe, importer of its database and snapshots, query dialect, MCP tools."""

from pathlib import Path
from typing import Final

RECIPE: Final = Path(__file__).with_name("recipe.toml")
