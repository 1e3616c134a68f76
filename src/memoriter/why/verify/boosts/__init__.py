"""One file per kind of boost; its `RULE` says how to check it."""
