"""The full-text index of one generation, in tantivy."""
