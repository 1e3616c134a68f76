"""One file for each kind of ordering: `RULE` says which places it keeps."""
