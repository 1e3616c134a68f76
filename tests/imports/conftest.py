"""Files that make other files are no tests."""

collect_ignore = ["files.py"]
