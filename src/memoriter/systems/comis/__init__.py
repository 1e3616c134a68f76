"""Comis: its recipe, its export, its JSON-RPC methods and its MCP tool."""

from pathlib import Path
from typing import Final

RECIPE: Final = Path(__file__).with_name("recipe.toml")
