"""Compile queries, rank and fuse results, and cut snippets. Pure, no I/O."""
