"""Measurements of the whole program. `python -m benchmarks` lists them."""
