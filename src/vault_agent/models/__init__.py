"""Local models behind the configured endpoints. Files of one kind, merged next."""
