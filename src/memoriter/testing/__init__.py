"""For authors of stores and embedders: a contract test suite for stores, and fakes."""
