"""One file per kind of ordering; its `RULE` says how to check it."""
