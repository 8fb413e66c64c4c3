"""Embedding vectors, kept by their exact input."""
