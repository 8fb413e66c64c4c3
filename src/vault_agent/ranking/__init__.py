"""Scores to order: queries, fusion and snippets. Pure, no I/O."""
