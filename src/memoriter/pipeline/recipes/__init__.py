"""Our own recipes as TOML files; those of other systems are found by entry points."""
