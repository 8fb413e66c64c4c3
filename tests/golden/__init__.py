"""Golden replies: what the program replies for three small vaults, over HTTP, MCP and commands.

`python -m tests.golden` writes them again; `test_golden.py` compares them with today's.
"""
