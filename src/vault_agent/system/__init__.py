"""Locks, files, threads and processes. Nothing here knows about notes."""
