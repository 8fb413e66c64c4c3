"""The index on disk. Only this package uses SQL and the full-text engine."""
