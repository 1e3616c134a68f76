"""Five other memory systems in their own words: their recipes, files, dialects, tools and methods.

Each has a package here, and each part of it is declared as an entry point in `pyproject.toml`, as
another package would declare its own. Nothing in the core imports this package or knows a system
by name; the core asks its registries (`core.plugins`). What several systems share stands beside
their packages: analyzers (`fts5`, `runs`) and the way from their words to ours (`wording`).
"""
