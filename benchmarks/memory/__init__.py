"""Benchmarks of memory."""
