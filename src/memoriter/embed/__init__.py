"""Embedders: turn texts into vectors. Packaged table, hash, local models, servers, functions."""
