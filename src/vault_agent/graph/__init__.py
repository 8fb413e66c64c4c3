"""Algorithms over the graph of links: pure, synchronous, and only about numbered notes."""
