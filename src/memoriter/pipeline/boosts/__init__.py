"""Boosts: each changes the score of candidates. One file per kind.

To add one, follow "Add a boost or an ordering" in CONTRIBUTING.md: a file here, one of the same
name in `why/verify/boosts/` and in `tests/oracle/boosts/`, and one line in `pipeline/kinds.py`.
"""
