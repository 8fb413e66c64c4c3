"""The index on disk: the only package that speaks SQL and to the full-text engine."""
