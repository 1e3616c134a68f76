"""One file for each kind of boost: `RULE` says how its values change a score."""
