"""The native kernel: a C library with the same answers as numpy. `library` loads it."""
