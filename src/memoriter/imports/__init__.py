"""Readers of foreign files, one per format. They yield records and edges and write nothing."""
