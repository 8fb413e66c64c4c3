"""Indexing: from changes in the vault to a published revision of the index."""
