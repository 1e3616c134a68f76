"""One file for each kind of lane: `ORACLE` says which rows it finds, with which scores."""
