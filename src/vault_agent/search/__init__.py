"""Answering from the index: search, related notes, and retrieval by ID."""
