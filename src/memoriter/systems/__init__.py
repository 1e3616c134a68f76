"""Compatibility with five other memory systems: recipes, importers, dialects, tools and methods.

Each system has a package here, and each part of it is declared as an entry point in
`pyproject.toml`, as an independent package would do it. Nothing in the core imports this package or
names a system: the core reads its registries (`core.plugins`). Modules next to the packages are
shared by several systems: analyzers (`fts5`, `runs`) and the translation of requests (`wording`).
"""
