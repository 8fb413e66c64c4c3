"""Notes, chunks and links of one generation, in SQLite."""
