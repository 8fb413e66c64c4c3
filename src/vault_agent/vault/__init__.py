"""The disk: the only package that opens a vault's files."""
