"""One file for each kind of boost: `ORACLE` says what it is worth to each row."""
