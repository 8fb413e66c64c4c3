"""Search and read one folder of Markdown notes, locally and piece by piece."""

__version__ = "0.1.0"
