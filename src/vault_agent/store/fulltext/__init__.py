"""The full-text index of one generation, in tantivy.

tantivy is called the engine here. A shelf is one of its two indexes: notes and chunks.
"""
