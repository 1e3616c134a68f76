"""One file for each kind of ordering: `ORACLE` says which rows stay, in which order."""
