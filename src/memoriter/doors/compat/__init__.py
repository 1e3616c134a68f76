"""The same operations in the words of other systems."""
