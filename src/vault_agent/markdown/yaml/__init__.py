"""YAML of frontmatter: values and their types, reading, writing, and edits by spans."""
