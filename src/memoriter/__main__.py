"""`python -m memoriter` runs the command line, as `memoriter` does."""

from __future__ import annotations

from memoriter.doors.cli.main import run

if __name__ == "__main__":
    run()
