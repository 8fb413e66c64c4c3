"""Agents: the Model Context Protocol, its tools, and the relay for standard input and output.

Nothing here is imported unless `mcp.enabled` is true. The relay imports no other room.
"""
