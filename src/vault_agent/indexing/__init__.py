"""From what changed in the vault to a published revision of the index."""
