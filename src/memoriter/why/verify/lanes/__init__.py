"""One file per kind of lane; its `RULE` says how to check it."""
