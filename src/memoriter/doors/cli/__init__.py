"""The command line: `memoriter` at a terminal."""
