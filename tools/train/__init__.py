"""Training of the packaged model: `python -m tools.train` (docs/model.md)."""
