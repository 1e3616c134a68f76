"""Comis: recipe, importer of its export, JSON-RPC methods, MCP tool."""

from pathlib import Path
from typing import Final

RECIPE: Final = Path(__file__).with_name("recipe.toml")
