"""One file for each kind of lane: `RULE` says what of its numbers follows, and from what."""
