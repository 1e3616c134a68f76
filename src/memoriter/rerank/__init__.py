"""Rerankers: models that score the best candidates again, each read together with the query."""
