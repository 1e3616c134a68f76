"""The public `Memory` and its parts; the only package that opens stores and loads models."""
