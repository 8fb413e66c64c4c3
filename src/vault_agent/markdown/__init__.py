"""Text to values: frontmatter, structure, chunks, links and tags. Pure, no I/O."""
