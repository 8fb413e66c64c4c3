"""The SQLite database of one generation: notes and their parts."""
