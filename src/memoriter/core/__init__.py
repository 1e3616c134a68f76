"""The values that every other package passes around: records, queries, batches, slates, errors."""
