"""The log of writes, with the bytes that undo and recovery need. It is not part of the index."""
