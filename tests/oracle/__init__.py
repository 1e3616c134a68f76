"""The oracle: the formulas of the engine once more, in plain Python, as slow as they read."""
