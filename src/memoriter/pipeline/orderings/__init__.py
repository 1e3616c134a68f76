"""Orderings: each moves or drops rows that have their scores. One file per kind."""
