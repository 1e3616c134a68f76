"""For whoever writes a store or an embedder: the contract suite of stores, and fakes."""
