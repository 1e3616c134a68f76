"""Explains answers: results, receipts, their verification, replays, diffs and why-not."""
