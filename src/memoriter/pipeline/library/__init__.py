"""The recipes of the core itself; those of other systems come by entry points."""
