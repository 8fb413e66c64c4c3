"""The operating system: locks, files, processes. Knows nothing of notes."""
