"""The scripts of the others run where they are installed, and are no tests."""

collect_ignore = ["their_engrava.py", "their_mnestic.py"]
