"""The scripts of the others run where they are installed, and are no tests."""

collect_ignore = [
    "made_engrava.py", "made_mnestic.py", "their_engrava.py", "their_mnestic.py",
]  # fmt: skip
